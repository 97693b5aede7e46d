//! Element types as bits and as exact f64 values, by integer arithmetic that the kernels share. Knows rounding;
//! knows nothing of tensors.

use crate::params::{BF16, F16, F32, F64};

const SIGN: u64 = 1 << 63;
const INFINITE: u64 = 0x7ff << 52;
const NAN: u64 = 0x7ff8 << 48;

/// Bytes of one element, 0 for a number that names no element type.
pub const fn element_bytes(dtype: u32) -> usize {
    match dtype {
        F16 | BF16 => 2,
        F32 => 4,
        F64 => 8,
        _ => 0,
    }
}

/// The value of an element's bytes, least significant first; NaN where they are too few.
pub fn decode(dtype: u32, bytes: &[u8]) -> f64 {
    let width = element_bytes(dtype);
    match bytes.get(..width) {
        Some(bytes) if width > 0 => decode_bits(dtype, load(bytes)),
        Some(_) | None => f64::NAN,
    }
}

/// The value of an element's bits; exact, and NaN for a number that names no element type.
pub fn decode_bits(dtype: u32, bits: u64) -> f64 {
    match dtype {
        F16 => decode_f16(bits as u32),
        BF16 => f64::from(f32::from_bits((bits as u32) << 16)),
        F32 => f64::from(f32::from_bits(bits as u32)),
        F64 => f64::from_bits(bits),
        _ => f64::NAN,
    }
}

/// An f16 moved into an f32's fields is too small by 2^112, exactly; only infinities and NaNs need a patch.
fn decode_f16(bits: u32) -> f64 {
    let value = if bits & 0x7c00 == 0x7c00 {
        f64::from_bits(if bits & 0x3ff == 0 { INFINITE } else { NAN })
    } else {
        f64::from(f32::from_bits((bits & 0x7fff) << 13)) * 5_192_296_858_534_827_628_530_496_329_220_096.0
    };
    if bits & 0x8000 == 0 { value } else { -value }
}

/// The bits of a value as an element: rounded to nearest, ties to even, with subnormals kept and overflow to
/// infinity. Every NaN becomes the positive quiet one. 0 for a number that names no element type.
pub fn encode(dtype: u32, value: f64) -> u64 {
    match dtype {
        F16 => narrow(value, 5, 10),
        BF16 => narrow(value, 8, 7),
        F32 => narrow(value, 8, 23),
        F64 => canonical_bits(value),
        _ => 0,
    }
}

/// A value rounded to the nearest that an element can hold.
pub fn round_to(dtype: u32, value: f64) -> f64 {
    decode_bits(dtype, encode(dtype, value))
}

/// The bits of an f64, with one NaN for all.
pub(crate) fn canonical_bits(value: f64) -> u64 {
    if value.is_nan() { NAN } else { value.to_bits() }
}

/// Up to eight bytes as a number, least significant first.
pub(crate) fn load(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)),
    }
}

fn narrow(value: f64, exponent: u32, mantissa: u32) -> u64 {
    let bits = value.to_bits() & !SIGN;
    let infinite = ((1u64 << exponent) - 1) << mantissa;
    if bits > INFINITE {
        return infinite | 1 << (mantissa - 1);
    }
    let sign = value.to_bits() >> 63 << (exponent + mantissa);
    let biased = (bits >> 52) as i32 - 1023 + (1 << (exponent - 1)) - 1;
    if biased >= (1 << exponent) - 1 {
        return sign | infinite;
    }
    let shift = 52 - mantissa + if biased > 0 { 0 } else { biased.abs_diff(1) };
    if shift > 53 {
        return sign;
    }
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    let half = 1u64 << (shift - 1);
    let (kept, rest) = (significand >> shift, significand & (2 * half - 1));
    let rounded = kept + u64::from(rest > half || (rest == half && kept & 1 == 1));
    sign | (rounded + if biased > 0 { (biased as u64 - 1) << mantissa } else { 0 })
}
