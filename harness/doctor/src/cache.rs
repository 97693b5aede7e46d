//! The dynamic loader's own lists: its cache and its configuration. Knows their formats; opens no library.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::source::Source;

/// Where the cache and the configuration are.
const CACHE: &str = "/etc/ld.so.cache";
const CONFIGURATION: &str = "/etc/ld.so.conf";

/// Most bytes of the cache, of a configuration file, and most files that include each other.
const CACHE_MAX: u64 = 32 << 20;
const TEXT_MAX: u64 = 1 << 20;
const FILES_MAX: usize = 200;

/// Beginnings of the two formats (glibc, `elf/cache.c` and `sysdeps/generic/dl-cache.h`).
const OLD: &[u8] = b"ld.so-1.7.0\0";
const NEW: &[u8] = b"glibc-ld.so.cache1.1";

/// Sizes of the old header and its entries, of the new header and its entries.
const OLD_HEADER: usize = 16;
const OLD_ENTRY: usize = 12;
const NEW_HEADER: usize = 48;
const NEW_ENTRY: usize = 24;

/// What the flags of an entry say where it is for x86-64 and glibc: `FLAG_X8664_LIB64 | FLAG_ELF_LIBC6`.
const FLAGS_X86_64: u32 = 0x0303;

/// Names and the files that the loader takes for them, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cache(BTreeMap<String, Vec<PathBuf>>);

impl Cache {
    /// The machine's cache; empty where there is none or it can't be read.
    #[must_use]
    pub(crate) fn of(source: &Source) -> Self {
        let path = Path::new(CACHE);
        let Some(bytes) = source.bytes(path, CACHE_MAX) else { return Self::default() };
        Self::read(&bytes).unwrap_or_else(|| {
            source.complain("files that can't be read", format!("{CACHE}: is no cache of the loader"));
            Self::default()
        })
    }

    /// Reads the bytes of a cache; entries that point outside are passed over.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut start = 0;
        if bytes.starts_with(OLD) {
            let count = number(bytes, OLD.len())? as usize;
            // The new format follows the old one's entries, aligned to 8 bytes.
            start = OLD_HEADER.checked_add(count.checked_mul(OLD_ENTRY)?)?.checked_next_multiple_of(8)?;
        }
        let new = bytes.get(start..)?;
        if !new.starts_with(NEW) {
            return None;
        }
        let count = number(new, NEW.len())? as usize;
        let entries = new.get(NEW_HEADER..)?.chunks_exact(NEW_ENTRY).take(count);
        let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for entry in entries {
            let (Some(flags), Some(key), Some(value)) =
                (number(entry, 0), number(entry, 4), number(entry, 8))
            else {
                continue;
            };
            let (Some(name), Some(path)) = (text(new, key as usize), text(new, value as usize)) else {
                continue;
            };
            if flags == FLAGS_X86_64 {
                found.entry(name).or_default().push(PathBuf::from(path));
            }
        }
        Some(Self(found))
    }

    /// The file for a name.
    #[must_use]
    pub(crate) fn find(&self, name: &str) -> Option<&PathBuf> {
        self.0.get(name)?.first()
    }

    /// Every name with its files.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&String, &PathBuf)> {
        self.0.iter().flat_map(|(name, paths)| paths.iter().map(move |path| (name, path)))
    }
}

fn number(bytes: &[u8], place: usize) -> Option<u32> {
    let bytes = bytes.get(place..place.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn text(bytes: &[u8], place: usize) -> Option<String> {
    let rest = bytes.get(place..)?;
    let end = rest.iter().take(4096).position(|byte| *byte == 0)?;
    std::str::from_utf8(&rest[..end]).ok().map(str::to_owned)
}

/// The folders of the loader's configuration, in its order.
#[must_use]
pub(crate) fn configured(source: &Source) -> Vec<PathBuf> {
    let (mut folders, mut seen) = (Vec::new(), BTreeSet::new());
    let mut left = vec![PathBuf::from(CONFIGURATION)];
    while let Some(path) = left.pop() {
        if seen.len() >= FILES_MAX || !seen.insert(path.clone()) {
            continue;
        }
        let mut included = Vec::new();
        for line in source.text(&path, TEXT_MAX).unwrap_or_default().lines() {
            let line = line.split('#').next().unwrap_or("").trim();
            match line.strip_prefix("include ") {
                Some(pattern) => included.extend(expand(source, &path, pattern.trim())),
                None if line.starts_with('/') => folders.push(PathBuf::from(line)),
                None => {}
            }
        }
        left.extend(included.into_iter().rev());
    }
    folders
}

/// The files of a pattern with at most one `*` in its last part: all that distributions use.
fn expand(source: &Source, from: &Path, pattern: &str) -> Vec<PathBuf> {
    let path = from.parent().unwrap_or(Path::new("/")).join(pattern);
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let Some((before, after)) = name.split_once('*') else { return vec![path.clone()] };
    let fits = |found: &String| {
        found.len() >= before.len() + after.len() && found.starts_with(before) && found.ends_with(after)
    };
    source.names(folder).into_iter().filter(fits).map(|name| folder.join(name)).collect()
}

/// A cache of those entries, for tests.
#[cfg(test)]
pub(crate) fn written(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut strings = Vec::new();
    let base = NEW_HEADER + entries.len() * NEW_ENTRY;
    let mut place = |text: &str| {
        let at = base + strings.len();
        strings.extend_from_slice(text.as_bytes());
        strings.push(0);
        u32::try_from(at).expect("small").to_le_bytes()
    };
    let mut rows = Vec::new();
    for (name, path) in entries {
        rows.extend_from_slice(&FLAGS_X86_64.to_le_bytes());
        rows.extend_from_slice(&place(name));
        rows.extend_from_slice(&place(path));
        rows.extend_from_slice(&[0; 12]);
    }
    let mut bytes = NEW.to_vec();
    bytes.extend_from_slice(&u32::try_from(entries.len()).expect("small").to_le_bytes());
    bytes.resize(NEW_HEADER, 0);
    bytes.extend_from_slice(&rows);
    bytes.extend_from_slice(&strings);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_read_and_a_broken_one_is_not() {
        let bytes =
            written(&[("libcudnn.so.9", "/usr/lib/libcudnn.so.9"), ("libz.so.1", "/usr/lib/libz.so.1")]);
        let cache = Cache::read(&bytes).expect("a cache");
        assert_eq!(cache.find("libcudnn.so.9"), Some(&PathBuf::from("/usr/lib/libcudnn.so.9")));
        let mut old = OLD.to_vec();
        old.extend_from_slice(&[1, 0, 0, 0]);
        old.resize(32, 0);
        old.extend_from_slice(&bytes);
        assert_eq!(Cache::read(&old), Some(cache));
        for length in 0..bytes.len() {
            // No prefix of it panics.
            let _ = Cache::read(&bytes[..length]);
        }
        let mut hostile = bytes.clone();
        hostile[20..24].copy_from_slice(&[0xff; 4]);
        hostile[NEW_HEADER + 4..NEW_HEADER + 8].copy_from_slice(&[0xff; 4]);
        assert_eq!(Cache::read(&hostile).map(|cache| cache.0.len()), Some(1));
        assert_eq!(Cache::read(b"no cache"), None);
    }

    #[test]
    fn this_machines_cache_is_read_where_it_has_one() {
        let cache = Cache::of(&Source::below(Path::new("/")));
        let is_there = Path::new(CACHE).exists() && cfg!(target_arch = "x86_64");
        assert_eq!(cache.find("libc.so.6").is_some(), is_there);
    }

    #[test]
    fn the_configuration_is_read_with_what_it_includes_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let etc = folder.path().join("etc");
        std::fs::create_dir_all(etc.join("ld.so.conf.d")).expect("made");
        let main = "include /etc/ld.so.conf.d/*.conf\ninclude ld.so.conf\n/opt/last # ours\n";
        std::fs::write(etc.join("ld.so.conf"), main).expect("written");
        std::fs::write(etc.join("ld.so.conf.d/b.conf"), "/opt/b\n").expect("written");
        std::fs::write(etc.join("ld.so.conf.d/a.conf"), "# nothing\n/usr/local/cuda/lib64\n")
            .expect("written");
        std::fs::write(etc.join("ld.so.conf.d/c.old"), "/opt/c\n").expect("written");
        let found = configured(&Source::below(folder.path()));
        assert_eq!(found, ["/opt/last", "/usr/local/cuda/lib64", "/opt/b"].map(PathBuf::from));
    }
}
