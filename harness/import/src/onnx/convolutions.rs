//! Conv and ConvTranspose: their attributes, their output, and the convolution each is. Knows one node and the extents
//! around it.

use case::{Axis, DType, Operation};

use super::schema::Node;
use super::shapes::{Extents, Shapes};
use crate::convolution::{Convolution, Order, Tensor, shortened};

/// Largest attribute that is believed; sums of a few stay inside i64.
const VALUE_MAX: i64 = 1 << 40;

/// The convolution that a node is; `None` for a node of another sort.
pub(super) fn read(node: &Node, shapes: &Shapes<'_>) -> Option<Result<Convolution, String>> {
    match node.op.as_str() {
        "Conv" => Some(forward(node, shapes)),
        "ConvTranspose" => Some(transpose(node, shapes)),
        "QLinearConv" | "ConvInteger" | "DeformConv" => Some(Err(format!("the operator {}", node.op))),
        "If" | "Loop" | "Scan" => Some(Err(format!("a graph within {}, which is not searched", node.op))),
        _ => None,
    }
}

fn forward(node: &Node, shapes: &Shapes<'_>) -> Result<Convolution, String> {
    let (x, w) = (known(node, shapes, 0, "input")?, known(node, shapes, 1, "filter")?);
    let axes = window(node, x, w.get(2..).unwrap_or_default()).ok_or_else(|| misfit(node))?;
    let y = output(node, x, w).ok_or_else(|| misfit(node))?;
    build(Operation::Fprop, [x.clone(), w.clone(), y], &axes, types(node, shapes)?, node.int("group", 1))
}

fn transpose(node: &Node, shapes: &Shapes<'_>) -> Result<Convolution, String> {
    let (y, w) = (known(node, shapes, 0, "input")?, known(node, shapes, 1, "filter")?);
    let axes = transposed_axes(node, y, w).ok_or_else(|| misfit(node))?;
    let x = transposed(node, y, w).ok_or_else(|| misfit(node))?;
    // What the transpose reads is the response of the convolution whose gradient it is.
    build(Operation::Dgrad, [x, w.clone(), y.clone()], &axes, types(node, shapes)?, node.int("group", 1))
}

/// A node by its operator, as a reason begins; of those that are read, AveragePool and RMSNormalization take `an`.
pub(super) fn one(node: &Node) -> String {
    let article = if node.op.starts_with(['A', 'R']) { "an" } else { "a" };
    format!("{article} {}", shortened(&node.op))
}

pub(super) fn misfit(node: &Node) -> String {
    format!("{} whose attributes do not fit its extents", one(node))
}

pub(super) fn known<'a>(
    node: &Node,
    shapes: &'a Shapes<'_>,
    place: usize,
    what: &str,
) -> Result<&'a Extents, String> {
    let name = node.inputs.get(place).ok_or_else(|| format!("{} without {what}", one(node)))?;
    shapes.extents(name).ok_or_else(|| format!("{} whose {what} has unknown extents", one(node)))
}

/// The type of the first input whose type is known, the second one asked first.
pub(super) fn types(node: &Node, shapes: &Shapes<'_>) -> Result<DType, String> {
    let told = [1, 0].iter().filter_map(|place| shapes.dtype(node.inputs.get(*place)?)).next();
    match told {
        Some(1) => Ok(DType::F32),
        Some(10) => Ok(DType::F16),
        Some(11) => Ok(DType::F64),
        Some(16) => Ok(DType::Bf16),
        Some(number) => Err(format!("element type {number} of ONNX")),
        None => Err(format!("{} of unknown type", one(node))),
    }
}

fn build(
    operation: Operation,
    dims: [Extents; 3],
    axes: &[Axis],
    dtype: DType,
    groups: i64,
) -> Result<Convolution, String> {
    let of = |field: fn(&Axis) -> i64| axes.iter().map(field).collect::<Vec<i64>>();
    Ok(Convolution {
        operation,
        tensors: dims.map(|dims| Tensor { dtype, dims, order: Order::Untold, inner: false }),
        compute: None,
        pads_before: of(|axis| axis.pad_before),
        pads_after: of(|axis| axis.pad_after),
        strides: of(|axis| axis.stride),
        dilations: of(|axis| axis.dilation),
        groups: Some(groups),
        alpha: 1.0,
        beta: 0.0,
    })
}

/// Window of a convolution or a pooling over an input: `None` where the attributes do not fit.
pub(super) fn window(node: &Node, x: &Extents, kernel: &[i64]) -> Option<Vec<Axis>> {
    let rank = x.len().checked_sub(2).filter(|rank| (1..=3).contains(rank))?;
    if kernel.len() != rank
        || node.ints("kernel_shape").is_some_and(|told| !told.is_empty() && told != kernel)
    {
        return None;
    }
    let (strides, dilations) = (list(node, "strides", rank, 1, 1)?, list(node, "dilations", rank, 1, 1)?);
    let pads = list(node, "pads", 2 * rank, 0, 0)?;
    let axis = |index: usize| {
        let (input, filter) = (x[2 + index], kernel[index]);
        let mut axis = Axis {
            input,
            filter: (1..=VALUE_MAX).contains(&filter).then_some(filter)?,
            pad_before: pads[index],
            pad_after: pads[rank + index],
            stride: strides[index],
            dilation: dilations[index],
        };
        match node.text("auto_pad") {
            None | Some("NOTSET" | "") => {}
            Some("VALID") => (axis.pad_before, axis.pad_after) = (0, 0),
            Some(mode @ ("SAME_UPPER" | "SAME_LOWER")) => {
                let outputs = (axis.input - 1) / axis.stride + 1;
                let span = axis.filter.checked_sub(1)?.checked_mul(axis.dilation)?.checked_add(1)?;
                let total =
                    (outputs - 1).checked_mul(axis.stride)?.checked_add(span)?.checked_sub(axis.input)?;
                (axis.pad_before, axis.pad_after) = halves(total.max(0), mode);
            }
            Some(_) => return None,
        }
        (1..=VALUE_MAX).contains(&axis.output()).then_some(axis)
    };
    (0..rank).map(axis).collect()
}

/// Padding before and after; an odd one is put where the mode says.
fn halves(total: i64, mode: &str) -> (i64, i64) {
    let (less, more) = (total / 2, total - total / 2);
    if mode == "SAME_UPPER" { (less, more) } else { (more, less) }
}

/// An attribute with one number for each axis or each end of one.
fn list(node: &Node, name: &str, length: usize, usual: i64, least: i64) -> Option<Vec<i64>> {
    let told = node.ints(name).filter(|told| !told.is_empty());
    let values = told.map_or_else(|| vec![usual; length], <[i64]>::to_vec);
    let sane = values.len() == length && values.iter().all(|value| (least..=VALUE_MAX).contains(value));
    sane.then_some(values)
}

/// Extents of a convolution's output.
pub(super) fn output(node: &Node, x: &Extents, w: &Extents) -> Option<Extents> {
    let axes = window(node, x, w.get(2..)?)?;
    Some([x[0], w[0]].into_iter().chain(axes.iter().map(Axis::output)).collect())
}

/// Extents of a transposed convolution's output.
pub(super) fn transposed(node: &Node, y: &Extents, w: &Extents) -> Option<Extents> {
    let axes = transposed_axes(node, y, w)?;
    let channels = w[1].checked_mul(node.int("group", 1))?;
    Some([y[0], channels].into_iter().chain(axes.iter().map(|axis| axis.input)).collect())
}

/// The convolution whose gradient a transposed one is, axis by axis: its input is what the transposed one makes.
fn transposed_axes(node: &Node, y: &Extents, w: &Extents) -> Option<Vec<Axis>> {
    let rank = y.len().checked_sub(2).filter(|rank| (1..=3).contains(rank) && w.len() == rank + 2)?;
    let (strides, dilations) = (list(node, "strides", rank, 1, 1)?, list(node, "dilations", rank, 1, 1)?);
    let (pads, extra) = (list(node, "pads", 2 * rank, 0, 0)?, list(node, "output_padding", rank, 0, 0)?);
    let wanted = node.ints("output_shape").filter(|wanted| !wanted.is_empty());
    let axis = |index: usize| {
        let (stride, dilation, filter) = (strides[index], dilations[index], w[2 + index]);
        let span = (filter - 1).checked_mul(dilation)?.checked_add(1)?;
        let full = (y[2 + index] - 1).checked_mul(stride)?.checked_add(span)?.checked_add(extra[index])?;
        let same = matches!(node.text("auto_pad"), Some("SAME_UPPER" | "SAME_LOWER"));
        let wanted = match wanted {
            Some(wanted) => Some(*wanted.get(wanted.len().checked_sub(rank)? + index)?),
            None => same.then(|| y[2 + index].saturating_mul(stride)),
        };
        let (pad_before, pad_after) = match wanted {
            Some(wanted) => {
                let mode = node.text("auto_pad").unwrap_or("SAME_UPPER");
                halves(full.checked_sub(wanted)?.max(0), mode)
            }
            None if node.text("auto_pad") == Some("VALID") => (0, 0),
            None => (pads[index], pads[rank + index]),
        };
        let input = full.checked_sub(pad_before)?.checked_sub(pad_after)?;
        let sane = (1..=VALUE_MAX).contains(&input);
        sane.then_some(Axis { input, filter, pad_before, pad_after, stride, dilation })
    };
    (0..rank).map(axis).collect()
}
