//! The file form of a fault script: a list of faults, or an object that also says which version the library claims to
//! be. Knows JSON; brings nothing about.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::Fault;
use crate::backend::VERSION;

/// What a script file says.
#[derive(Debug)]
pub(super) struct Text {
    /// As `cudnnGetVersion()` tells it.
    pub(super) version: usize,
    /// What goes wrong.
    pub(super) faults: Vec<Fault>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    #[serde(default = "usual", deserialize_with = "version")]
    version: usize,
    #[serde(default)]
    faults: Vec<Fault>,
}

fn usual() -> usize {
    VERSION
}

/// Reads the text of a script. Which of the two forms it has is told by its first sign, so that an error is about the
/// form that was meant.
pub(super) fn parse(text: &str) -> Result<Text, serde_json::Error> {
    if text.trim_start().starts_with('{') {
        let Object { version, faults } = serde_json::from_str(text)?;
        return Ok(Text { version, faults });
    }
    Ok(Text { version: VERSION, faults: serde_json::from_str(text)? })
}

/// `9.15.0` by the formula of cuDNN 9.
fn version<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    let text = String::deserialize(from)?;
    let numbers: Option<Vec<usize>> = text.split('.').map(|part| part.parse().ok()).collect();
    match numbers.as_deref() {
        Some([9, minor @ 0..100, patch @ 0..100]) => Ok(90_000 + minor * 100 + patch),
        _ => Err(D::Error::custom(format!(
            "'{text}' is no version that the simulator can play: 9.MINOR.PATCH"
        ))),
    }
}
