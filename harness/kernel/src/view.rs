//! What a view reaches in memory, and a walk over its elements in logical order. Knows extents and strides;
//! knows nothing of values.

use crate::number::element_bytes;
use crate::params::TensorView;
use crate::refusal::Refusal;

/// An element on a walk.
pub(crate) struct Element {
    /// Coordinates n, c, d, h, w.
    pub(crate) at: [i64; 5],
    /// Linear logical index.
    pub(crate) linear: u64,
    /// Offset of its first byte in the view's memory.
    pub(crate) byte: usize,
}

/// Elements of a view: the product of its extents.
pub(crate) fn count(view: &TensorView) -> Result<u64, Refusal> {
    if view.extent.contains(&0) {
        return Ok(0);
    }
    let extent = |product: u64, &extent: &i64| product.checked_mul(u64::try_from(extent).ok()?);
    view.extent.iter().try_fold(1, extent).ok_or(Refusal::View)
}

/// Bytes from the first to beyond the last element of a view; 0 where it has none.
pub(crate) fn span_bytes(view: &TensorView) -> Result<u64, Refusal> {
    let bytes = element_bytes(view.dtype) as u64;
    if bytes == 0 {
        return Err(Refusal::Dtype(view.dtype));
    }
    if view.extent.iter().chain(&view.stride).any(|&number| number < 0) {
        return Err(Refusal::View);
    }
    if count(view)? == 0 {
        return Ok(0);
    }
    let reach = |sum: u64, (extent, stride): (&i64, &i64)| {
        sum.checked_add((extent.unsigned_abs() - 1).checked_mul(stride.unsigned_abs())?)
    };
    let last = view.extent.iter().zip(&view.stride).try_fold(0, reach);
    let span = last.and_then(|last| last.checked_add(1)?.checked_mul(bytes));
    span.filter(|&span| span <= i64::MAX as u64).ok_or(Refusal::View)
}

/// Refuses a slice that is shorter than what the view reaches.
pub(crate) fn check(view: &TensorView, bytes: &[u8]) -> Result<(), Refusal> {
    need(span_bytes(view)?, bytes.len())
}

/// Refuses a length that is shorter than needed.
pub(crate) fn need(needed: u64, actual: usize) -> Result<(), Refusal> {
    if needed > actual as u64 { Err(Refusal::Short { needed, actual: actual as u64 }) } else { Ok(()) }
}

/// Visits every element of a view that [`check`] has passed, in the order of linear logical indices.
pub(crate) fn each_element(view: &TensorView, mut visit: impl FnMut(Element)) {
    let width = element_bytes(view.dtype);
    let [ns, cs, ds, hs, ws] = view.stride;
    let [ne, ce, de, he, we] = view.extent;
    let mut linear = 0;
    for n in 0..ne {
        for c in 0..ce {
            for d in 0..de {
                for h in 0..he {
                    let row = n * ns + c * cs + d * ds + h * hs;
                    for w in 0..we {
                        let byte = (row + w * ws) as usize * width;
                        visit(Element { at: [n, c, d, h, w], linear, byte });
                        linear += 1;
                    }
                }
            }
        }
    }
}
