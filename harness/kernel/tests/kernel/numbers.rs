//! Conversions against the `half` crate and the compiler's own. Knows no tensors.

use half::{bf16, f16};
use kernel::{BF16, F16, F32, F64, decode, decode_bits, element_bytes, encode, round_to};
use proptest::prelude::*;

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Checks an f32 against `half`, whose conversions from f64 drop low bits and so can't be asked about an f64.
fn check_single(single: f32) {
    let value = f64::from(single);
    let halves = [(F16, f16::from_f32(single).to_f64()), (BF16, bf16::from_f32(single).to_f64())];
    for (dtype, expected) in halves.into_iter().chain([(F32, value), (F64, value)]) {
        assert!(same(round_to(dtype, value), expected), "{dtype}: {value:e} ({:#x})", value.to_bits());
    }
}

/// Checks an f64 against the compiler's f32, and that no neighbour of what it became is as near, unless odd.
fn check(value: f64) {
    assert!(same(round_to(F32, value), f64::from(value as f32)), "{value:e}");
    for dtype in [F16, BF16] {
        let bits = encode(dtype, value);
        let distance = |bits| (decode_bits(dtype, bits) - value).abs();
        if !decode_bits(dtype, bits).is_finite() || bits & 0x7fff == 0 {
            continue;
        }
        for neighbour in [bits - 1, bits + 1] {
            let tie_to_even = distance(neighbour) == distance(bits) && bits & 1 == 0;
            assert!(distance(bits) < distance(neighbour) || tie_to_even, "{dtype}: {value:e}");
        }
    }
}

#[test]
fn every_16_bit_pattern_decodes_as_half_says_and_encodes_back() {
    for bits in 0..=u16::MAX {
        let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
        assert!(same(decode_bits(F16, u64::from(bits)), half.to_f64()), "{bits:#x}");
        assert!(same(decode_bits(BF16, u64::from(bits)), brain.to_f64()), "{bits:#x}");
        assert!(half.is_nan() || encode(F16, half.to_f64()) == u64::from(bits));
        assert!(brain.is_nan() || encode(BF16, brain.to_f64()) == u64::from(bits));
    }
}

#[test]
fn every_midpoint_and_its_neighbours_round_to_even() {
    for dtype in [F16, BF16] {
        let infinite = encode(dtype, f64::INFINITY);
        for bits in 0..infinite {
            let low = decode_bits(dtype, bits);
            // The last midpoint lies where the next value would be, were it not infinite.
            let high = if bits + 1 == infinite {
                2.0 * low - decode_bits(dtype, bits - 1)
            } else {
                decode_bits(dtype, bits + 1)
            };
            let middle = low + (high - low) / 2.0;
            let even = bits + (bits & 1);
            let cases = [(middle.next_down(), bits), (middle, even), (middle.next_up(), bits + 1)];
            for (value, expected) in cases {
                assert_eq!(encode(dtype, value), expected, "{dtype} {value:e}");
                assert_eq!(encode(dtype, -value), expected | 1 << 15);
            }
        }
    }
}

#[test]
fn every_nan_becomes_the_quiet_one() {
    let odd = f64::from_bits(0xfff0_0000_0000_0001);
    assert_eq!(encode(F16, odd), 0x7e00);
    assert_eq!(encode(BF16, odd), 0x7fc0);
    assert_eq!(encode(F32, odd), 0x7fc0_0000);
    assert_eq!(encode(F64, odd), 0x7ff8_0000_0000_0000);
}

#[test]
fn unknown_types_and_short_bytes_have_no_value() {
    assert_eq!(element_bytes(3), 0);
    assert!(decode(3, &[0; 8]).is_nan());
    assert!(decode(F32, &[0; 3]).is_nan());
    assert_eq!(decode(F32, &1.5f32.to_le_bytes()), 1.5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn any_f32_rounds_as_half_rounds_it(bits: u32) {
        check_single(f32::from_bits(bits));
    }

    #[test]
    fn values_near_the_narrow_types_round_to_the_nearest(
        mantissa: u64,
        exponent in -160i32..140,
        cut in 0u32..52,
    ) {
        let bits = ((exponent + 1023) as u64) << 52 | (mantissa & (u64::MAX << cut)) >> 12;
        check(f64::from_bits(bits));
        check(-f64::from_bits(bits));
        check_single(f64::from_bits(bits) as f32);
    }
}
