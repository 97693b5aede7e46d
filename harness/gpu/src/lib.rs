//! Real foreign calls: loading libraries, contexts, guarded buffers, kernels, descriptors and plans. The only
//! unsafe product code. Knows how to ask CUDA and cuDNN; judges nothing and decides nothing.

#![allow(unsafe_code, reason = "this room exists to hold the foreign calls")]

mod buffer;
mod cudnn;
mod descriptor;
mod driver;
mod error;
mod graph;
mod launch;
mod meter;
mod operation;
mod plan;
mod pressure;
mod stack;

pub mod library;

pub use buffer::{Arena, Guarded};
pub use cudnn::Cudnn;
pub use descriptor::Descriptor;
pub use driver::Driver;
pub use error::{CallError, LoadError};
pub use graph::{Graph, Target};
pub use launch::Kernels;
pub use meter::Meter;
pub use plan::{Engine, Plan, Recommendation};
pub use pressure::press;
