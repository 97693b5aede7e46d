//! Extents of a model's tensors: from what it declares, and from what its operators make of them. Knows the common
//! operators; what another one makes stays unknown.

use std::collections::HashMap;

use super::schema::{Graph, Node, TensorValue, ValueInfo};

/// Extents in the order n, c, spatial.
pub(super) type Extents = Vec<i64>;

/// Most passes over the nodes: one does where they are in order, as they have to be.
const PASSES_MAX: u32 = 3;

/// Largest extent that is believed.
const EXTENT_MAX: i64 = 1 << 40;

/// Most axes that are believed.
const RANK_MAX: usize = 8;

/// What is known of tensors by name.
pub(super) struct Shapes<'a> {
    extents: HashMap<&'a str, Extents>,
    types: HashMap<&'a str, i32>,
    constants: HashMap<&'a str, &'a TensorValue>,
    symbolic: bool,
}

impl<'a> Shapes<'a> {
    /// What a graph declares and what follows; an open first extent is `batch`.
    pub(super) fn of(graph: &'a Graph, batch: i64) -> Self {
        let mut shapes = Self {
            extents: HashMap::new(),
            types: HashMap::new(),
            constants: HashMap::new(),
            symbolic: false,
        };
        for tensor in &graph.initializers {
            shapes.hold(&tensor.name, tensor);
        }
        for node in graph.nodes.iter().filter(|node| node.op == "Constant") {
            let value = node.attribute("value").and_then(|attribute| attribute.tensor.as_ref());
            if let (Some(name), Some(value)) = (node.outputs.first(), value) {
                shapes.hold(name, value);
            }
        }
        for info in &graph.inputs {
            shapes.declare(info, batch);
        }
        for _ in 0..PASSES_MAX {
            let known = shapes.extents.len();
            for node in &graph.nodes {
                shapes.follow(node);
            }
            // What the model says of its inner tensors helps where an operator is not known here.
            for info in graph.value_infos.iter().chain(&graph.outputs) {
                shapes.declare(info, batch);
            }
            if shapes.extents.len() == known {
                break;
            }
        }
        shapes
    }

    /// True where a first extent was open.
    pub(super) fn symbolic(&self) -> bool {
        self.symbolic
    }

    pub(super) fn extents(&self, name: &str) -> Option<&Extents> {
        self.extents.get(name)
    }

    /// The number of an element type.
    pub(super) fn dtype(&self, name: &str) -> Option<i32> {
        self.types.get(name).copied()
    }

    fn hold(&mut self, name: &'a str, tensor: &'a TensorValue) {
        if sane(&tensor.dims) {
            self.extents.insert(name, tensor.dims.clone());
        }
        self.types.insert(name, tensor.dtype);
        self.constants.insert(name, tensor);
    }

    fn declare(&mut self, info: &'a ValueInfo, batch: i64) {
        let Some(tensor) = info.kind.as_ref().and_then(|kind| kind.tensor.as_ref()) else { return };
        self.types.entry(&info.name).or_insert(tensor.dtype);
        let Some(shape) = tensor.shape.as_ref().filter(|_| !self.extents.contains_key(info.name.as_str()))
        else {
            return;
        };
        let mut extents: Vec<Option<i64>> = shape
            .dims
            .iter()
            .map(|dimension| dimension.value.filter(|value| *value != 0 && *value != -1))
            .collect();
        if let Some(first @ None) = extents.first_mut() {
            *first = Some(batch);
            self.symbolic = true;
        }
        if let Some(extents) =
            extents.into_iter().collect::<Option<Extents>>().filter(|extents| sane(extents))
        {
            self.extents.insert(&info.name, extents);
        }
    }

    /// Derives the first output of a node.
    fn follow(&mut self, node: &'a Node) {
        let Some(output) = node.outputs.first().filter(|output| !self.extents.contains_key(output.as_str()))
        else {
            return;
        };
        let typed = node.inputs.first().and_then(|input| self.dtype(input));
        if let (Some(dtype), false) = (typed, self.types.contains_key(output.as_str())) {
            self.types.insert(output, dtype);
        }
        if let Some(extents) = self.made(node).filter(|extents| sane(extents)) {
            self.extents.insert(output, extents);
        }
    }

    /// Extents of a node's first output.
    fn made(&self, node: &Node) -> Option<Extents> {
        let input = |place: usize| node.inputs.get(place).and_then(|name| self.extents(name));
        let x = input(0);
        match node.op.as_str() {
            "Conv" => super::convolutions::output(node, x?, input(1)?),
            "ConvTranspose" => super::convolutions::transposed(node, x?, input(1)?),
            "MatMul" | "Gemm" => super::others::output(node, x?, input(1)?),
            "Relu"
            | "LeakyRelu"
            | "PRelu"
            | "Sigmoid"
            | "Tanh"
            | "Clip"
            | "Elu"
            | "Selu"
            | "Softplus"
            | "Softsign"
            | "HardSigmoid"
            | "HardSwish"
            | "Mish"
            | "Gelu"
            | "Erf"
            | "Exp"
            | "Log"
            | "Sqrt"
            | "Abs"
            | "Neg"
            | "Identity"
            | "Dropout"
            | "BatchNormalization"
            | "InstanceNormalization"
            | "LRN"
            | "Softmax"
            | "GroupNormalization"
            | "LayerNormalization"
            | "RMSNormalization"
            | "SimplifiedLayerNormalization"
            | "Cast" => x.cloned(),
            "Add" | "Mul" | "Sub" | "Div" | "Pow" | "Max" | "Min" | "Sum" => {
                let mut all = (0..node.inputs.len()).map(input);
                let first = all.next()??.clone();
                all.try_fold(first, |sum, next| broadcast(&sum, next?))
            }
            "MaxPool" | "AveragePool" | "LpPool" => pooled(node, x?),
            "GlobalAveragePool" | "GlobalMaxPool" => {
                Some(x?.iter().enumerate().map(|(axis, extent)| if axis < 2 { *extent } else { 1 }).collect())
            }
            "Concat" => self.concatenated(node),
            "Pad" => self.padded(node, x?),
            "Resize" | "Upsample" => self.resized(node, x?),
            _ => None,
        }
    }

    fn concatenated(&self, node: &Node) -> Option<Extents> {
        let mut sum = self.extents(node.inputs.first()?)?.clone();
        let axis = place(node.int("axis", 1), sum.len())?;
        for name in &node.inputs[1..] {
            let fits = |next: &&Extents| {
                next.len() == sum.len()
                    && (0..sum.len()).all(|place| place == axis || next[place] == sum[place])
            };
            let next = self.extents(name).filter(fits)?;
            sum[axis] = sum[axis].checked_add(next[axis])?;
        }
        Some(sum)
    }

    fn padded(&self, node: &Node, x: &Extents) -> Option<Extents> {
        let pads = match node.ints("pads") {
            Some(pads) => pads.to_vec(),
            None => whole(&self.constants.get(node.inputs.get(1)?.as_str())?.numbers()?)?,
        };
        // With a fourth input only some axes are padded.
        if pads.len() != 2 * x.len() || node.inputs.get(3).is_some_and(|axes| !axes.is_empty()) {
            return None;
        }
        let (before, after) = pads.split_at(x.len());
        let wider = |((x, before), after): ((&i64, &i64), &i64)| x.checked_add(*before)?.checked_add(*after);
        x.iter().zip(before).zip(after).map(wider).collect()
    }

    fn resized(&self, node: &Node, x: &Extents) -> Option<Extents> {
        let constant = |place: usize| {
            let name = node.inputs.get(place).filter(|name| !name.is_empty())?;
            self.constants.get(name.as_str())?.numbers()
        };
        if let Some(sizes) = constant(3) {
            return whole(&sizes).filter(|sizes| sizes.len() == x.len());
        }
        let scales = match node.attribute("scales") {
            Some(attribute) => attribute.floats.iter().map(|scale| f64::from(*scale)).collect(),
            // An older operator has its scales second, a newer one third.
            None => constant(2).or_else(|| constant(1))?,
        };
        if scales.len() != x.len() {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "extents are far below 2^53")]
        let scaled: Vec<f64> = x.iter().zip(scales).map(|(x, scale)| (*x as f64 * scale).floor()).collect();
        whole(&scaled)
    }
}

/// Extents that a tensor can have.
fn sane(extents: &[i64]) -> bool {
    extents.len() <= RANK_MAX && extents.iter().all(|extent| (1..=EXTENT_MAX).contains(extent))
}

fn whole(values: &[f64]) -> Option<Vec<i64>> {
    #[expect(clippy::cast_precision_loss, reason = "a power of two")]
    let most = EXTENT_MAX as f64;
    #[expect(clippy::cast_possible_truncation, reason = "the value lies within the bounds given")]
    let number = |value: &f64| (value.abs() <= most).then_some(*value as i64);
    values.iter().map(number).collect()
}

/// A place among so many, counted from the end where it is negative.
pub(super) fn place(axis: i64, count: usize) -> Option<usize> {
    let axis = if axis < 0 { axis.checked_add(i64::try_from(count).ok()?)? } else { axis };
    usize::try_from(axis).ok().filter(|axis| *axis < count)
}

fn broadcast(one: &Extents, other: &Extents) -> Option<Extents> {
    let (long, short) = if one.len() >= other.len() { (one, other) } else { (other, one) };
    let mut sum = long.clone();
    let offset = long.len() - short.len();
    for (held, next) in sum[offset..].iter_mut().zip(short) {
        match (*held, *next) {
            (held, next) if held == next || next == 1 => {}
            (1, next) => *held = next,
            _ => return None,
        }
    }
    Some(sum)
}

fn pooled(node: &Node, x: &Extents) -> Option<Extents> {
    let window = super::convolutions::window(node, x, node.ints("kernel_shape")?)?;
    let ceil = node.int("ceil_mode", 0) == 1;
    let spatial = window.iter().map(|axis| {
        let floor = axis.output();
        let padded = axis.input + axis.pad_before + axis.pad_after;
        let rest = (padded - ((axis.filter - 1) * axis.dilation + 1)).rem_euclid(axis.stride);
        if ceil && floor > 0 && rest != 0 { floor + 1 } else { floor }
    });
    Some(x[..2].iter().copied().chain(spatial).collect())
}
