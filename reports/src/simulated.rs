//! What a bundle says that was made on the simulator, where nothing accuses cuDNN. Knows how such a bundle is told from
//! others and how its program is run.

use case::Environment;

/// Name that the simulator's driver gives its device.
const DEVICE: &str = "convict simulator";

/// Word in front of every title.
pub(crate) const TAG: &str = "SIMULATED";

/// The sentence at the top of the report.
pub(crate) const BANNER: &str = "SIMULATED: made on convict's simulator, with a fault that was planted there. It is not \
                                 a bug of cuDNN and says nothing of any GPU.";

/// The sentence at the top of an issue's text.
pub(crate) const ISSUE: &str = "SIMULATED, not a bug of cuDNN: do not send. It was made on convict's simulator, with a \
                                fault that was planted there.";

/// How the program is run there.
pub(crate) const RUN: &str = "sh run.sh FOLDER --driver FOLDER/libcuda.so.1";

/// What the folder in [`RUN`] is.
pub(crate) const FOLDER: &str =
    "FOLDER is the simulator's, named like convict-simulator-0123456789abcdef, beside the convict program.";

/// True where no GPU and no cuDNN was there.
#[must_use]
pub fn is_simulated(environment: &Environment) -> bool {
    environment.gpu == DEVICE
}

/// The driver's version, or why there is none.
pub(crate) fn driver(environment: &Environment) -> &str {
    match (environment.driver.as_str(), is_simulated(environment)) {
        ("", true) => "the simulator's",
        ("", false) => "unknown",
        (version, _) => version,
    }
}
