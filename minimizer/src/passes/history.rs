//! The cases before the one that is judged: fewer of them first, then each of them smaller. Knows that a history
//! is a row of cases; what is smaller about one of them is told by the other passes.

use case::Case;

use super::{context, enumerations, geometry, integers};
use crate::edits::Edit;
use crate::repair::repair;

/// All away, all but the last, ever smaller chunks away from the oldest on, and then each.
pub(crate) fn shorter(case: &Case) -> Vec<Edit> {
    let count = case.history.len();
    let mut edits = Vec::new();
    if count > 0 {
        edits.push(without(case, 0, count));
    }
    if count > 1 {
        edits.push(without(case, 0, count - 1));
    }
    let mut chunk = count / 2;
    while chunk > 1 {
        edits.extend((0..count).step_by(chunk).map(|first| without(case, first, chunk.min(count - first))));
        chunk /= 2;
    }
    edits.extend(each_away(case));
    edits
}

fn each_away(case: &Case) -> Vec<Edit> {
    (0..case.history.len()).map(|index| without(case, index, 1)).collect()
}

/// The name counts from the last case, whose place does not change when older ones go, and says how many there
/// were: a chunk that could not go from a longer history may go from a shorter one.
fn without(case: &Case, first: usize, count: usize) -> Edit {
    let length = case.history.len();
    let name =
        format!("{count} of {length} cases before, up to the last but {}, away", length - first - count);
    Edit::made(name, case, |case| {
        case.history.drain(first..first + count);
    })
}

/// Everything that makes a single case smaller, for each case of the history.
pub(crate) fn smaller(case: &Case) -> Vec<Edit> {
    let sources: [fn(&Case) -> Vec<Edit>; 7] = [
        geometry::everything_least,
        context::blocks_and_singles,
        enumerations::plainer,
        geometry::ranks,
        geometry::blocks_and_singles,
        integers::steps,
        context::singles,
    ];
    inside(case, &sources)
}

/// The single edits of the published list, for the closing sweep: each case away, and each of theirs.
pub(crate) fn singles(case: &Case) -> Vec<Edit> {
    let sources: [fn(&Case) -> Vec<Edit>; 6] = [
        context::singles,
        enumerations::plainer,
        geometry::axes_away,
        geometry::singles,
        geometry::groups_away,
        integers::steps,
    ];
    let mut edits = each_away(case);
    edits.extend(inside(case, &sources));
    edits
}

fn inside(case: &Case, sources: &[fn(&Case) -> Vec<Edit>]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (index, earlier) in case.history.iter().enumerate() {
        for edit in sources.iter().flat_map(|source| source(earlier)) {
            let smaller = repair(earlier, edit.case);
            // Named by what it leads to: the same words lead to another case once something else was adopted.
            edits.push(Edit::made(format!("case {} before: {smaller}", index + 1), case, |case| {
                case.history[index] = smaller;
            }));
        }
    }
    edits
}
