//! Random outcomes: the judge answers each, in words that fit a line.

use case::{
    Census, Ended, Execution, Exit, Fill, FillKind, OutputFill, Phase, Recipe, ReferenceFacts, Refusal, Role,
    SpotCheck, Verdict, WorkspaceFill, Zone, ZoneHit,
};
use oracle::judge;
use proptest::prelude::*;

use crate::scene::{answered, case, notes};

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0..40_u64, any::<u64>()]
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), 0.0..1e6_f64, any::<f64>()]
}

fn phase() -> impl Strategy<Value = Phase> {
    (0..Phase::ALL.len()).prop_map(|index| Phase::ALL[index])
}

prop_compose! {
    fn census()(
        counts in prop::array::uniform14(number()),
        sizes in prop::array::uniform6(float()),
    ) -> Census {
        let [checked, differing, first_differing, last_differing, nan, first_nan, stale, rest @ ..] = counts;
        let [first_stale, zero, infinite, over_element, first_over_element, rest @ ..] = rest;
        let [over_norm, first_over_norm] = rest;
        let [error_max, ratio_max, accumulate, output, absolute, norm] = sizes;
        Census {
            checked, differing, first_differing, last_differing, nan, first_nan, stale, first_stale, zero,
            infinite, over_element, first_over_element, over_norm, first_over_norm, error_max, ratio_max,
            accumulate, output, absolute, norm,
        }
    }
}

prop_compose! {
    fn recipe()(
        kind in 0..FillKind::ALL.len(),
        seed in any::<u64>(),
        nan in any::<bool>(),
        workspace in prop_oneof![
            Just(WorkspaceFill::Zero), Just(WorkspaceFill::Ones), any::<u64>().prop_map(WorkspaceFill::Random)
        ],
        repeats in prop::option::of(0..5_usize),
    ) -> Recipe {
        let output = if nan { OutputFill::Nan } else { OutputFill::Finite };
        Recipe { fill: Fill { kind: FillKind::ALL[kind], seed }, output, workspace, repeats }
    }
}

prop_compose! {
    fn execution()(
        recipe in recipe(),
        census in census(),
        counts in prop::array::uniform4(number()),
        sizes in (float(), float()),
        disagreeing in 0..2_u32,
        hit in prop::option::of((any::<bool>(), number(), number())),
        changed in prop::option::of(number()),
        repeat_differing in prop::option::of(number()),
        excerpt in prop::collection::vec((number(), ".{0,9}", ".{0,9}"), 0..3),
    ) -> Execution {
        let [outputs, with_products, non_zero, products_max] = counts;
        Execution {
            recipe,
            reference: ReferenceFacts {
                outputs, with_products, non_zero, products_max, abs_sum_max: sizes.0, abs_result_max: sizes.1,
            },
            spot: SpotCheck { sampled: 1, disagreeing },
            census,
            guards: hit.into_iter().map(|(after, changed, nearest)| {
                ZoneHit { zone: Zone::Workspace, after, changed, nearest, farthest: nearest }
            }).collect(),
            inputs_changed: changed.into_iter().map(|changed| (Role::W, changed)).collect(),
            repeat_differing,
            excerpt,
            execute_us: 0,
        }
    }
}

fn ended() -> impl Strategy<Value = Ended> {
    let status = (phase(), any::<i32>(), ".{0,30}", ".{0,600}")
        .prop_map(|(phase, status, name, reason)| Ended::Status(Refusal { phase, status, name, reason }));
    let device = (phase(), any::<i32>(), ".{0,30}", any::<bool>())
        .prop_map(|(phase, code, name, sticky)| Ended::Device { phase, code, name, sticky });
    prop_oneof![
        4 => Just(Ended::Completed),
        1 => Just(Ended::Described),
        1 => ".{0,30}".prop_map(Ended::Skipped),
        2 => status,
        1 => device,
    ]
}

fn exit() -> impl Strategy<Value = Exit> {
    prop_oneof![
        6 => Just(Exit::Answered),
        1 => any::<i32>().prop_map(Exit::Exited),
        1 => any::<i32>().prop_map(Exit::Signalled),
        1 => any::<u64>().prop_map(Exit::TimedOut),
        1 => any::<u64>().prop_map(Exit::TooSlow),
    ]
}

const LINES: [&str; 5] = [
    "fprop f16 nchw n1 c2 k2 i4x4 f3x3 p1x1",
    "dgrad f32 nhwc n2 c2 k4 g2 i5 f3 s2 alpha=0.3 beta=2",
    "wgrad f64 nchw n1 c1 k1 i3x3x3 f2x2x2 ws=exact@16",
    "fprop bf16 nchw n0 c2 k2 i4x4 f9x3 expect=refuse",
    "dgrad f16/f16 nchw n-5 c1099511627776 k1099511627776 i1099511627776 f3 p4 expect=refuse",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_judge_answers_any_outcome_in_one_line(
        line in 0..LINES.len(),
        exit in exit(),
        phase in phase(),
        ended in ended(),
        numerical in prop::collection::vec(-1..12_i32, 0..4),
        executions in prop::collection::vec(execution(), 0..4),
        silent in prop::bool::weighted(0.05),
    ) {
        let case = case(LINES[line]);
        let mut outcome = answered(notes(&numerical), ended, executions);
        (outcome.exit, outcome.phase) = (exit, phase);
        if silent {
            outcome.observation = None;
        }
        let verdict = judge(&case, &outcome);
        prop_assert_eq!(&verdict, &judge(&case, &outcome));
        if let Verdict::Fault(fault) = verdict {
            prop_assert!(!fault.summary.is_empty());
            prop_assert!(fault.summary.chars().count() <= 403);
            prop_assert!(!fault.summary.contains(char::is_control));
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            prop_assert!(fault.sameness.cause.chars().all(plain));
        }
    }
}
