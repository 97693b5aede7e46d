//! A version as numbers between dots. Knows order and beginnings; knows no package.

use std::fmt;
use std::str::FromStr;

/// Most numbers of a version.
const NUMBERS_MAX: usize = 6;

/// Numbers from the most to the least significant: `9.19.0.56`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(Vec<u32>);

impl Version {
    /// True where every number of this one begins the other: `9.19` begins `9.19.0.56`.
    #[must_use]
    pub fn begins(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The number at that place, 0 where it is left out.
    #[must_use]
    pub fn number(&self, place: usize) -> u32 {
        self.0.get(place).copied().unwrap_or(0)
    }

    /// This version without what a library does not tell of itself: its first three numbers.
    #[must_use]
    pub fn release(&self) -> Self {
        Self(self.0.iter().take(3).copied().collect())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        formatter.write_str(&numbers.join("."))
    }
}

impl FromStr for Version {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let number = |part: &str| {
            let plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            if plain { part.parse().map_err(|_| ()) } else { Err(()) }
        };
        let numbers = text.split('.').take(NUMBERS_MAX + 1).map(number).collect::<Result<Vec<u32>, ()>>()?;
        if numbers.len() > NUMBERS_MAX { Err(()) } else { Ok(Self(numbers)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().expect("a version")
    }

    #[test]
    fn versions_are_ordered_by_number_and_begin_longer_ones() {
        assert!(version("9.9.0.52") < version("9.12.0.46") && version("9.19") < version("9.19.0.56"));
        assert!(version("9.1").begins(&version("9.1.0.70")) && !version("9.1").begins(&version("9.19.0.56")));
        assert_eq!(version("9.19.0.56").release(), version("9.19.0"));
        for text in ["", "9.", "9.x", "+9.1", "9..1", "99999999999.1", "1.1.1.1.1.1.1"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
