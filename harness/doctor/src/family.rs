//! Which library a file name means. Knows names; opens nothing.

use serde::Serialize;

use crate::version::Version;

/// A family of libraries that must agree within one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// cuDNN: the library that programs name, and its parts.
    Cudnn,
    /// cuBLAS.
    Cublas,
    /// cuBLASLt.
    CublasLt,
    /// The CUDA run time.
    Cudart,
    /// The run-time compiler.
    Nvrtc,
    /// What the run-time compiler opens.
    NvrtcBuiltins,
    /// The linker for device code.
    NvJitLink,
    /// The driver's libraries.
    Driver,
}

/// Beginning of a file name, and the family that it means; longer ones first.
const BEGINNINGS: [(&str, Family); 9] = [
    ("libcudnn", Family::Cudnn),
    ("libcublasLt", Family::CublasLt),
    ("libcublas", Family::Cublas),
    ("libcudart", Family::Cudart),
    ("libnvrtc-builtins", Family::NvrtcBuiltins),
    ("libnvrtc", Family::Nvrtc),
    ("libnvJitLink", Family::NvJitLink),
    ("libcuda", Family::Driver),
    ("libnvidia-ptxjitcompiler", Family::Driver),
];

/// Name of the part of cuDNN that programs open.
pub(crate) const SHIM: &str = "shim";

impl Family {
    /// How people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cudnn => "cuDNN",
            Self::Cublas => "cuBLAS",
            Self::CublasLt => "cuBLASLt",
            Self::Cudart => "cudart",
            Self::Nvrtc => "NVRTC",
            Self::NvrtcBuiltins => "NVRTC builtins",
            Self::NvJitLink => "nvJitLink",
            Self::Driver => "driver",
        }
    }

    /// The CUDA major that a version of this family's files belongs to; cuDNN and the driver count by themselves, and
    /// cudart, NVRTC, nvJitLink and cuBLAS by CUDA's majors.
    #[must_use]
    pub fn counts_as_cuda(self) -> bool {
        match self {
            Self::Cublas
            | Self::CublasLt
            | Self::Cudart
            | Self::Nvrtc
            | Self::NvrtcBuiltins
            | Self::NvJitLink => true,
            Self::Cudnn | Self::Driver => false,
        }
    }
}

/// What a file name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// Its family.
    pub family: Family,
    /// Which library of the family: `shim`, `graph`, `engines_precompiled`; the stem for other families.
    pub part: String,
    /// The numbers after `.so.`, where there are any.
    pub version: Option<Version>,
}

/// Reads a file name; nothing for one that is no library of interest.
#[must_use]
pub(crate) fn read(name: &str) -> Option<Name> {
    let (stem, after) = name.split_once(".so")?;
    if !(after.is_empty() || after.starts_with('.')) {
        return None;
    }
    let version = after.strip_prefix('.').and_then(Version::parse);
    if !after.is_empty() && version.is_none() {
        return None;
    }
    let (beginning, family) = BEGINNINGS.iter().find(|(beginning, _)| stem.starts_with(beginning))?;
    let rest = &stem[beginning.len()..];
    let part = if *family == Family::Cudnn {
        if rest.is_empty() { SHIM.to_owned() } else { rest.strip_prefix('_')?.to_owned() }
    } else if rest.is_empty() || rest == ".alt" {
        stem.to_owned()
    } else {
        // `libcudadebugger` and the like are other libraries; `libnvrtc.alt` is a second build of the same one.
        return None;
    };
    Some(Name { family: *family, part, version })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_mean_families_parts_and_versions() {
        let told = |name: &str| {
            read(name).map(|name| {
                let version = name.version.map(|version| version.to_string()).unwrap_or_default();
                format!("{} {} {version}", name.family.name(), name.part)
            })
        };
        assert_eq!(told("libcudnn.so.9").as_deref(), Some("cuDNN shim 9"));
        assert_eq!(told("libcudnn_graph.so.9.14.0").as_deref(), Some("cuDNN graph 9.14.0"));
        assert_eq!(told("libcudnn_cnn_infer.so.8").as_deref(), Some("cuDNN cnn_infer 8"));
        assert_eq!(told("libcublasLt.so").as_deref(), Some("cuBLASLt libcublasLt "));
        assert_eq!(
            told("libnvrtc-builtins.so.13.0").as_deref(),
            Some("NVRTC builtins libnvrtc-builtins 13.0")
        );
        assert_eq!(
            told("libnvrtc-builtins.alt.so.13.0").as_deref(),
            Some("NVRTC builtins libnvrtc-builtins.alt 13.0")
        );
        assert_eq!(told("libcuda.so.580.159.04").as_deref(), Some("driver libcuda 580.159.04"));
        for name in [
            "libcudnn.so.9.bak",
            "libcudnn.a",
            "libcudadebugger.so.1",
            "libcudnnx.so",
            "libc.so.6",
            "libcudnn.song",
        ] {
            assert_eq!(told(name), None, "{name}");
        }
    }
}
