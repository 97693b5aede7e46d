//! Which wheels of cuDNN and its companions are published, and how one gets from the package client into a cache,
//! checked by hash. Knows names, files and folders; opens no library.

mod cache;
mod error;
mod fetch;
mod installed;
mod table;
mod unpack;

pub use cache::Cache;
pub use case::Version;
pub use error::WheelError;
pub use fetch::Client;
pub use installed::{DISPATCHERS, Installed, installed};
pub use table::{Name, Part, Wheel, companions, dependencies, find, oldest_driver, published};
