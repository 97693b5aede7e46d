//! The case that a search asks about beside the failing one, to see that not everything fails. Knows which operation
//! can stand in for which; asks nobody.

use case::{Case, Operation};

/// A case that cannot fail in the pinned way: the pass is part of how a failure is pinned, and this one has
/// another.
pub(crate) fn control(case: &Case) -> Option<Case> {
    let mut control = case.clone();
    control.problem.operation = match case.problem.operation {
        Operation::Fprop => Operation::Dgrad,
        Operation::MaxPool => Operation::AvgPool,
        Operation::AvgPool => Operation::MaxPool,
        // Shaped like a convolution, so that one can stand in.
        Operation::Dgrad | Operation::Wgrad | Operation::MatMul | Operation::RmsNorm => Operation::Fprop,
    };
    control.options.keep = case::Keep::default();
    control.validate().is_ok().then_some(control)
}
