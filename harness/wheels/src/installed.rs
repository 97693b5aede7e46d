//! Which published wheel a folder of libraries comes from. Knows how wheels lie where they are installed and how
//! distributions name their libraries; opens no library.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use case::Version;

use crate::cache::listed;
use crate::error::WheelError;
use crate::table::{Name, Part, Wheel, exactly, find, published};

/// Names of cuDNN's dispatcher, newest major first.
pub const DISPATCHERS: [&str; 2] = ["libcudnn.so.9", "libcudnn.so.8"];

/// A library that only sets with every engine have.
const PRECOMPILED: &str = "libcudnn_engines_precompiled.so.9";

/// Largest list of a wheel's files that is read, bytes.
const RECORD_BYTES_MAX: u64 = 4 << 20;

/// Where a folder's libraries come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The wheel.
    pub wheel: &'static Wheel,
    /// True where the folder is that wheel's own; false where the wheel is the newest of the same release.
    pub is_of_wheel: bool,
    /// Libraries of cuDNN that are missing there or have another size than the wheel's.
    pub altered: Vec<String>,
}

/// Finds the wheel of the cuDNN in a folder; `cuda` is the CUDA major where the folder tells none.
///
/// # Errors
/// `Untold`, `Several`, or `Unknown` where no such wheel is known.
pub fn installed(folder: &Path, cuda: u32) -> Result<Installed, WheelError> {
    let part = if folder.ends_with("nvidia/cudnn_jit/lib") { Some(Part::Jit) } else { None };
    let part = part.or_else(|| folder.ends_with("nvidia/cudnn/lib").then_some(Part::Full));
    // .../nvidia/cudnn/lib lies beside the lists of what is installed.
    let root = folder.ancestors().nth(3);
    if let (Some(part), Some(root)) = (part, root) {
        let lists = lists(root, part);
        match lists.as_slice() {
            [] => {}
            [(package, version)] => {
                let wheel = exactly(package, version)?;
                let altered = altered(root, folder, wheel);
                return Ok(Installed { wheel, is_of_wheel: true, altered });
            }
            several => {
                let names = several.iter().map(|(package, version)| format!("{package} {version}"));
                return Err(WheelError::Several {
                    folder: folder.to_owned(),
                    names: names.collect::<Vec<_>>().join(", "),
                });
            }
        }
    }
    let version = release(folder).ok_or_else(|| WheelError::Untold { folder: folder.to_owned() })?;
    let has_precompiled = folder.join(PRECOMPILED).exists();
    let part = part.unwrap_or(if has_precompiled { Part::Full } else { Part::Jit });
    let wheel = find(&Name { version, part, cuda: None }, cuda)?;
    Ok(Installed { wheel, is_of_wheel: false, altered: Vec::new() })
}

/// cuDNN's packages that are installed there, by the folders' names: `nvidia_cudnn_cu13-9.19.0.56.dist-info`.
fn lists(root: &Path, part: Part) -> Vec<(&'static str, Version)> {
    let entries = fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<(&'static str, Version)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (package, version) = name.strip_suffix(".dist-info")?.split_once('-')?;
            let package = package.replace('_', "-");
            let known = published().iter().find(|wheel| wheel.part == part && wheel.package == package)?;
            Some((known.package.as_str(), version.parse().ok()?))
        })
        .collect();
    found.sort();
    found
}

/// What of the wheel's libraries is not there as its list says, by size: hashing a gigabyte is a doctor's work.
fn altered(root: &Path, folder: &Path, wheel: &Wheel) -> Vec<String> {
    let list = format!("{}-{}.dist-info/RECORD", wheel.package.replace('-', "_"), wheel.version);
    let mut text = String::new();
    let list = root.join(list);
    // A pipe in its place would keep the reader waiting.
    if !fs::metadata(&list).is_ok_and(|data| data.is_file()) {
        return Vec::new();
    }
    let read = File::open(list).map(|file| file.take(RECORD_BYTES_MAX).read_to_string(&mut text));
    if !matches!(read, Ok(Ok(_))) {
        return Vec::new();
    }
    let within = format!("{}/", wheel.libraries());
    let lines = text.lines().filter_map(listed);
    let differs = lines.filter_map(|(name, bytes)| {
        let name = name.strip_prefix(&within).filter(|name| !name.contains('/'))?;
        let is_same = fs::metadata(folder.join(name)).is_ok_and(|found| found.len() == bytes);
        (!is_same).then(|| name.to_owned())
    });
    differs.collect()
}

/// The release in the name of the dispatcher's real file, as distributions write it: `libcudnn.so.9.14.0`.
fn release(folder: &Path) -> Option<Version> {
    let real = DISPATCHERS.iter().find_map(|name| folder.join(name).canonicalize().ok())?;
    let (_, version) = real.file_name()?.to_str()?.split_once(".so.")?;
    version.parse().ok().filter(|version: &Version| version.number(1) > 0 || version.number(2) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    #[test]
    fn an_installed_wheel_is_known_by_its_list_and_what_differs_from_it_is_told() {
        let root = tempfile::tempdir().expect("a folder");
        let lib = root.path().join("nvidia/cudnn/lib");
        put(root.path(), "nvidia/cudnn/lib/libcudnn.so.9", "elf");
        let list = "nvidia/cudnn/lib/libcudnn.so.9,sha256=x,3\nnvidia/cudnn/lib/libcudnn_ops.so.9,sha256=y,9\n\
                    nvidia/cudnn/include/cudnn.h,sha256=z,1\n";
        put(root.path(), "nvidia_cudnn_cu12-9.19.0.56.dist-info/RECORD", list);
        put(root.path(), "nvidia_cudnn_jit_cu13-9.27.0.42.dist-info/RECORD", "");
        let found = installed(&lib, 13).expect("a wheel");
        assert_eq!(found.wheel.name(), "wheel:9.19.0.56-cu12");
        assert!(found.is_of_wheel);
        assert_eq!(found.altered, ["libcudnn_ops.so.9"]);
        put(root.path(), "nvidia_cudnn_cu13-9.20.0.48.dist-info/RECORD", "");
        let words = installed(&lib, 13).expect_err("two").to_string();
        assert!(words.contains("nvidia-cudnn-cu12 9.19.0.56, nvidia-cudnn-cu13 9.20.0.48"), "{words}");
    }

    #[test]
    fn a_system_library_is_known_by_the_version_in_its_real_name() {
        let root = tempfile::tempdir().expect("a folder");
        put(root.path(), "libcudnn.so.9.14.0", "elf");
        std::os::unix::fs::symlink("libcudnn.so.9.14.0", root.path().join("libcudnn.so.9")).expect("linked");
        put(root.path(), PRECOMPILED, "elf");
        let found = installed(root.path(), 12).expect("a wheel");
        assert_eq!((found.wheel.name().as_str(), found.is_of_wheel), ("wheel:9.14.0.64-cu12", false));
        let untold = tempfile::tempdir().expect("a folder");
        put(untold.path(), "libcudnn.so.9", "elf");
        let words = installed(untold.path(), 13).expect_err("no version").to_string();
        assert!(words.contains("tells no version"), "{words}");
        put(untold.path(), "nvidia/cudnn/lib/libcudnn.so.9", "elf");
        put(untold.path(), "nvidia_cudnn_cu13-9.99.0.1.dist-info/RECORD", "");
        let words = installed(&untold.path().join("nvidia/cudnn/lib"), 13).expect_err("unknown").to_string();
        assert!(words.contains("version 9.99.0.1"), "{words}");
    }
}
