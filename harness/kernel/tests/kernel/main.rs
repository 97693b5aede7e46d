//! Tests of the kernels' arithmetic: golden vectors, conversions, the twins against definitions, and the CUDA
//! source on the host against the twins. Knows no GPU.

mod golden;
mod host;
mod launch;
mod naive;
mod numbers;
mod others;
mod totals;

use kernel::{TensorView, element_bytes};

/// A view without gaps, last dimension fastest.
pub(crate) fn packed(dtype: u32, extent: [i64; 5]) -> TensorView {
    let mut stride = [1; 5];
    for i in (0..4).rev() {
        stride[i] = stride[i + 1] * extent[i + 1].max(1);
    }
    TensorView { pointer: 0, dtype, reserved: 0, extent, stride }
}

/// A view with channels fastest and a gap of one element after each pixel.
pub(crate) fn gapped(dtype: u32, extent: [i64; 5]) -> TensorView {
    let [_, c, d, h, w] = extent;
    let pixel = c + 1;
    TensorView { stride: [pixel * w * h * d, 1, pixel * w * h, pixel * w, pixel], ..packed(dtype, extent) }
}

/// Zeroed memory for a view.
pub(crate) fn memory(view: &TensorView) -> Vec<u8> {
    let last: i64 = view.extent.iter().zip(&view.stride).map(|(extent, stride)| (extent - 1) * stride).sum();
    vec![0; (last + 1) as usize * element_bytes(view.dtype)]
}
