//! The cache of wheels as commands use it: where it is, how the package client is started, which CUDA is meant where
//! nobody says. Knows this process's environment; what a wheel is, is `wheels`' matter.

use std::fs;
use std::path::PathBuf;

use wheels::{Cache, Client, Wheel, WheelError};

use crate::failure::Failure;
use crate::machine::{catch_signals, interrupt};
use crate::screen::errln;

/// What the driver's kernel module says of itself.
const DRIVER: &str = "/proc/driver/nvidia/version";

/// First driver release that runs CUDA 13.
const DRIVER_OF_CUDA_13: u32 = 580;

/// The cache that the environment names.
pub(crate) fn cache() -> Result<Cache, Failure> {
    Cache::usual(|name| std::env::var_os(name)).map_err(failure)
}

/// The folder of a wheel's libraries, fetched where it is not in the cache.
pub(crate) fn fetch(cache: &Cache, wheel: &Wheel) -> Result<PathBuf, Failure> {
    if !cache.holds(wheel) {
        errln!("fetching {} ({} MB)", wheel.file, wheel.bytes.div_ceil(1_000_000));
        catch_signals()?;
    }
    let keeper = std::env::current_exe().map_err(|error| Failure::Ours(format!("own path: {error}")))?;
    let environment = std::env::vars_os().collect();
    let client = Client { keeper: Some(keeper), environment, interrupt: interrupt().clone() };
    client.fetch(cache, wheel).map_err(failure)
}

/// The CUDA major whose wheels this machine's driver runs: the newest where there is no driver, since planning needs
/// none.
pub(crate) fn usual_cuda() -> u32 {
    let text = fs::read_to_string(DRIVER).unwrap_or_default();
    match release(&text) {
        Some(release) if release < DRIVER_OF_CUDA_13 => 12,
        Some(_) | None => 13,
    }
}

/// The driver's major release in the text of its kernel module.
fn release(text: &str) -> Option<u32> {
    let words = text.lines().next()?.split_whitespace();
    words.filter_map(|word| word.split_once('.')?.0.parse().ok()).next()
}

/// Whose trouble it is.
pub(crate) fn failure(error: WheelError) -> Failure {
    match error {
        WheelError::NoName { .. }
        | WheelError::Unknown { .. }
        | WheelError::Unlisted { .. }
        | WheelError::Untold { .. }
        | WheelError::Several { .. } => Failure::Usage(error.to_string()),
        WheelError::Harness(error) => error.into(),
        WheelError::NoPlace
        | WheelError::Io { .. }
        | WheelError::NoRoom { .. }
        | WheelError::NoClient { .. }
        | WheelError::NoNetwork { .. }
        | WheelError::Client { .. }
        | WheelError::OtherHash { .. }
        | WheelError::Archive { .. } => Failure::Machine(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::release;

    #[test]
    fn the_drivers_release_is_read_from_its_kernel_module() {
        let text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC version: 12.3.0";
        assert_eq!(release(text), Some(580));
        assert_eq!(release(""), None);
    }
}
