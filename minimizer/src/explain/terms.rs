//! What conditions may be about: the quantities and properties that are looked at around a case, plain ones first.
//! Knows the vocabulary of conditions and what each word costs; judges no case.

use case::{Case, Operation, Property, Quantity};

use super::change::{is_extent, numbers, quantity};
use crate::field::Field;

/// Price of a plain field; conditions are added up in this unit, so that few plain ones win.
pub(super) const PLAIN: u32 = 0;
const TOTAL: u32 = 5;
const OUTPUT: u32 = 8;
const SIZE: u32 = 30;
const OVER_AXES: u32 = 40;
const PRODUCT: u32 = 60;
const DIFFERENCE: u32 = 75;
const REMAINDER: u32 = 85;

/// Moduli within which an interval of remainders is looked for.
const TILES: [i64; 5] = [4, 8, 16, 32, 64];

/// Largest whole ratio of two fields that is looked at.
const RATIO_MAX: i64 = 8;

/// A quantity and its price.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) quantity: Quantity,
    pub(super) price: u32,
    /// True where remainders of it are of interest.
    pub(super) residues: bool,
    /// True where the quantity is a remainder itself.
    pub(super) is_remainder: bool,
}

/// Everything that conditions around a case may be about.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub(super) numbers: Vec<Term>,
    pub(super) properties: Vec<Property>,
}

/// The values of all terms in one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) numbers: Vec<Option<i64>>,
    pub(super) words: Vec<String>,
}

fn term(quantity: Quantity, price: u32, residues: bool) -> Term {
    Term { quantity, price, residues, is_remainder: false }
}

impl Terms {
    /// The terms that make sense around a case.
    pub(super) fn around(case: &Case) -> Self {
        let mut numbers = plain(case);
        numbers.extend(sizes(case));
        numbers.extend(over_axes(case));
        numbers.extend(products(case));
        numbers.extend(differences(case));
        numbers.extend(remainders(case));
        let mut properties = Vec::new();
        for role in case.problem.operation.tensors() {
            properties.extend([Property::DType(*role), Property::Layout(*role)]);
        }
        properties.push(Property::Compute);
        if case.problem.operation.is_convolution() {
            properties.extend([Property::Alpha, Property::Beta, Property::Scales]);
        }
        Self { numbers, properties }
    }

    /// Their values in a case.
    pub(super) fn facts(&self, case: &Case) -> Facts {
        Facts {
            numbers: self.numbers.iter().map(|term| term.quantity.of(case)).collect(),
            words: self.properties.iter().map(|property| property.of(case)).collect(),
        }
    }
}

fn plain(case: &Case) -> Vec<Term> {
    let mut terms = channels(case);
    let axes = if has_axes(case) { case.problem.axes.len() } else { 0 };
    if axes > 0 {
        terms.push(term(Quantity::Rank, PLAIN, false));
    }
    terms.push(term(Quantity::WorkspaceAlignment, PLAIN, false));
    for inner in 0..axes {
        terms.extend([
            term(Quantity::Input(inner), PLAIN, true),
            term(Quantity::Output(inner), OUTPUT, true),
            term(Quantity::Filter(inner), PLAIN, true),
            term(Quantity::Stride(inner), PLAIN, true),
            term(Quantity::Dilation(inner), PLAIN, true),
            term(Quantity::PadBefore(inner), PLAIN, true),
            term(Quantity::PadAfter(inner), PLAIN, true),
            term(Quantity::PadDifference(inner), OUTPUT, false),
        ]);
    }
    terms
}

/// True where axes are the case's own.
fn has_axes(case: &Case) -> bool {
    !matches!(case.problem.operation, Operation::MatMul | Operation::RmsNorm)
}

/// Batch, channels and groups by the letters of the operation.
fn channels(case: &Case) -> Vec<Term> {
    let plain = |of: &[Quantity]| of.iter().map(|of| term(of.clone(), PLAIN, true)).collect::<Vec<Term>>();
    match case.problem.operation {
        Operation::MatMul => {
            return plain(&[
                Quantity::MatrixRows,
                Quantity::MatrixColumns,
                Quantity::MatrixProducts,
                Quantity::MatrixBatch,
            ]);
        }
        Operation::MaxPool | Operation::AvgPool | Operation::RmsNorm => {
            return plain(&[Quantity::N, Quantity::C]);
        }
        Operation::Fprop | Operation::Dgrad | Operation::Wgrad => {}
    }
    let mut terms = Vec::new();
    // Of two that always agree around the case the total is named, which a reader knows without arithmetic.
    for (total, share) in [(Quantity::C, Quantity::GroupC), (Quantity::K, Quantity::GroupK)] {
        let grouped = case.problem.g != 1;
        let price = |is_total: bool| if is_total == grouped { TOTAL } else { PLAIN };
        terms.extend([term(total, price(true), true), term(share, price(false), true)]);
    }
    terms.extend(plain(&[Quantity::N, Quantity::Groups]));
    terms
}

fn sizes(case: &Case) -> Vec<Term> {
    let sizes = [Quantity::Outputs, Quantity::MultiplyAdds];
    let elements = case.problem.operation.tensors().iter().map(|role| Quantity::Elements(*role));
    sizes.into_iter().chain(elements).map(|size| term(size, SIZE, false)).collect()
}

/// The ends of what the axes have: a failure that any of them brings about is none of one axis.
fn over_axes(case: &Case) -> Vec<Term> {
    if !has_axes(case) {
        return Vec::new();
    }
    let of = [
        Quantity::Input(0),
        Quantity::Output(0),
        Quantity::Filter(0),
        Quantity::Stride(0),
        Quantity::Dilation(0),
        Quantity::PadBefore(0),
        Quantity::PadAfter(0),
        Quantity::PadDifference(0),
    ];
    let ends = of
        .into_iter()
        .flat_map(|of| [Quantity::Largest(Box::new(of.clone())), Quantity::Smallest(Box::new(of))]);
    ends.map(|end| term(end, OVER_AXES, false)).collect()
}

/// The fields of which two may be tied to each other.
fn tied(case: &Case) -> Vec<(Quantity, i64)> {
    let mut tied: Vec<(Quantity, i64)> = numbers(case)
        .into_iter()
        .filter(|field| !matches!(field, Field::Dilation(_)))
        .map(|field| (quantity(case, field), field.get(case)))
        .collect();
    if case.problem.g != 1 && case.problem.operation.is_convolution() {
        tied.extend([(Quantity::C, case.problem.c), (Quantity::K, case.problem.k)]);
    }
    tied
}

fn products(case: &Case) -> Vec<Term> {
    let extents = numbers(case).into_iter().filter(|field| is_extent(case, *field));
    let mut factors: Vec<Quantity> = extents.map(|field| quantity(case, field)).collect();
    if has_axes(case) {
        factors.extend((0..case.problem.axes.len()).map(Quantity::Output));
    }
    let mut terms = pairs(&factors, |one, other| {
        Some(term(Quantity::Product(vec![one.clone(), other.clone()]), PRODUCT, false))
    });
    if case.problem.axes.len() == 3 {
        let inputs = (0..3).map(Quantity::Input).collect();
        terms.push(term(Quantity::Product(inputs), PRODUCT, false));
    }
    terms
}

fn differences(case: &Case) -> Vec<Term> {
    let tied = tied(case);
    let plain: Vec<Quantity> = tied.iter().map(|(quantity, _)| quantity.clone()).collect();
    let less = |first: &Quantity, times: i64, second: &Quantity, price: u32| {
        let difference = Quantity::Difference(Box::new(first.clone()), times, Box::new(second.clone()));
        term(difference, price, false)
    };
    let mut terms = pairs(&plain, |one, other| Some(less(one, 1, other, DIFFERENCE)));
    for (first, large) in &tied {
        for (second, small) in &tied {
            let ratio = if *small >= 2 { large / small } else { 0 };
            if (2..=RATIO_MAX).contains(&ratio) && ratio * small == *large {
                terms.push(less(first, ratio, second, DIFFERENCE + 10));
            }
        }
    }
    terms
}

fn remainders(case: &Case) -> Vec<Term> {
    let mut terms = Vec::new();
    let extents = numbers(case).into_iter().filter(|field| is_extent(case, *field));
    let mut of: Vec<(Quantity, u32)> = extents.map(|field| (quantity(case, field), 0)).collect();
    if case.problem.operation.is_convolution() {
        of.extend([(Quantity::GroupC, TOTAL), (Quantity::GroupK, TOTAL)]);
    }
    if has_axes(case) {
        of.extend((0..case.problem.axes.len()).map(|inner| (Quantity::Output(inner), OUTPUT)));
    }
    for (quantity, price) in of {
        for (step, modulus) in (0..).zip(TILES) {
            let remainder = Quantity::Remainder(Box::new(quantity.clone()), modulus);
            terms.push(Term { is_remainder: true, ..term(remainder, REMAINDER + price + step, false) });
        }
    }
    terms
}

fn pairs(of: &[Quantity], make: impl Fn(&Quantity, &Quantity) -> Option<Term>) -> Vec<Term> {
    let mut terms = Vec::new();
    for (position, other) in of.iter().enumerate() {
        terms.extend(of[..position].iter().filter_map(|one| make(one, other)));
    }
    terms
}
