//! The first questions: every field moved a little by itself. Knows which steps are worth a question; draws no
//! conclusion but the nearest passing value and what has no effect.

use std::collections::{BTreeMap, BTreeSet};

use case::{Atom, Case, Cell, Property, Quantity, Region, Role, Twin};

use super::change::{Change, exchanges, is_extent, moved, numbers, quantity, settled, turned};
use super::inquiry::Inquiry;
use crate::field::Field;

/// A step that keeps the remainder of every modulus that hardware or software likes: 2^6 * 3 * 5.
const STRIDE_OF_ALL_MODULI: i64 = 960;

/// Most pairs of fields that are moved together.
const PAIRS_MAX: usize = 6;

/// Answers to single changes of the case.
pub(super) struct Probed {
    answers: Vec<(Change, Cell)>,
}

/// Asks about single changes of the case.
pub(super) fn probe(case: &Case, inquiry: &mut Inquiry<'_>) -> Probed {
    let mut answers = Vec::new();
    let steps = numbers(case).into_iter().flat_map(|field| steps(case, field));
    for change in steps.chain(exchanges_worth_a_question(case)) {
        let Some(cell) = inquiry.ask(&change.case) else { break };
        answers.push((change, cell));
    }
    // No change of one field, so no twin comes of them: they only are evidence.
    for case in turned(case) {
        inquiry.ask(&case);
    }
    let probed = Probed { answers };
    let pinned = probed.pinned(case);
    for (position, other) in pinned.iter().enumerate() {
        for one in pinned[..position].iter().take(PAIRS_MAX) {
            together(case, &[*one, *other], inquiry);
        }
    }
    if pinned.len() > 2 {
        together(case, &pinned, inquiry);
    }
    probed
}

/// Moves fields by the same step and by the same factor: what ties between them would allow. Where that fails too, the
/// tie has a lower end that is looked for.
fn together(case: &Case, fields: &[Field], inquiry: &mut Inquiry<'_>) {
    let moved = |to: &dyn Fn(i64, Field) -> i64| {
        let set = |case: Case, field: &Field| field.set(&case, to(field.get(&case), *field));
        fields.iter().try_fold(case.clone(), set).and_then(|moved| settled(case, moved))
    };
    let ways: [&[&dyn Fn(i64, Field) -> i64]; 2] = [
        &[&|now, _| now + 1, &|now, _| now - 1, &|now, _| now + 5],
        &[&|now, _| 2 * now, &|now, _| now / 2, &|now, _| 3 * now],
    ];
    for way in ways {
        for to in way {
            let low = fields.iter().any(|field| to(field.get(case), *field) < field.least());
            let Some(changed) = moved(to).filter(|_| !low) else { continue };
            if inquiry.ask(&changed) != Some(Cell::Fails) && to(1, fields[0]) > 1 {
                break;
            }
        }
    }
}

/// The nearest values on both sides; the least or, where that is near, the double; and for extents a value that is
/// alike in every modulus.
fn steps(case: &Case, field: Field) -> Vec<Change> {
    let now = field.get(case);
    let far = if is_extent(case, field) { now + STRIDE_OF_ALL_MODULI } else { now + 2 };
    let other = if now > field.least() + 1 { field.least() } else { now.saturating_mul(2) };
    let mut values = vec![now - 1, now + 1, other, far];
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(*value));
    values.into_iter().filter_map(|value| moved(case, field, value)).collect()
}

/// Types and layouts of all tensors at once and of each; scales and alignments at the ends of their ranges.
fn exchanges_worth_a_question(case: &Case) -> Vec<Change> {
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    let mut chosen = exchanges(case);
    chosen.retain(|change| {
        let most = match change.field.as_str() {
            "alpha" | "compute" => 1,
            "beta" | "workspace alignment" => 2,
            _ => 4,
        };
        let left = left.entry(change.field.clone()).or_insert(most);
        let worth = *left > 0;
        *left = left.saturating_sub(1);
        worth
    });
    chosen
}

impl Probed {
    /// Fields whose every change was refused or could not be judged, with the value where one value alone was.
    pub(super) fn barred(&self) -> BTreeSet<(String, String)> {
        let unjudged = |cell: Cell| matches!(cell, Cell::Unjudged | Cell::Other);
        self.answers
            .iter()
            .filter(|(_, cell)| unjudged(*cell))
            .map(|(change, _)| (change.field.clone(), change.to.clone()))
            .collect()
    }

    /// Fields for which every larger value that was tried passes, and more than one was.
    fn pinned(&self, case: &Case) -> Vec<Field> {
        let is_pinned = |field: &Field| {
            let name = quantity(case, *field).to_string();
            let larger = self.answers.iter().filter(|(change, _)| {
                change.field == name && change.to.parse().is_ok_and(|to: i64| to > field.get(case))
            });
            let judged: Vec<Cell> = larger.map(|(_, cell)| *cell).collect();
            judged.len() > 1 && judged.iter().all(|cell| *cell == Cell::Passes)
        };
        numbers(case).into_iter().filter(is_pinned).collect()
    }

    /// For every field the nearest value that passes.
    pub(super) fn twins(&self) -> Vec<Twin> {
        let mut twins: Vec<(&Change, Twin)> = Vec::new();
        for (change, cell) in &self.answers {
            if *cell != Cell::Passes {
                continue;
            }
            let twin = Twin {
                field: change.field.clone(),
                fails: change.from.clone(),
                passes: change.to.clone(),
                case: change.case.to_string(),
            };
            match twins.iter_mut().find(|(known, _)| known.field == change.field) {
                Some(known) if change.distance < known.0.distance => *known = (change, twin),
                Some(_) => {}
                None => twins.push((change, twin)),
            }
        }
        twins.into_iter().map(|(_, twin)| twin).collect()
    }

    /// Fields that no condition is about and whose every judged change failed all the same.
    pub(super) fn any(&self, region: &Region) -> Vec<String> {
        let mut tally: Vec<(String, bool)> = Vec::new();
        for (change, cell) in &self.answers {
            let fails = match cell {
                Cell::Fails => true,
                Cell::Passes => false,
                Cell::Other | Cell::Unjudged => continue,
            };
            for field in fields_of(change) {
                let free = !region.atoms.iter().any(|atom| mentions(atom, &field, change.quantity.as_ref()));
                match tally.iter_mut().find(|(known, _)| *known == field) {
                    Some((_, any)) => *any &= fails && free,
                    None => tally.push((field, fails && free)),
                }
            }
        }
        tally.into_iter().filter(|(_, any)| *any).map(|(field, _)| field).collect()
    }
}

/// True where a condition is about a field.
fn mentions(atom: &Atom, field: &str, quantity: Option<&Quantity>) -> bool {
    match atom {
        Atom::Equal(of, _)
        | Atom::Differs(of, _)
        | Atom::AtMost(of, _)
        | Atom::AtLeast(of, _)
        | Atom::Residue(of, ..)
        | Atom::NotResidue(of, ..) => quantity.is_some_and(|quantity| is_about(of, quantity)),
        Atom::OneOf(Property::Scales, _) | Atom::NoneOf(Property::Scales, _) => {
            [Property::Alpha, Property::Beta].iter().any(|scale| scale.to_string() == field)
        }
        Atom::OneOf(property, _) | Atom::NoneOf(property, _) => property.to_string() == field,
    }
}

/// The fields that a change is about: all three tensors' where they change together.
fn fields_of(change: &Change) -> Vec<String> {
    match change.field.as_str() {
        "dtype" => Role::ALL.map(|role| Property::DType(role).to_string()).to_vec(),
        "layout" => Role::ALL.map(|role| Property::Layout(role).to_string()).to_vec(),
        _ => vec![change.field.clone()],
    }
}

/// True where that field is a factor of a tensor's size.
fn is_of_tensor(role: Role, field: &Quantity) -> bool {
    use Quantity::{MatrixBatch, MatrixColumns, MatrixProducts, MatrixRows};
    match role {
        Role::X => {
            let matrices = [MatrixBatch, MatrixRows, MatrixProducts].contains(field);
            matrices || matches!(field, Quantity::N | Quantity::C | Quantity::GroupC | Quantity::Input(_))
        }
        Role::W => {
            let channels = [Quantity::C, Quantity::K, Quantity::GroupC, Quantity::GroupK].contains(field);
            let matrices = [MatrixBatch, MatrixProducts, MatrixColumns].contains(field);
            matrices || channels || matches!(field, Quantity::Filter(_))
        }
        Role::Y => {
            let matrices = [MatrixBatch, MatrixRows, MatrixColumns].contains(field);
            matrices || matches!(field, Quantity::N | Quantity::K | Quantity::GroupK | Quantity::Input(_))
        }
    }
}

/// True where a condition's quantity is about that field.
pub(super) fn is_about(quantity: &Quantity, field: &Quantity) -> bool {
    let spatial = |inner: &usize| {
        [
            Quantity::Input(*inner),
            Quantity::Filter(*inner),
            Quantity::Stride(*inner),
            Quantity::Dilation(*inner),
        ]
        .contains(field)
    };
    match quantity {
        Quantity::Product(factors) => factors.iter().any(|factor| is_about(factor, field)),
        Quantity::Difference(first, _, second) => is_about(first, field) || is_about(second, field),
        Quantity::Remainder(of, _) => is_about(of, field),
        Quantity::Largest(of) | Quantity::Smallest(of) => {
            (0..3).any(|inner| is_about(&of.on_axis(inner), field))
        }
        Quantity::Output(inner) => spatial(inner),
        Quantity::PadDifference(inner) => {
            [Quantity::PadBefore(*inner), Quantity::PadAfter(*inner)].contains(field)
        }
        Quantity::C | Quantity::GroupC => matches!(field, Quantity::C | Quantity::GroupC),
        Quantity::K | Quantity::GroupK => matches!(field, Quantity::K | Quantity::GroupK),
        Quantity::Elements(role) | Quantity::Bytes(role) => is_of_tensor(*role, field),
        Quantity::Outputs => matches!(field, Quantity::N | Quantity::Input(_) | Quantity::MatrixRows),
        Quantity::MultiplyAdds => Role::ALL.into_iter().any(|role| is_of_tensor(role, field)),
        Quantity::N
        | Quantity::Groups
        | Quantity::MatrixRows
        | Quantity::MatrixColumns
        | Quantity::MatrixProducts
        | Quantity::MatrixBatch
        | Quantity::Rank
        | Quantity::Input(_)
        | Quantity::Filter(_)
        | Quantity::PadBefore(_)
        | Quantity::PadAfter(_)
        | Quantity::Stride(_)
        | Quantity::Dilation(_)
        | Quantity::WorkspaceAlignment => quantity == field,
    }
}
