//! Renders `run.sh` and the page that says how to use it. Knows nothing that could need quoting: their only values are
//! words and numbers of ours.

use case::Kind;
use minijinja::{Environment, context};

use crate::finding::Finding;
use crate::simulated::{self, is_simulated};

/// Time limit of one run, seconds: plans that compile kernels take a few, a large reference takes minutes.
const LIMIT_SECONDS: u32 = 300;

/// The same for a hang, where every run reaches it.
const LIMIT_SECONDS_HANG: u32 = 90;

/// The script's text.
///
/// # Errors
/// A template that does not render: our own trouble.
pub(crate) fn render(finding: &Finding<'_>) -> Result<String, minijinja::Error> {
    let kind = finding.fault.sameness.kind;
    let stops_process = if matches!(kind, Kind::Crash | Kind::Hang) { "yes" } else { "no" };
    let limit_seconds = if kind == Kind::Hang { LIMIT_SECONDS_HANG } else { LIMIT_SECONDS };
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.add_template("run.sh", include_str!("../templates/run.sh"))?;
    let mut script = environment.get_template("run.sh")?.render(context! {
        stops_process,
        limit_seconds,
        plans_only => finding.environment.plans_only,
        cudart_major => finding.environment.cudart / 1000,
        driver_version => finding.environment.cudart / 1000 * 1000,
    })?;
    script.push('\n');
    Ok(script)
}

/// What each file of the bundle is, and how the program is run.
///
/// # Errors
/// A template that does not render: our own trouble.
pub(crate) fn readme(finding: &Finding<'_>) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.add_template("README.md", include_str!("../templates/README.md"))?;
    let text = environment.get_template("README.md")?.render(context! {
        simulated => is_simulated(finding.environment),
        plans_only => finding.environment.plans_only,
        banner => simulated::BANNER,
        run => simulated::RUN,
        folder => simulated::FOLDER,
    })?;
    Ok(text + "\n")
}
