//! Repeats a failure that is known already, once, in a fresh process. Knows one run; counts nothing and makes nothing
//! smaller.

use case::{Case, EngineChoice, Fault, Matrix, Sameness, Selection};
use exec::HarnessError;

use crate::bench::Bench;
use crate::examine::{Repetition, job, repeat};

/// What a run showed in the light of the known failure.
#[derive(Clone, Debug, PartialEq)]
pub enum Recheck {
    /// The same failure.
    Same,
    /// Another one.
    Other(Box<Fault>),
    /// A right answer.
    Passed,
    /// Nothing that could be judged, and why.
    Unjudged(String),
}

/// Runs a case in a fresh process as a confirmation does, and looks for one failure.
///
/// # Errors
/// Those of the bench.
pub fn recheck<B: Bench + ?Sized>(
    bench: &mut B,
    case: &Case,
    sameness: &Sameness,
) -> Result<Recheck, HarnessError> {
    let first = once(bench, case, sameness, Selection::Single)?;
    // What fails before there is a plan may do so in any of the heuristic lists.
    let before_any_plan = sameness.engine.is_none() && case.options.engine == EngineChoice::Any;
    if first != Recheck::Same && before_any_plan {
        let wider = once(bench, case, sameness, Selection::Heuristics)?;
        return Ok(if wider == Recheck::Same { wider } else { first });
    }
    Ok(first)
}

fn once<B: Bench + ?Sized>(
    bench: &mut B,
    case: &Case,
    sameness: &Sameness,
    selection: Selection,
) -> Result<Recheck, HarnessError> {
    bench.fresh();
    Ok(match repeat(bench, &job(case, selection, Matrix::Standard), sameness)? {
        Repetition::Same(_) => Recheck::Same,
        Repetition::Other(shown) => Recheck::Other(Box::new(shown.0)),
        Repetition::Passed => Recheck::Passed,
        Repetition::Unjudged(why) => Recheck::Unjudged(why),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use case::{Kind, Phase};

    use super::*;
    use crate::bench::script::{How, Script, World, planted};

    #[test]
    fn a_run_in_a_fresh_process_tells_the_same_failure_from_others_and_from_none() {
        let world = World::new(vec![planted(Some(1), How::Wrong, |case| case.problem.n > 1)]);
        let mut bench = Script::new(&world);
        let failing: Case = "fprop f32 nchw n2 c1 k1 i4 f1 engine=1".parse().expect("a case");
        let wrong = Sameness::new(Kind::Wrong, failing.problem.operation, Phase::Judge, "finite", Some(1));
        assert_eq!(recheck(&mut bench, &failing, &wrong).expect("a run"), Recheck::Same);
        let other = Sameness { cause: "zero".to_owned(), ..wrong.clone() };
        let Recheck::Other(fault) = recheck(&mut bench, &failing, &other).expect("a run") else {
            panic!("another cause is another failure")
        };
        assert_eq!(fault.sameness, wrong);
        let passing: Case = "fprop f32 nchw n1 c1 k1 i4 f1 engine=1".parse().expect("a case");
        assert_eq!(recheck(&mut bench, &passing, &wrong).expect("a run"), Recheck::Passed);
        let declined: Case = "fprop f32 nchw n2 c1 k1 i4 f1 engine=9".parse().expect("a case");
        let Recheck::Unjudged(why) = recheck(&mut bench, &declined, &wrong).expect("a run") else {
            panic!("what is refused is not judged")
        };
        assert!(why.starts_with("refused: "), "{why}");
        assert_eq!(world.fresh.load(Ordering::Relaxed), 4);
    }
}
