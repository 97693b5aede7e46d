//! Linear positions of the output as coordinates. Knows extents; knows nothing of values.

use case::{Case, Operation};

/// Coordinates of a row-major position over the output's logical extents (n, c, spatial). A position beyond
/// the end wraps around; an extent below 1 counts as 1.
#[must_use]
pub fn coordinates(case: &Case, position: u64) -> Vec<i64> {
    let extents = case.problem.geometry().extents(case.problem.operation.output());
    let mut rest = position;
    let mut coordinates: Vec<i64> = extents
        .iter()
        .rev()
        .map(|extent| {
            let extent = u64::try_from(*extent).unwrap_or(1).max(1);
            let coordinate = rest % extent;
            rest /= extent;
            i64::try_from(coordinate).unwrap_or(i64::MAX)
        })
        .collect();
    coordinates.reverse();
    coordinates
}

/// The position of those coordinates, the inverse of [`coordinates`].
pub(crate) fn position_of(case: &Case, coordinates: &[i64]) -> u64 {
    let extents = case.problem.geometry().extents(case.problem.operation.output());
    let whole = |number: i64| u64::try_from(number).unwrap_or(0);
    coordinates
        .iter()
        .zip(&extents)
        .fold(0, |position: u64, (&at, &extent)| position.wrapping_mul(whole(extent)).wrapping_add(whole(at)))
}

/// A position with the names of its dimensions, such as `(n0 c3 h0 w2)`; the channel of a convolution's y is k.
#[must_use]
pub fn print_position(case: &Case, position: u64) -> String {
    let names: &[&str] = match case.problem.operation {
        Operation::Fprop => &["n", "k"],
        Operation::Dgrad | Operation::MaxPool | Operation::AvgPool => &["n", "c"],
        Operation::Wgrad => &["k", "c"],
        Operation::MatMul => &["b", "m", "n"],
        // Its axes have one position each.
        Operation::RmsNorm => return named(&["n", "c"], &coordinates(case, position)),
    };
    let axes = ["d", "h", "w"];
    let first_axis = axes.len().saturating_sub(case.problem.axes.len());
    let names: Vec<&str> = names.iter().copied().chain(axes.into_iter().skip(first_axis)).collect();
    named(&names, &coordinates(case, position))
}

fn named(names: &[&str], coordinates: &[i64]) -> String {
    let parts: Vec<String> = names.iter().zip(coordinates).map(|(name, at)| format!("{name}{at}")).collect();
    format!("({})", parts.join(" "))
}
