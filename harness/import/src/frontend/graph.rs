//! One graph of cudnn-frontend: its tensors, and the convolutions among its nodes. Knows JSON values; knows no file.

use case::{DType, Operation};
use serde_json::Value;

use crate::convolution::{Convolution, Order, Tensor, dtype, shortened};

/// The convolutions of a graph, and how many nodes it has.
pub(super) struct Graph {
    pub(super) convolutions: Vec<Result<Convolution, String>>,
    pub(super) nodes: usize,
}

/// Tags of the nodes, with the ports of x, w and y.
const TAGS: [(&str, Operation, [&str; 3]); 3] = [
    ("CONV_FPROP", Operation::Fprop, ["X", "W", "Y"]),
    ("CONV_DGRAD", Operation::Dgrad, ["DX", "W", "DY"]),
    ("CONV_WGRAD", Operation::Wgrad, ["X", "DW", "DY"]),
];

/// Reads a graph; `None` where the value is none.
pub(super) fn read(graph: &Value) -> Option<Graph> {
    let nodes = graph.get("nodes")?.as_array()?;
    graph.get("tensors")?;
    let convolutions = nodes.iter().filter_map(|node| {
        let tag = node.get("tag")?.as_str()?;
        let (_, operation, ports) = TAGS.iter().find(|(known, ..)| *known == tag)?;
        Some(convolution(graph, node, *operation, ports))
    });
    Some(Graph { convolutions: convolutions.collect(), nodes: nodes.len() })
}

fn convolution(
    graph: &Value,
    node: &Value,
    operation: Operation,
    ports: &[&str; 3],
) -> Result<Convolution, String> {
    let [x, w, y] = ports.map(|port| tensor(graph, node, port));
    if node.get("math_mode").and_then(Value::as_str) == Some("CONVOLUTION") {
        return Err("flipped filters (mode CONVOLUTION)".to_owned());
    }
    let list = |name: &str| numbers(node.get(name)).ok_or_else(|| format!("a convolution without {name}"));
    let pads = |name: &str| list(name).or_else(|reason| list("padding").map_err(|_| reason));
    let compute = match told_type(node, "compute_data_type")? {
        None => in_context(graph, "compute_data_type")?,
        told => told,
    };
    Ok(Convolution {
        operation,
        tensors: [x?, w?, y?],
        compute,
        pads_before: pads("pre_padding")?,
        pads_after: pads("post_padding")?,
        strides: list("stride")?,
        dilations: list("dilation")?,
        groups: None,
        alpha: 1.0,
        beta: 0.0,
    })
}

/// The tensor at a node's port, named by text in version 1 and by number in version 2.
fn tensor(graph: &Value, node: &Value, port: &str) -> Result<Tensor, String> {
    let ports = ["inputs", "outputs"].into_iter().filter_map(|side| node.get(side)?.get(port));
    let name = ports.into_iter().next().ok_or_else(|| format!("a convolution without {port}"))?;
    let tensors = graph.get("tensors");
    let found = match tensors {
        Some(Value::Object(by_name)) => name.as_str().and_then(|name| by_name.get(name)).or_else(|| {
            let uid = |tensor: &&Value| name.is_number() && tensor.get("uid") == Some(name);
            by_name.values().find(uid)
        }),
        Some(Value::Array(listed)) => listed.iter().find(|tensor| {
            let named = |key: &str| tensor.get(key) == Some(name);
            if name.is_number() { named("uid") } else { named("name") }
        }),
        Some(_) | None => None,
    };
    let found = found.ok_or_else(|| format!("a convolution whose {port} is no tensor of its graph"))?;
    let inner = found.get("is_virtual").and_then(Value::as_bool) == Some(true);
    let dtype = match told_type(found, "data_type")? {
        Some(told) => told,
        // Of an inner tensor the type does not matter.
        None => {
            in_context(graph, "io_data_type")?.ok_or_else(|| format!("a tensor {port} without a type"))?
        }
    };
    let dims = numbers(found.get("dim")).unwrap_or_default();
    if dims.is_empty() && port != "Y" {
        return Err(format!("a tensor {port} without extents"));
    }
    let strides = numbers(found.get("stride")).filter(|strides| !strides.is_empty());
    Ok(Tensor { dtype, dims, order: strides.map_or(Order::Untold, Order::Strides), inner })
}

fn numbers(value: Option<&Value>) -> Option<Vec<i64>> {
    value?.as_array()?.iter().map(Value::as_i64).collect()
}

/// A type by its name; `None` where there is none or it is not set yet.
fn told_type(value: &Value, key: &str) -> Result<Option<DType>, String> {
    match value.get(key).and_then(Value::as_str) {
        None | Some("NOT_SET" | "") => Ok(None),
        Some(name) => dtype(name).map(Some).map_err(|_| format!("element type {}", shortened(name))),
    }
}

fn in_context(graph: &Value, key: &str) -> Result<Option<DType>, String> {
    graph.get("context").map_or(Ok(None), |context| told_type(context, key))
}
