//! The machine and libraries of a run, free of host names, users and home paths. Data only.

use serde::{Deserialize, Serialize};

/// Which half of cuDNN's engines a library set offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LibraryConfiguration {
    /// Precompiled and run-time-compiled engines (`CUDNN_LIB_CONFIG=FULL`).
    Full,
    /// Run-time-compiled engines only (`GRAPH_JIT_ONLY`), with an engine numbering of its own.
    GraphJitOnly,
}

impl LibraryConfiguration {
    /// Short word for set names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::GraphJitOnly => "jit",
        }
    }

    /// The value of `CUDNN_LIB_CONFIG`.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::GraphJitOnly => "GRAPH_JIT_ONLY",
        }
    }
}

/// A library file mapped into the worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedFile {
    /// File name.
    pub name: String,
    /// Its place as a class that names no home: `wheel:PKG/rel`, `system:/usr/lib/...`, `toolkit:REL`, `dir:rel`.
    pub place: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal; empty until an inventory was asked for.
    #[serde(default)]
    pub sha256: String,
    /// ELF build-id in hexadecimal; empty where the file has none.
    #[serde(default)]
    pub build_id: String,
    /// Version in the file's real name, such as `580.159.04`, where it has one.
    #[serde(default)]
    pub version: String,
}

/// Machine and libraries, gathered inside the worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Device name as the driver gives it.
    pub gpu: String,
    /// Devices that CUDA_VISIBLE_DEVICES leaves visible, this one included; 0 where plans are only built.
    #[serde(default)]
    pub devices_visible: u32,
    /// Compute capability, major * 10 + minor.
    pub compute_capability: u32,
    /// Device memory, bytes.
    pub memory_bytes: u64,
    /// Free device memory when the worker started, bytes.
    pub memory_free_bytes: u64,
    /// CUDA version that the driver supports, 1000 * major + 10 * minor.
    pub driver_cuda: i32,
    /// Driver release, such as `580.159.04`, from the mapped driver file; empty where unknown.
    pub driver: String,
    /// `cudnnGetVersion`.
    pub cudnn: u64,
    /// `cudnnGetCudartVersion`.
    pub cudart: u64,
    /// Which engines the set offers.
    pub configuration: Option<LibraryConfiguration>,
    /// How the library folder was found, one line.
    pub found: String,
    /// Every mapped cuDNN, cuBLAS, NVRTC and driver file.
    pub files: Vec<MappedFile>,
    /// Why the set is mixed, naming two offending files; empty where it is sound.
    pub conflict: String,
    /// Device properties as cuDNN's JSON: those of the device, where the version can give them, or those that were
    /// planned for.
    pub device_properties: String,
    /// True where there is no device: plans are built for the properties, and nothing executes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub plans_only: bool,
    /// Keys of the properties that are assumed, not read from a device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// A release of CUDA, which counts MAJOR * 1000 + MINOR * 10.
fn cuda_text(version: u64) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

impl Environment {
    /// `9.19.0`, by the formula of the major version.
    #[must_use]
    pub fn cudnn_text(&self) -> String {
        // 8.x counts MAJOR * 1000 + MINOR * 100 + PATCH, 9.x MAJOR * 10000 + MINOR * 100 + PATCH.
        let major_unit = if self.cudnn >= 10_000 { 10_000 } else { 1_000 };
        let version = self.cudnn;
        format!("{}.{}.{}", version / major_unit, version % major_unit / 100, version % 100)
    }

    /// `13.0`: the CUDA that the driver serves.
    #[must_use]
    pub fn driver_cuda_text(&self) -> String {
        cuda_text(u64::try_from(self.driver_cuda).unwrap_or(0))
    }

    /// `13.0`: the CUDA runtime that cuDNN was built with.
    #[must_use]
    pub fn cudart_text(&self) -> String {
        cuda_text(self.cudart)
    }

    /// Name of the library set that engine numbers belong to, such as `9.19.0-full`.
    #[must_use]
    pub fn set(&self) -> String {
        let configuration = self.configuration.map_or("unknown", LibraryConfiguration::name);
        format!("{}-{configuration}", self.cudnn_text())
    }
}
