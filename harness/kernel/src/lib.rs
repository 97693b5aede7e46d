//! Device-side arithmetic: the parameter struct of each kernel, its CUDA source and PTX, and a plain Rust
//! twin that computes the same bits. Knows numbers and memory views; knows nothing of cuDNN or of cases.
#![forbid(unsafe_code)]

mod elementwise;
mod fill;
mod launch;
mod number;
mod params;
mod refusal;
mod totals;
pub mod twin;
mod view;

pub use elementwise::{ElementwiseParams, Step};
pub use fill::{FillKind, mix, stream_word, value, word};
pub use launch::{BLOCK, Kernel, Range, grid_for, lanes_for, pointers, reference_grid, zones_grid};
pub use number::{decode, decode_bits, element_bytes, encode, round_to};
pub use params::*;
pub use refusal::Refusal;
pub use totals::*;

/// All kernels as PTX 8.0 for sm_70, made by `cuda/build_ptx.py` from `cuda/convict.cu`.
pub const PTX: &str = include_str!("../cuda/convict.ptx");
