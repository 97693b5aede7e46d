//! SHA-256 of library files, computed once for all workers of a campaign: a set of libraries is gigabytes, and every
//! finding tells what it was made with. Knows files; knows nothing of why they are hashed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// A file of lines, each what identifies an unchanged file and its hash. Lines are appended whole; one that does not
/// read as such is passed over, and its file hashed again.
pub(crate) struct Hashes {
    known: PathBuf,
}

impl Hashes {
    /// The hashes that workers sharing that folder have computed.
    pub(crate) fn shared(folder: &Path) -> Self {
        Self { known: folder.join("hashes") }
    }

    /// The hash of a file's content in hexadecimal digits.
    pub(crate) fn of(&self, path: &Path) -> io::Result<String> {
        let key = identity(path)?;
        if let Some(hash) = self.find(&key) {
            return Ok(hash);
        }
        let hash = sha256(path)?;
        // What can't be remembered is computed again.
        let _ = self.remember(&key, &hash);
        Ok(hash)
    }

    fn find(&self, key: &str) -> Option<String> {
        let text = std::fs::read_to_string(&self.known).ok()?;
        let hash = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
        (hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| hash.to_owned())
    }

    fn remember(&self, key: &str, hash: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.known)?;
        file.write_all(format!("{key} {hash}\n").as_bytes())
    }
}

/// What changes when a file's content does: device, inode, length and both times.
fn identity(path: &Path) -> io::Result<String> {
    let data = path.metadata()?;
    let (device, inode, bytes) = (data.dev(), data.ino(), data.len());
    let times = [data.mtime(), data.mtime_nsec(), data.ctime(), data.ctime_nsec()];
    Ok(format!("{device}:{inode}:{bytes}:{times:?}").replace(' ', ""))
}

fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0_u8; 1 << 20];
    loop {
        let count = file.read(&mut chunk)?;
        if count == 0 {
            return Ok(hexadecimal(&hash.finalize()));
        }
        hash.update(&chunk[..count]);
    }
}

/// Bytes in hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_hashed_once_as_long_as_it_stays_the_same() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (hashes, file) = (Hashes::shared(folder.path()), folder.path().join("libcudnn.so.9"));
        std::fs::write(&file, "abc").expect("writes");
        let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hashes.of(&file).expect("hashes"), of_abc);
        let key = identity(&file).expect("is there");
        let fake = "0".repeat(64);
        std::fs::write(&hashes.known, format!("half a li\n{key} {fake}\n")).expect("writes");
        assert_eq!(Hashes::shared(folder.path()).of(&file).expect("remembers"), fake);
        std::fs::write(&file, "abcd").expect("writes");
        assert_ne!(hashes.of(&file).expect("hashes"), fake);
        std::fs::write(&hashes.known, format!("{} x\n", identity(&file).expect("is there"))).expect("writes");
        assert_eq!(hashes.of(&file).expect("hashes").len(), 64);
    }
}
