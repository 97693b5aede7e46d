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
    /// The extra that it belongs to: it is asked for only with that, and counts where its package is there.
    pub extra: Option<String>,
    /// The table that it is known from, where the package itself does not say it.
    pub source: Option<&'static str>,
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
    let mut pins: Vec<Pin> =
        head().filter_map(|line| pin(line.strip_prefix("Requires-Dist:")?.trim())).collect();
    let mut built = built(source, site, &name);
    let row = Version::leading(&version).and_then(|version| tables::framework(&name, &version));
    if let Some(row) = row {
        built.entry("cuda".to_owned()).or_insert_with(|| row.cuda.to_string());
        if !pins.iter().any(|pin| pin.package.contains("cudnn")) {
            let known = row.requires.iter().filter_map(|text| pin(text));
            let known =
                known.map(|pin| Pin { extra: Some(row.extra.clone()), source: Some(&row.source), ..pin });
            pins.extend(known);
        }
    }
    Some(Package { name, version, site: site.to_owned(), pins, built })
}

/// A requirement of one of NVIDIA's packages that holds on this platform.
fn pin(requirement: &str) -> Option<Pin> {
    let (what, marker) = requirement.split_once(';').unwrap_or((requirement, ""));
    let marker = marker.replace('\'', "\"");
    let foreign = ["\"Windows\"", "\"win32\"", "\"Darwin\"", "\"darwin\"", "\"aarch64\""];
    let says_not = marker.contains("!=") || marker.contains(" or ");
    if foreign.iter().any(|word| marker.contains(word)) && !says_not {
        return None;
    }
    let extra = marker.split_once("extra").and_then(|(_, after)| {
        Some(
            after
                .trim_start()
                .strip_prefix("==")?
                .trim_start()
                .strip_prefix('"')?
                .split_once('"')?
                .0
                .to_owned(),
        )
    });
    let end = what.find(|character: char| !(character.is_ascii_alphanumeric() || "-_.".contains(character)));
    let package = normalized(&what[..end.unwrap_or(what.len())]);
    package.starts_with("nvidia-").then(|| Pin {
        requirement: what.trim().to_owned(),
        package,
        installed: None,
        met: None,
        extra,
        source: None,
    })
}

/// PEP 503: case and the three separators make no difference.
pub(crate) fn normalized(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace(['_', '.'], "-")
}

/// Whether a version meets a requirement such as `x (>=9.8,<10)`; nothing where there is a word that is not understood.
pub(crate) fn meets(requirement: &str, installed: &str) -> Option<bool> {
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

/// Packages whose names tell the CUDA major that they are built for: `nvidia-cudnn-cu13`, `jax-cuda13-plugin`,
/// `cupy-cuda12x`.
const NAMED: [&str; 4] = ["nvidia-", "jax-cuda", "cupy-cuda", "onnxruntime-gpu-cu"];

/// Frameworks that are told even where they say nothing of CUDA.
const FRAMEWORKS: [&str; 12] = [
    "torch",
    "torchaudio",
    "torchvision",
    "jax",
    "jaxlib",
    "tensorflow",
    "triton",
    "cupy",
    "vllm",
    "xformers",
    "tensorrt",
    "transformer-engine",
];

impl Package {
    /// True for a package that says something of the GPU's libraries to people; others are in the ledger because
    /// cudnn-frontend's report lists them.
    #[must_use]
    pub fn is_told(&self) -> bool {
        let is_library = ["nvidia-", "cudnn", "cuda-"].iter().any(|start| self.name.starts_with(start));
        let is_framework = FRAMEWORKS.contains(&self.name.as_str());
        is_library || is_framework || !self.pins.is_empty() || self.cuda_major().is_some()
    }

    /// The CUDA major that it was built for or stands for, by its own words, its name, its version or what is known.
    #[must_use]
    pub fn cuda_major(&self) -> Option<u32> {
        let told =
            self.built.get("cuda").and_then(|text| Version::leading(text)).map(|version| version.number(0));
        let suffix = |text: &str| {
            let (_, after) = text.rsplit_once("cu")?;
            let after = after.strip_prefix("da").unwrap_or(after);
            let digits: String = after.chars().take(2).take_while(char::is_ascii_digit).collect();
            (digits.len() == 2).then(|| digits.parse().ok()).flatten()
        };
        let known = || {
            let version = Version::leading(&self.version)?;
            tables::pinned(&self.name, &version).map(|row| row.cuda.number(0))
        };
        let named = || suffix(&self.name).filter(|_| NAMED.iter().any(|start| self.name.starts_with(start)));
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
mod tests;
