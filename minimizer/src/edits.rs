//! Edits and the published list of them that one-minimality refers to. Knows proposals; asks nobody.

use std::collections::HashSet;

use case::Case;

use crate::order::Key;
use crate::passes::{context, data, enumerations, geometry, history, integers, joint, keep};
use crate::repair::admit;

/// Version of the list. Any change of what `list` returns gets a new one.
pub const EDIT_LIST: &str = "v3";

/// A single edit of a case: its name and the case it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is done, such as `c/g to 1`. Unique within one list.
    pub name: String,
    /// The case afterwards.
    pub case: Case,
}

impl Edit {
    /// A named proposal.
    pub(crate) fn new(name: impl Into<String>, case: Case) -> Self {
        Self { name: name.into(), case }
    }

    /// An edit in place.
    pub(crate) fn made(name: impl Into<String>, case: &Case, change: impl FnOnce(&mut Case)) -> Self {
        let mut changed = case.clone();
        change(&mut changed);
        Self::new(name, changed)
    }
}

/// Edit list v3: every single edit of a case, repaired, that gives a valid and strictly smaller one; no case
/// twice.
///
/// Each non-default option to its default; each knob away; plainer scales, types and layouts; each axis away;
/// each pad, stride, dilation, filter and the groups to the trivial value; each integer to its least, to
/// half, by one; swaps of axes and of c with k; plainer contents of buffers; of the elements that an input keeps,
/// either half, the first or the last away; each case before the judged one away, and the edits of options, types,
/// axes and numbers in each of them.
#[must_use]
pub fn list(case: &Case) -> Vec<Edit> {
    let sources: [fn(&Case) -> Vec<Edit>; 10] = [
        history::singles,
        context::singles,
        enumerations::plainer,
        geometry::axes_away,
        geometry::singles,
        geometry::groups_away,
        integers::steps,
        joint::swaps,
        data::simpler,
        keep::steps,
    ];
    let key = Key::of(case);
    let mut seen = HashSet::new();
    sources
        .into_iter()
        .flat_map(|edits| edits(case))
        .filter_map(|edit| Some(Edit { case: admit(case, &key, edit.case)?, name: edit.name }))
        .filter(|edit| seen.insert(edit.case.to_string()))
        .collect()
}
