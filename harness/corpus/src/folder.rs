//! Where entries lie. Knows the folders of a corpus and of a hunt; understands no entry.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::entry::{BYTES_MAX, Entry};
use crate::error::{CorpusError, EntryError};

/// The entry within a bundle.
pub const ENTRY_FILE: &str = "regression.case.json";

/// Folders below a named one in which entries lie one a file.
const FILES: [&str; 2] = ["", "seeds"];

/// Folders below a named one in which bundles lie.
const BUNDLES: [&str; 3] = ["", "regressions", "findings"];

/// Files beside entries that are none.
const OTHERS: [&str; 1] = ["known.json"];

/// One entry and where it lies.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Folder and name, such as `seeds/pytorch-163539`.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// What it says.
    pub entry: Entry,
}

impl Listed {
    /// The bundle that it belongs to, where it does.
    #[must_use]
    pub fn bundle(&self) -> Option<&Path> {
        self.path.file_name().is_some_and(|name| name == ENTRY_FILE).then(|| self.path.parent()).flatten()
    }

    /// Puts another entry into its file, at one stroke.
    ///
    /// # Errors
    /// The file system's.
    pub fn replace(&self, entry: &Entry) -> Result<(), CorpusError> {
        let failed = |source| CorpusError::Io { path: self.path.clone(), source };
        // A link stays one: what it leads to is edited.
        let place = self.path.canonicalize().map_err(failed)?;
        let folder = place.parent().unwrap_or(Path::new("."));
        let mut draft = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        draft.write_all(entry.print().as_bytes()).map_err(failed)?;
        let permissions = fs::metadata(&place).map_err(failed)?.permissions();
        draft.as_file().set_permissions(permissions).map_err(failed)?;
        draft.persist(&place).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// Entries in the order of their ids, and what could not be read.
#[derive(Debug, Default)]
pub struct Corpus {
    /// Entries to run.
    pub listed: Vec<Listed>,
    /// What is wrong; the entries above are whole all the same.
    pub troubles: Vec<CorpusError>,
}

impl Corpus {
    /// Reads what lies at those paths: files of entries, bundles, and folders of either.
    #[must_use]
    pub fn read(paths: &[PathBuf]) -> Self {
        let mut corpus = Self::default();
        let mut seen = HashMap::new();
        for path in paths {
            match find(path) {
                Ok(files) => {
                    for file in files {
                        // The same file by two paths is one entry.
                        let place = file.canonicalize().unwrap_or_else(|_| file.clone());
                        if seen.insert(place, ()).is_none() {
                            corpus.add(&file);
                        }
                    }
                }
                Err(error) => corpus.troubles.push(error),
            }
        }
        corpus.listed.sort_by(|one, two| one.id.cmp(&two.id));
        corpus.drop_duplicates();
        corpus
    }

    fn add(&mut self, path: &Path) {
        let entry = match speakable(path) {
            Ok(()) => read(path),
            Err(error) => Err(error),
        };
        match entry {
            Ok(entry) => self.listed.push(Listed { id: id(path), path: path.to_owned(), entry }),
            Err(error) => self.troubles.push(error),
        }
    }

    /// Two entries of one case could expect different things; the first one stays.
    fn drop_duplicates(&mut self) {
        let mut first: HashMap<String, PathBuf> = HashMap::new();
        let troubles = &mut self.troubles;
        self.listed.retain(|listed| match first.get(&listed.entry.case) {
            Some(earlier) => {
                troubles.push(CorpusError::Duplicate { path: listed.path.clone(), first: earlier.clone() });
                false
            }
            None => {
                first.insert(listed.entry.case.clone(), listed.path.clone());
                true
            }
        });
    }
}

fn find(path: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| CorpusError::Io { path, source }
    };
    if !fs::metadata(path).map_err(failed(path))?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    if path.join(ENTRY_FILE).exists() {
        return Ok(vec![path.join(ENTRY_FILE)]);
    }
    let mut found = Vec::new();
    for folder in FILES.map(|name| path.join(name)) {
        let is_entry = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".json") && !name.starts_with('.') && !OTHERS.contains(&&*name)
        };
        found.extend(children(&folder)?.into_iter().filter(is_entry));
    }
    for folder in BUNDLES.map(|name| path.join(name)) {
        let entries = children(&folder)?.into_iter().map(|bundle| bundle.join(ENTRY_FILE));
        found.extend(entries.filter(|file| file.is_file()));
    }
    if found.is_empty() {
        return Err(CorpusError::Empty { path: path.to_owned() });
    }
    found.sort();
    Ok(found)
}

/// What a folder holds; nothing where there is none.
fn children(folder: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    let failed = |source| CorpusError::Io { path: folder.to_owned(), source };
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed(error)),
    }
}

/// A name goes into lines, files and pages that others read.
fn speakable(path: &Path) -> Result<(), CorpusError> {
    if path.to_str().is_some_and(|name| !name.contains(case::is_wild)) {
        return Ok(());
    }
    Err(CorpusError::Name { path: case::one_line(&path.to_string_lossy()).into_owned() })
}

fn read(path: &Path) -> Result<Entry, CorpusError> {
    let wrong = |source| CorpusError::Entry { path: path.to_owned(), source };
    let failed = |source| CorpusError::Io { path: path.to_owned(), source };
    // To open a pipe is to wait for whoever writes into it.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(wrong(EntryError::Content("is no file".to_owned())));
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(wrong(EntryError::Content(format!("more than {BYTES_MAX} bytes: no entry"))));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| wrong(EntryError::Content("is no UTF-8 text".to_owned())))?;
    Entry::read(&text).map_err(wrong)
}

/// Folder and name, without the parts that all entries of a bundle have in common.
fn id(path: &Path) -> String {
    let bundle = path.file_name().is_some_and(|name| name == ENTRY_FILE);
    let named = if bundle { path.parent().unwrap_or(path).to_owned() } else { path.with_extension("") };
    let name = |path: Option<&Path>| {
        path.and_then(Path::file_name)
            .map(|name| name.to_string_lossy().into_owned())
            .filter(|name| !name.is_empty())
    };
    let last = name(Some(&named)).unwrap_or_else(|| "entry".to_owned());
    match name(named.parent()) {
        Some(folder) => format!("{folder}/{last}"),
        None => last,
    }
}

#[cfg(test)]
mod tests;
