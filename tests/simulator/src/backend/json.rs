//! Plans as JSON text, in the real library's outline. Knows fields and versions; checks no engine.

use std::rc::Rc;

use case::{Config, Knob, Operation};
use serde::{Deserialize, Serialize};

use super::Plan;
use crate::problem::{Convolution, Problem, Tensor};
use crate::stop::{self, Stop};

const SCHEMA: u32 = 4;

/// Capability of the device that plans are for, major * 100 + minor * 10.
const DEVICE_VERSION: u32 = 900;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Text {
    cudnn_version: usize,
    schema_version: u32,
    operation_graph: GraphText,
    #[serde(rename = "GPUProfile")]
    gpu_profile: ProfileText,
    engine: EngineText,
}

/// The fields that must be readable before the rest is worth reading.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    cudnn_version: usize,
    schema_version: u32,
}

#[derive(Serialize, Deserialize)]
struct GraphText {
    tensors: [TensorText; 3],
    nodes: [NodeText; 1],
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TensorText {
    name: i64,
    data_type: i32,
    dim: Vec<i64>,
    stride: Vec<i64>,
    ptr_alignment: i64,
    vect_count: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeText {
    operation: Operation,
    mode: i32,
    math_prec: i32,
    alpha: f64,
    beta: f64,
    pre_pad: Vec<i64>,
    post_pad: Vec<i64>,
    stride: Vec<i64>,
    dilation: Vec<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProfileText {
    device_ver: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EngineText {
    engine_id: i64,
    sm_version: u32,
    knob_choices: Vec<Knob>,
}

/// A plan as text.
pub(super) fn write(plan: &Plan) -> Result<String, Stop> {
    let problem = &plan.problem;
    let convolution = &problem.convolution;
    let text = Text {
        cudnn_version: plan.version,
        schema_version: SCHEMA,
        operation_graph: GraphText {
            tensors: problem.tensors.each_ref().map(|tensor| TensorText {
                name: tensor.id,
                data_type: tensor.dtype,
                dim: tensor.extents.clone(),
                stride: tensor.strides.clone(),
                ptr_alignment: tensor.alignment,
                vect_count: tensor.vector,
            }),
            nodes: [NodeText {
                operation: problem.operation,
                mode: convolution.mode,
                math_prec: convolution.compute,
                alpha: problem.alpha,
                beta: problem.beta,
                pre_pad: convolution.pad_before.clone(),
                post_pad: convolution.pad_after.clone(),
                stride: convolution.stride.clone(),
                dilation: convolution.dilation.clone(),
            }],
        },
        gpu_profile: ProfileText { device_ver: DEVICE_VERSION },
        engine: EngineText {
            engine_id: plan.config.engine,
            sm_version: DEVICE_VERSION,
            knob_choices: plan.config.knobs.clone(),
        },
    };
    serde_json::to_string(&text).map_err(|error| Stop::bad_param(error.to_string()))
}

/// The problem and configuration that text names, checked as descriptors would be by a library of that version.
pub(super) fn read(text: &str, version: usize) -> Result<(Rc<Problem>, Config), Stop> {
    let malformed = |error: serde_json::Error| Stop::bad_param(format!("plan JSON: {error}"));
    let versions: Versions = serde_json::from_str(text).map_err(malformed)?;
    if versions.cudnn_version != version {
        let words = format!("plan of version {}, library {version}", versions.cudnn_version);
        return Err(Stop::status(stop::VERSION_MISMATCH, words));
    }
    if versions.schema_version != SCHEMA {
        return Err(Stop::status(stop::SERIALIZATION_MISMATCH, "schema version"));
    }
    let text: Text = serde_json::from_str(text).map_err(malformed)?;
    if text.gpu_profile.device_ver != DEVICE_VERSION {
        return Err(Stop::status(stop::ARCH_MISMATCH, "plan of another device"));
    }
    let [node] = text.operation_graph.nodes;
    let problem = Problem {
        operation: node.operation,
        tensors: text.operation_graph.tensors.map(|tensor| Tensor {
            dtype: tensor.data_type,
            extents: tensor.dim,
            strides: tensor.stride,
            alignment: tensor.ptr_alignment,
            id: tensor.name,
            vector: tensor.vect_count,
        }),
        convolution: Convolution {
            compute: node.math_prec,
            mode: node.mode,
            pad_before: node.pre_pad,
            pad_after: node.post_pad,
            stride: node.stride,
            dilation: node.dilation,
        },
        alpha: node.alpha,
        beta: node.beta,
    };
    problem.tensors.iter().try_for_each(Tensor::check)?;
    problem.convolution.check(problem.rank() as i64)?;
    problem.check()?;
    Ok((Rc::new(problem), Config { engine: text.engine.engine_id, knobs: text.engine.knob_choices }))
}
