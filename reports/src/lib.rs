//! Findings as folders that prove themselves: a stand-alone program, a page, the records. Knows files and text;
//! runs nothing and judges nothing.

mod clean;
mod error;
mod escape;
mod files;
mod finding;
mod page;
mod read;
mod redact;
mod repro;
mod script;
mod title;
mod verdict;
mod write;

pub use error::BundleError;
pub use files::{
    CASE_JSON, CASE_TEXT, ENVIRONMENT, HASHED, LIBRARY_LOG, LICENSE, MINIMIZE_LOG, ORIGINAL, PROGRAM, REPORT,
    SCRIPT, SUMS, VERDICT,
};
pub use finding::{Finding, Minimization, Verified};
pub use read::{Bundle, read};
pub use redact::Redactor;
pub use title::{kind_words, title};
pub use verdict::{FORMAT, MinimizationRecord, VerdictRecord, Verification};
pub use write::{record_verification, write};

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
