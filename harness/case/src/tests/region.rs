//! Conditions on cases: what holds where, and how it prints.

use crate::{Atom, Case, Probes, Property, Quantity, Region, Role, Support};

fn case(line: &str) -> Case {
    line.parse().expect("a valid line")
}

#[test]
fn axes_are_counted_from_the_innermost_one() {
    let plain = case("fprop f16 nhwc n2 c8 k16 g4 i5x7 f3x1 p1:2x0 s2x1");
    let value = |quantity: Quantity| quantity.of(&plain);
    assert_eq!(value(Quantity::Input(0)), Some(7));
    assert_eq!(value(Quantity::Input(1)), Some(5));
    assert_eq!(value(Quantity::Input(2)), None);
    assert_eq!(value(Quantity::Output(1)), Some(3));
    assert_eq!(value(Quantity::PadDifference(1)), Some(1));
    assert_eq!(value(Quantity::GroupC), Some(2));
    assert_eq!(value(Quantity::Elements(Role::W)), Some(16 * 2 * 3));
    assert_eq!(value(Quantity::Product(vec![Quantity::N, Quantity::Input(0)])), Some(14));
    assert_eq!(value(Quantity::Outputs), Some(2 * 3 * 7));
    assert_eq!(value(Quantity::MultiplyAdds), Some(2 * 16 * 3 * 7 * 2 * 3));
    let boxed = |quantity: Quantity| Box::new(quantity);
    assert_eq!(value(Quantity::Difference(boxed(Quantity::K), 2, boxed(Quantity::C))), Some(0));
    assert_eq!(value(Quantity::Remainder(boxed(Quantity::K), 5)), Some(1));
    assert_eq!(value(Quantity::Remainder(boxed(Quantity::K), 0)), None);
}

#[test]
fn the_ends_of_a_quantity_are_taken_over_the_axes_that_are_there() {
    let two = case("fprop f16 nhwc n2 c8 k16 i5x7 f3x1 p2:1x0 s2x1");
    let of = |quantity: Quantity| Box::new(quantity);
    assert_eq!(Quantity::Largest(of(Quantity::Input(0))).of(&two), Some(7));
    assert_eq!(Quantity::Smallest(of(Quantity::Input(0))).of(&two), Some(5));
    assert_eq!(Quantity::Largest(of(Quantity::PadDifference(0))).of(&two), Some(0));
    assert_eq!(Quantity::Smallest(of(Quantity::PadDifference(0))).of(&two), Some(-1));
    let product = Quantity::Product(vec![Quantity::N, Quantity::Stride(0)]);
    assert_eq!(Quantity::Largest(of(product.clone())).of(&two), Some(4));
    assert_eq!(Quantity::Largest(of(product)).to_string(), "max(n * stride)");
    let difference = Quantity::Largest(of(Quantity::PadDifference(0)));
    assert_eq!(difference.to_string(), "max(pad_after - pad_before)");
}

#[test]
fn both_scales_are_one_property() {
    let of = |line: &str| Property::Scales.of(&case(line));
    assert_eq!(of("fprop f16 nhwc n1 c1 k1 i1 f1"), "alpha=1 beta=0");
    assert_eq!(of("fprop f16 nhwc n1 c1 k1 i1 f1 alpha=0.5 beta=-2"), "alpha=0.5 beta=-2");
}

#[test]
fn every_relation_tells_its_two_sides_apart() {
    let plain = case("wgrad f32 nchw n3 c12 k5 i9 f3");
    let channels = || Quantity::C;
    for (atom, holds) in [
        (Atom::Equal(channels(), 12), true),
        (Atom::Equal(channels(), 11), false),
        (Atom::Differs(channels(), 12), false),
        (Atom::AtMost(channels(), 12), true),
        (Atom::AtMost(channels(), 11), false),
        (Atom::AtLeast(channels(), 13), false),
        (Atom::Residue(channels(), 8, 4), true),
        (Atom::Residue(channels(), 8, 0), false),
        (Atom::NotResidue(channels(), 8, 4), false),
        (Atom::NotResidue(channels(), 0, 4), false),
        (Atom::OneOf(Property::DType(Role::X), vec!["f16".into(), "f32".into()]), true),
        (Atom::OneOf(Property::Layout(Role::Y), vec!["nhwc".into()]), false),
        (Atom::NoneOf(Property::Beta, vec!["0".into()]), false),
        (Atom::NoneOf(Property::Layout(Role::Y), vec!["nhwc".into()]), true),
        (Atom::AtLeast(Quantity::Input(1), 0), false),
    ] {
        assert_eq!(atom.holds(&plain), holds, "{atom}");
    }
}

#[test]
fn a_region_reads_as_a_sentence() {
    let atoms = vec![
        Atom::OneOf(Property::DType(Role::X), vec!["bf16".into()]),
        Atom::AtLeast(Quantity::PadDifference(0), 1),
        Atom::Residue(Quantity::C, 8, 4),
    ];
    let region = Region { atoms, inside: Probes::default(), outside: Probes::default() };
    assert_eq!(
        region.to_string(),
        "dtype(x) in {bf16} and (pad_after[-1] - pad_before[-1]) >= 1 and c mod 8 = 4"
    );
    let json = serde_json::to_string(&region).expect("plain data");
    assert_eq!(serde_json::from_str::<Region>(&json).expect("its own form"), region);
}

#[test]
fn a_region_is_claimed_only_where_enough_random_cases_on_both_sides_agree() {
    let probes = |(failed, tested)| Probes { tested, failed, counter_examples: Vec::new() };
    let region = |atoms: Vec<Atom>, inside, outside| {
        let region = Region { atoms, inside: probes(inside), outside: probes(outside) };
        (region.support(), region.counts())
    };
    let bounded = || vec![Atom::AtLeast(Quantity::C, 8)];
    for (inside, outside, support, counts) in [
        ((8, 8), (2, 8), Support::Supported, "8 of 8 inside failed, 2 of 8 outside"),
        ((9, 10), (0, 8), Support::Supported, "9 of 10 inside failed, 0 of 8 outside"),
        ((8, 9), (0, 8), Support::Contradicted, "8 of 9 inside failed, 0 of 8 outside"),
        ((8, 8), (3, 8), Support::Contradicted, "8 of 8 inside failed, 3 of 8 outside"),
        ((7, 7), (0, 60), Support::TooFew, "7 of 7 inside failed, 0 of 60 outside"),
        ((60, 60), (0, 7), Support::TooFew, "60 of 60 inside failed, 0 of 7 outside"),
        ((1, 1), (0, 0), Support::TooFew, "1 of 1 inside failed, outside not tried on random cases"),
        ((0, 0), (0, 9), Support::Untried, "inside not tried on random cases, 0 of 9 outside"),
        ((0, 0), (0, 0), Support::Untried, "not tried on random cases"),
    ] {
        assert_eq!(region(bounded(), inside, outside), (support, counts.to_owned()));
        assert_eq!(support.doubt().is_none(), support == Support::Supported);
    }
    let everywhere = region(Vec::new(), (20, 20), (0, 0));
    assert_eq!(everywhere, (Support::Supported, "20 of 20 inside failed".to_owned()));
}
