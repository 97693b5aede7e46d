//! Words and values written down once, from an independent program. Knows the fill formula's results only.

use kernel::{F32, F64, FillKind, FillParams, decode, mix, stream_word, twin, value, word};

use crate::{gapped, memory, packed};

type Row = (u64, u32, [i64; 5], u64);

const WORDS: [Row; 8] = [
    (0, 0, [0, 0, 0, 0, 0], 0x58be_ef8c_af94_302d),
    (0, 1, [0, 0, 0, 0, 0], 0x09f7_905f_8aa4_6e86),
    (0, 2, [0, 0, 0, 0, 0], 0x2d9a_5484_6775_5a4f),
    (1, 0, [0, 0, 0, 0, 0], 0xb20f_9c27_becd_0bb0),
    (0xc0ffee, 0, [1, 2, 3, 4, 5], 0x190e_957a_0e9f_0572),
    (0xc0ffee, 1, [63, 255, 2, 6, 6], 0xa7b5_17fd_7b43_160e),
    (0xc0ffee, 2, [0, 0, 0, 0, 1 << 32], 0x15e8_dd13_dd0e_c3af),
    (u64::MAX, 2, [1 << 31, 7, 0, 511, 1023], 0xdeee_845e_ef3d_c185),
];

/// Int2, Int1, Tern, Real, Index and Sparse (argument 4) for each row of `WORDS`.
const VALUES: [[f64; 6]; 8] = [
    [-1.0, -1.0, 0.0, -0.306_673_169_136_047_36, -30.0, 0.0],
    [-2.0, -1.0, -1.0, -0.922_132_492_065_429_7, -30.0, 0.0],
    [-2.0, -1.0, -1.0, -0.643_727_779_388_427_7, -30.0, 0.0],
    [1.0, 1.0, 1.0, 0.391_101_360_321_044_9, -30.0, 1.0],
    [-2.0, -1.0, -1.0, -0.804_242_491_722_106_9, -11.0, 0.0],
    [1.0, 1.0, 0.0, 0.310_213_923_454_284_67, -4.0, 0.0],
    [-2.0, -1.0, -1.0, -0.828_831_076_622_009_3, 19.0, 0.0],
    [2.0, 1.0, 1.0, 0.741_653_919_219_970_7, 24.0, 0.0],
];

fn fill(kind: FillKind, argument: u64, extent: [i64; 5]) -> FillParams {
    FillParams {
        view: packed(F32, extent),
        seed: 9,
        tensor: 1,
        kind: kind.into(),
        argument,
        ..FillParams::default()
    }
}

#[test]
fn mixed_words_are_what_they_always_were() {
    assert_eq!([0, 1, u64::MAX].map(mix), [0, 0x5692_161d_100b_05e5, 0xb4d0_55fc_f2cb_bd7b]);
    let stream = [0, 1, 1 << 40].map(|index| stream_word(5, index));
    assert_eq!(stream, [0x16b1_cba9_5fc6_0262, 0xc097_314d_9397_36f8, 0xacd4_c6bc_6afc_2011]);
    for (seed, tensor, coords, expected) in WORDS {
        assert_eq!(word(seed, tensor, coords), expected, "{seed:#x} {tensor} {coords:?}");
    }
}

#[test]
fn filled_values_are_what_they_always_were() {
    let kinds =
        [FillKind::Int2, FillKind::Int1, FillKind::Tern, FillKind::Real, FillKind::Index, FillKind::Sparse];
    for ((seed, tensor, coords, _), expected) in WORDS.into_iter().zip(VALUES) {
        let values = kinds.map(|kind| {
            let view = packed(F64, [1; 5]);
            value(
                &FillParams { view, seed, tensor, kind: kind.into(), argument: 4, ..FillParams::default() },
                coords,
            )
        });
        assert_eq!(values, expected, "{seed:#x} {tensor} {coords:?}");
    }
}

#[test]
fn position_alone_decides_one_hot_ramp_and_nan() {
    let extent = [2, 3, 4, 5, 7];
    let coords = [1, 2, 3, 4, 5]; // linear logical index 838 of 840
    assert_eq!(value(&fill(FillKind::OneHot, 838 + 840, extent), coords), 1.0);
    assert_eq!(value(&fill(FillKind::OneHot, 837, extent), coords), 0.0);
    assert_eq!(value(&fill(FillKind::Ramp, 0, extent), coords), 838.0 - 3.0 * 257.0 - 128.0);
    assert!(value(&fill(FillKind::Nan, 838, extent), coords).is_nan());
    let elsewhere = value(&fill(FillKind::Nan, 0, extent), coords);
    assert_eq!(elsewhere, value(&fill(FillKind::Int2, 0, extent), coords));
    assert_eq!(value(&fill(FillKind::Sparse, 1, extent), coords), elsewhere);
    assert_eq!(value(&fill(FillKind::Zero, 0, extent), coords), 0.0);
    assert_eq!(value(&fill(FillKind::One, 0, extent), coords), 1.0);
}

#[test]
fn elements_outside_the_kept_run_are_zero_whatever_the_kind_and_layout() {
    for kind in FillKind::ALL {
        let whole = fill(kind, 3, [2, 3, 1, 2, 2]);
        let part = FillParams { first: 5, kept: 9, ..whole };
        let bits = |params: &FillParams| {
            let mut bytes = vec![0xee; 96];
            twin::fill(params, &mut bytes).unwrap();
            assert_eq!(twin::verify(params, &bytes).unwrap().differing, 0);
            bytes
        };
        let (all, some) = (bits(&whole), bits(&part));
        for linear in 0..24 {
            let element = 4 * linear..4 * linear + 4;
            let expected = if (5..14).contains(&linear) { &all[element.clone()] } else { &[0; 4] };
            assert_eq!(&some[element], expected, "{kind:?} {linear}");
        }
    }
    let turned = FillParams { first: 1, kept: 1, ..fill(FillKind::One, 0, [1, 1, 1, 2, 2]) };
    let view = kernel::TensorView { stride: [4, 4, 4, 1, 2], ..turned.view };
    let mut bytes = vec![0xee; 16];
    twin::fill(&FillParams { view, ..turned }, &mut bytes).unwrap();
    // Positions are logical: element (0, 1) lies third in this memory.
    assert_eq!(
        bytes.chunks(4).map(|element| element != [0; 4]).collect::<Vec<_>>(),
        [false, false, true, false]
    );
}

#[test]
fn a_fill_writes_each_value_once_whatever_the_layout_and_leaves_gaps_alone() {
    for kind in FillKind::ALL {
        let mut params = fill(kind, 3, [2, 3, 1, 4, 5]);
        params.view = gapped(F32, params.view.extent);
        let mut bytes = memory(&params.view);
        bytes.fill(0xa5);
        twin::fill(&params, &mut bytes).unwrap();
        let [ns, _, _, hs, ws] = params.view.stride.map(|stride| stride as usize);
        for (n, h, w) in (0..2).flat_map(|n| (0..4).flat_map(move |h| (0..5).map(move |w| (n, h, w)))) {
            let pixel = &bytes[(n * ns + h * hs + w * ws) * 4..];
            for c in 0..3 {
                let expected = value(&params, [n as i64, c as i64, 0, h as i64, w as i64]);
                let got = decode(F32, &pixel[c * 4..]);
                assert!(got == expected || (got.is_nan() && expected.is_nan()), "{kind:?}: {got} {expected}");
            }
            assert!(pixel.len() <= 12 || pixel[12..16] == [0xa5; 4]);
        }
        assert_eq!(twin::verify(&params, &bytes).unwrap().differing, 0);
    }
}

#[test]
fn numbers_that_name_no_fill_are_refused() {
    for number in 0..11 {
        assert_eq!(FillKind::try_from(number).map(u32::from), Ok(number));
    }
    assert!(FillKind::try_from(11).is_err());
}
