//! Which package a file belongs to: pip's records, conda's, dpkg's lists. Knows their files; asks no package manager.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::Serialize;
use serde_json::Value;

use crate::hash;
use crate::source::Source;

/// Most bytes of a record, of dpkg's status and of a file list.
const RECORD_MAX: u64 = 16 << 20;
const STATUS_MAX: u64 = 64 << 20;

/// Folders up from a library to where its wheel's record may be: `nvidia/cu13/lib` lies three below.
const UP_MAX: usize = 5;

/// Words in the names of system packages that may hold libraries of interest.
const WORDS: [&str; 7] = ["cudnn", "cublas", "cuda", "nvidia", "nvrtc", "nvjitlink", "cudart"];

/// A package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Owner {
    /// Who installed it: `pip`, `conda`, `dpkg`.
    pub by: &'static str,
    /// Its name.
    pub package: String,
    /// Its version.
    pub version: String,
    /// Size in its record.
    pub bytes: Option<u64>,
    /// SHA-256 in its record.
    pub sha256: Option<String>,
    /// True where the file has another size than the record says.
    pub altered: bool,
    /// The folder that it was installed below: of packages, or of conda's environment.
    #[serde(skip)]
    pub root: PathBuf,
}

type Record = BTreeMap<PathBuf, Owner>;

/// The records of a machine, each read when it is first asked for.
pub(crate) struct Owners<'a> {
    source: &'a Source,
    sites: RefCell<BTreeMap<PathBuf, Rc<Record>>>,
    system: RefCell<Option<Rc<Record>>>,
}

impl<'a> Owners<'a> {
    /// None read yet.
    #[must_use]
    pub(crate) fn of(source: &'a Source) -> Self {
        Self { source, sites: RefCell::default(), system: RefCell::default() }
    }

    /// The package of a file.
    #[must_use]
    pub(crate) fn find(&self, file: &Path) -> Option<Owner> {
        let in_site =
            file.ancestors().skip(1).take(UP_MAX).find_map(|folder| self.site(folder).get(file).cloned());
        let mut owner = in_site.or_else(|| self.system().get(file).cloned())?;
        let size = self.source.file(file).map(|(bytes, _)| bytes);
        owner.altered = owner.bytes.is_some() && owner.bytes != size;
        Some(owner)
    }

    /// The files that wheels and conda packages of one folder own.
    fn site(&self, folder: &Path) -> Rc<Record> {
        if let Some(known) = self.sites.borrow().get(folder) {
            return Rc::clone(known);
        }
        let mut record = Record::new();
        if !is_system(folder) {
            for name in self.source.names(folder) {
                if name.ends_with(".dist-info") && is_of_interest(&name) {
                    self.read_wheel(folder, &name, &mut record);
                }
            }
            let conda = folder.join("conda-meta");
            for name in self.source.names(&conda) {
                if name.ends_with(".json") && is_of_interest(&name) {
                    self.read_conda(folder, &conda.join(name), &mut record);
                }
            }
        }
        let record = Rc::new(record);
        self.sites.borrow_mut().insert(folder.to_owned(), Rc::clone(&record));
        record
    }

    fn read_wheel(&self, site: &Path, info: &str, record: &mut Record) {
        let Some((package, version)) = info.trim_end_matches(".dist-info").rsplit_once('-') else { return };
        let text = self.source.text(&site.join(info).join("RECORD"), RECORD_MAX).unwrap_or_default();
        for line in text.lines() {
            let mut fields = line.rsplitn(3, ',');
            let (Some(bytes), Some(sha256), Some(path)) = (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            if !path.contains(".so") {
                continue;
            }
            let owner = Owner {
                by: "pip",
                package: package.replace('_', "-"),
                version: version.to_owned(),
                bytes: bytes.parse().ok(),
                sha256: sha256.strip_prefix("sha256=").and_then(hash::of_record),
                altered: false,
                root: site.to_owned(),
            };
            record.insert(site.join(path.trim_matches('"')), owner);
        }
    }

    fn read_conda(&self, prefix: &Path, file: &Path, record: &mut Record) {
        let Some(text) = self.source.text(file, RECORD_MAX) else { return };
        let Ok(meta) = serde_json::from_str::<Value>(&text) else {
            self.source.complain("files that can't be read", format!("{}: is no JSON", file.display()));
            return;
        };
        let word = |name: &str| meta[name].as_str().unwrap_or_default().to_owned();
        for path in meta["paths_data"]["paths"].as_array().into_iter().flatten() {
            let Some(inner) = path["_path"].as_str().filter(|inner| inner.contains(".so")) else { continue };
            let owner = Owner {
                by: "conda",
                package: word("name"),
                version: word("version"),
                bytes: path["size_in_bytes"].as_u64(),
                sha256: path["sha256"].as_str().map(str::to_owned),
                altered: false,
                root: prefix.to_owned(),
            };
            record.insert(prefix.join(inner), owner);
        }
    }

    /// The files that dpkg knows of packages whose names sound right.
    fn system(&self) -> Rc<Record> {
        if let Some(known) = self.system.borrow().as_ref() {
            return Rc::clone(known);
        }
        let mut record = Record::new();
        let lists = Path::new("/var/lib/dpkg/info");
        let names: Vec<String> = self.source.names(lists);
        let wanted: Vec<&String> =
            names.iter().filter(|name| name.ends_with(".list") && is_of_interest(name)).collect();
        let versions = if wanted.is_empty() { BTreeMap::new() } else { self.dpkg_versions() };
        for name in wanted {
            let package = name.trim_end_matches(".list").split(':').next().unwrap_or_default();
            let Some(version) = versions.get(package) else { continue };
            for path in self.source.text(&lists.join(name), RECORD_MAX).unwrap_or_default().lines() {
                // A folder that became a link, such as /lib, is listed by its old name.
                let Some(real) = Some(Path::new(path)).filter(|_| path.contains(".so")) else { continue };
                let real = self.source.real(real).unwrap_or_else(|| real.to_owned());
                let owner = Owner {
                    by: "dpkg",
                    package: package.to_owned(),
                    version: version.clone(),
                    bytes: None,
                    sha256: None,
                    altered: false,
                    root: PathBuf::from("/"),
                };
                record.insert(real, owner);
            }
        }
        let record = Rc::new(record);
        *self.system.borrow_mut() = Some(Rc::clone(&record));
        record
    }

    fn dpkg_versions(&self) -> BTreeMap<String, String> {
        let text = self.source.text(Path::new("/var/lib/dpkg/status"), STATUS_MAX).unwrap_or_default();
        let (mut versions, mut package) = (BTreeMap::new(), String::new());
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("Package: ") {
                name.clone_into(&mut package);
            } else if let Some(version) = line.strip_prefix("Version: ") {
                versions.insert(package.clone(), version.to_owned());
            }
        }
        versions
    }
}

/// No wheels lie there, and their folders are large.
fn is_system(folder: &Path) -> bool {
    ["/", "/usr", "/usr/lib", "/usr/local", "/lib", "/lib64", "/usr/lib64", "/usr/lib/x86_64-linux-gnu"]
        .iter()
        .any(|system| folder == Path::new(system))
}

fn is_of_interest(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word)) || name.starts_with("torch-")
}
