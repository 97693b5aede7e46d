//! What can be wrong with a corpus. One line each, with the file.

use std::path::PathBuf;

/// What is wrong with one entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// Not JSON, or fields that are missing or unknown.
    #[error("{0}")]
    Json(String),
    /// A newer convict wrote it.
    #[error("form {0} is newer than {known}, the one that this convict reads: update convict", known = crate::entry::FORMAT)]
    Newer(u64),
    /// A field says what it can't mean.
    #[error("{0}")]
    Content(String),
    /// Another spelling of the same.
    #[error("not in canonical form at line {line}: expected '{expected}'")]
    Form {
        /// First line that differs.
        line: usize,
        /// What it should be.
        expected: String,
    },
}

/// What is wrong with a corpus.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file or folder that cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A path where no entry is.
    #[error("{}: no entry of a corpus: neither seeds/*.json nor regressions/*/{file} nor *.json", path.display(), file = crate::ENTRY_FILE)]
    Empty {
        /// Which.
        path: PathBuf,
    },
    /// A name that cannot be told in a line.
    #[error("{path}: a name with characters that do not show as themselves: rename it")]
    Name {
        /// Which, spelled out.
        path: String,
    },
    /// An entry that can't be used.
    #[error("{}: {source}", path.display())]
    Entry {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: EntryError,
    },
    /// Two files with the same case.
    #[error("{}: the same case as {}", path.display(), first.display())]
    Duplicate {
        /// The second.
        path: PathBuf,
        /// The first.
        first: PathBuf,
    },
}
