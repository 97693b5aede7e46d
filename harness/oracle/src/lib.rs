//! Decides what a run proves. Knows fills, references, error bounds and the contract, all as pure functions;
//! does no I/O and knows nothing of devices or processes.
#![forbid(unsafe_code)]

mod bounds;
mod certificate;
mod contract;
mod data;
mod device_less;
mod judge;
mod measured;
mod numeric;
mod oracles;
mod partials;
mod position;
mod recipe;
mod reference;
mod sample;
pub mod training;
mod view;

pub use bounds::{Bounds, bounds, bounds_of_any_data};
pub use certificate::{Certificate, certificate};
pub use data::{fill_params, operand_fill, poison_bits, poison_byte};
pub use judge::{is_odd, judge};
pub use measured::{census, compare_params, facts};
pub use position::{coordinates, print_position};
pub use recipe::{preceding, recipes};
pub use reference::{Expected, expected_at};
pub use sample::{agrees, sample_positions, spot_tolerance};
pub use view::{beyond_reference, dtype_code, reference_params, tensor_view};

#[cfg(test)]
mod tests;
