//! Devices that can be planned for without being there: profiles as data, and a user's device JSON completed from them.
//! Knows cuDNN's keys and what is assumed of them; opens nothing and plans nothing.

mod error;
mod profile;
mod target;

pub use error::DeviceError;
pub use profile::{Profile, profiles};
pub use target::Target;

#[cfg(test)]
mod tests;
