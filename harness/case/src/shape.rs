//! How each operation uses the fields of a problem: which follow from the others. Knows no text and no limits.
//!
//! | operation | n | c | k | g | axes |
//! |---|---|---|---|---|---|
//! | convolutions | batch | channels of x | channels of y | groups | as they are |
//! | maxpool, avgpool | batch | channels | c | c | filter is the window, dilation 1 |
//! | matmul | m | b times k | b times n | b | one of extent 1 |
//! | rmsnorm | rows | length of a row | c | c | two of extent 1 |
//!
//! So pooling is shaped as a depthwise convolution and matmul as a grouped one with 1x1 filters, and whatever shrinks
//! or describes a convolution does so for them.

use crate::error::CaseError;
use crate::operation::Operation;
use crate::problem::{Axis, Case, Problem};

impl Problem {
    /// The same problem with every field that follows from others at the value that it must have.
    #[must_use]
    pub fn fitted(mut self) -> Self {
        match self.operation {
            Operation::Fprop | Operation::Dgrad | Operation::Wgrad => return self,
            Operation::MaxPool | Operation::AvgPool => {
                for axis in &mut self.axes {
                    axis.dilation = 1;
                }
                (self.dtypes.w, self.layouts.w) = (self.dtypes.x, self.layouts.x);
                (self.k, self.g) = (self.c, self.c);
            }
            Operation::MatMul => {
                self.axes = vec![Axis::plain(1, 1)];
                self.declared_output = None;
            }
            Operation::RmsNorm => {
                self.axes = vec![Axis::plain(1, 1); 2];
                self.declared_output = None;
                (self.k, self.g) = (self.c, self.c);
            }
        }
        self
    }
}

/// Refuses fields that say something which the operation has not, and scales, which convolutions alone have.
pub(crate) fn check(case: &Case) -> Result<(), CaseError> {
    let problem = &case.problem;
    let name = problem.operation.name();
    if problem.operation.is_convolution() {
        return Ok(());
    }
    let options = &case.options;
    for (field, scale, plain) in [("alpha", options.alpha, 1.0), ("beta", options.beta, 0.0)] {
        if scale.value().to_bits() != f64::to_bits(plain) {
            let rule = format!("scales a convolution, and {name} has no scales; leave {field}= away");
            return Err(CaseError::new(field, scale.value(), rule));
        }
    }
    let fitted = problem.clone().fitted();
    let follows = |field: &str, value: String| {
        Err(CaseError::new(
            field,
            value,
            format!("does not follow from the other fields, as {name} wants it"),
        ))
    };
    if problem.declared_output != fitted.declared_output {
        let shown = crate::text::join_extents(problem.declared_output.as_deref().unwrap_or_default());
        return Err(CaseError::new("y", shown, format!("is an output size, and {name} has no axes")));
    }
    if problem.dtypes != fitted.dtypes || problem.layouts != fitted.layouts {
        let rule = format!("differs from x, and {name} has no w; write x's word twice");
        return Err(CaseError::bare("w", rule));
    }
    if problem.axes != fitted.axes {
        return follows("axes", format!("{} axes", problem.axes.len()));
    }
    if (problem.k, problem.g) != (fitted.k, fitted.g) {
        return follows("k", problem.k.to_string());
    }
    check_orders(problem)?;
    if problem.operation == Operation::MatMul {
        check_matrices(problem)?;
    }
    Ok(())
}

/// The extents of a problem as its line names them, and for a matmul the products that they are held in.
pub(crate) fn extents(problem: &Problem) -> Vec<(&'static str, i64)> {
    let Problem { n, c, k, g, .. } = *problem;
    match problem.operation {
        Operation::MatMul => {
            let batch = g.max(1);
            let own = [("b", g), ("m", n), ("n", k / batch), ("k", c / batch)];
            own.into_iter().chain([("b times n", k), ("b times k", c)]).collect()
        }
        Operation::Fprop
        | Operation::Dgrad
        | Operation::Wgrad
        | Operation::MaxPool
        | Operation::AvgPool
        | Operation::RmsNorm => vec![("n", n), ("c", c), ("k", k), ("g", g)],
    }
}

/// Vectors of channels are for convolutions: matrices and rows have none, and each group of a pooling is one channel.
fn check_orders(problem: &Problem) -> Result<(), CaseError> {
    let vectors = problem.layouts.tensors().into_iter().find(|layout| layout.vector() > 1);
    match vectors {
        Some(layout) => {
            let name = problem.operation.name();
            Err(CaseError::new(
                "layout",
                layout.name(),
                format!("holds vectors of channels, which {name} has not"),
            ))
        }
        None => Ok(()),
    }
}

/// The batch divides both products with it, whatever the case expects: its line could not be written otherwise.
fn check_matrices(problem: &Problem) -> Result<(), CaseError> {
    if problem.g < 1 {
        return Err(CaseError::new("b", problem.g, "is below 1, the least allowed"));
    }
    for (field, total) in [("k", problem.c), ("n", problem.k)] {
        if total % problem.g != 0 {
            return Err(CaseError::new(field, total, format!("is not divisible by b = {}", problem.g)));
        }
    }
    Ok(())
}

/// Each window of a pooling meets an element: padding is less than the window.
pub(crate) fn check_window(operation: Operation, axis: &Axis) -> Result<(), CaseError> {
    let most = axis.pad_before.max(axis.pad_after);
    if operation.is_pooling() && most >= axis.filter {
        let rule =
            format!("is not below the window of {}, so that a window may lie in padding alone", axis.filter);
        return Err(CaseError::new("p", most, rule));
    }
    Ok(())
}
