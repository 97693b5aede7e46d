//! What partial results kept in a 16-bit output's type may cost. Knows how many roundings are excused and how large
//! what they round may be; knows nothing of what was measured.
//!
//! Engines that declare no reduced precision were measured to keep them on an H200: dgrad with one pass over the
//! output a filter tap, which reads, adds and writes (two f16 products: off by half a unit of the first), and split
//! reductions in each pass, whose slices are added up in bf16 or f16.
//!
//! | data | excused, in half units u of the output's type |
//! |---|---|
//! | signs from a hash, n products at most | 27 A / sqrt(n) + 3 M / sqrt(n), or 3 A where that is less |
//! | any other | 4 A |
//!
//! where A is the element's own sum of absolute products and M the largest of them; never more than (n - 1) A, since n
//! products have no more partial results. Reading, adding and writing t times costs at most u times the sum of the t
//! running sums. With hashed signs both the sums and their roundings go like random walks: a standard deviation is
//! about 1.2 sqrt(t / 6) A / sqrt(n), which makes 18 A / sqrt(n) six of them at the 38 slices that an engine was
//! measured to use, and more than four at 64. An element with fewer products than n needs more for its A; the line
//! 27 A + 3 M touches that square root at a ninth of the products, the corner of a 3x3 filter. Slices that are rounded
//! once and added in f32 cost u A at most, however many. Data of one sign cancel nothing, but their results are as
//! large as A, so that the nine taps of a 3x3 filter, whose running sums add up to 4 A, hide nothing beyond 4 u of the
//! result.
//!
//! What it hides: nothing while the output's type holds every partial sum exactly, which is so at least up to 64
//! products of +-1 and +-2 with bf16 and up to 512 with f16. Beyond, a missing product of 1 may hide from about 100
//! products with bf16 and 880 with f16, one of 4 from about 150 and 10,000 (a test holds these numbers). A missing tap,
//! a swapped or shifted output, a scale ignored and zeros are many products: they pass the bound more than fivefold
//! in some output at each size that was tried.

use case::{Case, Fill, Notes, Operation, ReferenceFacts};

use crate::bounds::has_zero_mean;
use crate::numeric::{accumulation_unit, finite, output_dtype, unit};

/// Factors of A / sqrt(products) and M / sqrt(products) where signs come from a hash: the line that touches
/// 18 sqrt(share of the products) from above at a ninth.
const WALK_OWN: f64 = 27.0;
const WALK_COMMON: f64 = 3.0;

/// Roundings of a whole A that are excused at most where signs come from a hash.
const ROUNDINGS: f64 = 3.0;

/// Roundings of a whole A that are excused for other data.
const ROUNDINGS_OF_ONE_SIGN: f64 = 4.0;

/// What an element may be wrong by beside everything else: `own` times its sum of absolute products and `common`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Room {
    pub(crate) own: f64,
    pub(crate) common: f64,
}

/// The room for partial results in the output's type, unless that type holds each of them exactly. None where the type
/// has more than 16 bits, where the bound of the sums has that room already because they are kept in 16 bits by
/// declaration, where a declared transform has a bound of its own, and where nothing or squares are summed.
pub(crate) fn room(case: &Case, notes: &Notes, facts: &ReferenceFacts, fill: Fill) -> Room {
    let output = output_dtype(case);
    let declared = notes.fft() || notes.winograd() || accumulation_unit(case, notes) >= unit(output);
    let summed = !matches!(case.problem.operation, Operation::MaxPool | Operation::RmsNorm);
    if output.bytes() != 2 || declared || !summed {
        return Room::default();
    }
    let products = facts.products_max as f64;
    let zero_mean = has_zero_mean(case, fill);
    let most = if zero_mean { ROUNDINGS } else { ROUNDINGS_OF_ONE_SIGN }.min((products - 1.0).max(0.0));
    let walk = WALK_OWN / products.sqrt();
    if zero_mean && walk < most {
        let common = WALK_COMMON / products.sqrt() * unit(output) * finite(facts.abs_sum_max);
        return Room { own: walk * unit(output), common };
    }
    Room { own: most * unit(output), common: 0.0 }
}
