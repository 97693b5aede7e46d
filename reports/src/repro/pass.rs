//! The descriptor and attributes that describe an operation to cuDNN, and which parts of the program they need. Knows
//! names and numbers. Source: cudnn_graph.h, alike from 8.9 to 9.28.

use case::{Case, Operation};
use serde::Serialize;

/// One pass of a convolution; without attributes for what is none.
#[derive(Serialize)]
pub(super) struct Pass {
    descriptor: &'static str,
    number: u32,
    /// Alpha, beta, convolution, x, w, y.
    attributes: [Attribute; 6],
}

/// One attribute.
#[derive(Serialize)]
struct Attribute {
    name: String,
    number: u32,
}

impl Pass {
    pub(super) fn of(operation: Operation) -> Self {
        let (descriptor, number, prefix, rows) = match operation {
            Operation::Fprop => (
                "CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR",
                10,
                "FORWARD",
                [("ALPHA", 700), ("BETA", 701), ("CONV_DESC", 702), ("X", 704), ("W", 703), ("Y", 705)],
            ),
            Operation::Dgrad => (
                "CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR",
                12,
                "BWD_DATA",
                [("ALPHA", 706), ("BETA", 707), ("CONV_DESC", 708), ("DX", 710), ("W", 709), ("DY", 711)],
            ),
            Operation::Wgrad => (
                "CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR",
                11,
                "BWD_FILTER",
                [("ALPHA", 712), ("BETA", 713), ("CONV_DESC", 714), ("X", 716), ("DW", 715), ("DY", 717)],
            ),
            Operation::MaxPool | Operation::AvgPool | Operation::MatMul | Operation::RmsNorm => {
                ("", 0, "", [("", 0); 6])
            }
        };
        let attributes = rows.map(|(field, number)| Attribute {
            name: format!("CUDNN_ATTR_OPERATION_CONVOLUTION_{prefix}_{field}"),
            number,
        });
        Self { descriptor, number, attributes }
    }
}

/// Which operations a program has: those of the case, of what runs before it, and of both.
#[expect(clippy::struct_excessive_bools, reason = "each is a question that templates ask")]
#[derive(Serialize)]
pub(super) struct Parts {
    family: &'static str,
    convolves: bool,
    pools: bool,
    multiplies: bool,
    normalizes: bool,
    /// True with any that is no convolution.
    others: bool,
    convolves_before: bool,
    pools_before: bool,
    multiplies_before: bool,
    normalizes_before: bool,
    /// What a variant pack names.
    ids: &'static str,
    /// How many pointers it has.
    operands: u32,
    /// Names of the output's five dimensions as C++ words, where it is no convolution's.
    names: String,
    epsilon: String,
}

/// What an operation is as far as the program goes.
fn family(operation: Operation) -> &'static str {
    match operation {
        Operation::Fprop | Operation::Dgrad | Operation::Wgrad => "convolution",
        Operation::MaxPool | Operation::AvgPool => "pooling",
        Operation::MatMul => "matmul",
        Operation::RmsNorm => "rmsnorm",
    }
}

impl Parts {
    pub(super) fn of(case: &Case) -> Self {
        let own = family(case.problem.operation);
        let before =
            |wanted: &str| case.history.iter().any(|earlier| family(earlier.problem.operation) == wanted);
        let any = |wanted: &str| own == wanted || before(wanted);
        let (ids, operands) = match own {
            "pooling" => ("1, 3", 2),
            "rmsnorm" => ("1, 2, 3, 4", 4),
            _ => ("1, 2, 3", 3),
        };
        Self {
            family: own,
            convolves: any("convolution"),
            pools: any("pooling"),
            multiplies: any("matmul"),
            normalizes: any("rmsnorm"),
            others: ["pooling", "matmul", "rmsnorm"].into_iter().any(any),
            convolves_before: before("convolution"),
            pools_before: before("pooling"),
            multiplies_before: before("matmul"),
            normalizes_before: before("rmsnorm"),
            ids,
            operands,
            names: names(case),
            epsilon: super::double(Operation::EPSILON),
        }
    }

    /// What the program runs, in the words of its first lines.
    pub(super) fn words(case: &Case) -> &'static str {
        match family(case.problem.operation) {
            "pooling" => "pooling",
            "matmul" => "product of matrices",
            "rmsnorm" => "normalization",
            _ => "convolution",
        }
    }
}

/// Absent dimensions have no name: axes that the case lacks, and those that always have one position.
fn names(case: &Case) -> String {
    let problem = &case.problem;
    let mut five = ["nullptr"; 5].map(str::to_owned);
    let outer = if problem.operation == Operation::MatMul { ["b", "m"] } else { ["n", "c"] };
    for (slot, name) in five.iter_mut().zip(outer) {
        *slot = format!("\"{name}\"");
    }
    match problem.operation {
        Operation::MatMul => "\"n\"".clone_into(&mut five[4]),
        Operation::MaxPool | Operation::AvgPool => {
            let missing = 3_usize.saturating_sub(problem.axes.len());
            for (slot, name) in five.iter_mut().skip(2).zip(["d", "h", "w"]).skip(missing) {
                *slot = format!("\"{name}\"");
            }
        }
        Operation::RmsNorm | Operation::Fprop | Operation::Dgrad | Operation::Wgrad => {}
    }
    five.join(", ")
}
