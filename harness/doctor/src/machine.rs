//! The layers below the libraries: driver, devices, toolkits, the variables that change what libraries do. Knows the
//! texts that the system gives; asks no driver.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::ledger::Devices;
use crate::source::Source;
use crate::tables;
use crate::version::Version;

/// Most bytes of such a text.
const TEXT_MAX: u64 = 1 << 20;

/// The kernel's driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Driver {
    /// Its release.
    pub release: Option<Version>,
    /// Where that is known from.
    pub source: Option<String>,
    /// The highest CUDA that it serves, by the table of releases.
    pub cuda: Option<Version>,
}

/// Reads what the kernel says of its module, else what nvidia-smi says.
pub(crate) fn driver(source: &Source, devices: &Devices) -> Driver {
    let release = |text: String| {
        let mut words = text.lines().next().unwrap_or_default().split_whitespace();
        words.find_map(|word| Version::parse(word).filter(|version| version.places() >= 2))
    };
    for path in ["/proc/driver/nvidia/version", "/sys/module/nvidia/version"] {
        if let Some(found) = source.text(Path::new(path), TEXT_MAX).and_then(release) {
            let cuda = tables::cuda_of_driver(&found).cloned();
            return Driver { release: Some(found), source: Some(path.to_owned()), cuda };
        }
    }
    if let Devices::Known(devices) = devices
        && let Some(found) = devices.iter().find_map(|device| Version::parse(&device.driver))
    {
        let cuda = tables::cuda_of_driver(&found).cloned();
        return Driver { release: Some(found), source: Some("nvidia-smi".to_owned()), cuda };
    }
    Driver::default()
}

/// A GPU as nvidia-smi tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Its number there.
    pub index: String,
    /// Its name.
    pub name: String,
    /// Compute capability.
    pub capability: String,
    /// Memory, MiB: all, used and free.
    pub memory_mib: [Option<u64>; 3],
    /// Whether ECC is on.
    pub ecc: String,
    /// Errors that ECC could not correct since the last reset of its counters.
    pub ecc_uncorrected: String,
    /// Whether MIG is on.
    pub mig: String,
    /// The driver's release.
    pub driver: String,
    /// Processes that hold memory.
    pub processes: Vec<Process>,
    /// Its address on the bus, which names the machine's slots and is not told.
    #[serde(skip)]
    pub(crate) bus: String,
}

/// A process that holds device memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Process {
    /// Its number; in a container often not told.
    pub pid: String,
    /// Its program, without its folder.
    pub name: String,
    /// Memory that it holds, MiB.
    pub used_mib: Option<u64>,
}

/// What to ask nvidia-smi for, in the order that is read here.
pub const DEVICE_QUERY: &str = "index,pci.bus_id,name,compute_cap,memory.total,memory.used,memory.free,ecc.mode.current,\
                                ecc.errors.uncorrected.volatile.total,mig.mode.current,driver_version";

/// What to ask it for about processes. The bus address joins both answers, since serial numbers are not kept of what a
/// child prints.
pub const PROCESS_QUERY: &str = "gpu_bus_id,pid,process_name,used_gpu_memory";

/// Reads its answers, both as CSV without header and units; lines that are none are passed over.
#[must_use]
pub fn devices(devices: &str, processes: &str) -> Vec<Device> {
    let fields = |line: &str| line.split(',').map(|field| field.trim().to_owned()).collect::<Vec<_>>();
    let mebibytes = |text: &str| text.trim_end_matches("MiB").trim().parse().ok();
    let mut found: Vec<Device> = Vec::new();
    for line in devices.lines() {
        let fields = fields(line);
        let [index, bus, name, capability, total, used, free, ecc, errors, mig, driver] = fields.as_slice()
        else {
            continue;
        };
        found.push(Device {
            index: index.clone(),
            name: name.clone(),
            capability: capability.clone(),
            memory_mib: [total, used, free].map(|text| mebibytes(text)),
            ecc: ecc.clone(),
            ecc_uncorrected: errors.clone(),
            mig: mig.clone(),
            driver: driver.clone(),
            processes: Vec::new(),
            bus: bus.clone(),
        });
    }
    for line in processes.lines() {
        let fields = fields(line);
        // A program's name may hold commas; it stands between the number and the memory.
        let [bus, pid, name @ .., used] = fields.as_slice() else { continue };
        let name = name.join(",");
        let process = Process {
            pid: pid.clone(),
            name: name.rsplit('/').next().unwrap_or_default().to_owned(),
            used_mib: mebibytes(used),
        };
        if let Some(device) = found.iter_mut().find(|device| &device.bus == bus) {
            device.processes.push(process);
        }
    }
    found
}

/// An installed toolkit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Toolkit {
    /// Its folder, links followed.
    pub folder: PathBuf,
    /// Its version.
    pub version: Option<Version>,
    /// Links that lead there, such as `/usr/local/cuda`.
    pub links: Vec<PathBuf>,
    /// Whether it has a compiler.
    pub nvcc: bool,
}

/// The toolkits in the usual folder and where `CUDA_HOME` and its like lead.
pub(crate) fn toolkits(source: &Source, named: &[PathBuf]) -> Vec<Toolkit> {
    let local = Path::new("/usr/local");
    let usual =
        source.names(local).into_iter().filter(|name| name.starts_with("cuda")).map(|name| local.join(name));
    let mut found: Vec<Toolkit> = Vec::new();
    for path in usual.chain(named.iter().cloned()) {
        let Some(folder) = source.real(&path).filter(|folder| source.is_folder(folder)) else { continue };
        let link = Some(path.clone()).filter(|path| *path != folder);
        if let Some(known) = found.iter_mut().find(|known| known.folder == folder) {
            known.links.extend(link.filter(|link| !known.links.contains(link)));
            continue;
        }
        let version = toolkit_version(source, &folder);
        let nvcc = source.exists(&folder.join("bin/nvcc"));
        if version.is_some() || nvcc || source.is_folder(&folder.join("lib64")) {
            found.push(Toolkit { folder, version, links: link.into_iter().collect(), nvcc });
        }
    }
    found
}

fn toolkit_version(source: &Source, folder: &Path) -> Option<Version> {
    let json = source.text(&folder.join("version.json"), TEXT_MAX);
    let json = json.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    let told = json.and_then(|json| Version::leading(json["cuda"]["version"].as_str()?));
    let old = || {
        Version::leading(
            source.text(&folder.join("version.txt"), TEXT_MAX)?.strip_prefix("CUDA Version ")?.trim(),
        )
    };
    let named = || Version::parse(folder.file_name()?.to_str()?.strip_prefix("cuda-")?);
    told.or_else(old).or_else(named)
}

/// An environment variable that matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// Beginnings of names that are listed, and whole names: what cudnn-frontend lists, without `PATH`.
const LISTED: [&str; 7] = ["CUDNN_", "CUDA_", "NVIDIA_", "TORCH_", "PYTORCH_", "NVTE_", "CUBLAS_"];
const LISTED_WHOLE: [&str; 4] = ["LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV", "CONDA_PREFIX"];

/// Those of the variables that matter, by name.
pub(crate) fn variables(all: &[(String, String)]) -> Vec<Variable> {
    let listed =
        |name: &str| LISTED.iter().any(|start| name.starts_with(start)) || LISTED_WHOLE.contains(&name);
    let mut found: Vec<Variable> = all
        .iter()
        .filter(|(name, _)| listed(name))
        .map(|(name, value)| Variable { name: name.clone(), value: value.clone() })
        .collect();
    found.sort_by(|one, two| one.name.cmp(&two.name));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_read_from_the_kernel_and_its_cuda_from_the_table() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = Source::below(folder.path());
        let unknown = Devices::Unknown(String::new());
        assert_eq!(driver(&source, &unknown), Driver::default());
        let device = Device { driver: "570.86.10".to_owned(), ..Device::default() };
        assert_eq!(driver(&source, &Devices::Known(vec![device])).cuda, Version::parse("12.8"));
        // A source remembers what is not there.
        let source = Source::below(folder.path());
        std::fs::create_dir_all(folder.path().join("proc/driver/nvidia")).expect("made");
        let text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC version: 12.3.0\n";
        std::fs::write(folder.path().join("proc/driver/nvidia/version"), text).expect("written");
        let found = driver(&source, &unknown);
        assert_eq!(found.release, Version::parse("580.159.04"));
        assert_eq!(found.cuda, Version::parse("13.0"));
    }

    #[test]
    fn devices_and_their_processes_are_read_from_the_answers_of_nvidia_smi() {
        let text = "0, 00000000:0F:00.0, NVIDIA H200, 9.0, 143771, 5, 143766, Enabled, 0, Disabled, 580.159.04\n\
                    1, 00000000:10:00.0, NVIDIA H200, 9.0, 143771, [N/A], 143000 MiB, [N/A], [N/A], Enabled, 580.159.04\nno line\n";
        let found = devices(
            text,
            "00000000:10:00.0, 77, /opt/a,b/python3, 1024\n00000000:99:00.0, 1, x, 1\n00000000:10:00.0, [N/A], [Not Found], [N/A]\n",
        );
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].memory_mib, [Some(143_771), Some(5), Some(143_766)]);
        assert_eq!((found[1].memory_mib[1], found[1].mig.as_str()), (None, "Enabled"));
        let held: Vec<_> =
            found[1].processes.iter().map(|process| (process.name.as_str(), process.used_mib)).collect();
        assert_eq!(held, [("python3", Some(1024)), ("[Not Found]", None)]);
    }

    #[test]
    fn toolkits_are_told_once_with_their_links() {
        let folder = tempfile::tempdir().expect("a folder");
        let local = folder.path().join("usr/local");
        std::fs::create_dir_all(local.join("cuda-13.0/lib64")).expect("made");
        std::fs::create_dir_all(local.join("cuda-12.4/bin")).expect("made");
        std::fs::write(local.join("cuda-12.4/version.json"), r#"{"cuda": {"version": "12.4.1"}}"#)
            .expect("written");
        std::os::unix::fs::symlink("cuda-13.0", local.join("cuda")).expect("linked");
        let found = toolkits(&Source::below(folder.path()), &["/usr/local/cuda-12.4".into(), "/none".into()]);
        let told: Vec<_> = found
            .iter()
            .map(|kit| (kit.version.clone().expect("known").to_string(), kit.links.len()))
            .collect();
        assert_eq!(told, [("13.0".to_owned(), 1), ("12.4.1".to_owned(), 0)]);
    }
}
