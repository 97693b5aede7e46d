//! The binary interface of exactly the CUDA driver and cuDNN symbols that convict calls: numbers, handles and
//! function-pointer types. Opens nothing and calls nothing. Every status and enum is a transparent integer
//! newtype, so that a value newer than this page is a number and no undefined behaviour.

pub mod cuda;
pub mod cudnn;
mod status;

pub use status::Status;
