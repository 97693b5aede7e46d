//! The line with which NVIDIA's `test_conv_fuzzer.py` of cudnn-frontend takes up a case, or why it cannot. Knows that
//! program's options; knows nothing of what it will find.

use std::fmt::Write;

use case::{Axis, Case, DType, EngineChoice, Kind, Operation};

use crate::finding::Finding;
use crate::vendor::alone_obstacle;

/// Why the fuzzer cannot express the case; `None` where it can.
pub(super) fn obstacle(finding: &Finding<'_>) -> Option<String> {
    let (problem, options) = (&finding.case.problem, &finding.case.options);
    let dtypes = problem.dtypes;
    let axes = problem.axes.len();
    if let Some(reason) = alone_obstacle(finding.case) {
        return Some(reason);
    }
    let reason = if conv_type(problem.operation).is_none() {
        "it knows convolutions only"
    } else if axes == 1 {
        "it has two or three axes; the case has one"
    } else if dtypes.tensors().contains(&DType::F64) {
        "it has no f64"
    } else if !dtypes.is_uniform() {
        "its graph takes the type of x for all three tensors' results"
    } else if dtypes.compute != DType::F32 {
        "it computes in f32 only"
    } else if !is_channels_last(finding.case) {
        "it lays tensors out channels last"
    } else if problem.axes.iter().any(|axis| axis.pad_before != axis.pad_after) {
        "it pads both ends alike"
    } else if options.alpha.value() != 1.0 || options.beta.value() != 0.0 {
        "it has alpha 1 and beta 0 only"
    } else if problem.declared_output.is_some() {
        "it derives the output's extents"
    } else if finding.fault.sameness.kind == Kind::Oob {
        "it watches no bytes beside its buffers"
    } else {
        return None;
    };
    Some(reason.to_owned())
}

/// True where every tensor is channels last, or has so few extents above 1 that both orders are the same.
fn is_channels_last(case: &Case) -> bool {
    let geometry = case.problem.geometry();
    case::Role::ALL.into_iter().all(|role| {
        let extents = geometry.extents(role);
        case.problem.layouts.tensors()[role.index()] == case::Layout::Nhwc
            || extents[1] == 1
            || extents[2..].iter().all(|extent| *extent == 1)
    })
}

/// The file's text.
pub(super) fn render(finding: &Finding<'_>) -> String {
    match (obstacle(finding), conv_type(finding.case.problem.operation)) {
        (reason, None) | (reason @ Some(_), Some(_)) => {
            let reason = reason.unwrap_or_default();
            format!("# Not expressible in test_conv_fuzzer.py: {reason}.\n")
        }
        (None, Some(conv_type)) => {
            let mut text = format!(
                "pytest -vv -s -rA test_conv_fuzzer.py::test_repro --repro \"{}\"\n",
                dictionary(finding.case, conv_type)
            );
            for line in remarks(finding) {
                // Writing into a String cannot fail.
                let _ = writeln!(text, "# {line}");
            }
            text
        }
    }
}

/// The program's number of a pass.
fn conv_type(operation: Operation) -> Option<u32> {
    match operation {
        Operation::Fprop => Some(0),
        Operation::Dgrad => Some(1),
        Operation::Wgrad => Some(2),
        Operation::MaxPool | Operation::AvgPool | Operation::MatMul | Operation::RmsNorm => None,
    }
}

/// Python's text of the program's options; numbers and fixed words only, so nothing in it ends the shell's quotes.
fn dictionary(case: &Case, conv_type: u32) -> String {
    let problem = &case.problem;
    let axes = |of: fn(&Axis) -> i64| tuple(problem.axes.iter().map(of));
    let dtype = match problem.dtypes.x {
        DType::F16 => "torch.float16",
        DType::Bf16 => "torch.bfloat16",
        DType::F32 | DType::F64 | DType::I8 | DType::I32 => "torch.float32",
    };
    format!(
        "{{'spatial_dims': {}, 'batch': {}, 'in_channels': {}, 'out_channels': {}, 'groups': {}, \
         'input_spatial': {}, 'filter_spatial': {}, 'padding': {}, 'stride': {}, 'dilation': {}, \
         'conv_type': {conv_type}, 'x_dtype': '{dtype}', 'w_dtype': '{dtype}', 'y_dtype': '{dtype}', \
         'epilogue': 0, 'rng_seed': {}}}",
        problem.axes.len(),
        problem.n,
        problem.c,
        problem.k,
        problem.g,
        axes(|axis| axis.input),
        axes(|axis| axis.filter),
        axes(|axis| axis.pad_before),
        axes(|axis| axis.stride),
        axes(|axis| axis.dilation),
        // PyTorch's generators take 64 bits, Python's any number; a small one reads better.
        case.options.fill.map_or(1, |fill| fill.seed % (1 << 31)),
    )
}

fn tuple(values: impl Iterator<Item = i64>) -> String {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    format!("({})", values.join(", "))
}

/// What the line does not carry over.
fn remarks(finding: &Finding<'_>) -> Vec<&'static str> {
    let options = &finding.case.options;
    let mut remarks = vec![
        "Run it in the folder of test_conv_fuzzer.py in a clone of NVIDIA's cudnn-frontend.",
        "Not run when this was written: it needs that clone, PyTorch and pytest.",
    ];
    if !matches!(options.engine, EngineChoice::Any) {
        remarks.push(
            "It takes the first plan of heuristics A that builds: another engine than this case names, unless that \
             comes first.",
        );
    }
    remarks.push(
        "Its data are sparse integers, its tolerance is 1e-2, and its reference is PyTorch on the same GPU.",
    );
    if !options.keep.is_all() {
        remarks.push("It fills every tensor; this case needs but a few elements of them that are not 0.");
    }
    if finding.fault.sameness.kind == Kind::Nondet {
        remarks.push("It runs once; compare the printed statistics of several runs.");
    }
    remarks
}
