//! One call in cuDNN's log, and the convolutions that its lines describe. Knows names of descriptors and their parts;
//! counts nothing.

use case::{Layout, Operation};

use super::entry::Entry;
use crate::convolution::{Convolution, Order, Tensor, dtype};
use crate::table::Evidence;

/// Most convolutions that are read of one graph: each may have to be looked for in all lines of its call.
const CONVOLUTIONS_MAX: usize = 1000;

/// The calls that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Function {
    Execute,
    ExecuteInternal,
    Finalize,
    /// A convolution of the older interface.
    Legacy(Operation),
    /// The one with bias and activation.
    LegacyFused,
}

impl Function {
    /// The call that an entry's first line names. Warnings and errors name calls too, which are none.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(head.strip_prefix(b"I!")?).ok()?;
        let (_, rest) = text.split_once("function ")?;
        match rest.split_once("()")?.0 {
            "cudnnBackendExecute" => Some(Self::Execute),
            "cudnnBackendExecuteInternal" => Some(Self::ExecuteInternal),
            "cudnnBackendFinalize" => Some(Self::Finalize),
            "cudnnConvolutionForward" => Some(Self::Legacy(Operation::Fprop)),
            "cudnnConvolutionBackwardData" => Some(Self::Legacy(Operation::Dgrad)),
            "cudnnConvolutionBackwardFilter" => Some(Self::Legacy(Operation::Wgrad)),
            "cudnnConvolutionBiasActivationForward" => Some(Self::LegacyFused),
            _ => None,
        }
    }
}

/// A call with the lines that describe it.
pub(super) struct Call<'a> {
    pub(super) function: Function,
    pub(super) entries: Vec<Entry<'a>>,
}

/// The convolutions of a graph, and how many operations it has.
pub(super) struct Graph {
    pub(super) convolutions: Vec<Result<Convolution, String>>,
    pub(super) operations: usize,
}

impl Call<'_> {
    pub(super) fn names(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// What a finalized descriptor is evidence of.
    pub(super) fn described(&self) -> Option<Evidence> {
        match self.entries.first()?.kind {
            "CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR" => Some(Evidence::Planned),
            "CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR" => Some(Evidence::Described),
            _ => None,
        }
    }

    /// The engine that the call names.
    pub(super) fn engine(&self) -> Option<i64> {
        word(&self.entries, &["engine_id"])?.parse().ok()
    }

    pub(super) fn graph(&self) -> Graph {
        let mut graph = Graph { convolutions: Vec::new(), operations: 0 };
        for (place, entry) in self.entries.iter().enumerate() {
            let Some(name) = entry.kind.strip_prefix("CUDNN_BACKEND_OPERATION_") else { continue };
            graph.operations += 1;
            let operation = match name {
                "CONVOLUTION_FORWARD_DESCRIPTOR" => Operation::Fprop,
                "CONVOLUTION_BACKWARD_DATA_DESCRIPTOR" => Operation::Dgrad,
                "CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR" => Operation::Wgrad,
                _ => continue,
            };
            if graph.convolutions.len() >= CONVOLUTIONS_MAX {
                graph
                    .convolutions
                    .push(Err(format!("more than {CONVOLUTIONS_MAX} convolutions in one graph")));
                break;
            }
            graph.convolutions.push(convolution(operation, parts(&self.entries, place)));
        }
        graph
    }

    /// A call of the older interface.
    pub(super) fn legacy(&self) -> Result<Convolution, String> {
        let operation = match self.function {
            Function::Legacy(operation) => operation,
            Function::LegacyFused | Function::Execute | Function::ExecuteInternal | Function::Finalize => {
                Operation::Fprop
            }
        };
        convolution(operation, &self.entries)
    }

    /// The library's own line for an execution.
    pub(super) fn internal(&self) -> Result<Convolution, String> {
        let name = word(&self.entries, &["operation"]).unwrap_or_default();
        let operation = match name {
            "CONV_BWD_DATA" => Operation::Dgrad,
            "CONV_BWD_FILTER" => Operation::Wgrad,
            _ if name.starts_with("CONV") => Operation::Fprop,
            _ => return Err("an execution without a convolution".to_owned()),
        };
        convolution(operation, &self.entries)
    }

    pub(super) fn is_fused_internal(&self) -> bool {
        word(&self.entries, &["operation"]).is_some_and(|name| name.contains("ACT") || name.contains("BIAS"))
    }
}

/// The lines below an entry.
fn parts<'a, 'b>(entries: &'a [Entry<'b>], place: usize) -> &'a [Entry<'b>] {
    let below = &entries[place + 1..];
    let end = below.iter().position(|entry| entry.indent <= entries[place].indent);
    &below[..end.unwrap_or(below.len())]
}

fn entry<'a, 'b>(entries: &'a [Entry<'b>], keys: &[&str]) -> Option<&'a Entry<'b>> {
    entries.iter().find(|entry| keys.contains(&entry.key))
}

fn word<'b>(entries: &[Entry<'b>], keys: &[&str]) -> Option<&'b str> {
    entry(entries, keys).map(Entry::word)
}

fn descriptor<'a, 'b>(entries: &'a [Entry<'b>], keys: &[&str; 2]) -> Result<&'a [Entry<'b>], String> {
    let place = entries.iter().position(|entry| keys.contains(&entry.key));
    let place = place.ok_or_else(|| format!("a call whose log does not show {}", keys[0]))?;
    Ok(parts(entries, place))
}

/// A convolution from the lines that describe it, in either interface's words.
fn convolution(operation: Operation, entries: &[Entry]) -> Result<Convolution, String> {
    let tensors = [["xDesc", "dxDesc"], ["wDesc", "dwDesc"], ["yDesc", "dyDesc"]];
    let [x, w, y] = tensors.map(|keys| tensor(descriptor(entries, &keys)?));
    let tensors = [x?, w?, y?];
    let described = descriptor(entries, &["convDesc", "convDescriptor"])?;
    if word(described, &["mode"]) == Some("CUDNN_CONVOLUTION") {
        return Err("flipped filters (mode CUDNN_CONVOLUTION)".to_owned());
    }
    let compute = word(described, &["computeType", "dataType"]).ok_or("no compute type")?;
    let compute = dtype(compute).map_err(|reason| reason.replace("element", "compute"))?;
    let list = |keys: &[&str]| {
        let found = entry(described, keys).and_then(Entry::list);
        found.ok_or_else(|| format!("a convolution without {}", keys[0]))
    };
    let groups =
        word(described, &["groupCount"]).map(|count| count.parse().map_err(|_| "an unreadable group count"));
    let scale = |keys: &[&str], usual: f64| match word(entries, keys) {
        Some(value) => value.parse::<f64>().map_err(|_| format!("an unreadable {}", keys[0])),
        None => Ok(usual),
    };
    Ok(Convolution {
        operation,
        tensors,
        compute: Some(compute),
        pads_before: list(&["lowerPadA", "padA"])?,
        pads_after: list(&["upperPadA", "padA"])?,
        strides: list(&["strideA"])?,
        dilations: list(&["dilationA"])?,
        groups: groups.transpose()?,
        alpha: scale(&["alpha", "alpha1"], 1.0)?,
        beta: scale(&["beta"], 0.0)?,
    })
}

fn tensor(entries: &[Entry]) -> Result<Tensor, String> {
    let vectors = word(entries, &["vectorCount", "vectCount"]);
    if vectors.is_some_and(|count| count != "1") {
        return Err("channels packed into vectors".to_owned());
    }
    let dtype = dtype(word(entries, &["type", "dataType"]).ok_or("a tensor without a type")?)?;
    let dims = entry(entries, &["dimA"]).and_then(Entry::list).filter(|dims| !dims.is_empty());
    let dims = dims.ok_or("a tensor without extents")?;
    let strides = entry(entries, &["strideA"]).and_then(Entry::list);
    let order = match (strides, word(entries, &["format"])) {
        (Some(strides), _) => Order::Strides(strides),
        (None, Some("CUDNN_TENSOR_NCHW")) => Order::Named(Layout::Nchw),
        (None, Some("CUDNN_TENSOR_NHWC")) => Order::Named(Layout::Nhwc),
        (None, _) => return Err("a tensor whose memory order is not told".to_owned()),
    };
    let inner = word(entries, &["isVirtual"]) == Some("true");
    Ok(Tensor { dtype, dims, order, inner })
}
