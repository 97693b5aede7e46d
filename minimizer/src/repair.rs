//! Keeps proposals valid: what an edit of one field obliges other fields to do. Knows geometry rules; asks
//! nobody.

use case::{Axis, Case, Expect, Keep};

use crate::order::Key;

/// The proposal, repaired, where it is a valid case and strictly smaller than the current one, whose key is
/// given.
pub(crate) fn admit(current: &Case, key: &Key, proposal: Case) -> Option<Case> {
    let repaired = repair(current, proposal);
    (repaired != *current && repaired.validate().is_ok() && Key::of(&repaired) < *key).then_some(repaired)
}

/// Brings the proposal back inside the rules that its edit broke: fields that follow from others follow them again. A
/// case that must be refused breaks the other rules on purpose and is left as it is.
pub(crate) fn repair(current: &Case, mut proposal: Case) -> Case {
    proposal.problem = proposal.problem.fitted();
    if proposal.options.expect == Expect::Refuse {
        return proposal;
    }
    keep_all_of_other_extents(current, &mut proposal);
    let same_rank = current.problem.axes.len() == proposal.problem.axes.len();
    for (index, axis) in proposal.problem.axes.iter_mut().enumerate() {
        let before = current.problem.axes.get(index).filter(|_| same_rank);
        if before.is_none_or(pads_lie_within_filter) {
            let pad_max = span(axis).saturating_sub(1).max(0);
            axis.pad_before = axis.pad_before.min(pad_max);
            axis.pad_after = axis.pad_after.min(pad_max);
        }
        let padded_least = span(axis).saturating_sub(axis.pad_before).saturating_sub(axis.pad_after);
        axis.input = axis.input.max(padded_least).max(1);
    }
    proposal
}

/// Ranges of kept elements go where an edit changes the extents of an input: their positions meant other elements, and
/// the case is then one that was asked about before its inputs were thinned out, so that the answer is known.
fn keep_all_of_other_extents(current: &Case, proposal: &mut Case) {
    let extents = |case: &Case| {
        let geometry = case.problem.geometry();
        case.problem.operation.inputs().iter().map(|role| geometry.extents(*role)).collect::<Vec<_>>()
    };
    if !proposal.options.keep.is_all() && extents(current) != extents(proposal) {
        proposal.options.keep = Keep::default();
    }
}

/// Taps of the dilated filter, gaps included.
pub(crate) fn span(axis: &Axis) -> i64 {
    axis.filter.saturating_sub(1).saturating_mul(axis.dilation).saturating_add(1)
}

/// True where no output sees padding alone. A case beyond that is legal, and its pads are then not touched.
fn pads_lie_within_filter(axis: &Axis) -> bool {
    axis.pad_before.max(axis.pad_after) < span(axis)
}
