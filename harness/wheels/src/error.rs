//! What keeps a wheel from being used, one line each. Knows words; decides no exit code.

use std::io;
use std::path::PathBuf;

use exec::HarnessError;

/// Why there is no wheel.
#[derive(Debug, thiserror::Error)]
pub enum WheelError {
    /// Text after `wheel:` that names none.
    #[error(
        "wheel:{text} is no name of a wheel; write a version and what it is, such as wheel:9.19, \
             wheel:9.27.0.42-jit or wheel:9.14.0.64-cu12"
    )]
    NoName {
        /// The text.
        text: String,
    },
    /// No wheel of that version is known.
    #[error("no {kind} of version {version} is published as far as is known; the nearest are {nearest}")]
    Unknown {
        /// The version asked for.
        version: String,
        /// Configuration and CUDA major.
        kind: String,
        /// Known versions around it.
        nearest: String,
    },
    /// A package and version that are installed and not listed.
    #[error(
        "{package} of version {version} is published nowhere as far as is known, so that its hash can't be told"
    )]
    Unlisted {
        /// The package.
        package: String,
        /// Its version.
        version: String,
    },
    /// A folder that does not tell its cuDNN's version.
    #[error(
        "library set {}: tells no version: it is no wheel's, and no version is in the name of its libcudnn; name the \
             version itself, such as 9.19.0",
        folder.display()
    )]
    Untold {
        /// The folder.
        folder: PathBuf,
    },
    /// Several wheels were installed one over the other.
    #[error("library set {}: several wheels are installed over each other there: {names}", folder.display())]
    Several {
        /// The folder.
        folder: PathBuf,
        /// Packages and versions.
        names: String,
    },
    /// Neither variable names a place for the cache.
    #[error("there is no place for the cache of wheels; set CONVICT_CACHE to a folder")]
    NoPlace,
    /// A file or folder of the cache.
    #[error("cache of wheels, {place}: {source}", place = place.display())]
    Io {
        /// Which.
        place: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Too little room.
    #[error("{file} needs about {needed} MB in {place}, where {free} MB are free; set CONVICT_CACHE to a larger place",
            place = place.display())]
    NoRoom {
        /// The wheel.
        file: String,
        /// Megabytes for the file and what is in it.
        needed: u64,
        /// Megabytes that there are.
        free: u64,
        /// The cache.
        place: PathBuf,
    },
    /// There is no package client.
    #[error("{file} can't be fetched: {why}; unpack it elsewhere, and name its folder")]
    NoClient {
        /// The wheel.
        file: String,
        /// What is missing.
        why: String,
    },
    /// The index can't be reached.
    #[error(
        "{file} can't be fetched: the package index can't be reached; fetch it where there is a network, with the \
             same CONVICT_CACHE"
    )]
    NoNetwork {
        /// The wheel.
        file: String,
    },
    /// The package client failed otherwise.
    #[error("{file} can't be fetched: pip {how}: {words}")]
    Client {
        /// The wheel.
        file: String,
        /// How it ended.
        how: String,
        /// Its last words.
        words: String,
    },
    /// What was fetched is another file.
    #[error(
        "{file} is not the file that was published: its SHA-256 is {found}, not {expected}; nothing of it was kept"
    )]
    OtherHash {
        /// The wheel.
        file: String,
        /// What was fetched.
        found: String,
        /// What the list says.
        expected: String,
    },
    /// The archive can't be unpacked.
    #[error("{file} can't be unpacked: {why}; nothing of it was kept")]
    Archive {
        /// The wheel.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// The package client can't be watched, or someone asked to stop.
    #[error(transparent)]
    Harness(#[from] HarnessError),
}
