//! The corpus as data: entries, what is expected of each on which library sets, and how what a run showed stands to
//! that. Knows files and rules; runs nothing.

mod contrast;
mod date;
mod entry;
mod error;
mod expectation;
mod facts;
mod folder;
mod record;
mod revision;
mod shard;
mod showing;
mod state;
mod version;

pub use contrast::{Change, Contrast, Coverage, Difference, Plan, RATIO_MIN, Side};
pub use date::Date;
pub use entry::{Entry, Provenance, engine_free};
pub use error::{CorpusError, EntryError};
pub use expectation::{Basis, Expect, Expectation};
pub use facts::{Configuration, SetFacts};
pub use folder::{Corpus, ENTRY_FILE, Listed};
pub use record::Record;
pub use revision::Revision;
pub use shard::{Shard, ShardError};
pub use showing::{Failing, Showing};
pub use state::{Question, Standing, State};
pub use version::Version;
