//! The hunt: which problems to try, what to do with what they show, when to stop. Knows jobs, verdicts and
//! findings; neither spawns nor prints.
//!
//! `generator` and `source` give problems; `campaign` shares them out among slots; `examine` runs and judges;
//! `suspects` holds failures until a `pursuit` confirms and minimizes them. Everything that happens is an
//! event,
//! `ledger` is the fold over events, and `journal` keeps them on disk.

mod around;
mod bench;
mod campaign;
mod confirm;
mod error;
mod event;
mod examine;
mod explain;
mod generator;
mod journal;
mod ledger;
mod life;
mod minimize;
mod pursuit;
mod reach;
mod recheck;
mod record;
mod reduce;
mod source;
mod summary;
mod suspects;

pub use around::{Around, Weighted};
pub use bench::Bench;
pub use campaign::{HuntOptions, hunt};
pub use error::HuntError;
pub use event::{
    Check, Entry, Explained, Finding, HuntEvent, ProblemTally, Reduction, Suspect, Terms, VerdictKind,
    provisional,
};
pub use examine::{check, survey};
pub use explain::{EXPLANATION, accuse, explain_finding};
pub use generator::{Generator, Limits, Operations, danger_zones};
pub use journal::{EVENTS_FILE, FINDINGS_FOLDER, Journal, JournalError};
pub use ledger::{Ledger, Progress};
pub use minimize::{MinimizedCase, minimize_case};
pub use reach::reach;
pub use recheck::{Recheck, recheck};
pub use record::Sink;
pub use reduce::{Allowance, Desk, Record};
pub use source::Source;
pub use summary::{Cost, ExactCount, Exactness, FlakySummary, FoundSummary, Summary, Unjudged};
