//! What was measured or published of versions: parts of a set, least drivers, pins, build-ids, variables. Knows data
//! files, each row with its source and date; judges nothing.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::version::Version;

/// Which parts a version consists of.
#[derive(Debug, Deserialize)]
pub struct Set {
    /// First version of the row.
    pub since: Version,
    /// First version after it.
    pub until: Option<Version>,
    /// Parts of the full set.
    pub parts: Vec<String>,
    /// Parts of the set that compiles all engines at run time.
    pub jit: Vec<String>,
    /// Parts that its core opens by name although no set of that version ships them.
    pub asks: Vec<String>,
    /// Where the run-time compiler is: `external` or `inside`.
    pub compiler: String,
    /// Where this is known from.
    pub source: String,
    /// When that was looked at.
    pub date: String,
}

/// The least driver of a CUDA major.
#[derive(Debug, Deserialize)]
pub struct LeastDriver {
    /// First CUDA of the major.
    pub cuda: Version,
    /// The least driver.
    pub driver: Version,
    /// What that means.
    pub what: String,
    /// Where this is known from.
    pub source: String,
    /// When that was looked at.
    pub date: String,
}

/// The CUDA that a driver release serves.
#[derive(Debug, Deserialize)]
pub struct Served {
    /// First number of the release.
    pub driver: Version,
    /// Highest CUDA.
    pub cuda: Version,
    /// Where this is known from.
    pub source: String,
    /// When that was looked at.
    pub date: String,
}

/// What releases of a framework pin.
#[derive(Debug, Deserialize)]
pub struct Pinned {
    /// Name of its package.
    pub framework: String,
    /// Its releases.
    pub versions: Vec<Version>,
    /// cuDNN that it pins.
    pub cudnn: Version,
    /// CUDA that it is built for.
    pub cuda: Version,
    /// Where this is known from.
    pub source: String,
    /// When that was looked at.
    pub date: String,
}

/// What the packages of a framework ask for, of releases whose metadata was read.
#[derive(Debug, Deserialize)]
pub struct Framework {
    /// Name of the package.
    pub package: String,
    /// Its releases.
    pub versions: Vec<Version>,
    /// CUDA that it is built for, or the first that it takes.
    pub cuda: Version,
    /// Requirements of NVIDIA's packages.
    pub requires: Vec<String>,
    /// The extras by which they are asked for.
    pub extra: String,
    /// Where this is known from.
    pub source: String,
    /// When that was looked at.
    pub date: String,
}

/// A file of a known build.
#[derive(Debug, Deserialize)]
pub struct Build {
    /// Its build-id.
    pub build_id: String,
    /// Its name.
    pub file: String,
    /// The version that it belongs to.
    pub version: Version,
    /// Where this is known from.
    pub source: String,
    /// When that was looked at.
    pub date: String,
}

/// An environment variable that changes what libraries do.
#[derive(Debug, Deserialize)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// What it does.
    pub says: String,
    /// Where this is known from.
    pub source: String,
    /// When that was looked at.
    pub date: String,
}

macro_rules! table {
    ($(#[$doc:meta])* $name:ident, $row:ty, $file:literal) => {
        $(#[$doc])*
        pub fn $name() -> &'static [$row] {
            static ROWS: LazyLock<Vec<$row>> =
                LazyLock::new(|| serde_json::from_str(include_str!(concat!("../data/", $file))).unwrap_or_default());
            &ROWS
        }
    };
}

table!(
    /// Parts of sets, oldest first.
    sets, Set, "sets.json"
);
table!(
    /// Least drivers.
    least_drivers, LeastDriver, "drivers.json"
);
table!(
    /// CUDA by driver release, oldest first.
    served, Served, "served.json"
);
table!(
    /// Pins of frameworks.
    pins, Pinned, "pins.json"
);
table!(
    /// Requirements of frameworks.
    frameworks, Framework, "frameworks.json"
);
table!(
    /// Known builds.
    builds, Build, "builds.json"
);
table!(
    /// Variables that switch behaviour.
    switches, Switch, "variables.json"
);

/// The row of a cuDNN version.
#[must_use]
pub fn set_of(version: &Version) -> Option<&'static Set> {
    sets().iter().find(|set| {
        version.at_least(&set.since) && set.until.as_ref().is_none_or(|until| version.compare(until).is_lt())
    })
}

/// The version that a build-id is known to belong to.
#[must_use]
pub fn version_of_build(build_id: &str) -> Option<&'static Version> {
    builds().iter().find(|build| build.build_id == build_id).map(|build| &build.version)
}

/// The highest CUDA that a driver release serves; the last row for newer ones, which serve at least that.
#[must_use]
pub fn cuda_of_driver(driver: &Version) -> Option<&'static Version> {
    served().iter().rfind(|row| driver.at_least(&row.driver)).map(|row| &row.cuda)
}

/// The least driver of a CUDA major.
#[must_use]
pub fn least_driver(cuda_major: u32) -> Option<&'static LeastDriver> {
    least_drivers().iter().find(|row| row.cuda.number(0) == cuda_major)
}

/// What a release of a framework is known to pin.
#[must_use]
pub fn pinned(framework: &str, version: &Version) -> Option<&'static Pinned> {
    let released = version.short(3);
    pins().iter().find(|row| row.framework == framework && row.versions.contains(&released))
}

/// What a release of a framework's package is known to ask for.
#[must_use]
pub fn framework(package: &str, version: &Version) -> Option<&'static Framework> {
    let released = version.short(3);
    frameworks().iter().find(|row| row.package == package && row.versions.contains(&released))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_has_a_source_and_a_date() {
        let told = |source: &str, date: &str| {
            let dated = date.len() == 10
                && date.starts_with("20")
                && date.bytes().filter(|byte| *byte == b'-').count() == 2;
            assert!(source.len() > 10 && dated, "{source} {date}");
        };
        sets().iter().for_each(|row| told(&row.source, &row.date));
        least_drivers().iter().for_each(|row| told(&row.source, &row.date));
        served().iter().for_each(|row| told(&row.source, &row.date));
        pins().iter().for_each(|row| told(&row.source, &row.date));
        frameworks().iter().for_each(|row| told(&row.source, &row.date));
        builds().iter().for_each(|row| told(&row.source, &row.date));
        switches().iter().for_each(|row| told(&row.source, &row.date));
        let counts = [
            sets().len(),
            least_drivers().len(),
            served().len(),
            pins().len(),
            frameworks().len(),
            builds().len(),
            switches().len(),
        ];
        assert!(counts.iter().all(|count| *count >= 3), "{counts:?}");
    }

    #[test]
    fn rows_follow_each_other_without_gap_and_rise() {
        for pair in sets().windows(2) {
            assert_eq!(pair[0].until.as_ref(), Some(&pair[1].since));
        }
        assert!(sets().iter().all(|set| set.jit.iter().all(|part| set.parts.contains(part))));
        assert!(sets().iter().all(|set| ["external", "inside"].contains(&set.compiler.as_str())));
        for pair in served().windows(2) {
            assert!(pair[0].driver < pair[1].driver && pair[0].cuda < pair[1].cuda);
        }
        assert!(
            builds()
                .iter()
                .all(|build| build.build_id.len() == 40 && crate::family::read(&build.file).is_some())
        );
    }

    #[test]
    fn versions_find_their_rows() {
        let version = |text| Version::parse(text).expect("a version");
        let parts = |text| set_of(&version(text)).map_or(0, |set| set.parts.len());
        assert_eq!((parts("8.9.7"), parts("9.19.0"), parts("9.28.1"), parts("7.6.5")), (7, 8, 10, 0));
        assert_eq!(
            set_of(&version("9.20.0.48")).map(|set| set.asks.clone()),
            Some(vec!["engines_tensor_ir".to_owned()])
        );
        assert_eq!(cuda_of_driver(&version("580.159.04")), Some(&version("13.0")));
        assert_eq!(cuda_of_driver(&version("525.60.13")), Some(&version("12.0")));
        assert_eq!(cuda_of_driver(&version("390.1")), None);
        assert_eq!(
            pinned("torch", &version("2.11.0")).map(|row| row.cudnn.to_string()).as_deref(),
            Some("9.19.0.56")
        );
    }
}
