//! Linear positions of the output as coordinates. Knows extents; knows nothing of values.

use case::{Case, Role};

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

/// A position with the names of its dimensions, such as `(n0 c3 h0 w2)`; the channel of y is k.
#[must_use]
pub fn print_position(case: &Case, position: u64) -> String {
    let names: [&str; 2] = match case.problem.operation.output() {
        Role::X => ["n", "c"],
        Role::W => ["k", "c"],
        Role::Y => ["n", "k"],
    };
    let axes = ["d", "h", "w"];
    let first_axis = axes.len().saturating_sub(case.problem.axes.len());
    let names = names.into_iter().chain(axes.into_iter().skip(first_axis));
    let parts: Vec<String> =
        names.zip(coordinates(case, position)).map(|(name, at)| format!("{name}{at}")).collect();
    format!("({})", parts.join(" "))
}
