//! What can go wrong with a bundle's folder. Names the file; knows no exit codes.

use std::io;
use std::path::{Path, PathBuf};

/// A bundle that cannot be written or must not be trusted.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The folder is there already: bundles are never written over.
    #[error("{}: exists already; a bundle is never written over", .0.display())]
    Exists(PathBuf),
    /// The file system's error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file that every bundle has is missing.
    #[error("{file}: is missing")]
    Missing {
        /// Its name within the bundle.
        file: String,
    },
    /// A name that no bundle has, such as one that leads out of the folder.
    #[error("SHA256SUMS: '{file}' is no file of a bundle")]
    Name {
        /// The name, shortened and printable.
        file: String,
    },
    /// Something other than a plain file, such as a link.
    #[error("{file}: is no plain file")]
    Kind {
        /// Its name within the bundle.
        file: String,
    },
    /// Its bytes are not the ones that were written.
    #[error("{file}: differs from its SHA-256 in SHA256SUMS")]
    Altered {
        /// Its name within the bundle.
        file: String,
    },
    /// A file that no bundle of its form has.
    #[error("{file}: belongs to no bundle")]
    Extra {
        /// Its name within the bundle, shortened and printable.
        file: String,
    },
    /// A bundle of a form that can be read and checked but not written.
    #[error("{VERDICT}: format: '{found}' can be checked but not rendered anew; {FORMAT} can", VERDICT = crate::files::VERDICT, FORMAT = crate::verdict::FORMAT)]
    Form {
        /// The form's number.
        found: u32,
    },
    /// It cannot be read as what it should be.
    #[error("{file}: {reason}")]
    Content {
        /// Its name within the bundle.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A template that does not render: our own trouble.
    #[error("template: {0}")]
    Template(#[from] minijinja::Error),
}

impl BundleError {
    /// Attaches the path to a file system's error.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn content(file: &str, reason: impl ToString) -> Self {
        Self::Content { file: file.to_owned(), reason: reason.to_string() }
    }
}
