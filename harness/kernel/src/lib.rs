//! Device-side arithmetic: the parameter struct of each kernel, its CUDA source and PTX, and a plain Rust
//! twin that computes the same bits. Knows numbers and memory views; knows nothing of cuDNN or of cases.
#![forbid(unsafe_code)]

mod params;
mod totals;

pub use params::*;
pub use totals::*;
