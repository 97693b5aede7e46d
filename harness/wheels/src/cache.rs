//! The folder that holds one folder for each unpacked wheel. Knows where they lie and that a folder with its final name
//! is whole; fetches nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::WheelError;
use crate::table::{Part, Wheel};

/// Digits of the hash in a folder's name.
const HASH_DIGITS: usize = 16;

/// Unpacked wheels.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache that the environment names: `CONVICT_CACHE`, else a folder in the user's cache.
    ///
    /// # Errors
    /// `NoPlace`.
    pub fn usual(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, WheelError> {
        let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // The rule of XDG: a relative path there means nothing.
        let xdg = folder("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
        let users = xdg.or_else(|| folder("HOME").map(|home| home.join(".cache")));
        let root = folder("CONVICT_CACHE").or_else(|| users.map(|users| users.join("convict")));
        Ok(Self { root: root.ok_or(WheelError::NoPlace)? })
    }

    /// A cache in that folder, which is made when a wheel is fetched.
    #[must_use]
    pub fn within(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Where it is.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of a wheel, there or not: named by file and hash, so that another file is never taken for it.
    #[must_use]
    pub fn folder(&self, wheel: &Wheel) -> PathBuf {
        let hash: String = wheel.sha256.chars().take(HASH_DIGITS).collect();
        self.root.join(format!("{}-{hash}", wheel.file.trim_end_matches(".whl")))
    }

    /// True where the wheel is there, whole.
    #[must_use]
    pub fn holds(&self, wheel: &Wheel) -> bool {
        self.folder(wheel).is_dir()
    }

    /// The folder of a wheel's libraries within the cache.
    #[must_use]
    pub fn libraries(&self, wheel: &Wheel) -> PathBuf {
        let inner = match (wheel.part, wheel.cuda) {
            (Part::Full, _) => "nvidia/cudnn/lib",
            (Part::Jit, _) => "nvidia/cudnn_jit/lib",
            (Part::CublasLt, 12) => "nvidia/cublas/lib",
            (Part::Nvrtc, 12) => "nvidia/cuda_nvrtc/lib",
            (Part::CublasLt | Part::Nvrtc, _) => "nvidia/cu13/lib",
        };
        self.folder(wheel).join(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_the_environment_says() {
        let place = |set: &[(&str, &str)]| {
            let variable =
                |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
            Cache::usual(variable).map(|cache| cache.root).ok()
        };
        let (own, xdg, home) = (("CONVICT_CACHE", "/c"), ("XDG_CACHE_HOME", "/x"), ("HOME", "/h"));
        assert_eq!(place(&[own, xdg, home]), Some("/c".into()));
        assert_eq!(place(&[("CONVICT_CACHE", ""), xdg, home]), Some("/x/convict".into()));
        assert_eq!(place(&[("XDG_CACHE_HOME", "x"), home]), Some("/h/.cache/convict".into()));
        assert_eq!(place(&[]), None);
    }
}
