//! The simulated library as `libcudnn.so.9`, with the real binary interface. Knows raw pointers; what calls do is the
//! simulator's.

#![allow(unsafe_code, reason = "the exported functions take the raw pointers of a C interface")]
#![allow(non_snake_case, reason = "the exported functions have the names of cudnn_graph.h")]
#![allow(missing_docs, reason = "the exported functions are documented in NVIDIA's cuDNN API reference")]
#![allow(clippy::missing_safety_doc, reason = "callers owe what NVIDIA's cuDNN API reference asks for")]

mod answer;
mod attribute;
pub mod backend;
mod driver;
mod log;
pub mod version;
