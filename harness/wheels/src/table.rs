//! The committed list of published wheels, and which of them a name means. Knows the list; asks no index.

use std::sync::LazyLock;

use case::Version;

use crate::error::WheelError;

/// Written by `data/make.py`.
const LIST: &str = include_str!("../data/published.tsv");

/// From this release on the run-time compiler is inside cuDNN.
const COMPILER_EMBEDDED_SINCE: (u32, u32) = (9, 22);

/// Known versions that are told where another one was asked for, at most.
const TOLD: usize = 4;

/// What a wheel holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Every engine of cuDNN.
    Full,
    /// The engines of cuDNN that are compiled at run time.
    Jit,
    /// cuBLASLt, which full sets need to execute.
    CublasLt,
    /// The run-time compiler.
    Nvrtc,
}

impl Part {
    /// Word for it in names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Jit => "jit",
            Self::CublasLt => "cublaslt",
            Self::Nvrtc => "nvrtc",
        }
    }
}

/// Packages, what is in them, and the CUDA major that they are built for.
const PACKAGES: [(&str, Part, u32); 8] = [
    ("nvidia-cudnn-cu12", Part::Full, 12),
    ("nvidia-cudnn-cu13", Part::Full, 13),
    ("nvidia-cudnn-jit-cu12", Part::Jit, 12),
    ("nvidia-cudnn-jit-cu13", Part::Jit, 13),
    ("nvidia-cublas-cu12", Part::CublasLt, 12),
    ("nvidia-cublas", Part::CublasLt, 13),
    ("nvidia-cuda-nvrtc-cu12", Part::Nvrtc, 12),
    ("nvidia-cuda-nvrtc", Part::Nvrtc, 13),
];

/// A published wheel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wheel {
    /// Its package in the index.
    pub package: String,
    /// All numbers of its version.
    pub version: Version,
    /// Its file name.
    pub file: String,
    /// Bytes to fetch.
    pub bytes: u64,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// What is inside.
    pub part: Part,
    /// CUDA major that it is built for.
    pub cuda: u32,
}

impl Wheel {
    /// How a command line names it: `wheel:9.19.0.56-jit-cu13`.
    #[must_use]
    pub fn name(&self) -> String {
        let part = if self.part == Part::Full { String::new() } else { format!("-{}", self.part.name()) };
        format!("wheel:{}{part}-cu{}", self.version, self.cuda)
    }

    /// Folder of its libraries within what it unpacks to, or within the packages where it is installed.
    #[must_use]
    pub fn libraries(&self) -> &'static str {
        match (self.part, self.cuda) {
            (Part::Full, _) => "nvidia/cudnn/lib",
            (Part::Jit, _) => "nvidia/cudnn_jit/lib",
            (Part::CublasLt, 12) => "nvidia/cublas/lib",
            (Part::Nvrtc, 12) => "nvidia/cuda_nvrtc/lib",
            (Part::CublasLt | Part::Nvrtc, _) => "nvidia/cu13/lib",
        }
    }

    /// The platforms of its file name.
    pub(crate) fn platforms(&self) -> impl Iterator<Item = &str> {
        let stem = self.file.trim_end_matches(".whl");
        stem.rsplit('-').next().unwrap_or_default().split('.')
    }
}

/// A line of the list; a line that is none is passed over, which the list's own test forbids.
fn read(line: &str) -> Option<Wheel> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [package, version, file, bytes, sha256] = fields.as_slice() else { return None };
    let (_, part, cuda) = PACKAGES.iter().find(|(name, ..)| name == package)?;
    Some(Wheel {
        package: (*package).to_owned(),
        version: version.parse().ok()?,
        file: (*file).to_owned(),
        bytes: bytes.parse().ok()?,
        sha256: (*sha256).to_owned(),
        part: *part,
        cuda: *cuda,
    })
}

/// Every wheel that is known, by package, oldest version first.
#[must_use]
pub fn published() -> &'static [Wheel] {
    static WHEELS: LazyLock<Vec<Wheel>> = LazyLock::new(|| LIST.lines().filter_map(read).collect());
    &WHEELS
}

/// What follows `wheel:` on a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// A version or the beginning of one.
    pub version: Version,
    /// Full or JIT.
    pub part: Part,
    /// CUDA major, where it is told.
    pub cuda: Option<u32>,
}

impl Name {
    /// Reads `9.19`, `9.27.0.42-jit`, `9.14.0.64-jit-cu12`.
    ///
    /// # Errors
    /// `NoName` where it is none.
    pub fn parse(text: &str) -> Result<Self, WheelError> {
        let wrong = || WheelError::NoName { text: text.to_owned() };
        let mut words = text.split('-');
        let version = words.next().and_then(|word| word.parse().ok()).ok_or_else(wrong)?;
        let (mut part, mut cuda) = (None, None);
        for word in words {
            let known = match word {
                "jit" => part.replace(Part::Jit).is_none(),
                "full" => part.replace(Part::Full).is_none(),
                "cu12" => cuda.replace(12).is_none(),
                "cu13" => cuda.replace(13).is_none(),
                _ => false,
            };
            if !known {
                return Err(wrong());
            }
        }
        Ok(Self { version, part: part.unwrap_or(Part::Full), cuda })
    }
}

/// The newest published wheel of that name, for that CUDA major where the name tells none.
///
/// # Errors
/// `Unknown`, with the nearest known versions.
pub fn find(name: &Name, cuda: u32) -> Result<&'static Wheel, WheelError> {
    let cuda = name.cuda.unwrap_or(cuda);
    let of_kind = || published().iter().filter(|wheel| wheel.part == name.part && wheel.cuda == cuda);
    of_kind().rfind(|wheel| name.version.begins(&wheel.version)).ok_or_else(|| {
        let older = of_kind().filter(|wheel| wheel.version < name.version).rev().take(TOLD / 2);
        let newer = of_kind().filter(|wheel| wheel.version > name.version).take(TOLD / 2);
        let mut nearest: Vec<&Version> = older.chain(newer).map(|wheel| &wheel.version).collect();
        nearest.sort();
        let nearest: Vec<String> = nearest.into_iter().map(ToString::to_string).collect();
        WheelError::Unknown {
            version: name.version.to_string(),
            kind: format!("{} set for CUDA {cuda}", name.part.name()),
            nearest: nearest.join(", "),
        }
    })
}

/// The companions that a cuDNN wheel needs: the run-time compiler where it brings none, and cuBLASLt for a full set,
/// which planning alone does without.
#[must_use]
pub fn companions(wheel: &Wheel, plans_only: bool) -> Vec<&'static Wheel> {
    let needs_compiler = (wheel.version.number(0), wheel.version.number(1)) < COMPILER_EMBEDDED_SINCE;
    let needs_blas = wheel.part == Part::Full && !plans_only;
    let needed = [(Part::Nvrtc, needs_compiler), (Part::CublasLt, needs_blas)];
    let newest =
        |part: Part| published().iter().rev().find(|other| other.part == part && other.cuda == wheel.cuda);
    needed.into_iter().filter(|(_, needs)| *needs).filter_map(|(part, _)| newest(part)).collect()
}

/// What the packages' own data ask for beside a cuDNN wheel, needed or not: cuDNN asks for cuBLAS, and cuBLAS for
/// NVRTC. A package client that resolves what it installs wants all of it.
/// Source: `Requires-Dist` of the wheels that are listed.
#[must_use]
pub fn dependencies(wheel: &Wheel) -> Vec<&'static Wheel> {
    let newest =
        |part: Part| published().iter().rev().find(|other| other.part == part && other.cuda == wheel.cuda);
    [Part::CublasLt, Part::Nvrtc].into_iter().filter_map(newest).collect()
}

/// The wheel of exactly that package and version.
///
/// # Errors
/// `Unlisted`.
pub(crate) fn exactly(package: &str, version: &Version) -> Result<&'static Wheel, WheelError> {
    let is_it = |wheel: &&Wheel| wheel.package == package && wheel.version == *version;
    published()
        .iter()
        .find(is_it)
        .ok_or_else(|| WheelError::Unlisted { package: package.to_owned(), version: version.to_string() })
}

/// The oldest driver release that serves a CUDA major, for what is built for any minor of it.
/// Source: "CUDA Toolkit and Minimum Required Driver Version for CUDA Minor Version Compatibility" in NVIDIA's release
/// notes of CUDA 13.0, 2025-08.
#[must_use]
pub fn oldest_driver(cuda: u32) -> Option<&'static str> {
    match cuda {
        12 => Some("525.60.13"),
        13 => Some("580"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_among_what_the_packages_ask_for() {
        for wheel in published().iter().filter(|wheel| matches!(wheel.part, Part::Full | Part::Jit)) {
            let asked = dependencies(wheel);
            assert!(companions(wheel, false).iter().all(|needed| asked.contains(needed)), "{wheel:?}");
            assert!(asked.len() == 2 && oldest_driver(wheel.cuda).is_some(), "{wheel:?}");
        }
    }

    fn found(text: &str) -> String {
        find(&Name::parse(text).expect("a name"), 13).expect("a wheel").name()
    }

    #[test]
    fn every_line_of_the_list_is_a_wheel_with_a_name_that_cannot_leave_a_folder() {
        let lines = LIST.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(lines.count(), published().len());
        for wheel in published() {
            let plain =
                |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
            assert!(plain(&wheel.file) && wheel.file.ends_with(".whl"), "{wheel:?}");
            assert!(wheel.sha256.len() == 64 && wheel.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()));
            assert!(wheel.platforms().all(|platform| platform.starts_with("manylinux")), "{wheel:?}");
        }
        for (package, ..) in PACKAGES {
            let versions: Vec<_> = published()
                .iter()
                .filter(|wheel| wheel.package == package)
                .map(|wheel| &wheel.version)
                .collect();
            assert!(!versions.is_empty() && versions.is_sorted(), "{package}");
        }
    }

    #[test]
    fn a_name_means_the_newest_wheel_that_it_begins() {
        assert_eq!(found("9.19.0.56"), "wheel:9.19.0.56-cu13");
        assert_eq!(found("9.19"), "wheel:9.19.1.2-cu13");
        assert_eq!(found("9.27.0.42-jit"), "wheel:9.27.0.42-jit-cu13");
        assert_eq!(found("9.14.0.64-cu12-jit"), "wheel:9.14.0.64-jit-cu12");
        assert_eq!(found("9.1-cu12"), "wheel:9.1.1.17-cu12");
        for text in ["", "jit", "9.19-jitt", "9.19-jit-jit", "9.19-cu14", "9.19-jit-full", "../9.19"] {
            assert!(matches!(Name::parse(text), Err(WheelError::NoName { .. })), "{text}");
        }
    }

    #[test]
    fn an_unknown_version_is_told_with_its_neighbours() {
        let name = Name::parse("9.15.0.1-jit").expect("a name");
        let words = find(&name, 13).expect_err("no such wheel").to_string();
        assert!(words.contains("9.13.1.26, 9.14.0.64, 9.15.1.9, 9.16.0.29"), "{words}");
    }

    #[test]
    fn companions_are_those_that_the_version_and_the_engines_ask_for() {
        let parts = |text: &str, plans_only: bool| {
            let wheel = find(&Name::parse(text).expect("a name"), 13).expect("a wheel");
            companions(wheel, plans_only).iter().map(|wheel| wheel.part).collect::<Vec<_>>()
        };
        assert_eq!(parts("9.19-jit", false), [Part::Nvrtc]);
        assert_eq!(parts("9.19", false), [Part::Nvrtc, Part::CublasLt]);
        assert_eq!(parts("9.19", true), [Part::Nvrtc]);
        assert_eq!(parts("9.27-jit", false), []);
        assert_eq!(parts("9.28", false), [Part::CublasLt]);
    }
}
