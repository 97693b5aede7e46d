//! Twin of `convict_elementwise`. Knows packed bytes; knows no network.

use crate::elementwise::{ElementwiseParams, Step};
use crate::number::{decode_bits, element_bytes, encode, load};
use crate::params::F32;
use crate::refusal::Refusal;
use crate::view::need;

/// Takes one step over the operands' bytes. `master` is looked at by `Step::Update` alone.
pub fn elementwise(
    params: &ElementwiseParams,
    [a, b]: [&[u8]; 2],
    out: &mut [u8],
    master: &mut [u8],
) -> Result<(), Refusal> {
    let step = Step::try_from(params.op)?;
    let width = element_bytes(params.dtype);
    for (_, bytes, _) in params.reach()?.iter().take(1) {
        need(*bytes, a.len())?;
    }
    need(params.count.saturating_mul(width as u64), out.len())?;
    match step {
        Step::ReluBack | Step::LossBack => need(params.count.saturating_mul(width as u64), b.len())?,
        Step::Update => need(params.count.saturating_mul(4), master.len())?,
        Step::Relu | Step::Average | Step::AverageBack => {}
    }
    let (a, b) = (Packed { bytes: a, dtype: params.dtype }, Packed { bytes: b, dtype: params.dtype });
    for (index, slot) in out.chunks_exact_mut(width).take(params.count as usize).enumerate() {
        let value = match step {
            Step::Relu => relu(a.at(index)),
            Step::ReluBack => {
                if a.at(index) <= 0.0 {
                    0.0
                } else {
                    b.at(index)
                }
            }
            Step::Average => average(params, &a, index),
            Step::AverageBack => params.factor * a.at(mean_of(params, index)),
            Step::LossBack => params.factor * (a.at(index) - b.at(index)),
            Step::Update => update(params.factor * a.at(index), &mut master[4 * index..4 * index + 4]),
        };
        slot.copy_from_slice(&encode(params.dtype, value).to_le_bytes()[..width]);
    }
    Ok(())
}

/// A packed tensor.
struct Packed<'a> {
    bytes: &'a [u8],
    dtype: u32,
}

impl Packed<'_> {
    fn at(&self, index: usize) -> f64 {
        let width = element_bytes(self.dtype);
        decode_bits(self.dtype, load(&self.bytes[index * width..(index + 1) * width]))
    }
}

fn relu(value: f64) -> f64 {
    if value < 0.0 { 0.0 } else { value }
}

fn average(params: &ElementwiseParams, a: &Packed<'_>, index: usize) -> f64 {
    let (inner, channels) = (params.inner as usize, params.channels as usize);
    let (item, channel) = (index / channels, index % channels);
    let place = |place: usize| match params.channels_last {
        0 => index * inner + place,
        _ => (item * inner + place) * channels + channel,
    };
    params.factor * (0..inner).fold(0.0, |sum, at| sum + a.at(place(at)))
}

/// Where the mean lies that an element of the image went into.
fn mean_of(params: &ElementwiseParams, index: usize) -> usize {
    let (inner, channels) = (params.inner as usize, params.channels as usize);
    match params.channels_last {
        0 => index / inner,
        _ => index / channels / inner * channels + index % channels,
    }
}

fn update(step: f64, master: &mut [u8]) -> f64 {
    let bits = encode(F32, decode_bits(F32, load(master)) - step);
    master.copy_from_slice(&bits.to_le_bytes()[..4]);
    decode_bits(F32, bits)
}
