//! The hidden command behind every slot.

use crate::args::Worker;
use crate::failure::Failure;

/// Serves the supervisor on standard input until it is told to quit.
pub(crate) fn run(arguments: &Worker) -> Result<u8, Failure> {
    let options = serde_json::from_str(&arguments.options)
        .map_err(|error| Failure::Usage(format!("--options: {error}; this command is convict's own")))?;
    Ok(worker::serve(options))
}
