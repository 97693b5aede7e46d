//! The operations of a stream, and what a geometry that was drawn for a convolution is as another operation. Knows the
//! rules of each; draws nothing.

use case::{Axis, Case, Expect, Operation, Scale};

/// Some of the operations, in the order of [`Operation::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations {
    taken: [bool; Operation::ALL.len()],
}

impl Operations {
    /// The three passes of a convolution.
    pub const CONVOLUTIONS: Self = Self { taken: [true, true, true, false, false, false, false] };

    /// These, each once; `None` where there is none.
    #[must_use]
    pub fn of(operations: &[Operation]) -> Option<Self> {
        let taken = Operation::ALL.map(|operation| operations.contains(&operation));
        taken.contains(&true).then_some(Self { taken })
    }

    /// Each of them, in order.
    pub fn iter(self) -> impl Iterator<Item = Operation> {
        Operation::ALL.into_iter().zip(self.taken).filter_map(|(operation, taken)| taken.then_some(operation))
    }

    /// How many: at least one.
    #[must_use]
    pub fn count(self) -> usize {
        self.iter().count()
    }

    /// The one at that place; the first beyond the end.
    pub(super) fn at(self, place: usize) -> Operation {
        self.iter().nth(place).or_else(|| self.iter().next()).unwrap_or(Operation::Fprop)
    }
}

/// The output extents of those axes with an error in the last one, to be refused; `None` without an error.
pub(super) fn declared(axes: &[Axis], error: i64) -> Option<Vec<i64>> {
    if error == 0 {
        return None;
    }
    let mut output: Vec<i64> = axes.iter().map(Axis::output).collect();
    if let Some(last) = output.last_mut() {
        *last += error;
    }
    Some(output)
}

/// A case that has the fields of a convolution, brought inside the rules of its own operation.
///
/// Pooling takes the filter for its window, with padding below it. Rows of matrices and of a normalization are the
/// batch or the last input extent, whichever is more, since zones aim at both; channels in a group, filters in a group
/// and groups are k, n and the batch of a product.
pub(super) fn adapted(mut case: Case, output_error: i64) -> Case {
    (case.options.alpha, case.options.beta) = (Scale::new(1.0), Scale::new(0.0));
    let problem = &mut case.problem;
    if problem.operation.is_pooling() {
        problem.axes.iter_mut().for_each(pool);
        problem.declared_output = declared(&problem.axes, output_error);
    } else {
        let rows = problem.axes.last().map_or(1, |axis| axis.input);
        problem.n = problem.n.max(rows);
        // Without axes no output size can be wrong.
        case.options.expect = Expect::Right;
    }
    case.problem = case.problem.fitted();
    case
}

/// A window no larger than what it slides over, whose padding is below it.
fn pool(axis: &mut Axis) {
    axis.dilation = 1;
    axis.pad_before = axis.pad_before.min(axis.filter - 1);
    axis.pad_after = axis.pad_after.min(axis.filter - 1);
    if axis.filter > axis.input + axis.pad_before + axis.pad_after {
        axis.filter = axis.input;
        axis.pad_before = axis.pad_before.min(axis.filter - 1);
        axis.pad_after = axis.pad_after.min(axis.filter - 1);
    }
}
