//! The built-in profiles, one a row of `data/profiles.json`. Knows the table; completes nothing.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::DeviceError;

const TABLE: &str = include_str!("../data/profiles.json");

/// The table's form.
const FORMAT: u32 = 1;

/// A device as it is sold, or as one was read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Short name, such as `h200`.
    pub name: String,
    /// Architecture, compute capability times 10: 90 is sm_90.
    pub arch: u32,
    /// Where the figures are from.
    pub source: String,
    /// When they were taken down, `YYYY-MM-DD`.
    pub date: String,
    /// Keys whose values stand in no source.
    pub assumed: Vec<String>,
    /// The properties by cuDNN's keys.
    pub properties: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    format: u32,
    profiles: Vec<Profile>,
}

/// Every profile, oldest architecture first; the first one of an architecture stands for it.
///
/// # Errors
/// A damaged table, which a test excludes.
pub fn profiles() -> Result<Vec<Profile>, DeviceError> {
    let damaged = |error: String| DeviceError::Table(error);
    let table: Table = serde_json::from_str(TABLE).map_err(|error| damaged(error.to_string()))?;
    if table.format == FORMAT { Ok(table.profiles) } else { Err(damaged(format!("format {}", table.format))) }
}

impl Profile {
    /// The profile that a word names: `sm_90`, or the name of a row.
    ///
    /// # Errors
    /// A word that names none.
    pub fn named(word: &str) -> Result<Self, DeviceError> {
        let all = profiles()?;
        let known = || {
            let words = all.iter().map(|profile| format!("sm_{} ({})", profile.arch, profile.name));
            words.collect::<Vec<_>>().join(", ")
        };
        let fits = |profile: &&Self| profile.name == word || format!("sm_{}", profile.arch) == word;
        let found = all.iter().find(fits).cloned();
        found.ok_or_else(|| DeviceError::Unknown { word: word.chars().take(64).collect(), known: known() })
    }

    /// The first profile of an architecture.
    ///
    /// # Errors
    /// A damaged table.
    pub fn of(arch: u32) -> Result<Option<Self>, DeviceError> {
        Ok(profiles()?.into_iter().find(|profile| profile.arch == arch))
    }
}
