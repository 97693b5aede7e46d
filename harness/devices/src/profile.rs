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
    /// The profile that a word names: `sm_90`, or the name of a row such as `h100`, in any case of letters.
    ///
    /// # Errors
    /// A word that names none.
    pub fn named(word: &str) -> Result<Self, DeviceError> {
        let all = profiles()?;
        let lower = word.to_ascii_lowercase();
        let fits = |profile: &&Self| profile.name == lower || format!("sm_{}", profile.arch) == lower;
        let found = all.iter().find(fits).cloned();
        found
            .ok_or_else(|| DeviceError::Unknown { word: word.chars().take(64).collect(), known: known(&all) })
    }

    /// The first profile of an architecture.
    ///
    /// # Errors
    /// A damaged table.
    pub fn of(arch: u32) -> Result<Option<Self>, DeviceError> {
        Ok(profiles()?.into_iter().find(|profile| profile.arch == arch))
    }
}

/// Every architecture with its devices, the one that stands for it first: `sm_90 (h200, h100)`.
fn known(all: &[Profile]) -> String {
    let mut arches: Vec<u32> = all.iter().map(|profile| profile.arch).collect();
    arches.dedup();
    let words = arches.into_iter().map(|arch| {
        let names: Vec<&str> =
            all.iter().filter(|profile| profile.arch == arch).map(|profile| profile.name.as_str()).collect();
        format!("sm_{arch} ({})", names.join(", "))
    });
    words.collect::<Vec<_>>().join(", ")
}
