//! Where a named set's files are. Knows names of files and folders; opens no library.

use std::fs;
use std::path::{Path, PathBuf};

use wheels::{DISPATCHERS, Name};

use super::{WHEEL, store};
use crate::args::MachineArgs;
use crate::failure::Failure;

/// The fault script that makes a folder a simulated set.
const SCRIPT: &str = "faults.json";

/// Where cuDNN lies in what is unpacked or installed: a set's root, a wheel, a folder of packages.
const WITHIN: [&str; 6] = [
    "lib",
    "lib64",
    "nvidia/cudnn/lib",
    "nvidia/cudnn_jit/lib",
    "site-packages/nvidia/cudnn/lib",
    "site-packages/nvidia/cudnn_jit/lib",
];

/// The same in a virtual environment, below `lib/pythonX.Y/`.
const WITHIN_ENVIRONMENT: [&str; 2] =
    ["site-packages/nvidia/cudnn/lib", "site-packages/nvidia/cudnn_jit/lib"];

/// Files of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A simulated set: its script, and its folder where it brings a cuDNN of its own.
    Simulated {
        /// The script.
        script: PathBuf,
        /// Where its libraries are, if not where the simulator's usually are.
        library: Option<PathBuf>,
    },
    /// A folder that holds cuDNN's dispatcher, and folders of what it needs beside those that are searched anyway.
    Real {
        /// The folder.
        library: PathBuf,
        /// Folders of companions.
        companions: Vec<PathBuf>,
    },
}

impl Place {
    /// The place of that name. `simulated` tells whether sets are fault scripts; `plans_only` that nothing executes.
    pub(super) fn named(name: &str, simulated: bool, plans_only: bool) -> Result<Self, Failure> {
        match (name.strip_prefix(WHEEL), simulated) {
            (Some(_), true) => Err(Failure::Usage(format!(
                "{name}: a wheel holds a real library; leave --simulate out, or name a folder with {SCRIPT}"
            ))),
            (Some(wheel), false) => Self::of_wheel(wheel, plans_only),
            (None, true) => Self::simulated(Path::new(name)),
            (None, false) => Ok(Self::Real { library: library_in(Path::new(name))?, companions: Vec::new() }),
        }
    }

    fn of_wheel(wheel: &str, plans_only: bool) -> Result<Self, Failure> {
        let name = Name::parse(wheel).map_err(store::failure)?;
        let wheel = wheels::find(&name, store::usual_cuda()).map_err(store::failure)?;
        let cache = store::cache()?;
        let library = store::fetch(&cache, wheel)?;
        let companions = wheels::companions(wheel, plans_only);
        let companions = companions.into_iter().map(|companion| store::fetch(&cache, companion));
        Ok(Self::Real { library, companions: companions.collect::<Result<_, _>>()? })
    }

    fn simulated(folder: &Path) -> Result<Self, Failure> {
        let folder = canonical(folder)?;
        let script = folder.join(SCRIPT);
        if !script.is_file() {
            return Err(Failure::Usage(format!(
                "{}: is no simulated library set; it holds no {SCRIPT}",
                folder.display()
            )));
        }
        let library = folder.join(DISPATCHERS[0]).exists().then_some(folder);
        Ok(Self::Simulated { script, library })
    }

    /// The machine arguments that lead to this place, the rest as they were given.
    pub(super) fn arguments(&self, given: &MachineArgs) -> MachineArgs {
        let given = given.clone();
        match self {
            Self::Simulated { script, library } => {
                MachineArgs { library: library.clone(), faults: Some(script.clone()), ..given }
            }
            Self::Real { library, companions } => {
                // What a user named comes first.
                let companion = [given.companion, companions.clone()].concat();
                MachineArgs { library: Some(library.clone()), companion, ..given }
            }
        }
    }
}

fn canonical(folder: &Path) -> Result<PathBuf, Failure> {
    let refuse = |why: String| Failure::Usage(format!("library set {}: {why}", folder.display()));
    let found = folder.canonicalize().map_err(|error| refuse(error.to_string()))?;
    if found.is_dir() { Ok(found) } else { Err(refuse("is no folder".to_owned())) }
}

fn holds_cudnn(folder: &Path) -> bool {
    DISPATCHERS.iter().any(|name| folder.join(name).exists())
}

/// The folder of the one cuDNN in a folder.
pub(crate) fn library_in(folder: &Path) -> Result<PathBuf, Failure> {
    let folder = canonical(folder)?;
    if holds_cudnn(&folder) {
        return Ok(folder);
    }
    let within = WITHIN.iter().map(|inner| folder.join(inner));
    let mut found: Vec<PathBuf> =
        within.chain(in_environment(&folder)).filter(|place| holds_cudnn(place)).collect();
    // Two names may lead to one folder.
    found = found.into_iter().filter_map(|place| place.canonicalize().ok()).collect();
    found.sort();
    found.dedup();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::Usage(format!(
            "library set {}: holds no {}, neither itself nor in {}",
            folder.display(),
            DISPATCHERS.join(" or "),
            WITHIN.join(", ")
        ))),
        several => Err(Failure::Usage(format!(
            "library set {}: holds several cuDNN; name one of: {}",
            folder.display(),
            several.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// Where a virtual environment keeps cuDNN, whatever its Python.
fn in_environment(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("lib")).into_iter().flatten().filter_map(Result::ok);
    let pythons = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("python"));
    let inner = |python: fs::DirEntry| WITHIN_ENVIRONMENT.map(|inner| python.path().join(inner));
    pythons.flat_map(inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "").expect("written");
        }
        folder
    }

    #[test]
    fn cudnn_is_found_in_a_folder_of_libraries_a_wheel_and_an_environment() {
        for inner in [
            "",
            "lib/",
            "nvidia/cudnn_jit/lib/",
            "site-packages/nvidia/cudnn/lib/",
            "lib/python3.11/site-packages/nvidia/cudnn/lib/",
        ] {
            let folder = folder_with(&[&format!("{inner}libcudnn.so.9"), "nvidia/cublas/lib/libcublas.so"]);
            let found = library_in(folder.path()).expect("one cuDNN");
            assert_eq!(found, folder.path().join(inner).canonicalize().expect("a folder"), "{inner}");
        }
    }

    #[test]
    fn none_or_several_cudnn_in_a_folder_are_told_in_one_line() {
        let words = |folder: &Path| library_in(folder).expect_err("nothing to choose").to_string();
        let none = folder_with(&["lib/libcuda.so.1"]);
        assert!(words(none.path()).contains("holds no libcudnn.so.9 or libcudnn.so.8"));
        let two = folder_with(&["nvidia/cudnn/lib/libcudnn.so.9", "nvidia/cudnn_jit/lib/libcudnn.so.9"]);
        let text = words(two.path());
        assert!(text.contains("several cuDNN") && text.contains("nvidia/cudnn_jit/lib"), "{text}");
        assert!(words(&two.path().join("absent")).contains("No such file"));
        assert!(words(&two.path().join("nvidia/cudnn/lib/libcudnn.so.9")).contains("is no folder"));
    }

    #[test]
    fn a_simulated_set_is_a_script_that_may_bring_its_own_library() {
        let name = |folder: &tempfile::TempDir| folder.path().display().to_string();
        let plain = folder_with(&[SCRIPT]);
        let Ok(Place::Simulated { script, library: None }) = Place::named(&name(&plain), true, false) else {
            panic!("a simulated set")
        };
        assert!(script.ends_with(SCRIPT));
        let own = folder_with(&[SCRIPT, "libcudnn.so.9"]);
        let place = Place::named(&name(&own), true, false).expect("a simulated set");
        assert!(matches!(place, Place::Simulated { library: Some(_), .. }), "{place:?}");
        let refused = Place::named(&name(&folder_with(&[])), true, false).expect_err("no script").to_string();
        assert!(refused.contains("holds no faults.json"), "{refused}");
        let refused = Place::named("wheel:9.19", true, false).expect_err("no simulator").to_string();
        assert!(refused.contains("leave --simulate out"), "{refused}");
    }
}
