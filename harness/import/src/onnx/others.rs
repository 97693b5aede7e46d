//! Poolings, products of matrices and normalizations by the root mean square: the case that each is. Knows one node and
//! the extents around it.

use case::{Axis, Case, DType, DTypes, Layout, Layouts, Operation, Problem};

use super::convolutions::{known, misfit, one, types, window};
use super::schema::Node;
use super::shapes::{Extents, Shapes};
use crate::convolution::valid;

/// The case that a node is; `None` for a node of another sort.
pub(super) fn read(node: &Node, shapes: &Shapes<'_>) -> Option<Result<Case, String>> {
    match node.op.as_str() {
        "MaxPool" => Some(pooling(node, shapes, Operation::MaxPool)),
        "AveragePool" => Some(pooling(node, shapes, Operation::AvgPool)),
        "GlobalMaxPool" => Some(global(node, shapes, Operation::MaxPool)),
        "GlobalAveragePool" => Some(global(node, shapes, Operation::AvgPool)),
        "MatMul" => Some(product(node, shapes)),
        "Gemm" => Some(gemm(node, shapes)),
        "RMSNormalization" | "SimplifiedLayerNormalization" => Some(normalization(node, shapes)),
        _ => None,
    }
}

/// The case of extents as a problem holds them; the tensors have one type.
fn build(
    operation: Operation,
    dtype: DType,
    [n, c, k, g]: [i64; 4],
    axes: Vec<Axis>,
    layouts: Layouts,
) -> Result<Case, String> {
    let (x, w, y) = (dtype, dtype, dtype);
    let dtypes = DTypes { x, w, y, compute: DTypes::default_compute([x, w, y]) };
    valid(Case::new(Problem { operation, dtypes, layouts, n, c, k, g, axes, declared_output: None }.fitted()))
}

fn plain() -> Layouts {
    Layouts::uniform(Layout::Nchw)
}

fn pooling(node: &Node, shapes: &Shapes<'_>, operation: Operation) -> Result<Case, String> {
    let x = known(node, shapes, 0, "input")?;
    let kernel = node.ints("kernel_shape").unwrap_or_default();
    let mut axes = window(node, x, kernel).ok_or_else(|| misfit(node))?;
    if axes.iter().any(|axis| axis.dilation != 1) {
        return Err(format!("{} with dilation", one(node)));
    }
    if node.int("ceil_mode", 0) == 1 {
        for axis in &mut axes {
            let rest = (axis.input + axis.pad_before + axis.pad_after - axis.filter).rem_euclid(axis.stride);
            if rest != 0 && operation == Operation::AvgPool {
                return Err(format!("{} whose last window is cut off (ceil_mode)", one(node)));
            }
            // A maximum does not see padding, so that more of it makes room for the window that is cut off.
            axis.pad_after += if rest == 0 { 0 } else { axis.stride - rest };
        }
    }
    let is_padded = axes.iter().any(|axis| axis.pad_before + axis.pad_after > 0);
    if operation == Operation::AvgPool && is_padded && node.int("count_include_pad", 0) != 1 {
        return Err(format!("{} that leaves padding out of its means (count_include_pad)", one(node)));
    }
    build(operation, types(node, shapes)?, [x[0], x[1], x[1], x[1]], axes, plain())
}

fn global(node: &Node, shapes: &Shapes<'_>, operation: Operation) -> Result<Case, String> {
    let x = known(node, shapes, 0, "input")?;
    let [n, c, spatial @ ..] = x.as_slice() else { return Err(misfit(node)) };
    if !(1..=3).contains(&spatial.len()) {
        return Err(misfit(node));
    }
    let axes = spatial.iter().map(|extent| Axis::plain(*extent, *extent)).collect();
    build(operation, types(node, shapes)?, [*n, *c, *c, *c], axes, plain())
}

/// Matrices of the last two axes; those before them count the products, unless the second factor has none, so that all
/// rows of the first one meet it.
fn product(node: &Node, shapes: &Shapes<'_>) -> Result<Case, String> {
    let (x, w) = (known(node, shapes, 0, "input")?, known(node, shapes, 1, "second factor")?);
    let ([outer @ .., rows, inner], [batches @ .., others, columns]) = (x.as_slice(), w.as_slice()) else {
        return Err(format!("{} of a vector", one(node)));
    };
    if inner != others {
        return Err(misfit(node));
    }
    let (b, m) = match (product_of(outer), batches) {
        (Some(count), []) => (Some(1), count.checked_mul(*rows)),
        (count, _) if outer == batches => (count, Some(*rows)),
        _ => return Err(format!("{} that repeats a factor (broadcasting)", one(node))),
    };
    matrices(node, shapes, [b, m, Some(*columns), Some(*inner)], plain())
}

/// A factor that is transposed lies column after column.
fn gemm(node: &Node, shapes: &Shapes<'_>) -> Result<Case, String> {
    let (x, w) = (known(node, shapes, 0, "input")?, known(node, shapes, 1, "second factor")?);
    let (&[x0, x1], &[w0, w1]) = (x.as_slice(), w.as_slice()) else { return Err(misfit(node)) };
    if node.attribute("alpha").is_some_and(|alpha| alpha.float.to_bits() != 1.0_f32.to_bits()) {
        return Err(format!("{} that scales its product (alpha)", one(node)));
    }
    let order = |name: &str| if node.int(name, 0) == 0 { Layout::Nchw } else { Layout::Nhwc };
    let layouts = Layouts { x: order("transA"), w: order("transB"), y: Layout::Nchw };
    let (m, inner) = if layouts.x == Layout::Nchw { (x0, x1) } else { (x1, x0) };
    let (others, columns) = if layouts.w == Layout::Nchw { (w0, w1) } else { (w1, w0) };
    if inner != others {
        return Err(misfit(node));
    }
    matrices(node, shapes, [1, m, columns, inner].map(Some), layouts)
}

/// `b` products of m rows and n columns, k summed over.
fn matrices(
    node: &Node,
    shapes: &Shapes<'_>,
    extents: [Option<i64>; 4],
    layouts: Layouts,
) -> Result<Case, String> {
    let [Some(b), Some(m), Some(n), Some(k)] = extents else { return Err(misfit(node)) };
    let total = |extent: i64| b.checked_mul(extent).ok_or_else(|| misfit(node));
    let sizes = [m, total(k)?, total(n)?, b];
    build(Operation::MatMul, types(node, shapes)?, sizes, vec![Axis::plain(1, 1)], layouts)
}

/// Rows are what lies before the axis, as if they had one.
fn normalization(node: &Node, shapes: &Shapes<'_>) -> Result<Case, String> {
    let x = known(node, shapes, 0, "input")?;
    let axis = super::shapes::place(node.int("axis", -1), x.len()).ok_or_else(|| misfit(node))?;
    let (rows, row) = x.split_at(axis);
    let (Some(n), Some(c)) = (product_of(rows), product_of(row)) else { return Err(misfit(node)) };
    build(Operation::RmsNorm, types(node, shapes)?, [n, c, c, c], vec![Axis::plain(1, 1); 2], plain())
}

/// How many elements extents make; 1 where there are none.
fn product_of(extents: &[i64]) -> Option<i64> {
    extents.iter().try_fold(1_i64, |product, extent| product.checked_mul(*extent))
}

/// Extents of a product's output.
pub(super) fn output(node: &Node, x: &Extents, w: &Extents) -> Option<Extents> {
    if node.op == "Gemm" {
        let (&[x0, x1], &[w0, w1]) = (x.as_slice(), w.as_slice()) else { return None };
        let rows = if node.int("transA", 0) == 0 { x0 } else { x1 };
        return Some(vec![rows, if node.int("transB", 0) == 0 { w1 } else { w0 }]);
    }
    let ([outer @ .., _], [batches @ .., inner, columns]) = (x.as_slice(), w.as_slice()) else { return None };
    let fits = x.last() == Some(inner) && x.len() >= 2;
    let is_plain = batches.is_empty() || outer.split_last().is_some_and(|(_, outer)| outer == batches);
    (fits && is_plain).then(|| outer.iter().copied().chain([*columns]).collect())
}
