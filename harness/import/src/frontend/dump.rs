//! cudnn-frontend's plain dump of descriptors: tensors, a convolution, the tag of its graph. Knows lines; which tensor
//! is which follows from the extents, since the dump does not tell.

use case::{Case, Operation};

use crate::convolution::{Convolution, Order, Tensor, dtype};

/// Most tensors of one graph that are kept.
const TENSORS_MAX: usize = 64;

/// What the tags of graphs with one convolution begin with.
const TAGS: [(&str, Operation); 3] = [
    ("ConvFwd_", Operation::Fprop),
    ("ConvBwdData_", Operation::Dgrad),
    ("ConvBwdFilter_", Operation::Wgrad),
];

/// What a line ended.
pub(super) enum Dumped {
    /// A graph with a convolution.
    Graph(Result<Box<Case>, String>),
    /// The plan of the last graph, by its engine.
    Plan(i64),
}

/// Descriptors since the last graph.
#[derive(Default)]
pub(super) struct Dump {
    tensors: Vec<Tensor>,
    convolution: Option<Described>,
    packed: bool,
}

/// A convolution's own descriptor.
struct Described {
    compute: String,
    mode: String,
    lists: [Vec<i64>; 4],
}

impl Dump {
    /// Takes a line of the frontend's log.
    pub(super) fn take(&mut self, line: &str) -> Option<Dumped> {
        let text = line.trim_start_matches("[cudnn_frontend]").trim();
        if text.starts_with("CUDNN_BACKEND_TENSOR_DESCRIPTOR") {
            if self.tensors.len() >= TENSORS_MAX {
                *self = Self::default();
            }
            // A type that is none of ours is told where the tensor is used.
            let dtype = case::DType::F32;
            let nothing = Tensor { dtype, dims: Vec::new(), order: Order::Untold, inner: false };
            self.tensors.push(nothing);
        } else if let Some(rest) = text.strip_prefix("CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR :") {
            self.convolution = described(rest);
        } else if let Some(tag) = text.strip_prefix("Tag: ") {
            let graph = std::mem::take(self);
            return graph.convolution.is_some().then(|| Dumped::Graph(graph.case(tag.trim()).map(Box::new)));
        } else if let Some(rest) = text.strip_prefix("CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR :") {
            let (_, after) = rest.split_once("_eng")?;
            let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
            return digits.parse().ok().map(Dumped::Plan);
        } else {
            self.describe(text);
        }
        None
    }

    /// A line of the last tensor.
    fn describe(&mut self, text: &str) {
        let Some(tensor) = self.tensors.last_mut() else { return };
        if let Some(rest) = text.strip_prefix("Datatype:") {
            match dtype(&quoted(rest)) {
                Ok(dtype) => tensor.dtype = dtype,
                Err(_) => self.packed = true,
            }
        } else if let Some(rest) = text.strip_prefix("Dim [") {
            tensor.dims = numbers(rest);
        } else if let Some(rest) = text.strip_prefix("Str [") {
            tensor.order = Order::Strides(numbers(rest));
        } else if let Some(rest) = text.strip_prefix("isVirtual:") {
            tensor.inner = rest.trim() == "1";
        } else if let Some(rest) = text.strip_prefix("VectorCount:") {
            self.packed |= rest.trim() != "1";
        }
    }

    fn case(self, tag: &str) -> Result<Case, String> {
        let Some((_, operation)) = TAGS.into_iter().find(|(known, _)| *known == tag) else {
            return Err(
                "a fused graph in the frontend's plain dump: log with CUDNN_LOGLEVEL_DBG=3".to_owned()
            );
        };
        if self.packed {
            return Err("an element type or channels packed into vectors that no case has".to_owned());
        }
        let (Some(described), [one, two, three]) = (self.convolution, &self.tensors[..]) else {
            return Err("a graph of the frontend's plain dump that is cut off".to_owned());
        };
        if described.mode == "CONVOLUTION" {
            return Err("flipped filters (mode CONVOLUTION)".to_owned());
        }
        let compute = dtype(&described.compute)?;
        let [pads_before, pads_after, dilations, strides] = described.lists;
        let convolution = |tensors: [&Tensor; 3]| Convolution {
            operation,
            tensors: tensors.map(Clone::clone),
            compute: Some(compute),
            pads_before: pads_before.clone(),
            pads_after: pads_after.clone(),
            strides: strides.clone(),
            dilations: dilations.clone(),
            groups: None,
            alpha: 1.0,
            beta: 0.0,
        };
        let orders =
            [[one, three, two], [one, two, three], [two, one, three], [two, three, one], [three, one, two]];
        let told: Vec<Result<Case, String>> =
            orders.into_iter().chain([[three, two, one]]).map(|order| convolution(order).case()).collect();
        let mut fitting: Vec<&Case> = told.iter().flatten().collect();
        fitting.dedup();
        match fitting[..] {
            [one] => Ok(one.clone()),
            // What the frameworks' order does not give is not given by another either.
            [] => told.into_iter().next().unwrap_or_else(|| Err("no tensors".to_owned())),
            _ => Err(
                "tensors whose roles the frontend's plain dump leaves open: log with CUDNN_LOGLEVEL_DBG=3"
                    .to_owned(),
            ),
        }
    }
}

/// `Datatype: ["FLOAT"] Mode: ["X"] Num Dimensions: 2 PadLower [ 1,1 ] PadUpper [,1,1 ] Dilation [,1,1 ] Stride [,1,1]`.
fn described(text: &str) -> Option<Described> {
    let after = |name: &str| text.split_once(name).map(|(_, rest)| rest);
    let list = |name: &str| after(name).map(numbers);
    Some(Described {
        compute: quoted(after("Datatype:")?),
        mode: quoted(after("Mode:")?),
        lists: [list("PadLower [")?, list("PadUpper [")?, list("Dilation [")?, list("Stride [")?],
    })
}

/// The first text between quotes.
fn quoted(text: &str) -> String {
    text.split('"').nth(1).unwrap_or_default().to_owned()
}

/// Numbers up to the bracket; a comma may come first. One that is none ends in a length that fits nothing.
fn numbers(text: &str) -> Vec<i64> {
    let inner = text.split(']').next().unwrap_or_default();
    inner
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map_while(|word| word.parse().ok())
        .collect()
}
