//! The folder that stands in for the real libraries: real names, each a file of its own. Knows file names; opens
//! nothing.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io};

/// Names that programs open, and the built file that answers to each.
///
/// Both names of the driver are there, since some programs try the one and some the other. Further names of a library
/// are links to the first one, also in a copy of the folder, by which the loader knows that it is open already; two
/// files would be two drivers.
pub const FILES: [(&str, &str); 8] = [
    ("libcuda.so", "libconvict_sim_cuda.so"),
    ("libcuda.so.1", "libconvict_sim_cuda.so"),
    ("libcudnn.so", "libconvict_sim_cudnn.so"),
    ("libcudnn.so.9", "libconvict_sim_cudnn.so"),
    ("libcublasLt.so.12", "libconvict_sim_cublaslt.so"),
    ("libcublasLt.so.13", "libconvict_sim_cublaslt.so"),
    ("libnvrtc.so.12", "libconvict_sim_cublaslt.so"),
    ("libnvrtc.so.13", "libconvict_sim_cublaslt.so"),
];

/// Links the libraries that cargo built in `target_dir` (such as `target/debug`) or its `deps` into the folder
/// `into` under the real names; copies where a link cannot be made. Files of those names there are replaced.
///
/// Never make `into` the target folder itself: cargo puts that on the search path of everything it runs.
///
/// # Errors
/// A library that is not built, or a folder that cannot be written.
pub fn folder(target_dir: &Path, into: &Path) -> io::Result<()> {
    fs::create_dir_all(into)?;
    for (name, source) in FILES {
        let built = [target_dir.join("deps").join(source), target_dir.join(source)]
            .into_iter()
            .find(|path| path.exists())
            .ok_or_else(|| {
                let message = format!("{source} is not built in {}", target_dir.display());
                io::Error::new(io::ErrorKind::NotFound, message)
            })?;
        let first = FILES.iter().find(|(_, file)| *file == source).map_or(name, |(first, _)| *first);
        place(&built, into, name, (first != name).then_some(first))?;
    }
    Ok(())
}

/// Puts a file under its name at one stroke, so that a process that opens the folder meanwhile finds the old file or
/// the new one; never writes through a name that may be a link to the built file.
///
/// A further name is a link to the first one.
fn place(built: &Path, into: &Path, name: &str, first: Option<&str>) -> io::Result<()> {
    // Copying onto a link of the built file would empty it, so no two drafts may share a name.
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let draft = into.join(format!(".{name}.{}.{number}", std::process::id()));
    match first.map_or_else(|| fs::hard_link(built, &draft), |first| symlink(first, &draft)) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        Err(error) if first.is_some() => return Err(error),
        Err(_) => {
            fs::copy(built, &draft)?;
        }
    }
    fs::rename(&draft, into.join(name))?;
    // Renaming one link of a file to another link of it leaves both.
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
