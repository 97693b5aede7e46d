//! Versions as numbers between dots, and the ways in which cuDNN and CUDA write them as one number. Knows arithmetic;
//! reads no file.

use std::fmt;

use serde::{Serialize, Serializer};

/// Most numbers of a version, and most digits of one.
const NUMBERS_MAX: usize = 6;
const DIGITS_MAX: usize = 9;

/// Numbers from the most to the least significant: `9.19.0.56`. Printed with the digits that it was read with, since a
/// driver's release is `580.159.04`; those make no difference between two versions.
#[derive(Clone, Debug)]
pub struct Version {
    numbers: Vec<u32>,
    digits: Vec<usize>,
}

impl Version {
    /// A version of those numbers.
    #[must_use]
    pub fn new(numbers: &[u32]) -> Self {
        Self { numbers: numbers.to_vec(), digits: vec![1; numbers.len()] }
    }

    /// Reads digits and dots alone.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = |part: &str| {
            let plain =
                (1..=DIGITS_MAX).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| part.parse().ok()).flatten()
        };
        let parts = || text.split('.').take(NUMBERS_MAX + 1);
        let numbers: Option<Vec<u32>> = parts().map(number).collect();
        let numbers = numbers.filter(|numbers| numbers.len() <= NUMBERS_MAX)?;
        Some(Self { numbers, digits: parts().map(str::len).collect() })
    }

    /// Reads the version that a text begins with: `9.14.0.64-1`, `2.11.0+cu130`, `12.4.1~rc1`.
    #[must_use]
    pub fn leading(text: &str) -> Option<Self> {
        let end = text.find(|character: char| !character.is_ascii_digit() && character != '.');
        Self::parse(text[..end.unwrap_or(text.len())].trim_end_matches('.'))
    }

    /// What `cudnnGetVersion` gives: 8905 is 8.9.5, 90100 is 9.1.0.
    #[must_use]
    pub fn of_cudnn(number: u64) -> Option<Self> {
        // 8.x counts MAJOR * 1000 + MINOR * 100 + PATCH, 9.x and later MAJOR * 10000 + MINOR * 100 + PATCH.
        let unit = if number >= 10_000 { 10_000 } else { 1_000 };
        let numbers = [number / unit, number % unit / 100, number % 100].map(u32::try_from);
        let [Ok(major), Ok(minor), Ok(patch)] = numbers else { return None };
        ((1..1000).contains(&major)).then(|| Self::new(&[major, minor, patch]))
    }

    /// What `cudart` and the driver give: 12040 is 12.4.
    #[must_use]
    pub fn of_cuda(number: u64) -> Option<Self> {
        let (major, minor) = (u32::try_from(number / 1000).ok()?, u32::try_from(number % 1000 / 10).ok()?);
        ((1..1000).contains(&major)).then(|| Self::new(&[major, minor]))
    }

    /// The four bytes that a part of cuDNN 9 exports as its version: patch, minor, major, 0.
    #[must_use]
    pub fn of_packed([patch, minor, major, zero]: [u8; 4]) -> Option<Self> {
        let plausible = zero == 0 && (7..=40).contains(&major);
        plausible.then(|| Self::new(&[major.into(), minor.into(), patch.into()]))
    }

    /// The number at that place, 0 where it is left out.
    #[must_use]
    pub fn number(&self, place: usize) -> u32 {
        self.numbers.get(place).copied().unwrap_or(0)
    }

    /// How many numbers there are.
    #[must_use]
    pub fn places(&self) -> usize {
        self.numbers.len()
    }

    /// The first numbers alone: what a library tells of itself are three, what names a series two.
    #[must_use]
    pub fn short(&self, places: usize) -> Self {
        Self {
            numbers: self.numbers.iter().take(places).copied().collect(),
            digits: self.digits.iter().take(places).copied().collect(),
        }
    }

    /// True where both say the same as far as both speak.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        self.numbers.iter().zip(&other.numbers).all(|(one, two)| one == two)
    }

    /// Compares with missing numbers as 0.
    #[must_use]
    pub fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let places = self.numbers.len().max(other.numbers.len());
        let padded = |version: &Self| (0..places).map(|place| version.number(place)).collect::<Vec<_>>();
        padded(self).cmp(&padded(other))
    }

    /// True from that version on.
    #[must_use]
    pub fn at_least(&self, other: &Self) -> bool {
        self.compare(other).is_ge()
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.numbers == other.numbers
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.numbers.cmp(&other.numbers)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.numbers.iter().zip(&self.digits);
        let numbers: Vec<String> = numbers.map(|(number, digits)| format!("{number:0digits$}")).collect();
        formatter.write_str(&numbers.join("."))
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Version {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("{text} is no version")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_cudnn_is_read_by_the_formula_of_its_major_version() {
        let text = |number| Version::of_cudnn(number).map(|version| version.to_string());
        assert_eq!(text(8905).as_deref(), Some("8.9.5"));
        assert_eq!(text(8907).as_deref(), Some("8.9.7"));
        assert_eq!(text(7605).as_deref(), Some("7.6.5"));
        assert_eq!(text(90100).as_deref(), Some("9.1.0"));
        assert_eq!(text(91900).as_deref(), Some("9.19.0"));
        assert_eq!(text(92801).as_deref(), Some("9.28.1"));
        assert_eq!(text(100_203).as_deref(), Some("10.2.3"));
        assert_eq!((text(0), text(u64::MAX)), (None, None));
    }

    #[test]
    fn a_number_of_cuda_and_packed_bytes_are_read() {
        assert_eq!(Version::of_cuda(12040), Version::parse("12.4"));
        assert_eq!(Version::of_cuda(13000), Version::parse("13.0"));
        assert_eq!(Version::of_packed([0, 19, 9, 0]), Version::parse("9.19.0"));
        assert_eq!((Version::of_packed([0, 19, 9, 1]), Version::of_packed([0; 4])), (None, None));
    }

    #[test]
    fn a_version_is_read_from_names_and_compared_as_numbers() {
        assert_eq!(Version::leading("9.14.0.64-1"), Version::parse("9.14.0.64"));
        assert_eq!(Version::leading("2.11.0+cu130"), Version::parse("2.11.0"));
        assert_eq!(Version::leading("2.11.0.dev1"), Version::parse("2.11.0"));
        let driver = Version::parse("580.159.04").expect("a version");
        assert_eq!((driver.to_string().as_str(), driver.number(2)), ("580.159.04", 4));
        assert_eq!(driver, Version::new(&[580, 159, 4]));
        for text in ["", "9.", "9.x", "+9", "9..1", "9999999999", "1.1.1.1.1.1.1"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
        let version = |text| Version::parse(text).expect("a version");
        assert!(
            version("9.9.0").compare(&version("9.19")).is_lt() && version("9.1").at_least(&version("9.1.0"))
        );
        assert!(version("9.19.0").agrees(&version("9.19.0.56")) && !version("9.1").agrees(&version("9.19")));
    }
}
