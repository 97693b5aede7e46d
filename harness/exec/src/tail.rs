//! What a child printed: the end of it, bounded and free of host details. Knows text; judges nothing.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::process::Stdio;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// Bytes kept of what a child printed.
const TAIL_BYTES: u64 = 16 << 10;

/// Bytes of disk from which on the beginning of the file is given back, so that a flood cannot fill it.
const DISK_BYTES_MAX: u64 = 16 << 20;

/// Unit in which `st_blocks` counts (`man 2 stat`).
const BLOCK_BYTES: u64 = 512;

/// Shortest user or host name that is replaced; shorter ones are too often words of their own.
const NAME_CHARS_MIN: usize = 3;

/// Characters from which on a device name such as `GPU-1234abcd` carries a serial.
const SERIAL_CHARS_MIN: usize = 8;

/// An unnamed file that a child's output streams append to.
#[derive(Debug)]
pub(crate) struct Tail {
    file: File,
}

impl Tail {
    pub(crate) fn create() -> io::Result<Self> {
        // Append mode, so that the child goes on at the start after the file was emptied below it.
        let named = tempfile::Builder::new().prefix("convict-output-").append(true).tempfile()?;
        Ok(Self { file: named.into_file() })
    }

    /// A handle for a child to write to.
    pub(crate) fn handle(&self) -> io::Result<Stdio> {
        Ok(self.file.try_clone()?.into())
    }

    /// Forgets what was printed.
    pub(crate) fn clear(&self) -> io::Result<()> {
        if self.file.metadata()?.len() > 0 { self.file.set_len(0) } else { Ok(()) }
    }

    /// Gives the beginning back to the disk once it is too much; the end stays, since a child's last
    /// words come after its flood. The hole changes no length, so it may be made while the child writes.
    pub(crate) fn bound(&self) -> io::Result<()> {
        let metadata = self.file.metadata()?;
        if metadata.blocks() * BLOCK_BYTES <= DISK_BYTES_MAX {
            return Ok(());
        }
        let forgotten = metadata.len().saturating_sub(TAIL_BYTES);
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.file, hole, 0, forgotten) {
            // A file system without holes: what comes after is kept at least.
            Err(Errno::OPNOTSUPP) => self.file.set_len(0),
            punched => Ok(punched?),
        }
    }

    /// The last 16 KiB, without host details; empty where they cannot be read.
    pub(crate) fn text(&self, host: &Host) -> String {
        let length = self.file.metadata().map_or(0, |metadata| metadata.len());
        let start = length.saturating_sub(TAIL_BYTES);
        let mut bytes = vec![0_u8; usize::try_from(length - start).unwrap_or(0)];
        if self.file.read_exact_at(&mut bytes, start).is_err() {
            return String::new();
        }
        host.scrub(&String::from_utf8_lossy(&bytes))
    }
}

/// What must not leave the machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    /// Home folder, without a slash at its end.
    home: String,
    /// User and host names.
    names: Vec<String>,
}

impl Host {
    /// This machine and user.
    pub(crate) fn current() -> Self {
        let variable = |name| std::env::var(name).unwrap_or_default();
        let node = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Self::new(&variable("HOME"), &[variable("USER"), variable("LOGNAME"), node])
    }

    fn new(home: &str, names: &[String]) -> Self {
        let named = |name: &String| name.chars().count() >= NAME_CHARS_MIN;
        let names = names.iter().map(|name| name.trim().to_owned()).filter(named).collect();
        Self { home: home.trim_end_matches('/').to_owned(), names }
    }

    /// The text without home folders, user and host names, device serials and control characters.
    fn scrub(&self, text: &str) -> String {
        let plain = |character: char| !character.is_control() || matches!(character, '\n' | '\t');
        let mut text: String =
            text.chars().map(|character| if plain(character) { character } else { '?' }).collect();
        if !self.home.is_empty() {
            text = replace_word(&text, &self.home, "~");
        }
        for folder in ["/home/", "/Users/"] {
            text = replace_token(&text, folder, ("~", 1), is_word);
        }
        for name in &self.names {
            text = replace_word(&text, name, "(name)");
        }
        for serial in ["GPU-", "MIG-"] {
            let replacement = format!("{serial}(serial)");
            text = replace_token(&text, serial, (&replacement, SERIAL_CHARS_MIN), |character| {
                character.is_ascii_hexdigit() || character == '-'
            });
        }
        text
    }
}

/// True for a character that continues a name.
fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.')
}

/// Replaces a string where no name goes on before or after it.
fn replace_word(text: &str, word: &str, replacement: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(word) {
        let (before, after) = (&rest[..start], &rest[start + word.len()..]);
        let bounded = |character: Option<char>| !character.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let previous = before.chars().next_back().or_else(|| replaced.chars().next_back());
        let whole = bounded(previous) && bounded(after.chars().next());
        replaced.push_str(before);
        replaced.push_str(if whole { replacement } else { word });
        rest = after;
    }
    replaced + rest
}

/// Replaces a beginning and the characters that belong to it, where at least so many do.
fn replace_token(
    text: &str,
    beginning: &str,
    (replacement, least): (&str, usize),
    belongs: impl Fn(char) -> bool,
) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(beginning) {
        let after = &rest[start + beginning.len()..];
        let end = after.find(|character| !belongs(character)).unwrap_or(after.len());
        replaced.push_str(&rest[..start]);
        let token = after[..end].chars().count() >= least;
        replaced.push_str(if token { replacement } else { beginning });
        rest = &after[if token { end } else { 0 }..];
    }
    replaced + rest
}

#[cfg(test)]
mod tests;
