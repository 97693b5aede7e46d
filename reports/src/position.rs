//! Positions in the output of a case: row-major over its logical extents (n, c, spatial). Arithmetic only.

use case::{Case, Operation};

/// Extents of the output, at least 1 each.
pub(crate) fn extents(case: &Case) -> Vec<u64> {
    let extents = case.problem.geometry().extents(case.problem.operation.output());
    extents.into_iter().map(|extent| u64::try_from(extent).unwrap_or(1).max(1)).collect()
}

/// Names of the output's dimensions.
pub(crate) fn names(case: &Case) -> Vec<&'static str> {
    let outer = match case.problem.operation {
        Operation::Fprop => ["n", "k"],
        Operation::Dgrad | Operation::MaxPool | Operation::AvgPool | Operation::RmsNorm => ["n", "c"],
        Operation::Wgrad => ["k", "c"],
        Operation::MatMul => return vec!["b", "m", "n"],
    };
    outer.into_iter().chain(axis_names(case)).collect()
}

/// Names of the spatial dimensions.
pub(crate) fn axis_names(case: &Case) -> impl Iterator<Item = &'static str> + use<> {
    let axes = ["d", "h", "w"];
    axes.into_iter().skip(axes.len().saturating_sub(case.problem.axes.len()))
}

/// Coordinates of a position.
pub(crate) fn coordinates(case: &Case, position: u64) -> Vec<u64> {
    let mut rest = position;
    let mut coordinates: Vec<u64> = Vec::new();
    for extent in extents(case).into_iter().rev() {
        coordinates.push(rest % extent);
        rest /= extent;
    }
    coordinates.reverse();
    coordinates
}

/// `n0 c3 h0 w2`.
pub(crate) fn words(case: &Case, position: u64) -> String {
    let parts: Vec<String> =
        names(case).iter().zip(coordinates(case, position)).map(|(name, at)| format!("{name}{at}")).collect();
    parts.join(" ")
}
