//! Versions of cuDNN as people write them. Knows order; knows no release.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One to three numbers, such as `9.19` or `9.19.0`. What is left out counts as 0, but is printed as it was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version(Vec<u32>);

impl Version {
    fn part(&self, index: usize) -> u32 {
        self.0.get(index).copied().unwrap_or(0)
    }

    fn parts(&self) -> [u32; 3] {
        [self.part(0), self.part(1), self.part(2)]
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(&other.parts())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            write!(formatter, "{dot}{part}")?;
        }
        Ok(())
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{}' is no version of 1 to 3 numbers, such as 9.19.0", text.escape_debug());
        let number = |part: &str| {
            let plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            // `09` and `9` must not be two spellings of one version.
            let canonical = part == "0" || !part.starts_with('0');
            if plain && canonical { part.parse::<u32>().ok() } else { None }
        };
        let parts: Option<Vec<u32>> = text.split('.').map(number).collect();
        match parts {
            Some(parts) if (1..=3).contains(&parts.len()) => Ok(Self(parts)),
            Some(_) | None => Err(wrong()),
        }
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().expect("a version")
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_what_is_left_out_is_zero() {
        assert!(version("9.9") < version("9.10"));
        assert!(version("9") == version("9.0.0"));
        assert!(version("8.9.7") < version("9"));
        assert_eq!(version("9.19").to_string(), "9.19");
    }

    #[test]
    fn what_is_no_version_is_refused_in_one_line() {
        for text in ["", "9.", ".9", "9.1.2.3", "9.x", "09.1", "9.-1", "9.99999999999", " 9"] {
            let error = text.parse::<Version>().expect_err(text);
            assert!(
                error.contains("is no version of 1 to 3 numbers") && error.lines().count() == 1,
                "{error}"
            );
        }
    }
}
