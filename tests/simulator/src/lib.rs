//! What the fake CUDA driver and the fake cuDNN do, in safe Rust: memory, kernels, engines, descriptors, faults.
//! Knows nothing of foreign calls; the libraries with the real binary interface are thin crates over this one.
//!
//! With no fault planted every engine is right, though none computes the way the reference does.

pub mod backend;
pub mod compute;
pub mod driver;
mod element;
pub mod engine;
pub mod faults;
mod folder;
mod launch;
mod memory;
pub mod problem;
mod stop;

pub use folder::{FILES, folder};
pub use stop::{Ending, Stop};
