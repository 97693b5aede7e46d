//! Sizes that follow from a problem: extents, elements, bytes, work. Computed on demand, stored nowhere.

use crate::operation::{Operation, Role};
use crate::problem::Problem;

/// Extents in the logical order n, c, spatial (filter: k, c / g, spatial), elements.
pub type Extents = Vec<i64>;

/// Derived sizes of one problem. All counts saturate at `i64::MAX`; validation refuses a case that gets there.
#[derive(Clone, Copy, Debug)]
pub struct Geometry<'a> {
    problem: &'a Problem,
}

impl Problem {
    /// Derived sizes.
    #[must_use]
    pub fn geometry(&self) -> Geometry<'_> {
        Geometry { problem: self }
    }
}

fn product(values: impl IntoIterator<Item = i64>) -> i64 {
    values.into_iter().fold(1_i64, i64::saturating_mul)
}

impl Geometry<'_> {
    /// Spatial extents of y: as declared, else by the output rule.
    #[must_use]
    pub fn output_spatial(&self) -> Vec<i64> {
        let problem = self.problem;
        problem
            .declared_output
            .clone()
            .unwrap_or_else(|| problem.axes.iter().map(crate::Axis::output).collect())
    }

    /// Extents of a tensor; for the w that pooling lacks, of its windows. Integer division by a group count below 1
    /// counts as division by 1.
    #[must_use]
    pub fn extents(&self, role: Role) -> Extents {
        let problem = self.problem;
        match (problem.operation, role) {
            (Operation::MatMul, _) => return self.matrices(role),
            (Operation::RmsNorm, Role::W) => {
                return [1, problem.c].into_iter().chain(problem.axes.iter().map(|_| 1)).collect();
            }
            _ => {}
        }
        let (outer, inner, spatial): (i64, i64, Vec<i64>) = match role {
            Role::X => (problem.n, problem.c, problem.axes.iter().map(|axis| axis.input).collect()),
            Role::W => (
                problem.k,
                problem.c / problem.g.max(1),
                problem.axes.iter().map(|axis| axis.filter).collect(),
            ),
            Role::Y => (problem.n, problem.k, self.output_spatial()),
        };
        [outer, inner].into_iter().chain(spatial).collect()
    }

    /// Batch, rows and columns: x is b m k, w is b k n, y is b m n.
    fn matrices(&self, role: Role) -> Extents {
        let problem = self.problem;
        let batch = problem.g.max(1);
        let (inner, columns) = (problem.c / batch, problem.k / batch);
        match role {
            Role::X => vec![problem.g, problem.n, inner],
            Role::W => vec![problem.g, inner, columns],
            Role::Y => vec![problem.g, problem.n, columns],
        }
    }

    /// Extents as cuDNN is told them: of a vectorised layout the second counts vectors instead of channels.
    #[must_use]
    pub fn dimensions(&self, role: Role) -> Extents {
        let mut dimensions = self.extents(role);
        dimensions[1] /= self.problem.layouts.tensors()[role.index()].vector();
        dimensions
    }

    /// Element strides of a tensor in its layout, between the elements that `dimensions` counts.
    #[must_use]
    pub fn strides(&self, role: Role) -> Vec<i64> {
        self.problem.layouts.tensors()[role.index()].strides(&self.dimensions(role))
    }

    /// Elements of a tensor; 0 where the operation has none in that role.
    #[must_use]
    pub fn elements(&self, role: Role) -> i64 {
        if !self.problem.operation.tensors().contains(&role) {
            return 0;
        }
        product(self.extents(role))
    }

    /// Bytes of a tensor.
    #[must_use]
    pub fn bytes(&self, role: Role) -> i64 {
        self.elements(role).saturating_mul(self.problem.dtypes.tensors()[role.index()].bytes())
    }

    /// Bytes of x, w and y together.
    #[must_use]
    pub fn total_bytes(&self) -> i64 {
        Role::ALL.into_iter().fold(0_i64, |sum, role| sum.saturating_add(self.bytes(role)))
    }

    /// Products that one output sums, borders included as if inside: the longest reduction is at most this.
    /// fprop (c / g) taps, dgrad (k / g) taps, wgrad n times the spatial outputs, pooling its window, matmul k,
    /// rmsnorm c squares.
    #[must_use]
    pub fn reduction(&self) -> i64 {
        let problem = self.problem;
        let groups = problem.g.max(1);
        let taps = product(problem.axes.iter().map(|axis| axis.filter));
        match problem.operation {
            Operation::Fprop | Operation::MaxPool | Operation::AvgPool | Operation::MatMul => {
                taps.saturating_mul(problem.c / groups)
            }
            Operation::RmsNorm => problem.c,
            Operation::Dgrad => taps.saturating_mul(problem.k / groups),
            Operation::Wgrad => product(self.output_spatial()).saturating_mul(problem.n),
        }
    }

    /// Multiply-adds of the operation, borders counted as if inside; equal for the three passes of a convolution.
    /// For rmsnorm those of the reference, which sums each row anew for each of its outputs.
    #[must_use]
    pub fn multiply_adds(&self) -> i64 {
        let problem = self.problem;
        if problem.operation == Operation::RmsNorm {
            return self.elements(Role::Y).saturating_mul(problem.c);
        }
        let taps = product(problem.axes.iter().map(|axis| axis.filter));
        product([self.elements(Role::Y), problem.c / problem.g.max(1), taps])
    }
}
