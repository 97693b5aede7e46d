//! The single changes that a case has: one number moved, one type, layout or scale exchanged, an axis more or less.
//! Knows fields and how they are named; asks nobody.

use case::{Axis, Case, DType, DTypes, Expect, Layout, Layouts, Operation, Property, Quantity, Role, Scale};

use crate::field::Field;
use crate::repair::repair;

/// A case with one field changed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    /// The field, as conditions print it; `dtype` and `layout` stand for all tensors at once.
    pub(super) field: String,
    /// The number that was moved, where it was one.
    pub(super) quantity: Option<Quantity>,
    /// Its value before.
    pub(super) from: String,
    /// Its value after.
    pub(super) to: String,
    /// How far the value moved; 0 where values have no distance.
    pub(super) distance: i64,
    /// The case after.
    pub(super) case: Case,
}

/// Alignments of the workspace that are tried, bytes.
const ALIGNMENTS: [i64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Scales that are tried.
const SCALES: [f64; 4] = [0.0, 1.0, 2.0, 0.5];

/// The numbers of a case that its conditions may be about.
pub(super) fn numbers(case: &Case) -> Vec<Field> {
    let is_about_the_problem = |field: &Field| match field {
        Field::Batch
        | Field::Input(_)
        | Field::ChannelsPerGroup
        | Field::FiltersPerGroup
        | Field::Groups
        | Field::Filter(_)
        | Field::Dilation(_)
        | Field::Stride(_)
        | Field::PadBefore(_)
        | Field::PadAfter(_) => true,
        Field::Declared(_) | Field::Repeat | Field::WorkspaceBytes | Field::Misalignment => false,
    };
    Field::all(case).into_iter().filter(is_about_the_problem).collect()
}

/// True for numbers that are large in earnest: their range is not that of a filter or a stride.
pub(super) fn is_extent(case: &Case, field: Field) -> bool {
    let channels = field == Field::Groups && follows_channels(case.problem.operation);
    matches!(field, Field::Batch | Field::Input(_) | Field::ChannelsPerGroup | Field::FiltersPerGroup)
        || channels
}

/// True where groups are the channels.
fn follows_channels(operation: Operation) -> bool {
    operation.is_pooling() || operation == Operation::RmsNorm
}

/// A field in the words of conditions, which count axes from the innermost one. Channels of a case without groups
/// go by their total, and so do those of what has as many groups; matrices have letters of their own.
pub(super) fn quantity(case: &Case, field: Field) -> Quantity {
    let operation = case.problem.operation;
    let matrices = operation == Operation::MatMul;
    let inner = |index: usize| (case.problem.axes.len() - 1).saturating_sub(index);
    let grouped = case.problem.g != 1;
    match field {
        Field::Batch if matrices => Quantity::MatrixRows,
        Field::ChannelsPerGroup if matrices => Quantity::MatrixProducts,
        Field::FiltersPerGroup if matrices => Quantity::MatrixColumns,
        Field::Groups if matrices => Quantity::MatrixBatch,
        Field::Batch => Quantity::N,
        Field::ChannelsPerGroup if grouped => Quantity::GroupC,
        Field::ChannelsPerGroup => Quantity::C,
        Field::FiltersPerGroup if grouped => Quantity::GroupK,
        Field::FiltersPerGroup => Quantity::K,
        Field::Input(index) => Quantity::Input(inner(index)),
        Field::Filter(index) => Quantity::Filter(inner(index)),
        Field::Dilation(index) => Quantity::Dilation(inner(index)),
        Field::Stride(index) => Quantity::Stride(inner(index)),
        Field::PadBefore(index) => Quantity::PadBefore(inner(index)),
        Field::PadAfter(index) => Quantity::PadAfter(inner(index)),
        Field::Groups if follows_channels(operation) => Quantity::C,
        Field::Groups | Field::Declared(_) | Field::Repeat | Field::WorkspaceBytes | Field::Misalignment => {
            Quantity::Groups
        }
    }
}

/// The case with one number moved, and what that obliges others to; `None` where no valid case comes of it.
pub(super) fn moved(case: &Case, field: Field, value: i64) -> Option<Change> {
    let before = field.get(case);
    let changed = moved_to(case, field, value).filter(|_| value != before)?;
    let quantity = quantity(case, field);
    Some(Change {
        field: quantity.to_string(),
        quantity: Some(quantity),
        from: before.to_string(),
        to: value.to_string(),
        distance: value.abs_diff(before).try_into().unwrap_or(i64::MAX),
        case: changed,
    })
}

/// The case with one number at that value, and what that obliges others to; `None` where it cannot be.
pub(super) fn moved_to(case: &Case, field: Field, value: i64) -> Option<Case> {
    if value < field.least() && case.options.expect == Expect::Right {
        return None;
    }
    settled(case, field.set(case, value)?)
}

/// A valid case, repaired where need be.
pub(super) fn settled(from: &Case, proposal: Case) -> Option<Case> {
    let repaired = repair(from, proposal);
    repaired.validate().is_ok().then_some(repaired)
}

/// Every exchange of something that is no size.
pub(super) fn exchanges(case: &Case) -> Vec<Change> {
    KINDS.iter().flat_map(|kind| exchanges_of(case, *kind)).collect()
}

/// Exchanges of one kind.
type Kind = fn(&Case) -> Vec<Change>;

/// The kinds of exchanges.
pub(super) const KINDS: [Kind; 5] = [types, layouts, scales, alignments, ranks];

/// The valid exchanges of one kind.
pub(super) fn exchanges_of(case: &Case, kind: Kind) -> Vec<Change> {
    let mut changes = kind(case);
    for change in &mut changes {
        change.case.problem = change.case.problem.clone().fitted();
    }
    changes.retain(|change| change.case != *case && change.case.validate().is_ok());
    changes
}

fn made(case: &Case, (field, from, to): (&str, &str, &str), change: impl FnOnce(&mut Case)) -> Change {
    let mut changed = case.clone();
    change(&mut changed);
    Change {
        field: field.to_owned(),
        quantity: None,
        from: from.to_owned(),
        to: to.to_owned(),
        distance: 0,
        case: changed,
    }
}

fn with_compute(case: &Case, mut dtypes: DTypes) -> DTypes {
    let now = case.problem.dtypes;
    // A compute type that follows from the tensors goes on to do so.
    if now.compute == DTypes::default_compute(now.tensors()) {
        dtypes.compute = DTypes::default_compute(dtypes.tensors());
    }
    dtypes
}

fn types(case: &Case) -> Vec<Change> {
    let now = case.problem.dtypes;
    let shown = now.tensors().map(DType::name);
    let all = if now.is_uniform() { now.x.name().to_owned() } else { shown.join(",") };
    let mut changes = Vec::new();
    for dtype in DType::ALL {
        let uniform = with_compute(case, DTypes { compute: now.compute, ..DTypes::uniform(dtype) });
        changes.push(made(case, ("dtype", &all, dtype.name()), |case| case.problem.dtypes = uniform));
    }
    for role in Role::ALL {
        for dtype in DType::ALL {
            let mut one = now;
            *[&mut one.x, &mut one.w, &mut one.y][role.index()] = dtype;
            let one = with_compute(case, one);
            let field = Property::DType(role).to_string();
            let words = (field.as_str(), shown[role.index()], dtype.name());
            changes.push(made(case, words, |case| case.problem.dtypes = one));
        }
    }
    for compute in [DType::F32, DType::F64, DType::F16] {
        let words = ("compute", now.compute.name(), compute.name());
        changes.push(made(case, words, |case| case.problem.dtypes.compute = compute));
    }
    changes
}

fn layouts(case: &Case) -> Vec<Change> {
    let now = case.problem.layouts;
    let operation = case.problem.operation;
    let shown = now.tensors().map(|layout| layout.word(operation));
    let all = if now.is_uniform() { now.x.word(operation).to_owned() } else { shown.join(",") };
    let mut changes = Vec::new();
    let near = if case.problem.dtypes.has_integers() { &Layout::ALL[..] } else { &Layout::PLAIN };
    for &layout in near {
        let words = ("layout", all.as_str(), layout.word(operation));
        changes.push(made(case, words, |case| case.problem.layouts = Layouts::uniform(layout)));
        for role in Role::ALL {
            let field = Property::Layout(role).to_string();
            let words = (field.as_str(), shown[role.index()], layout.word(operation));
            changes.push(made(case, words, |case| {
                let layouts = &mut case.problem.layouts;
                *[&mut layouts.x, &mut layouts.w, &mut layouts.y][role.index()] = layout;
            }));
        }
    }
    changes
}

fn scales(case: &Case) -> Vec<Change> {
    let mut changes = Vec::new();
    for value in SCALES {
        let alpha = (case.options.alpha.value().to_string(), value.to_string());
        if value != 0.0 {
            let words = ("alpha", alpha.0.as_str(), alpha.1.as_str());
            changes.push(made(case, words, |case| case.options.alpha = Scale::new(value)));
        }
        // Where the output's contents are given, the prior output has no place.
        if case.options.output_fill.is_none() {
            let beta = case.options.beta.value().to_string();
            let words = ("beta", beta.as_str(), alpha.1.as_str());
            changes.push(made(case, words, |case| case.options.beta = Scale::new(value)));
        }
    }
    changes
}

fn alignments(case: &Case) -> Vec<Change> {
    let now = case.options.workspace.alignment;
    let field = Quantity::WorkspaceAlignment.to_string();
    let change = |alignment: i64| {
        let words = (field.as_str(), &*now.to_string(), &*alignment.to_string());
        let mut change = made(case, words, |case| case.options.workspace.alignment = alignment);
        change.distance = (alignment - now).abs();
        change.quantity = Some(Quantity::WorkspaceAlignment);
        change
    };
    ALIGNMENTS.into_iter().map(change).collect()
}

/// An axis more outside all others, or one less of those that have no effect: what remains stays as it is, axis by
/// axis from the innermost one, so that only their number changes.
fn ranks(case: &Case) -> Vec<Change> {
    let rank = case.problem.axes.len();
    if case.problem.declared_output.is_some() {
        return Vec::new();
    }
    let field = Quantity::Rank.to_string();
    let change = |to: usize, change: &dyn Fn(&mut Vec<Axis>)| {
        let words = (field.as_str(), &*rank.to_string(), &*to.to_string());
        let mut changed = made(case, words, |case| change(&mut case.problem.axes));
        changed.distance = 1;
        changed.quantity = Some(Quantity::Rank);
        changed
    };
    let mut changes = Vec::new();
    if rank < 3 {
        changes.push(change(rank + 1, &|axes| axes.insert(0, Axis::plain(1, 1))));
    }
    let idle = |axis: &Axis| Axis { stride: 1, dilation: 1, ..*axis } == Axis::plain(1, 1);
    if let Some(place) = case.problem.axes.iter().position(idle).filter(|_| rank > 1) {
        changes.push(change(rank - 1, &|axes| {
            axes.remove(place);
        }));
    }
    changes
}

/// The cases that tell whether it matters which axis it is: the same axes the other way round, or one without effect
/// inside them.
pub(super) fn turned(case: &Case) -> Vec<Case> {
    let turn = |turn: &dyn Fn(&mut Vec<Axis>)| {
        let mut turned = case.clone();
        turn(&mut turned.problem.axes);
        turned
    };
    let mut cases = vec![turn(&|axes| axes.reverse()), turn(&|axes| axes.push(Axis::plain(1, 1)))];
    cases.retain(|turned| {
        turned.problem.axes.len() <= 3
            && turned != case
            && turned.problem.declared_output.is_none()
            && turned.validate().is_ok()
    });
    cases
}
