//! Which folders may hold GPU libraries on a machine. Knows customs of distributions, toolkits, pip and conda; reads
//! folder names alone.

use std::path::{Path, PathBuf};

use crate::cache::{self, Cache};
use crate::family;
use crate::loader;
use crate::machine::Toolkit;
use crate::source::Source;

/// Folders below which interpreters keep their packages, where no interpreter was asked.
const HOMES: [&str; 8] = [
    "/usr",
    "/usr/local",
    "/opt/conda",
    "/opt/venv",
    "/venv",
    "/opt/pytorch",
    "/opt/miniconda3",
    "/root/.venv",
];

/// Names of the folders of packages.
const SITES: [&str; 2] = ["site-packages", "dist-packages"];

/// What leads to folders.
pub(crate) struct Leads<'a> {
    pub(crate) variable: &'a [PathBuf],
    pub(crate) cache: &'a Cache,
    pub(crate) sites: &'a [PathBuf],
    pub(crate) toolkits: &'a [Toolkit],
    pub(crate) prefixes: &'a [PathBuf],
    pub(crate) mapped: &'a [(PathBuf, String)],
}

/// Every folder to look into, with who leads there; folders come twice where two do.
pub(crate) fn folders(source: &Source, leads: &Leads<'_>) -> Vec<(PathBuf, String)> {
    let mut found: Vec<(PathBuf, String)> = Vec::new();
    let mut add = |folder: PathBuf, by: &str| found.push((folder, by.to_owned()));
    for folder in leads.variable {
        add(folder.clone(), "LD_LIBRARY_PATH");
    }
    for site in leads.sites {
        for folder in site_folders(source, site) {
            add(folder, "site-packages");
        }
    }
    for prefix in leads.prefixes {
        add(prefix.join("lib"), "conda");
    }
    for toolkit in leads.toolkits {
        for inner in ["lib64", "targets/x86_64-linux/lib", "lib"] {
            add(toolkit.folder.join(inner), "toolkit");
        }
    }
    for (name, path) in leads.cache.entries() {
        if let Some(folder) = path.parent().filter(|_| family::read(name).is_some()) {
            add(folder.to_owned(), "ldconfig");
        }
    }
    for folder in cache::configured(source) {
        add(folder, "ld.so.conf");
    }
    for folder in loader::defaults() {
        add(folder, "system");
    }
    found.extend(leads.mapped.iter().cloned());
    found
}

/// Folders of libraries in one folder of packages.
fn site_folders(source: &Source, site: &Path) -> Vec<PathBuf> {
    let nvidia = site.join("nvidia");
    let mut folders: Vec<PathBuf> =
        source.names(&nvidia).into_iter().map(|name| nvidia.join(name).join("lib")).collect();
    for package in ["torch", "jaxlib", "onnxruntime/capi"] {
        folders.extend([site.join(package).join("lib"), site.join(package)]);
    }
    folders.retain(|folder| source.is_folder(folder));
    folders
}

/// Folders of packages where customs put them.
pub(crate) fn usual_sites(source: &Source, prefixes: &[PathBuf]) -> Vec<PathBuf> {
    let homes = prefixes.iter().cloned().chain(HOMES.iter().map(PathBuf::from));
    let mut sites = Vec::new();
    for lib in homes.map(|home| home.join("lib")) {
        for python in source.names(&lib).into_iter().filter(|name| name.starts_with("python3")) {
            sites.extend(
                SITES.iter().map(|site| lib.join(&python).join(site)).filter(|site| source.is_folder(site)),
            );
        }
    }
    sites
}
