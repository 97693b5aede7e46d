//! Unpacks a wheel into a folder. Knows archives; trusts no name in one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use zip::ZipArchive;

/// What may come out of one byte of a wheel, at most: libraries shrink to a tenth at best.
const GROWTH_MAX: u64 = 20;

/// Unpacks the archive into a folder that is there already; an error says what is wrong with it.
pub(crate) fn unpack(archive: &Path, into: &Path) -> Result<(), String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let file = File::open(archive).map_err(|error| words(&error))?;
    let packed = file.metadata().map_err(|error| words(&error))?.len();
    let mut left = packed.saturating_mul(GROWTH_MAX);
    let mut archive = ZipArchive::new(file).map_err(|error| words(&error))?;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|error| words(&error))?;
        let Some(inner) = entry.enclosed_name() else {
            return Err(format!(
                "an entry would leave the folder: {}",
                String::from_utf8_lossy(entry.name_raw()).escape_default()
            ));
        };
        if entry.is_symlink() {
            return Err(format!(
                "an entry is a link: {}",
                String::from_utf8_lossy(entry.name_raw()).escape_default()
            ));
        }
        let place = into.join(inner);
        let is_folder = entry.is_dir();
        let parent = if is_folder { Some(place.as_path()) } else { place.parent() };
        fs::create_dir_all(parent.unwrap_or(into)).map_err(|error| words(&error))?;
        if is_folder {
            continue;
        }
        let mut to = File::create_new(&place).map_err(|error| words(&error))?;
        let bytes = io::copy(&mut entry.take(left + 1), &mut to).map_err(|error| words(&error))?;
        left = left.checked_sub(bytes).ok_or_else(|| "it holds far more than it weighs".to_owned())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn unpacked(entries: &[(&str, &[u8])]) -> (tempfile::TempDir, Result<(), String>) {
        let folder = tempfile::tempdir().expect("a folder");
        let (archive, into) = (folder.path().join("a.whl"), folder.path().join("into"));
        fs::create_dir(&into).expect("made");
        let mut writer = ZipWriter::new(File::create(&archive).expect("a file"));
        for (name, bytes) in entries {
            writer.start_file(*name, SimpleFileOptions::default()).expect("an entry");
            writer.write_all(bytes).expect("written");
        }
        writer.finish().expect("whole");
        let done = unpack(&archive, &into);
        (folder, done)
    }

    #[test]
    fn a_wheel_is_unpacked_as_it_was_packed() {
        let (folder, done) =
            unpacked(&[("nvidia/cudnn/lib/libcudnn.so.9", b"elf"), ("x.dist-info/RECORD", b"")]);
        assert_eq!(done, Ok(()));
        let inner = folder.path().join("into/nvidia/cudnn/lib/libcudnn.so.9");
        assert_eq!(fs::read(inner).expect("a file"), b"elf");
    }

    #[test]
    fn no_entry_leaves_the_folder_and_none_is_written_twice() {
        for name in ["../out", "a/../../out", "/../out"] {
            let (folder, done) = unpacked(&[(name, b"x")]);
            assert!(!folder.path().join("out").exists(), "{name}: {done:?}");
            assert!(!Path::new("/out").exists());
        }
        let (_, done) = unpacked(&[("../out", b"x")]);
        assert!(done.is_err_and(|why| why.contains("would leave the folder")));
        let (_, done) = unpacked(&[("a", b"x"), ("./a", b"y")]);
        assert!(done.is_err());
    }

    #[test]
    fn an_archive_that_grows_without_end_and_one_that_is_none_are_refused() {
        let (_, done) = unpacked(&[("zeros", &vec![0; 1 << 22])]);
        assert_eq!(done, Err("it holds far more than it weighs".to_owned()));
        let folder = tempfile::tempdir().expect("a folder");
        let archive = folder.path().join("a.whl");
        fs::write(&archive, b"no archive").expect("written");
        assert!(unpack(&archive, folder.path()).is_err());
    }
}
