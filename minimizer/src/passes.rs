//! The table of passes, in the order in which they run. Each is a pure function from the current case to
//! named proposals; which of them are asked and adopted is the search's business.

pub(crate) mod context;
pub(crate) mod data;
pub(crate) mod enumerations;
pub(crate) mod geometry;
pub(crate) mod integers;
pub(crate) mod joint;

use case::Case;

use crate::edits::Edit;

/// How a pass proposes.
#[derive(Clone, Copy)]
pub(crate) enum Proposals {
    /// A list made anew after each adoption; no name is tried twice in one run of the pass.
    Listed(fn(&Case) -> Vec<Edit>),
    /// Each integer field by itself, value after value.
    Integers,
}

/// A row of the table.
#[derive(Clone, Copy)]
pub(crate) struct Pass {
    /// As in logs.
    pub(crate) name: &'static str,
    /// What it proposes.
    pub(crate) proposals: Proposals,
}

/// Tried once, first: often a single query does nearly everything.
pub(crate) const SHORTCUT: Pass =
    Pass { name: "shortcut", proposals: Proposals::Listed(geometry::everything_least) };

/// Repeated until none of them finds anything.
pub(crate) const STAGES: [Pass; 7] = [
    Pass { name: "context", proposals: Proposals::Listed(context::blocks_and_singles) },
    Pass { name: "enumerations", proposals: Proposals::Listed(enumerations::plainer) },
    Pass { name: "rank", proposals: Proposals::Listed(geometry::ranks) },
    Pass { name: "geometry", proposals: Proposals::Listed(geometry::blocks_and_singles) },
    Pass { name: "integers", proposals: Proposals::Integers },
    Pass { name: "joint", proposals: Proposals::Listed(joint::moves) },
    Pass { name: "data", proposals: Proposals::Listed(data::simpler) },
];
