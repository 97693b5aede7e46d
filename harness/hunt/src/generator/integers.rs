//! Integer types, drawn only where nothing but plans is judged: there are no kernels of convict's own for them. Knows
//! shares and which layouts go with which type.

use case::{DType, Layout, Layouts};
use rand::RngExt;
use rand::rngs::StdRng;

use super::draft::Draft;
use super::style::pick_weighted;

/// Share of geometries that get integers.
const SHARE: f64 = 0.3;

/// Element types by weight.
const TYPES: [(DType, u32); 2] = [(DType::I8, 88), (DType::I32, 12)];

/// What a pass on int8 writes, by weight; `None` is int8 again.
const WRITTEN: [(Option<DType>, u32); 3] = [(None, 50), (Some(DType::I32), 25), (Some(DType::F32), 25)];

/// Compute types by weight; `None` is int32.
const COMPUTED: [(Option<DType>, u32); 2] = [(None, 88), (Some(DType::F32), 12)];

/// Layouts of int8 by weight.
const ORDERS: [(Layout, u32); 4] =
    [(Layout::Nchw, 30), (Layout::Nhwc, 30), (Layout::Nchwc4, 20), (Layout::Nchwc32, 20)];

/// Makes integers of a share of the drafts; channels are brought to whole vectors when the draft is fitted.
pub(super) fn force(draft: &mut Draft, rng: &mut StdRng) {
    if !rng.random_bool(SHARE) {
        return;
    }
    draft.dtype = pick_weighted(rng, &TYPES);
    draft.output_dtype = None;
    draft.compute = pick_weighted(rng, &COMPUTED);
    if draft.dtype != DType::I8 {
        return;
    }
    let drawn = pick_weighted(rng, &ORDERS);
    let order = if drawn.vector() == 1 || draft.takes_vectors() { drawn } else { Layout::Nhwc };
    draft.layouts = Layouts::uniform(order);
    if order.vector() == 1 {
        draft.output_dtype = pick_weighted(rng, &WRITTEN);
    }
}
