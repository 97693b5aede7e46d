//! The hidden command that becomes a compiler or a stand-alone program and ends with the supervisor.

use crate::args::Kept;
use crate::failure::Failure;
use crate::screen::errln;

/// Returns only where the program can't be started.
pub(crate) fn run(arguments: &Kept) -> Result<u8, Failure> {
    let error = exec::become_kept(arguments.parent, &arguments.program);
    errln!("{error}");
    Ok(exec::NOT_STARTED)
}
