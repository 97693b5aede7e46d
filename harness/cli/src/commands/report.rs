//! `convict report`: what follows from a bundle's data made anew. Leaves the data, the program and the logs alone.

use reports::BundleError;

use crate::args::Report;
use crate::failure::{CLEAN, Failure};
use crate::screen::outln;

/// Renders the bundle and names both forms of its page.
pub(crate) fn run(arguments: &Report) -> Result<u8, Failure> {
    let folder = &arguments.bundle;
    reports::rerender(folder).map_err(|error| {
        let line = format!("{}: {error}", folder.display());
        if let BundleError::Template(_) = error { Failure::Ours(line) } else { Failure::Usage(line) }
    })?;
    for name in [reports::PAGE, reports::REPORT] {
        outln!("{}", folder.join(name).display());
    }
    Ok(CLEAN)
}
