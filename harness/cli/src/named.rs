//! Reading a text file that a user named: a plain one, of a bounded size. A pipe or a device may never end.

use std::fs;
use std::io::Read;
use std::path::Path;

/// The text; without it why there is none, in a few words.
pub(crate) fn text(path: &Path, bytes_max: u64) -> Result<String, String> {
    let found = fs::metadata(path).map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("is no plain file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > bytes_max {
        return Err(format!("holds more than the {bytes_max} bytes that are read"));
    }
    String::from_utf8(bytes).map_err(|_| "is no text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_file_of_text_within_the_bound_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "four").expect("written");
        assert_eq!(text(&file, 4), Ok("four".to_owned()));
        let refused = |path: &Path, most| text(path, most).expect_err("a refusal");
        assert!(refused(&file, 3).contains("more than the 3 bytes"));
        fs::write(&file, b"\xff").expect("written");
        assert_eq!(refused(&file, 9), "is no text");
        for endless in ["/dev/zero", "/dev/null"].map(Path::new).into_iter().chain([folder.path()]) {
            assert_eq!(refused(endless, 9), "is no plain file");
        }
        assert!(refused(&folder.path().join("absent"), 9).contains("No such file"));
    }
}
