//! The table of passes, in the order in which they run. Each is a pure function from the current case to
//! named proposals; which of them are asked and adopted is the search's business.

pub(crate) mod context;
pub(crate) mod data;
pub(crate) mod enumerations;
pub(crate) mod geometry;
pub(crate) mod history;
pub(crate) mod integers;
pub(crate) mod joint;
pub(crate) mod keep;

use case::Case;

use crate::closed;
use crate::edits::Edit;
use crate::handle::{self, Handle};

/// How a pass proposes.
#[derive(Clone, Copy)]
pub(crate) enum Proposals {
    /// A list made anew after each adoption; no name is tried twice in one run of the pass.
    Listed(fn(&Case) -> Vec<Edit>),
    /// Each number by itself, value after value.
    Numbers(fn(&Case) -> Vec<Handle>),
}

/// A row of the table.
#[derive(Clone, Copy)]
pub(crate) struct Pass {
    /// As in logs.
    pub(crate) name: &'static str,
    /// What it proposes.
    pub(crate) proposals: Proposals,
    /// True where a number must first prove that it is one the failure depends on.
    pub(crate) unproven: bool,
}

const fn listed(name: &'static str, list: fn(&Case) -> Vec<Edit>) -> Pass {
    Pass { name, proposals: Proposals::Listed(list), unproven: false }
}

const fn numbers(name: &'static str, handles: fn(&Case) -> Vec<Handle>) -> Pass {
    Pass { name, proposals: Proposals::Numbers(handles), unproven: false }
}

/// Tried once, first: often a single query does nearly everything.
pub(crate) const SHORTCUT: Pass = listed("shortcut", geometry::everything_least);

/// Repeated until none of them finds anything.
pub(crate) const STAGES: [Pass; 12] = [
    listed("history", history::shorter),
    listed("context", context::blocks_and_singles),
    listed("enumerations", enumerations::plainer),
    listed("rank", geometry::ranks),
    listed("geometry", geometry::blocks_and_singles),
    Pass { unproven: true, ..numbers("sizes", closed::sizes) },
    numbers("integers", handle::fields),
    listed("joint", joint::moves),
    numbers("ties", handle::ties),
    listed("data", data::simpler),
    listed("inputs", keep::fewer),
    listed("earlier cases", history::smaller),
];
