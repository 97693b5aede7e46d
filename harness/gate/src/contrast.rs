//! What one problem showed on two sets, put side by side. Knows what to suspect; confirms nothing.

use std::collections::BTreeMap;

use case::{Case, Engines, Job, Kind, Outcome, Selection, Verdict};
use corpus::{Change, Difference, Plan, RATIO_MIN, Showing, Side};
use exec::HarnessError;
use hunt::Bench;

/// Shortest execution whose time is compared, microseconds: below it the launch is most of it.
const SHORTEST_US: u64 = 30;

/// A difference that has to come back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Suspicion {
    pub(crate) change: Change,
    /// Kind of the failure, where it is one.
    pub(crate) kind: Option<Kind>,
    /// The engine to look at, where one is to blame.
    pub(crate) engine: Option<i64>,
}

/// Runs a problem on a set.
pub(crate) fn look<B: Bench + ?Sized>(
    bench: &mut B,
    case: &Case,
    selection: Selection,
    engines: Engines,
    multiply_adds_max: i64,
) -> Result<Side, HarnessError> {
    let mut side = Side::default();
    let job = Job { engines, multiply_adds_max, ..Job::new(0, case.clone(), selection) };
    hunt::survey(bench, &job, &mut |outcome, verdict| note(&mut side, case, &outcome, &verdict))?;
    Ok(side)
}

fn note(side: &mut Side, case: &Case, outcome: &Outcome, verdict: &Verdict) {
    let showing = Showing::of(verdict, &case.problem, false);
    let observation = outcome.observation.as_ref();
    let used = observation.and_then(|observation| observation.candidate.as_ref());
    let Some(candidate) = used.or(outcome.candidate.as_ref()) else {
        // Of several showings before any plan the worst one counts.
        if side.before.as_ref().is_none_or(|before| showing.weight() > before.weight()) {
            side.before = Some(showing);
        }
        return;
    };
    let mut pinned = Case::new(case.problem.clone());
    pinned.options.engine = case::EngineChoice::Pinned(candidate.config.clone());
    let words = pinned.to_string();
    let plain = Case::new(case.problem.clone()).to_string();
    let times = observation.into_iter().flat_map(|observation| &observation.executions);
    side.plans.push(Plan {
        engine: candidate.config.engine,
        options: words.strip_prefix(&plain).unwrap_or_default().trim().to_owned(),
        recommended: candidate.ranks.recommended(),
        first: candidate.ranks.a == Some(0),
        showing,
        best_us: times.map(|execution| execution.execute_us).min().unwrap_or(0),
    });
}

/// What is different at first sight.
pub(crate) fn suspicions(baseline: &Side, candidate: &Side, timed: bool) -> Vec<Suspicion> {
    let mut found = Vec::new();
    let (before, after) = (baseline.failures(), candidate.failures());
    let mut failing = |change, of: &Side, one: &BTreeMap<Kind, bool>, other: &BTreeMap<Kind, bool>| {
        for (kind, recommended) in one {
            // A failure that frameworks meet now is new, too, where it took an explicit choice of engine before.
            let known = other.get(kind).is_some_and(|known| *known || !*recommended);
            if !known {
                let engine = of.failing(*kind).map(|plan| plan.engine);
                found.push(Suspicion { change, kind: Some(*kind), engine });
            }
        }
    };
    failing(Change::NewlyWrong, candidate, &after, &before);
    failing(Change::NewlyRight, baseline, &before, &after);
    let plain = |change| Suspicion { change, kind: None, engine: None };
    if baseline.is_right_somewhere() && candidate.is_refused() {
        found.push(plain(Change::NewlyRefused));
    }
    if candidate.is_right_somewhere() && baseline.is_refused() {
        found.push(plain(Change::NewlyAccepted));
    }
    if let (Some(one), Some(other)) = (baseline.first(), candidate.first()) {
        if one.options != other.options {
            found.push(plain(Change::FirstChoice));
        }
        found.extend(timed.then(|| pace(one.best_us, other.best_us)).flatten().map(plain));
    }
    found
}

/// Which of two times is beyond the other, if any is.
pub(crate) fn pace(baseline_us: u64, candidate_us: u64) -> Option<Change> {
    let (one, other) = (baseline_us as f64, candidate_us as f64);
    if baseline_us == 0 || candidate_us == 0 || baseline_us.max(candidate_us) < SHORTEST_US {
        return None;
    }
    match () {
        () if other >= one * RATIO_MIN => Some(Change::Slower),
        () if one >= other * RATIO_MIN => Some(Change::Faster),
        () => None,
    }
}

/// A confirmed difference in words.
pub(crate) fn tell(
    suspicion: &Suspicion,
    (case, source): (&Case, &str),
    (baseline, candidate): (&Side, &Side),
) -> Difference {
    let first = |side: &Side| {
        side.first().map_or_else(
            || "no plan".to_owned(),
            |plan| {
                if plan.options.is_empty() { format!("engine {}", plan.engine) } else { plan.options.clone() }
            },
        )
    };
    let time = |side: &Side| side.first().map_or(0, |plan| plan.best_us);
    let failing = match suspicion.change {
        Change::NewlyRight => baseline,
        Change::NewlyWrong
        | Change::NewlyRefused
        | Change::Slower
        | Change::NewlyAccepted
        | Change::Faster
        | Change::FirstChoice => candidate,
    };
    let plan = suspicion.kind.and_then(|kind| failing.failing(kind));
    let words = match (suspicion.change, suspicion.kind) {
        (Change::NewlyWrong | Change::NewlyRight, Some(kind)) => failing
            .showings()
            .find_map(|showing| match showing {
                Showing::Failed(found) if found.kind == kind => {
                    Some(format!("{}: {}", found.signature, found.summary))
                }
                Showing::Failed(_)
                | Showing::Passed
                | Showing::Refused(_)
                | Showing::Untrusted(_)
                | Showing::Skipped(_)
                | Showing::Trouble(_) => None,
            })
            .unwrap_or_else(|| kind.name().to_owned()),
        (Change::Slower | Change::Faster, _) => {
            let (one, other) = (time(baseline), time(candidate));
            let ratio = other as f64 / (one as f64).max(1.0);
            format!(
                "{one} us with {}, now {other} us with {} ({ratio:.2} times)",
                first(baseline),
                first(candidate)
            )
        }
        (Change::FirstChoice, _) => format!("{}, now {}", first(baseline), first(candidate)),
        (Change::NewlyRefused, _) => refusal(candidate),
        (Change::NewlyAccepted, _) => refusal(baseline),
        (Change::NewlyWrong | Change::NewlyRight, None) => "fails".to_owned(),
    };
    let plain = Case::new(case.problem.clone()).to_string();
    let options = plan.map(|plan| plan.options.clone()).filter(|options| !options.is_empty());
    Difference {
        case: plain.clone(),
        source: source.to_owned(),
        change: suspicion.change,
        words,
        repeat: options.map_or(plain.clone(), |options| format!("{plain} {options}")),
        recommended: plan.is_none_or(|plan| plan.recommended),
    }
}

fn refusal(side: &Side) -> String {
    let words = side.showings().find_map(|showing| match showing {
        Showing::Refused(words) => Some(words.clone()),
        Showing::Passed
        | Showing::Failed(_)
        | Showing::Untrusted(_)
        | Showing::Skipped(_)
        | Showing::Trouble(_) => None,
    });
    words.unwrap_or_else(|| "no plan".to_owned())
}

#[cfg(test)]
mod tests;
