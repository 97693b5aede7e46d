//! The folder that stands in for the real libraries: real names, each a file of its own. Knows file names; opens
//! nothing.

use std::path::Path;
use std::{fs, io};

/// Names that programs open, and the built file that answers to each.
///
/// Both names of the driver are there, since some programs try the one and some the other. They are separate files:
/// a symbolic link would show the built file's name in a memory map.
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
    for (name, built) in FILES {
        let built = [target_dir.join("deps").join(built), target_dir.join(built)]
            .into_iter()
            .find(|path| path.exists())
            .ok_or_else(|| {
                let message = format!("{built} is not built in {}", target_dir.display());
                io::Error::new(io::ErrorKind::NotFound, message)
            })?;
        let to = into.join(name);
        match fs::remove_file(&to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        if fs::hard_link(&built, &to).is_err() {
            fs::copy(&built, &to)?;
        }
    }
    Ok(())
}
