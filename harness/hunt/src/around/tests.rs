//! The stream around a list: its cases first, neighbours by weight, the same for the same seed, all of them legal.

use case::Case;

use super::{Around, Weighted};
use crate::generator::Limits;
use crate::source::Source;

const OFTEN: &str = "fprop f16 nhwc n8 c64 k64 i56x56 f3x3 p1x1";
const SELDOM: &str = "wgrad f32 nchw n2 c8 k16 g4 i10x12x14 f3x3x3 p1x1x1 s1x2x2";

/// True for a case that differs in one respect.
type Differs<'a> = &'a dyn Fn(&Case) -> bool;

fn around(seed: u64, limits: Limits) -> Around {
    let weighted = |line: &str, count| Weighted { case: line.parse().unwrap(), count };
    Around::new(seed, limits, vec![weighted(SELDOM, 1), weighted(OFTEN, 100)])
}

#[test]
fn the_listed_cases_come_first_and_the_most_frequent_of_them_before_the_others() {
    let stream = around(1, Limits::device(1 << 30));
    let first: Vec<String> = (0..2).map(|index| stream.problem(index).unwrap().to_string()).collect();
    assert_eq!(first, [OFTEN, SELDOM]);
    let small = around(1, Limits::simulator()).problem(0).unwrap();
    assert_eq!(small.to_string(), "fprop f16 nhwc n1 c16 k16 i28x14 f3x3 p1x1");
}

#[test]
fn every_problem_is_valid_and_within_the_limits_and_follows_from_seed_and_number() {
    for limits in [Limits::simulator(), Limits::device(1 << 30)] {
        let (stream, again, other) = (around(1, limits), around(1, limits), around(2, limits));
        let mut differing = 0;
        for index in 2..3000 {
            let case = stream.problem(index).unwrap();
            assert_eq!(case.validate(), Ok(()), "{case}");
            assert!(limits.admit(&case), "{case}");
            assert_eq!(again.problem(index).as_ref(), Some(&case));
            differing += u32::from(other.problem(index).as_ref() != Some(&case));
        }
        assert!(differing > 2500, "{differing}");
    }
}

#[test]
fn neighbours_vary_every_part_of_a_case_and_mostly_of_the_more_frequent_one() {
    let stream = around(3, Limits::device(1 << 30));
    let cases: Vec<Case> = (2..2000).map(|index| stream.problem(index).unwrap()).collect();
    let base: Case = OFTEN.parse().unwrap();
    let share = |of: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| of(case)).count();
    let flat = share(&|case| case.problem.axes.len() == 2);
    assert!(flat * 10 > cases.len() * 7 && flat < cases.len(), "{flat} of {}", cases.len());
    let differs: [(&str, Differs<'_>); 8] = [
        ("pass", &|case| case.problem.operation != base.problem.operation),
        ("type", &|case| case.problem.dtypes != base.problem.dtypes),
        ("layout", &|case| case.problem.layouts != base.problem.layouts),
        ("groups", &|case| case.problem.g != base.problem.g),
        ("stride", &|case| case.problem.axes[0].stride == 2),
        ("dilation", &|case| case.problem.axes[0].dilation == 2),
        ("padding", &|case| case.problem.axes[0].pad_before != 1),
        ("channels", &|case| case.problem.c != 64),
    ];
    for (name, of) in differs {
        assert!(share(of) > 20, "{name}: {}", share(of));
    }
    let near = share(&|case| (case.problem.c - 64).abs() <= 1 && case.problem.axes[0].filter <= 6);
    assert!(near * 2 > cases.len(), "{near} of {} stay near", cases.len());
    let distinct: std::collections::HashSet<String> = cases.iter().map(Case::to_string).collect();
    assert!(distinct.len() * 5 > cases.len() * 2, "{} distinct", distinct.len());
}

#[test]
fn terms_tell_another_list_another_count_and_another_seed_apart() {
    let terms = |around: Around| Source::Around(around).terms(case::Selection::All);
    let limits = Limits::simulator();
    let base = terms(around(1, limits));
    assert_eq!(terms(around(1, limits)), base);
    assert_ne!(terms(around(2, limits)), base);
    let weighted = |line: &str, count| Weighted { case: line.parse().unwrap(), count };
    assert_ne!(terms(Around::new(1, limits, vec![weighted(SELDOM, 1), weighted(OFTEN, 101)])), base);
    assert!(base.to_string().starts_with("seed 1 around a list of 2 cases"), "{base}");
    let nothing = Around::new(1, limits, Vec::new());
    assert_eq!(nothing.problem(0), None);
}
