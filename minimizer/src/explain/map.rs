//! Pass and fail over the values of the two fields that matter most. Knows which values lie around a border; infers
//! nothing between the cells.

use std::collections::BTreeSet;

use case::{Atom, Case, Cell, Map, Quantity, Region};

use super::change::{is_extent, moved_to, numbers, quantity};
use super::inquiry::Inquiry;
use super::probe::is_about;
use crate::field::Field;

/// Most and fewest values of one axis.
const EDGE_MAX: usize = 12;
const EDGE_MIN: usize = 3;

/// The map around the case, as large as the calls left allow; `None` where fewer than two fields matter or too few
/// calls are left.
pub(super) fn map(case: &Case, region: &Region, inquiry: &mut Inquiry<'_>) -> Option<Map> {
    let (across, down) = most_telling(case, region)?;
    let calls = usize::try_from(inquiry.left()).unwrap_or(usize::MAX);
    let edge = calls.isqrt().min(EDGE_MAX);
    if edge < EDGE_MIN {
        return None;
    }
    let columns = values(case, across, region, edge);
    let rows = values(case, down, region, edge);
    let at = |row: i64, column: i64| {
        let both = moved_to(case, across, column).and_then(|case| moved_to(&case, down, row))?;
        // What one field obliges the other to must not blur the axes.
        (across.get(&both) == column && down.get(&both) == row).then_some(both)
    };
    let mut cells = Vec::new();
    for row in &rows {
        let mut line = Vec::new();
        for column in &columns {
            let cell = at(*row, *column).and_then(|case| inquiry.ask(&case));
            line.push(cell.unwrap_or(Cell::Unjudged));
        }
        cells.push(line);
    }
    Some(Map { across: quantity(case, across), columns, down: quantity(case, down), rows, cells })
}

fn quantity_of(atom: &Atom) -> Option<&Quantity> {
    match atom {
        Atom::Equal(of, _)
        | Atom::Differs(of, _)
        | Atom::AtMost(of, _)
        | Atom::AtLeast(of, _)
        | Atom::Residue(of, ..)
        | Atom::NotResidue(of, ..) => Some(of),
        Atom::OneOf(..) | Atom::NoneOf(..) => None,
    }
}

/// The two fields that most conditions are about, extents first where they tie. With one such field the other is the
/// first extent beside it.
fn most_telling(case: &Case, region: &Region) -> Option<(Field, Field)> {
    let about = |field: Field| {
        let of = quantity(case, field);
        let quantities = region.atoms.iter().filter_map(quantity_of);
        quantities
            .map(|quantity| 2 * usize::from(is_about(quantity, &of)) + usize::from(*quantity == of))
            .sum()
    };
    let mut weighed: Vec<(usize, Field)> =
        numbers(case).into_iter().map(|field| (about(field), field)).collect();
    weighed.sort_by_key(|(weight, field)| (std::cmp::Reverse(*weight), !is_extent(case, *field)));
    match weighed.as_slice() {
        [(first, one), (_, other), ..] if *first > 0 => Some((*one, *other)),
        _ => None,
    }
}

/// Values around the case's own, and where a remainder counts the next ones that share it.
fn values(case: &Case, field: Field, region: &Region, edge: usize) -> Vec<i64> {
    let (now, least) = (field.get(case), field.least());
    let of = quantity(case, field);
    let modulus = region.atoms.iter().find_map(|atom| match atom {
        Atom::Residue(quantity, modulus, _) | Atom::NotResidue(quantity, modulus, _)
            if is_about(quantity, &of) =>
        {
            Some(*modulus)
        }
        Atom::AtLeast(Quantity::Remainder(quantity, modulus), _)
        | Atom::AtMost(Quantity::Remainder(quantity, modulus), _)
            if is_about(quantity, &of) =>
        {
            Some(*modulus)
        }
        Atom::Equal(..)
        | Atom::Differs(..)
        | Atom::AtMost(..)
        | Atom::AtLeast(..)
        | Atom::Residue(..)
        | Atom::NotResidue(..)
        | Atom::OneOf(..)
        | Atom::NoneOf(..) => None,
    });
    let far: Vec<i64> = modulus
        .map_or_else(|| vec![2 * now], |modulus| vec![now + modulus, now + 2 * modulus, now + modulus + 1]);
    let mut values: BTreeSet<i64> = [now].into();
    values.extend(far.into_iter().take(edge.saturating_sub(EDGE_MIN)));
    for step in 1.. {
        for value in [now + step, now - step] {
            if values.len() < edge && value >= least {
                values.insert(value);
            }
        }
        if values.len() >= edge {
            break;
        }
    }
    values.into_iter().collect()
}
