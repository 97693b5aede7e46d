//! The ledger: every layer of a machine as one value, put together from a source and from facts that others asked for.
//! Knows the order of looking; prints nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cache::Cache;
use crate::copies::{self, Asked, Copy, Library};
use crate::family::Family;
use crate::findings::{self, Finding};
use crate::loader::{self, Loader};
use crate::machine::{self, Device, Driver, Toolkit, Variable};
use crate::owner::Owners;
use crate::packages::{self, Package};
use crate::places::{self, Leads};
use crate::process::Running;
use crate::programs::{self, Program, Python};
use crate::resolve;
use crate::source::{Source, Trouble};

/// Format of the ledger as JSON; grows where a field changes its meaning or goes.
pub const FORMAT: u32 = 1;

/// Most bytes of a small file of the system.
const TEXT_MAX: u64 = 1 << 20;

/// What is known of the GPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Devices {
    /// These are there.
    Known(Vec<Device>),
    /// Nobody could tell, for this reason.
    Unknown(String),
}

/// Whose file system is looked at, and so where a command has to run that mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// This machine's.
    Here,
    /// One below that folder, such as an image's.
    Below(PathBuf),
    /// That of a process in another name space of mounts.
    Container(u32),
}

/// What was asked for outside of the file system.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The environment that programs get.
    pub variables: Vec<(String, String)>,
    /// What a Python answered, and what it maps where it was asked to open libraries.
    pub python: Option<(Python, Option<Program>)>,
    /// A process to look at.
    pub running: Option<Running>,
    /// A program to resolve without running it.
    pub executable: Option<PathBuf>,
    /// What nvidia-smi answered.
    pub devices: Devices,
    /// Whether to hash every library.
    pub hashes: bool,
    /// Whose file system this is.
    pub place: Place,
}

/// Every layer, and what does not belong together.
#[derive(Clone, Debug, Serialize)]
pub struct Ledger {
    /// Format of this value.
    pub format: u32,
    /// The operating system's name for itself.
    pub system: String,
    /// Whether this looks like a container.
    pub container: bool,
    /// The driver.
    pub driver: Driver,
    /// The GPUs.
    pub devices: Devices,
    /// Toolkits.
    pub toolkits: Vec<Toolkit>,
    /// Folders with libraries.
    pub copies: Vec<Copy>,
    /// The Python that was asked.
    pub python: Option<Python>,
    /// Its packages of interest.
    pub packages: Vec<Package>,
    /// Programs and what they map.
    pub programs: Vec<Program>,
    /// Variables that matter.
    pub variables: Vec<Variable>,
    /// Libraries that every program loads first, with where that is written.
    pub preloads: Vec<(String, String)>,
    /// What could not be read.
    pub trouble: BTreeMap<String, Trouble>,
    /// What does not belong together, the worst first.
    pub findings: Vec<Finding>,
}

/// What rules look at.
pub(crate) struct View<'a> {
    pub(crate) source: &'a Source,
    pub(crate) loader: &'a Loader,
    pub(crate) ledger: &'a Ledger,
    pub(crate) place: &'a Place,
}

impl Ledger {
    /// The library file that a path leads to, and the folder that it is listed in.
    pub(crate) fn file(&self, path: &Path) -> Option<(&Copy, &Library)> {
        let all = || self.copies.iter().flat_map(|copy| copy.files.iter().map(move |file| (copy, file)));
        all().find(|(copy, file)| file.path == path || file.within(&copy.folder) == path)
    }

    /// Adds what could not be read of another source.
    pub fn add_trouble(&mut self, source: &Source) {
        for (kind, trouble) in source.trouble() {
            let known = self.trouble.entry(kind.to_owned()).or_default();
            known.count += trouble.count;
            known.told.extend(trouble.told);
        }
    }

    /// True where there is a cuDNN, on disk or in a program.
    #[must_use]
    pub fn has_cudnn(&self) -> bool {
        let on_disk = self.copies.iter().any(|copy| !copy.cudnn_majors().is_empty());
        on_disk || self.programs.iter().any(|program| program.of(Family::Cudnn).next().is_some())
    }
}

/// Looks at everything.
#[must_use]
pub fn examine(source: &Source, facts: Facts) -> Ledger {
    let variable = |name: &str| {
        let found = facts.variables.iter().find(|(known, value)| known == name && !value.is_empty());
        found.map(|(_, value)| value.clone())
    };
    let named = |names: &[&str]| {
        names.iter().filter_map(|name| variable(name)).map(PathBuf::from).collect::<Vec<_>>()
    };
    let variable_folders = loader::folders(&variable("LD_LIBRARY_PATH").unwrap_or_default());
    let loader = Loader { variable: variable_folders, cache: Cache::of(source) };
    let (python, programs) = facts.python.clone().unzip();
    let mut programs: Vec<Program> = programs.flatten().into_iter().collect();
    let mut prefixes = named(&["CONDA_PREFIX"]);
    prefixes.extend(conda_of(source, python.as_ref()));
    let sites = match &python {
        Some(python) if !python.folders.is_empty() => python.folders.clone(),
        Some(_) | None => places::usual_sites(source, &prefixes),
    };
    programs.extend(facts.running.iter().map(running));
    let has_program = !programs.is_empty();
    programs.extend(resolved(source, &loader, (&facts, has_program), &sites));
    let mut homes = named(&["CUDA_HOME", "CUDA_PATH"]);
    homes.extend(home_of_nvcc(source, &variable("PATH").unwrap_or_default()));
    let toolkits = machine::toolkits(source, &homes);
    let mapped = mapped_folders(source, &programs);
    let leads = Leads {
        variable: &loader.variable,
        cache: &loader.cache,
        sites: &sites,
        toolkits: &toolkits,
        prefixes: &prefixes,
        mapped: &mapped,
    };
    let owners = Owners::of(source);
    let asked = Asked { source, hashes: facts.hashes, owner: &|file| owners.find(file) };
    let copies = copies::read(&asked, &places::folders(source, &leads));
    let mut ledger = Ledger {
        format: FORMAT,
        system: system_name(source),
        container: is_container(source),
        driver: machine::driver(source, &facts.devices),
        devices: facts.devices.clone(),
        toolkits,
        copies,
        python,
        packages: packages::read(source, &sites),
        programs,
        variables: machine::variables(&facts.variables),
        preloads: preloads(source, variable("LD_PRELOAD")),
        trouble: BTreeMap::new(),
        findings: Vec::new(),
    };
    ledger.findings = findings::all(&View { source, loader: &loader, ledger: &ledger, place: &facts.place });
    ledger.trouble = source.trouble().into_iter().map(|(kind, trouble)| (kind.to_owned(), trouble)).collect();
    ledger
}

/// The toolkit whose compiler a shell starts.
fn home_of_nvcc(source: &Source, path: &str) -> Option<PathBuf> {
    let compilers = loader::folders(path).into_iter().map(|folder| folder.join("nvcc"));
    let real = compilers.filter(|file| source.file(file).is_some()).find_map(|file| source.real(&file))?;
    Some(real.parent()?.parent()?.to_owned())
}

/// The environment of conda that a Python lives in.
fn conda_of(source: &Source, python: Option<&Python>) -> Option<PathBuf> {
    let prefix = Path::new(&python?.executable).parent()?.parent()?.to_owned();
    source.is_folder(&prefix.join("conda-meta")).then_some(prefix)
}

fn running(running: &Running) -> Program {
    Program {
        name: running.name.clone(),
        pid: Some(running.pid),
        seen: programs::Seen::Mapped,
        steps: Vec::new(),
        files: programs::mapped(&running.maps),
        cudnn: None,
        engines: None,
    }
}

/// Programs that are not run: the one that was named, and PyTorch where no other program is looked at.
fn resolved(
    source: &Source,
    loader: &Loader,
    (facts, has_program): (&Facts, bool),
    sites: &[PathBuf],
) -> Vec<Program> {
    let named = facts.executable.iter().map(|file| (file.clone(), file.display().to_string()));
    let torch = resolve::torch_of(source, sites).filter(|_| !has_program);
    let all = named.chain(torch.map(|file| (file, "PyTorch".to_owned())));
    let one = |(file, name): (PathBuf, String)| match resolve::resolve(source, loader, &file, name) {
        Ok(program) => Some(program),
        Err(why) => {
            source.complain("programs that can't be read", format!("{}: {why}", file.display()));
            None
        }
    };
    all.filter_map(one).collect()
}

fn mapped_folders(source: &Source, programs: &[Program]) -> Vec<(PathBuf, String)> {
    let mut folders = BTreeSet::new();
    for program in programs {
        for file in program.files.iter().filter(|file| !file.deleted && source.exists(&file.path)) {
            folders.extend(file.path.parent().map(|folder| (folder.to_owned(), program.name.clone())));
        }
    }
    folders.into_iter().collect()
}

fn system_name(source: &Source) -> String {
    let text = source.text(Path::new("/etc/os-release"), TEXT_MAX).unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.unwrap_or("an unknown system").trim_matches(['"', '\'']).to_owned()
}

/// As cudnn-frontend's `collect_env` looks for it.
fn is_container(source: &Source) -> bool {
    let groups = source.text(Path::new("/proc/1/cgroup"), TEXT_MAX).unwrap_or_default();
    source.exists(Path::new("/.dockerenv"))
        || ["docker", "containerd", "kubepods"].iter().any(|word| groups.contains(word))
}

fn preloads(source: &Source, variable: Option<String>) -> Vec<(String, String)> {
    let file = "/etc/ld.so.preload";
    let text = source.text(Path::new(file), TEXT_MAX).unwrap_or_default();
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or(""));
    let split = |text: &str| {
        text.split([' ', ':', '\t']).filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let of_file = lines.flat_map(split).map(|name| (name, file.to_owned()));
    let of_variable =
        split(&variable.unwrap_or_default()).into_iter().map(|name| (name, "LD_PRELOAD".to_owned()));
    of_variable.chain(of_file).collect()
}
