//! What a library set is, as far as expectations ask. Data only.

use case::{Environment, LibraryConfiguration};
use serde::{Deserialize, Serialize};

use crate::version::Version;

/// Which kind of library set an expectation names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Configuration {
    /// A real cuDNN with its precompiled engines.
    Full,
    /// A real cuDNN with run-time-compiled engines only.
    Jit,
    /// The simulator. What it shows says nothing of a real library, nor the other way round.
    Simulator,
}

/// A library set on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetFacts {
    /// Name that pinned engines refer to, such as `9.19.0-full`.
    pub name: String,
    /// cuDNN's version.
    pub version: Version,
    /// Which engines it has, and whether it is real; absent where a real library did not tell.
    pub configuration: Option<Configuration>,
    /// Such as `sm_90`.
    pub architecture: String,
}

impl SetFacts {
    /// The set and device of an environment.
    ///
    /// # Errors
    /// A version that is none, in one line.
    pub fn of(environment: &Environment, simulated: bool) -> Result<Self, String> {
        let configuration = match environment.configuration {
            _ if simulated => Some(Configuration::Simulator),
            Some(LibraryConfiguration::Full) => Some(Configuration::Full),
            Some(LibraryConfiguration::GraphJitOnly) => Some(Configuration::Jit),
            None => None,
        };
        Ok(Self {
            name: environment.set(),
            version: environment.cudnn_text().parse()?,
            configuration,
            architecture: format!("sm_{}", environment.compute_capability),
        })
    }

    /// True on the simulator.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.configuration == Some(Configuration::Simulator)
    }
}
