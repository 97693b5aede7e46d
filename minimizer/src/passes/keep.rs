//! Fewer elements of the inputs that are not 0, where the case pins its data: each input's range is halved and cut at
//! both ends, down to single elements. Knows positions; the values are the fill's.

use case::{Case, Expect, FillKind, Kept, Role};

use crate::edits::Edit;

/// Elements of all inputs together up to which nothing is left out: so few can be read as they are, and a range would
/// only make the line longer.
const ELEMENTS_PLAIN: i64 = 8;

/// Largest output, elements, whose inputs are thinned out: beyond, a case is about its size, and runs slowly.
const OUTPUTS_MAX: i64 = 1 << 16;

/// Cuts of each input, the larger one first, the coarsest cuts first.
///
/// Cuts are at multiples of powers of two and named by their place. As no name is tried twice in one run of the pass,
/// each end is bisected, and what one half has lost the next one does not ask for again.
pub(crate) fn fewer(case: &Case) -> Vec<Edit> {
    inputs(case)
        .into_iter()
        .flat_map(|(role, now)| cuts(now).into_iter().map(move |cut| edit(case, role, cut)))
        .collect()
}

/// The single steps of each input: either half, the first or the last element away.
pub(crate) fn steps(case: &Case) -> Vec<Edit> {
    let of = |(role, Kept { first, last }): (Role, Kept)| {
        let middle = first + (last - first) / 2;
        let to = |last| Cut { name: "to", place: last, kept: Kept { first, last } };
        let from = |first| Cut { name: "from", place: first, kept: Kept { first, last } };
        [to(middle), from(middle + 1), from(first + 1), to(last - 1)].map(|cut| edit(case, role, cut))
    };
    inputs(case).into_iter().flat_map(of).collect()
}

/// A shorter range, and the end at which it was cut.
#[derive(Clone, Copy)]
struct Cut {
    name: &'static str,
    place: i64,
    kept: Kept,
}

fn edit(case: &Case, role: Role, cut: Cut) -> Edit {
    let name = format!("{} kept {} {}", role.name(), cut.name, cut.place);
    Edit::made(name, case, |case| *case.options.keep.of_mut(role) = Some(cut.kept))
}

/// The inputs that still have more than one element, with the present range, the larger tensor first; none where it is
/// not worth while.
fn inputs(case: &Case) -> Vec<(Role, Kept)> {
    let options = &case.options;
    let geometry = case.problem.geometry();
    let roles = case.problem.operation.inputs();
    // Of zeros each is one already.
    let filled = options.fill.is_some_and(|fill| fill.kind != FillKind::Zero);
    let mut inputs: Vec<(Role, i64)> = roles.iter().map(|role| (*role, geometry.elements(*role))).collect();
    let elements = inputs.iter().fold(0_i64, |sum, (_, elements)| sum.saturating_add(*elements));
    let plain = elements <= ELEMENTS_PLAIN;
    let large = geometry.elements(case.problem.operation.output()) > OUTPUTS_MAX;
    if !filled || plain || large || options.expect == Expect::Refuse {
        return Vec::new();
    }
    inputs.sort_by_key(|(_, elements)| -elements);
    let range = |(role, elements): (Role, i64)| {
        (role, options.keep.of(role).unwrap_or(Kept { first: 0, last: elements - 1 }))
    };
    inputs.into_iter().map(range).filter(|(_, kept)| kept.elements() > 1).collect()
}

/// For each power of two, the largest first: the range up to the last multiple inside it, and from the first one on.
fn cuts(now: Kept) -> Vec<Cut> {
    let Kept { first, last } = now;
    let mut cuts = Vec::new();
    for shift in (0..63).rev() {
        let step = 1_i64 << shift;
        let below = last / step * step;
        let above = (first / step).saturating_add(1).saturating_mul(step);
        if below > first {
            cuts.push(Cut { name: "to", place: below - 1, kept: Kept { first, last: below - 1 } });
        }
        if above <= last {
            cuts.push(Cut { name: "from", place: above, kept: Kept { first: above, last } });
        }
    }
    cuts
}
