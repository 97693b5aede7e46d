//! `convict verify`: whether a bundle is whole and unaltered. Names every trouble; runs nothing of the
//! bundle.

use crate::args::Verify;
use crate::failure::{CLEAN, Failure, REFUSED};

/// Prints one line a trouble, or that there is none.
pub(crate) fn run(arguments: &Verify) -> Result<u8, Failure> {
    let folder = &arguments.bundle;
    let troubles = reports::verify(folder);
    for trouble in &troubles {
        eprintln!("convict: {}: {trouble}", folder.display());
    }
    if !troubles.is_empty() {
        return Ok(REFUSED);
    }
    let bundle = reports::read(folder).map_err(|error| Failure::Usage(error.to_string()))?;
    println!("{}", bundle.verdict.title);
    println!("whole: {} files, form {}", bundle.hashes.len(), bundle.verdict.format);
    Ok(CLEAN)
}
