//! The case as cudnn-frontend's graph JSON, form 2.0. Knows that form as version 1.32.0 writes it; what it cannot hold
//! is told in its place.

use case::{Axis, Case, DType, Operation, Role};
use serde_json::{Value, json};

use crate::finding::Finding;

/// Number of the form.
const JSON_VERSION: &str = "2.0";

/// The version of cudnn-frontend whose form this is, as it counts them.
const FRONTEND: u32 = 13_200;

/// Why cudnn-frontend cannot express the case; `None` where it can.
pub(super) fn obstacle(case: &Case) -> Option<String> {
    let options = &case.options;
    if options.alpha.value() != 1.0 || options.beta.value() != 0.0 {
        let (alpha, beta) = (options.alpha.value(), options.beta.value());
        return Some(format!(
            "cudnn-frontend's convolutions have alpha 1 and beta 0; the case has {alpha} and {beta}"
        ));
    }
    (!case.problem.operation.is_convolution()).then(|| {
        format!(
            "this form is written for convolutions only, and the case is {}",
            case.problem.operation.name()
        )
    })
}

/// The file's text.
pub(super) fn render(finding: &Finding<'_>) -> String {
    let value = match (obstacle(finding.case), ports(finding.case.problem.operation)) {
        (None, Some(ports)) => graph(finding.case, ports, &finding.environment.cudnn_text()),
        (reason, _) => json!({ "not_expressible": reason }),
    };
    // The alternate form of a value is its pretty text, which cannot fail.
    format!("{value:#}\n")
}

fn graph(case: &Case, ports: Ports, cudnn: &str) -> Value {
    let (problem, dtypes) = (&case.problem, case.problem.dtypes);
    let axes = |of: fn(&Axis) -> i64| problem.axes.iter().map(of).collect::<Vec<i64>>();
    let (tag, inputs, output) = ports;
    let ports = |ports: &[(&str, Role)]| -> Value {
        ports.iter().map(|(name, role)| ((*name).to_owned(), json!(uid(*role)))).collect()
    };
    json!({
        "context": {
            "compute_data_type": data_type(dtypes.compute),
            "intermediate_data_type": data_type(dtypes.compute),
            "io_data_type": data_type(dtypes.x),
            "is_dynamic_shape_enabled": false,
            "is_override_shape_enabled": false,
            "sm_count": -1,
        },
        "cudnn_backend_version": cudnn,
        "cudnn_frontend_version": FRONTEND,
        "gid": 1,
        "json_version": JSON_VERSION,
        "nodes": [{
            "compute_data_type": data_type(dtypes.compute),
            "dilation": axes(|axis| axis.dilation),
            "inputs": ports(&inputs),
            "math_mode": "CROSS_CORRELATION",
            "name": problem.operation.name(),
            "outputs": ports(&[output]),
            "post_padding": axes(|axis| axis.pad_after),
            "pre_padding": axes(|axis| axis.pad_before),
            "stride": axes(|axis| axis.stride),
            "tag": tag,
        }],
        "tensors": Role::ALL.map(|role| tensor(case, role)),
    })
}

/// Tag of a node, its inputs and its output, by the names of the frontend.
type Ports = (&'static str, [(&'static str, Role); 2], (&'static str, Role));

fn ports(operation: Operation) -> Option<Ports> {
    match operation {
        Operation::Fprop => Some(("CONV_FPROP", [("X", Role::X), ("W", Role::W)], ("Y", Role::Y))),
        Operation::Dgrad => Some(("CONV_DGRAD", [("DY", Role::Y), ("W", Role::W)], ("DX", Role::X))),
        Operation::Wgrad => Some(("CONV_WGRAD", [("X", Role::X), ("DY", Role::Y)], ("DW", Role::W))),
        Operation::MaxPool | Operation::AvgPool | Operation::MatMul | Operation::RmsNorm => None,
    }
}

fn tensor(case: &Case, role: Role) -> Value {
    let geometry = case.problem.geometry();
    json!({
        "data_type": data_type(case.problem.dtypes.tensors()[role.index()]),
        "dim": geometry.extents(role),
        "is_pass_by_value": false,
        "is_virtual": false,
        "name": role.name(),
        "pass_by_value": null,
        "reordering_type": "NONE",
        "stride": geometry.strides(role),
        "uid": uid(role),
    })
}

/// Every tensor has a number of its own: 1 x, 2 w, 3 y.
fn uid(role: Role) -> usize {
    role.index() + 1
}

/// The frontend's name of a type.
pub(super) fn data_type(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "FLOAT",
        DType::F64 => "DOUBLE",
        DType::F16 => "HALF",
        DType::Bf16 => "BFLOAT16",
        DType::I8 => "INT8",
        DType::I32 => "INT32",
    }
}
