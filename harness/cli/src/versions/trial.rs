//! One run of the case on one library set in a fresh process, and what it means for the failure that is looked for.
//! Knows verdicts; counts nothing.

use case::{Case, EngineChoice, HeuristicMode, Job, Outcome, Selection, Tier, Verdict};
use exec::{HarnessError, Slot};
use serde::{Deserialize, Serialize};

use super::Entry;
use crate::args::{Bisect, Plans};
use crate::failure::Failure;
use crate::sets::Set;

/// The failure of a version that takes no plan of the problem.
pub(crate) const REFUSED: &str = "refused";

/// What one run showed, whatever is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shown {
    /// Kind and words of each failure.
    #[serde(default)]
    pub(crate) faults: Vec<(String, String)>,
    /// Plans that were right.
    #[serde(default)]
    pub(crate) passed: u32,
    /// Where the library declined and nothing else happened: its words.
    #[serde(default)]
    pub(crate) refused: Option<String>,
    /// Why something could not be judged.
    #[serde(default)]
    pub(crate) unjudged: Option<String>,
}

/// What a run means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Showing {
    /// The failure.
    Failed {
        /// Which.
        kind: String,
        /// In words.
        summary: String,
    },
    /// Something was judged, and it was not there.
    Clean,
    /// Nothing can be said, and why.
    Neither(String),
}

/// What is asked of every version.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// The case as it was given.
    pub(crate) case: Case,
    /// Which plans count where its own engine means nothing.
    pub(crate) plans: Plans,
    /// True where plans are built and nothing is executed.
    pub(crate) plans_only: bool,
    /// The failure to look for, once it is known.
    pub(crate) kind: Option<String>,
}

impl Question {
    /// The job for a library set, and which of its plans count.
    fn job(&self, here: &str) -> (Job, Plans) {
        let mut case = self.case.clone();
        let own =
            is_pinned(&case) && case.options.set.as_deref() == Some(here) && case.other_set(here).is_none();
        let plans = if is_pinned(&case) && !own { Plans::All } else { self.plans };
        if !own {
            free(&mut case);
            case.history.iter_mut().for_each(free);
        }
        let selection = match (plans, self.plans_only) {
            (Plans::Own, true) => {
                if case.options.engine == EngineChoice::Any {
                    case.options.engine = EngineChoice::Ranked { mode: HeuristicMode::A, rank: 0 };
                }
                Selection::Describe
            }
            (Plans::Heuristics | Plans::All, true) => Selection::Describe,
            (Plans::Own, false) => Selection::Single,
            (Plans::Heuristics, false) => Selection::Heuristics,
            (Plans::All, false) => Selection::All,
        };
        (Job::new(1, case, selection), plans)
    }

    /// What a run means for the failure that is looked for: any, as long as none is known.
    pub(crate) fn read(&self, shown: &Shown) -> Showing {
        let wanted = |kind: &str| self.kind.as_deref().is_none_or(|known| known == kind);
        if let Some((kind, summary)) = shown.faults.iter().find(|(kind, _)| wanted(kind)) {
            return Showing::Failed { kind: kind.clone(), summary: summary.clone() };
        }
        if shown.passed > 0 {
            return Showing::Clean;
        }
        if let Some((kind, summary)) = shown.faults.first() {
            return Showing::Neither(format!("fails otherwise, {kind}: {summary}"));
        }
        if let (Some(why), false) = (&shown.unjudged, self.plans_only) {
            return Showing::Neither(why.clone());
        }
        // Where nothing executes, what is not judged is a plan that is not offered.
        let why = shown.refused.clone().or_else(|| shown.unjudged.clone());
        let why = why.unwrap_or_else(|| "there was no plan".to_owned());
        // Where plans are all that is asked for, none is the failure; where something is executed, it says nothing.
        let counts = if self.plans_only { wanted(REFUSED) } else { self.kind.as_deref() == Some(REFUSED) };
        if counts {
            Showing::Failed { kind: REFUSED.to_owned(), summary: why }
        } else {
            Showing::Neither(format!("refused: {why}"))
        }
    }
}

/// True where the case names an engine by its number.
pub(crate) fn is_pinned(case: &Case) -> bool {
    matches!(case.options.engine, EngineChoice::Pinned(_))
}

/// Takes away what means something on one library set alone.
fn free(case: &mut Case) {
    if is_pinned(case) {
        case.options.engine = EngineChoice::Any;
    }
    case.options.set = None;
}

/// Runs the case once in a fresh process on a set, which is opened at the first run; the inner error says why the set
/// can't be used.
pub(crate) fn run(
    open: &mut Option<(Set, Slot)>,
    entry: &Entry,
    question: &Question,
    arguments: &Bisect,
) -> Result<Result<Shown, String>, Failure> {
    let (_, slot) = match open {
        Some(open) => open,
        closed @ None => {
            let device = &arguments.device.device;
            let properties = arguments.properties.as_deref();
            let set = match Set::named(&entry.name, &arguments.machine, device, properties) {
                Ok(set) => set,
                Err(Failure::Usage(why) | Failure::Machine(why)) => return Ok(Err(why)),
                Err(failure) => return Err(failure),
            };
            let slot = set.machine().slot();
            closed.insert((set, slot))
        }
    };
    slot.fresh();
    match attempt(slot, question) {
        Ok(shown) => Ok(Ok(shown)),
        // The library can't be opened, or ends its process before anything is asked of it.
        Err(HarnessError::Unusable { message } | HarnessError::Broken { message }) => Ok(Err(message)),
        Err(error) => Err(error.into()),
    }
}

fn attempt(slot: &mut Slot, question: &Question) -> Result<Shown, HarnessError> {
    let here = slot.environment()?.set();
    let (job, plans) = question.job(&here);
    let mut shown = Shown::default();
    hunt::survey(slot, &job, &mut |outcome, verdict| {
        if counts(&outcome, plans) {
            add(&mut shown, verdict);
        }
    })?;
    Ok(shown)
}

/// What describing lists beyond the recommended plans does not count where only those are asked for.
fn counts(outcome: &Outcome, plans: Plans) -> bool {
    let observed = outcome.observation.as_ref().and_then(|observation| observation.candidate.as_ref());
    let candidate = observed.or(outcome.candidate.as_ref());
    match plans {
        Plans::Own | Plans::All => true,
        Plans::Heuristics => candidate.is_none_or(|candidate| candidate.ranks.recommended()),
    }
}

fn add(shown: &mut Shown, verdict: Verdict) {
    match verdict {
        Verdict::Pass => shown.passed += 1,
        // What is informative is no failure.
        Verdict::Fault(fault) if fault.tier == Tier::C => shown.passed += 1,
        Verdict::Fault(fault) => shown.faults.push((fault.sameness.kind.name().to_owned(), fault.summary)),
        Verdict::Unsupported(refusal) => {
            let words = format!("{} in {}", refusal.name, refusal.phase.name());
            shown.refused.get_or_insert(words);
        }
        Verdict::Untrusted(untrusted) => {
            shown.unjudged.get_or_insert(untrusted.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(case: &str, plans_only: bool, kind: Option<&str>) -> Question {
        let case = case.parse().expect("a case");
        Question { case, plans: Plans::Own, plans_only, kind: kind.map(str::to_owned) }
    }

    const FREE: &str = "fprop f32 nchw n1 c1 k1 i1 f1";
    const PINNED: &str = "fprop f32 nchw n1 c1 k1 i1 f1 engine=3 set=9.19.0-full";

    #[test]
    fn a_pinned_engine_is_taken_on_its_own_set_alone() {
        let (job, plans) = question(PINNED, false, None).job("9.19.0-full");
        assert_eq!(
            (job.case.to_string().as_str(), job.selection, plans),
            (PINNED, Selection::Single, Plans::Own)
        );
        let (job, plans) = question(PINNED, false, None).job("9.14.0-full");
        assert_eq!((job.case.to_string().as_str(), job.selection, plans), (FREE, Selection::All, Plans::All));
        let (job, _) = question(FREE, true, None).job("9.14.0-full");
        assert_eq!(job.selection, Selection::Describe);
        assert!(job.case.to_string().ends_with("heur=A#0"), "{}", job.case);
    }

    #[test]
    fn a_run_is_read_in_the_light_of_the_failure_that_is_looked_for() {
        let fault =
            |kind: &str| Shown { faults: vec![(kind.to_owned(), "x".to_owned())], ..Shown::default() };
        let refused = Shown { refused: Some("NOT_SUPPORTED in plan".to_owned()), ..Shown::default() };
        let read = |shown: &Shown, plans_only, kind| question(FREE, plans_only, kind).read(shown);
        let failed = |showing| matches!(showing, Showing::Failed { .. });
        assert!(
            failed(read(&fault("wrong"), false, None)) && failed(read(&fault("wrong"), false, Some("wrong")))
        );
        assert!(matches!(read(&fault("crash"), false, Some("wrong")), Showing::Neither(_)));
        let survey = Shown { passed: 2, ..fault("crash") };
        assert_eq!(read(&survey, false, Some("wrong")), Showing::Clean);
        assert!(matches!(read(&refused, false, None), Showing::Neither(_)));
        assert!(failed(read(&refused, false, Some(REFUSED))) && failed(read(&refused, true, None)));
        assert!(matches!(read(&refused, true, Some("status")), Showing::Neither(_)));
        let unlisted = Shown { unjudged: Some("heuristics A list nothing".to_owned()), ..Shown::default() };
        assert!(failed(read(&unlisted, true, None)));
        assert!(matches!(read(&unlisted, false, Some(REFUSED)), Showing::Neither(_)));
    }
}
