//! Taking device memory away, so that a library has to live with what is left. Knows sizes; never gives anything back
//! before the process ends.

use case::Pressure;

use crate::driver::Driver;
use crate::error::LoadError;

/// Smallest piece that is taken: less is not worth a call.
const PIECE_MIN: u64 = 1 << 20;

/// Size of a hole where what is left is scattered. A driver maps memory in pieces of 2 MiB, so that larger holes would
/// be none to it.
const HOLE_BYTES: u64 = 1 << 20;

/// Takes memory until no more than what the pressure names is free. Where less is free already nothing is taken.
///
/// # Errors
/// The driver's error, other than that memory is exhausted.
pub fn press(driver: &Driver, pressure: Pressure) -> Result<(), LoadError> {
    let free = free(driver)?;
    // Holes alternate with pieces that stay taken.
    let spared =
        if pressure.fragmented { pressure.left_bytes.saturating_mul(2) } else { pressure.left_bytes };
    take(driver, free.saturating_sub(spared));
    if pressure.fragmented {
        scatter(driver, pressure.left_bytes);
    }
    Ok(())
}

fn free(driver: &Driver) -> Result<u64, LoadError> {
    let (free, _) = driver.memory().map_err(|error| LoadError::Machine(error.to_string()))?;
    Ok(free)
}

/// Takes so many bytes, in pieces as large as the driver gives.
fn take(driver: &Driver, bytes: u64) {
    let (mut wanted, mut piece) = (bytes, bytes);
    while wanted >= PIECE_MIN && piece >= PIECE_MIN {
        match driver.allocate(piece.min(wanted)) {
            Ok(_) => wanted -= piece.min(wanted),
            Err(_) => piece /= 2,
        }
    }
}

/// Takes twice as much in small pieces and frees every other one.
fn scatter(driver: &Driver, left: u64) {
    let pieces: Vec<u64> =
        (0..2 * left.div_ceil(HOLE_BYTES)).map_while(|_| driver.allocate(HOLE_BYTES).ok()).collect();
    for piece in pieces.iter().step_by(2) {
        driver.free(*piece);
    }
}
