//! Findings as folders that prove themselves: a stand-alone program, a page, the records. Knows files and
//! text; runs nothing and judges nothing.

mod claim;
mod clean;
pub mod compare;
pub mod draft;
pub mod engines;
mod error;
mod escape;
mod evidence;
mod facts;
mod files;
mod finding;
mod page;
mod picture;
mod planned;
mod position;
mod read;
pub mod recipe;
mod redact;
mod region;
mod regression;
mod renew;
pub mod replay;
mod repro;
mod script;
mod simulated;
mod title;
mod vendor;
mod verdict;
mod write;

pub use error::BundleError;
pub use files::{
    CASE_JSON, CASE_TEXT, ENVIRONMENT, ERROR_MAP, HASHED, LIBRARY_LOG, LICENSE, MINIMIZE_LOG, MISMATCHES,
    ORIGINAL, PAGE, PROGRAM, README, REGION, REGION_MAP, REGRESSION, REPORT, SCRIPT, STDERR, SUMS, TRACES,
    TWINS, VERDICT,
};
pub use finding::{Finding, Minimization, Verified};
pub use read::{Bundle, read, verify};
pub use redact::Redactor;
pub use region::{RegionRecord, TwinsRecord};
pub use regression::record_entry;
pub use renew::{program, record_explanation, record_verification, rerender};
pub use simulated::is_simulated;
pub use title::{kind_words, title};
pub use vendor::{KnownList, Match, Novelty, Seen, Standing, novelty};
pub use verdict::{FORMAT, MinimizationRecord, VendorForm, VerdictRecord, Verification};
pub use write::write;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
