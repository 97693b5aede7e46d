//! The values of thresholds: releases, capabilities, amounts of memory, names of sets. Knows how each is written;
//! compares nothing with a machine but a set.

use std::fmt;
use std::str::FromStr;

use case::{Environment, LibraryConfiguration, Version};

/// A release of a driver, of CUDA or of cuDNN: numbers between dots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(Version);

impl Release {
    /// The release that cuDNN told.
    pub(super) fn of_cudnn(environment: &Environment) -> Self {
        Self::told(&environment.cudnn_text())
    }

    /// The CUDA that the driver serves: `13.0`.
    pub(super) fn of_driver_cuda(environment: &Environment) -> Self {
        Self::told(&environment.driver_cuda_text())
    }

    /// What is told; older than any where that is nothing.
    fn told(text: &str) -> Self {
        Self(text.parse().unwrap_or_default())
    }

    /// True where every number of this one begins the other: `9.19` begins `9.19.1`.
    #[must_use]
    pub fn begins(&self, other: &Self) -> bool {
        self.0.begins(&other.0)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Release {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|()| {
            format!("'{}' is no version: write numbers between dots, such as 9.19", shown(text))
        })
    }
}

/// A compute capability, major * 10 + minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capability(pub u32);

impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.0 / 10, self.0 % 10)
    }
}

impl FromStr for Capability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let numbers = text.split_once('.').filter(|(major, minor)| plain(major) && plain(minor));
        let numbers = numbers.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        match numbers {
            Some((major @ 1..100, minor @ 0..10)) => Ok(Self(major * 10 + minor)),
            Some::<(u32, u32)>(_) | None => {
                Err(format!("'{}' is no compute capability: write it as 8.0 or 9.0", shown(text)))
            }
        }
    }
}

/// An amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// Units with their bytes, the longest names first.
const UNITS: [(&str, u64); 10] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

/// Digits after the point that count.
const FRACTION: usize = 6;

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        let Some((name, unit)) = named.into_iter().find(|(_, unit)| self.0 >= *unit) else {
            return write!(formatter, "{} B", self.0);
        };
        // Rounded down, so that nothing reads as what it falls short of.
        let tenths = u128::from(self.0) * 10 / u128::from(unit);
        match (tenths / 10, tenths % 10) {
            (whole, 0) => write!(formatter, "{whole} {name}"),
            (whole, tenth) => write!(formatter, "{whole}.{tenth} {name}"),
        }
    }
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "'{}' is no amount of memory: write a number and a unit, such as 10GiB or 512MiB",
                shown(text)
            )
        };
        let (number, unit) = UNITS
            .into_iter()
            .find_map(|(name, unit)| text.strip_suffix(name).map(|number| (number.trim_end(), unit)))
            .or_else(|| (text == "0").then_some((text, 1)))
            .ok_or_else(wrong)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !plain(whole) || !plain(fraction) || fraction.len() > FRACTION {
            return Err(wrong());
        }
        let scale = 10_u128.pow(u32::try_from(fraction.len()).unwrap_or(0));
        let parts: Option<(u128, u128)> = whole
            .parse::<u64>()
            .ok()
            .zip(fraction.parse::<u64>().ok())
            .map(|(whole, fraction)| (u128::from(whole), u128::from(fraction)));
        let (whole, fraction) = parts.ok_or_else(wrong)?;
        let bytes = whole * u128::from(unit) + fraction * u128::from(unit) / scale;
        u64::try_from(bytes).map(Self).map_err(|_| wrong())
    }
}

/// The name of library sets: a version or its beginning, and a configuration, full where none is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetName {
    release: Release,
    configuration: LibraryConfiguration,
}

impl SetName {
    /// True where the machine's set is one of that name.
    pub(super) fn takes(&self, environment: &Environment) -> bool {
        environment.configuration == Some(self.configuration)
            && self.release.begins(&Release::of_cudnn(environment))
    }
}

impl fmt::Display for SetName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.release, self.configuration.name())
    }
}

impl FromStr for SetName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (release, configuration) = match text.split_once('-') {
            None => (text, Some(LibraryConfiguration::Full)),
            Some((release, "full")) => (release, Some(LibraryConfiguration::Full)),
            Some((release, "jit")) => (release, Some(LibraryConfiguration::GraphJitOnly)),
            Some((release, _)) => (release, None),
        };
        match (release.parse(), configuration) {
            (Ok(release), Some(configuration)) => Ok(Self { release, configuration }),
            (Ok(_) | Err(_), _) => Err(format!(
                "'{}' is no name of a library set: write a version and what it is, such as 9.19, 9.19.0-full or \
                 9.27-jit",
                shown(text)
            )),
        }
    }
}

/// Text from outside, short and printable.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}
