//! `convict verify`: whether a bundle is whole and unaltered. Names every trouble; runs nothing of the
//! bundle.

use crate::args::Verify;
use crate::failure::{CLEAN, Failure, REFUSED};
use crate::screen::{errln, outln};

/// Prints one line a trouble, or that there is none.
pub(crate) fn run(arguments: &Verify) -> Result<u8, Failure> {
    let folder = &arguments.bundle;
    let troubles = reports::verify(folder);
    for trouble in &troubles {
        errln!("convict: {}: {trouble}", folder.display());
    }
    if !troubles.is_empty() {
        return Ok(REFUSED);
    }
    let bundle = reports::read(folder).map_err(|error| Failure::Usage(error.to_string()))?;
    outln!("{}", bundle.verdict.title);
    outln!("whole: {} files, form {}", bundle.hashes.len(), bundle.verdict.format);
    Ok(CLEAN)
}
