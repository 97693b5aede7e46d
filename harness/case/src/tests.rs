//! Properties and examples of the vocabulary: forms that round trip, rules with their exact words, damage
//! that is noticed. Knows the public surface only.

mod announcement;
mod region;
mod rules;
mod strategies;
mod words;

use proptest::prelude::*;

use crate::{Case, Role};
use strategies::{any_case, refused_case, right_case};

proptest! {
    #[test]
    fn a_line_read_back_is_the_same_case_and_prints_the_same_line(case in any_case()) {
        let line = case.to_string();
        let again: Case = line.parse().map_err(|error| TestCaseError::fail(format!("{line}: {error}")))?;
        prop_assert_eq!(&again, &case);
        prop_assert_eq!(again.to_string(), line);
    }

    #[test]
    fn json_read_back_is_the_same_case(case in any_case()) {
        let text = serde_json::to_string(&case).expect("a case always has a JSON form");
        let again: Case =
            serde_json::from_str(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        prop_assert_eq!(again, case);
    }

    #[test]
    fn garbage_is_refused_and_never_panics(text in "\\PC{0,80}") {
        prop_assert!(text.parse::<Case>().is_err());
    }

    #[test]
    fn bytes_that_look_like_json_never_panic(text in "[\\[\\]{}:,\"a-z0-9.eE+-]{0,80}") {
        prop_assert!(serde_json::from_str::<Case>(&text).is_err());
    }

    #[test]
    fn a_mutated_line_is_refused_on_one_line_or_reads_as_a_canonical_case(
        case in any_case(),
        place in any::<prop::sample::Index>(),
        new in prop_oneof![any::<char>(), prop::char::range(' ', '~'), prop::char::range('0', '9')],
        insert in any::<bool>(),
    ) {
        let mut letters: Vec<char> = case.to_string().chars().collect();
        let place = place.index(letters.len());
        if insert { letters.insert(place, new) } else { letters[place] = new }
        let line: String = letters.into_iter().collect();
        match line.parse::<Case>() {
            Ok(read) => prop_assert_eq!(read.to_string().parse::<Case>(), Ok(read)),
            Err(error) => prop_assert!(!error.to_string().chars().any(char::is_control)),
        }
    }

    #[test]
    fn a_valid_case_has_positive_sizes_that_do_not_saturate(case in right_case()) {
        let geometry = case.problem.geometry();
        for role in Role::ALL {
            prop_assert!(geometry.extents(role).into_iter().all(|extent| extent >= 1));
            let least = i64::from(case.problem.operation.tensors().contains(&role));
            prop_assert!((least..i64::MAX).contains(&geometry.bytes(role)));
        }
        prop_assert!((1..i64::MAX).contains(&geometry.multiply_adds()));
    }

    #[test]
    fn strides_of_a_packed_tensor_reach_its_last_element(case in right_case()) {
        let geometry = case.problem.geometry();
        for role in case.problem.operation.tensors().iter().copied() {
            let last: i64 = geometry.dimensions(role).iter().zip(geometry.strides(role))
                .map(|(extent, stride)| (extent - 1) * stride).sum();
            let vector = case.problem.layouts.tensors()[role.index()].vector();
            prop_assert_eq!((last + 1) * vector, geometry.elements(role));
        }
    }

    #[test]
    fn sizes_of_a_case_meant_to_be_refused_are_computed_without_a_panic(case in refused_case()) {
        let geometry = case.problem.geometry();
        for role in Role::ALL {
            let _ = (geometry.bytes(role), geometry.strides(role));
        }
        let _ = (geometry.total_bytes(), geometry.multiply_adds(), geometry.reduction());
    }
}

#[test]
fn the_longest_case_that_is_valid_can_still_be_read() {
    let knobs: Vec<String> = (0..64).map(|knob| format!("{}:{}", i64::MIN + knob, i64::MIN)).collect();
    let (worst, tiny) = (i64::MIN, -f64::from_bits(0x000f_ffff_ffff_ffff));
    let three = |separator: &str| [worst.to_string(), worst.to_string(), worst.to_string()].join(separator);
    let pads = format!("{worst}:0x{worst}:0x{worst}:0");
    let line = format!(
        "dgrad bf16,f16,bf16/f64 nchw,nhwc,nchw n{worst} c{worst} k{worst} g{worst} i{0} f{0} p{pads} \
         s{0} d{0} y={0} engine=1 knobs={1} set={2} ws=max:1023GiB@4096 wsfill=rand:{3} fill=onehot:{3} \
         keep=w:{4}-{4},y:0-{4} alpha={tiny} beta={tiny} repeat=10000 expect=refuse",
        three("x"),
        knobs.join(","),
        "a".repeat(64),
        u64::MAX,
        i64::MAX,
    );
    let case: Case = line.parse().expect("every part is within its limits");
    assert_eq!(case.to_string().parse::<Case>(), Ok(case));
}

#[test]
fn lines_written_another_way_print_canonically() {
    for (written, canonical) in [
        ("fprop f32,f32,f32/f32 nchw,nchw,nchw n1 c1 k1 g1 i1 f1 p0 s1 d1", "fprop f32 nchw n1 c1 k1 i1 f1"),
        ("  wgrad\tf64/f64  nhwc k2 c3 n1 f2 i4  ", "wgrad f64 nhwc n1 c3 k2 i4 f2"),
        ("dgrad f16 nchw n1 c1 k1 i4x4 f3x3 p1:1x1:0", "dgrad f16 nchw n1 c1 k1 i4x4 f3x3 p1x1:0"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 ws=exact@256 tf32=on", "fprop f32 nchw n1 c1 k1 i1 f1"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 ws=max:1048576", "fprop f32 nchw n1 c1 k1 i1 f1 ws=max:1MiB"),
        (
            "fprop f32 nchw n1 c1 k1 i1 f1 knobs=13:1,2:3 engine=7",
            "fprop f32 nchw n1 c1 k1 i1 f1 engine=7 knobs=2:3,13:1",
        ),
        (
            "fprop f32 nchw n1 c1 k1 i4 f2 keep=w:1-1,x:0-2 fill=one:1",
            "fprop f32 nchw n1 c1 k1 i4 f2 fill=one:1 keep=x:0-2,w:1",
        ),
        ("fprop f32 nchw n1 c1 k1 i1 f1 alpha=1e0 beta=-0.0", "fprop f32 nchw n1 c1 k1 i1 f1"),
    ] {
        assert_eq!(written.parse::<Case>().map(|case| case.to_string()), Ok(canonical.to_owned()));
    }
}
