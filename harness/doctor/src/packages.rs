//! Python packages: what is installed, what frameworks were built for, and what they pin. Knows the files of installed
//! distributions; imports nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::source::Source;
use crate::tables;
use crate::version::Version;

/// Most bytes of a file of a package.
const TEXT_MAX: u64 = 1 << 20;

/// Beginnings of the names of packages that matter.
const BEGINNINGS: [&str; 14] = [
    "nvidia-",
    "torch",
    "triton",
    "cudnn",
    "cuda-",
    "transformer-engine",
    "flashinfer",
    "onnxruntime",
    "jax",
    "tensorflow",
    "tensorrt",
    "cupy",
    "vllm",
    "xformers",
];

/// Whole names of others that cudnn-frontend's report lists.
const WHOLE: [&str; 4] = ["looseversion", "numpy", "ninja", "nanobind"];

/// An installed package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Package {
    /// Its normalized name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Folder that it is installed in.
    pub site: PathBuf,
    /// What it requires of packages of NVIDIA.
    pub pins: Vec<Pin>,
    /// CUDA and cuDNN that it says it was built with.
    pub built: BTreeMap<String, String>,
}

/// One requirement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pin {
    /// As it is written.
    pub requirement: String,
    /// The package that it is about.
    pub package: String,
    /// What is installed of that.
    pub installed: Option<String>,
    /// Whether that meets it; nothing where nobody can tell.
    pub met: Option<bool>,
}

/// The packages of interest in those folders; where two hold the same one, the first counts, as in Python.
pub(crate) fn read(source: &Source, sites: &[PathBuf]) -> Vec<Package> {
    let mut found: BTreeMap<String, Package> = BTreeMap::new();
    for site in sites {
        for info in source.names(site).iter().filter(|name| name.ends_with(".dist-info")) {
            let name = normalized(info.split('-').next().unwrap_or_default());
            let listed = BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
                || WHOLE.contains(&name.as_str());
            if found.contains_key(&name) || !listed {
                continue;
            }
            if let Some(package) = package(source, site, info) {
                found.insert(name, package);
            }
        }
    }
    let versions: BTreeMap<String, String> =
        found.values().map(|package| (package.name.clone(), package.version.clone())).collect();
    let mut packages: Vec<Package> = found.into_values().collect();
    for pin in packages.iter_mut().flat_map(|package| &mut package.pins) {
        pin.installed = versions.get(&pin.package).cloned();
        pin.met = pin.installed.as_ref().and_then(|installed| meets(&pin.requirement, installed));
    }
    packages
}

fn package(source: &Source, site: &Path, info: &str) -> Option<Package> {
    let metadata = source.text(&site.join(info).join("METADATA"), TEXT_MAX)?;
    let head = || metadata.lines().take_while(|line| !line.is_empty());
    let field =
        |name: &str| head().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
    let name = normalized(&field("Name:")?);
    let version = field("Version:")?;
    let pins = head().filter_map(|line| pin(line.strip_prefix("Requires-Dist:")?.trim())).collect();
    let built = built(source, site, &name);
    Some(Package { name, version, site: site.to_owned(), pins, built })
}

/// A requirement of one of NVIDIA's packages that holds on this platform.
fn pin(requirement: &str) -> Option<Pin> {
    let (what, marker) = requirement.split_once(';').unwrap_or((requirement, ""));
    let foreign = ["extra ==", "extra==", "\"Windows\"", "\"win32\"", "\"Darwin\"", "\"aarch64\""];
    if foreign.iter().any(|word| marker.contains(word)) && !marker.contains(" or ") {
        return None;
    }
    let end = what.find(|character: char| !(character.is_ascii_alphanumeric() || "-_.".contains(character)));
    let package = normalized(&what[..end.unwrap_or(what.len())]);
    package.starts_with("nvidia-").then(|| Pin {
        requirement: what.trim().to_owned(),
        package,
        installed: None,
        met: None,
    })
}

/// PEP 503: case and the three separators make no difference.
pub(crate) fn normalized(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace(['_', '.'], "-")
}

/// Whether a version meets a requirement such as `x (>=9.8,<10)`; nothing where there is a word that is not understood.
fn meets(requirement: &str, installed: &str) -> Option<bool> {
    let installed = Version::leading(installed)?;
    let start = requirement.find(['=', '<', '>', '!', '~'])?;
    let clauses = requirement[start..].trim_end_matches([')', ' ']).split(',');
    let mut all = true;
    for clause in clauses {
        let clause = clause.trim();
        let end = clause.find(|character: char| !"=<>!~".contains(character))?;
        let (relation, wanted) = (&clause[..end], clause[end..].trim());
        let prefix = wanted.strip_suffix(".*");
        let wanted = Version::leading(prefix.unwrap_or(wanted))?;
        let order = installed.compare(&wanted);
        all &= match (relation, prefix) {
            ("==" | "===", None) => order.is_eq(),
            ("==", Some(_)) => installed.agrees(&wanted),
            ("!=", None) => order.is_ne(),
            ("!=", Some(_)) => !installed.agrees(&wanted),
            (">=", None) => order.is_ge(),
            ("<=", None) => order.is_le(),
            (">", None) => order.is_gt(),
            ("<", None) => order.is_lt(),
            ("~=", None) => {
                order.is_ge() && installed.agrees(&wanted.short(wanted.places().saturating_sub(1)))
            }
            _ => return None,
        };
    }
    Some(all)
}

/// A framework, the file in which it writes what it was built with, and the names there with what they mean.
type Built = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// What is known to write that down.
const BUILT: [Built; 3] = [
    ("torch", "torch/version.py", &[("cuda", "cuda")]),
    (
        "tensorflow",
        "tensorflow/python/platform/build_info.py",
        &[("cuda_version", "cuda"), ("cudnn_version", "cudnn")],
    ),
    (
        "onnxruntime-gpu",
        "onnxruntime/capi/build_and_package_info.py",
        &[("cuda_version", "cuda"), ("cudnn_version", "cudnn")],
    ),
];

fn built(source: &Source, site: &Path, package: &str) -> BTreeMap<String, String> {
    let mut built = BTreeMap::new();
    if let Some((_, file, fields)) = BUILT.iter().find(|(name, ..)| *name == package) {
        let text = source.text(&site.join(file), TEXT_MAX).unwrap_or_default();
        for (written, meant) in *fields {
            if let Some(value) = assigned(&text, written) {
                built.insert((*meant).to_owned(), value);
            }
        }
    }
    built
}

/// The quoted value that a Python file assigns to a name: `cuda: Optional[str] = '13.0'` or `"cuda_version": "12.5"`.
fn assigned(text: &str, name: &str) -> Option<String> {
    let mut rest = text;
    while let Some(start) = rest.find(name) {
        let before = rest[..start].chars().next_back();
        let after = &rest[start + name.len()..];
        rest = after;
        if before.is_some_and(|character| character.is_alphanumeric() || character == '_') {
            continue;
        }
        let line = after.lines().next().unwrap_or("").trim_start_matches(['"', '\'']);
        if !line.trim_start().starts_with([':', '=']) {
            continue;
        }
        let value = line.split('=').next_back().unwrap_or(line);
        let value = value.rsplit_once(':').map_or(value, |(_, value)| value);
        let value: String =
            value.split(',').next()?.chars().filter(|character| !"'\" })".contains(*character)).collect();
        return Version::leading(&value).map(|version| version.to_string());
    }
    None
}

impl Package {
    /// The CUDA major that it was built for or stands for, by its own words, its name, its version or what is known.
    #[must_use]
    pub fn cuda_major(&self) -> Option<u32> {
        let told =
            self.built.get("cuda").and_then(|text| Version::leading(text)).map(|version| version.number(0));
        let suffix = |text: &str| {
            let (_, after) = text.rsplit_once("cu")?;
            let digits: String = after.chars().take(2).take_while(char::is_ascii_digit).collect();
            (digits.len() == 2).then(|| digits.parse().ok()).flatten()
        };
        let known = || {
            let version = Version::leading(&self.version)?;
            tables::pinned(&self.name, &version).map(|row| row.cuda.number(0))
        };
        let named = || suffix(&self.name).filter(|_| self.name.starts_with("nvidia-"));
        let counts = ["nvidia-cuda-runtime", "nvidia-cublas", "nvidia-cuda-nvrtc", "nvidia-nvjitlink"];
        let counted = || {
            Version::leading(&self.version)
                .map(|version| version.number(0))
                .filter(|_| counts.contains(&self.name.as_str()))
        };
        told.or_else(named)
            .or_else(counted)
            .or_else(|| suffix(self.version.split_once('+')?.1))
            .or_else(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_met_or_not_or_not_understood() {
        for (requirement, installed, met) in [
            ("nvidia-cudnn-cu13==9.19.0.56", "9.19.0.56", Some(true)),
            ("nvidia-cudnn-cu13==9.19.0.56", "9.20.0.48", Some(false)),
            ("nvidia-cudnn-cu12<10.0,>=9.8", "9.10.2.21", Some(true)),
            ("nvidia-cudnn-cu12 (>=9.8)", "9.1.0.70", Some(false)),
            ("nvidia-cudnn-cu12~=9.1", "9.19.0.56", Some(true)),
            ("nvidia-cudnn-cu12==9.*", "8.9.2.26", Some(false)),
            ("nvidia-cudnn-cu12!=9.10.*", "9.10.2.21", Some(false)),
            ("nvidia-cudnn-cu12", "9.1", None),
            ("nvidia-cudnn-cu12 @ file:///x=y", "9.1", None),
        ] {
            assert_eq!(meets(requirement, installed), met, "{requirement} {installed}");
        }
    }

    #[test]
    fn pins_of_other_platforms_and_extras_are_passed_over() {
        let about = |text: &str| pin(text).map(|pin| (pin.package, pin.requirement));
        let linux = "nvidia-cudnn_cu13==9.19.0.56; platform_system == \"Linux\"";
        assert_eq!(about(linux), Some(("nvidia-cudnn-cu13".into(), "nvidia-cudnn_cu13==9.19.0.56".into())));
        assert_eq!(about("nvidia-cudnn-cu12==9.1; extra == 'cuda'"), None);
        assert_eq!(about("nvidia-cudnn-cu12==9.1; platform_system == \"Windows\""), None);
        assert_eq!(about("numpy>=1"), None);
    }

    #[test]
    fn what_a_framework_was_built_with_is_read_from_its_own_files() {
        let torch = "__version__ = '2.11.0+cu130'\ndebug = False\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n";
        assert_eq!(assigned(torch, "cuda").as_deref(), Some("13.0"));
        assert_eq!(assigned(torch, "hip"), None);
        let flow = "build_info = collections.OrderedDict([], **{\"cuda_version\": \"12.5.1\", \"cudnn_version\": \"9\"})";
        assert_eq!(assigned(flow, "cudnn_version").as_deref(), Some("9"));
    }

    #[test]
    fn a_thousand_packages_are_passed_over_and_the_few_of_interest_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        for number in 0..1000 {
            std::fs::create_dir(folder.path().join(format!("p{number}-1.0.dist-info"))).expect("made");
        }
        let info = folder.path().join("torch-2.11.0.dist-info");
        std::fs::create_dir(&info).expect("made");
        let text = "Name: torch\nVersion: 2.11.0\nRequires-Dist: nvidia-cudnn-cu13==9.19.0.56; platform_system == \"Linux\"\n\nRequires-Dist: nvidia-no==1\n";
        std::fs::write(info.join("METADATA"), text).expect("written");
        let info = folder.path().join("nvidia_cudnn_cu13-9.20.0.48.dist-info");
        std::fs::create_dir(&info).expect("made");
        std::fs::write(info.join("METADATA"), "Name: nvidia-cudnn-cu13\nVersion: 9.20.0.48\n")
            .expect("written");
        let found = read(&Source::below(folder.path()), &["/".into()]);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].cuda_major(), Some(13));
        assert_eq!(found[1].pins[0].met, Some(false), "{found:#?}");
        assert_eq!((found[1].pins.len(), found[1].cuda_major()), (1, Some(13)));
    }
}
