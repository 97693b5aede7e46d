//! Drives a search: puts its questions, keeps to the limits, tells what happens. Knows the predicate only as
//! something that answers; the strategy is the search's.

use std::time::Instant;

use case::Case;

use crate::edits::EDIT_LIST;
use crate::forecast::forecast;
use crate::minimized::{Flaky, MinimizeError, Minimized, Stop};
use crate::query::{Answer, Event, Predicate, Settings, Step};
use crate::replay::{Recall, Replay};
use crate::search::{End, Learned, ORIGINAL, Search};

/// Reduces a case that fails, keeping how it fails.
///
/// Questions are put in sequence; each is announced to `observe` before and reported after. The result follows
/// from the answers alone, however many questions the predicate works on at once.
///
/// # Errors
/// `MinimizeError` where the original breaks a rule, is not answered `Same`, or the limits allow no call; and
/// where the predicate says yes to a case that cannot fail.
pub fn minimize(
    original: &Case,
    predicate: &mut dyn Predicate,
    settings: &Settings,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<Minimized, MinimizeError> {
    original.validate()?;
    let mut drive = Drive {
        search: Search::new(original, settings),
        predicate,
        earlier: settings.earlier.clone(),
        observe,
        started: Instant::now(),
        calls: 0,
        recalled: 0,
        others: Vec::new(),
        accepted: Vec::new(),
    };
    let stop = match drive.run(settings) {
        End::Refused(error) => return Err(error),
        End::Stopped(Stop::Calls | Stop::Seconds) if drive.calls == 0 => return Err(MinimizeError::NoBudget),
        End::Stopped(stop) => stop,
    };
    Ok(drive.finish(original, stop))
}

struct Drive<'a> {
    search: Search,
    predicate: &'a mut dyn Predicate,
    earlier: Replay,
    observe: &'a mut dyn FnMut(Event<'_>),
    started: Instant,
    calls: u32,
    recalled: u32,
    others: Vec<(Case, String)>,
    accepted: Vec<Step>,
}

impl Drive<'_> {
    fn run(&mut self, settings: &Settings) -> End {
        while let Some((pass, case)) = self.search.question() {
            let case = case.clone();
            if self.calls >= settings.limits.calls_max {
                return End::Stopped(Stop::Calls);
            }
            if self.started.elapsed().as_secs_f64() >= settings.limits.seconds_max {
                return End::Stopped(Stop::Seconds);
            }
            self.calls += 1;
            self.step(pass, case);
        }
        self.search.ended().cloned().unwrap_or(End::Stopped(Stop::Fixpoint))
    }

    fn step(&mut self, pass: &'static str, case: Case) {
        let (answer, recalled) = self.answer(pass, &case);
        let Learned { accepted } = self.search.learn(&answer);
        if let Answer::Other(signature) = &answer {
            self.others.push((case.clone(), signature.clone()));
        }
        let step = Step { call: self.calls, pass, case, answer, accepted };
        (self.observe)(if recalled { Event::Recalled(&step) } else { Event::Answered(&step) });
        if accepted {
            self.accepted.push(step);
        }
    }

    /// The answer, and whether it comes from an earlier reduction.
    fn answer(&mut self, pass: &'static str, case: &Case) -> (Answer, bool) {
        let recall = self.earlier.recall(case);
        if let Recall::Answer(answer) = recall {
            self.recalled += 1;
            return (answer, true);
        }
        (self.observe)(Event::Asking { call: self.calls, pass, case });
        let width = self.predicate.width();
        if width > 1 {
            self.predicate.hint(&forecast(&self.search, width - 1));
        }
        // Whether the original fails in every run is a question about runs that share nothing.
        let afresh = pass == ORIGINAL || recall == Recall::CutOff;
        let answer = if afresh { self.predicate.ask_afresh(case) } else { self.predicate.ask(case) };
        (answer, false)
    }

    fn finish(self, original: &Case, stop: Stop) -> Minimized {
        let standing = self.search.standing();
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let flaky = standing.followed.map(|(anchor, excluded)| Flaky {
            anchor,
            excluded,
            dry_misses: standing.dry.unwrap_or_default(),
            amplified: standing.amplified,
            backtracks: standing.backtracks,
        });
        Minimized {
            one_minimal: standing.swept == standing.sweep_total,
            swept: count(standing.swept),
            sweep_total: count(standing.sweep_total),
            edit_list: EDIT_LIST,
            calls: self.calls,
            recalled: self.recalled,
            speculative_calls: self.predicate.speculative_calls(),
            cached: standing.cached,
            rate: standing.rate,
            flaky,
            seconds: self.started.elapsed().as_secs_f64(),
            never_refused: standing.never_refused,
            case: standing.case.clone(),
            original: original.clone(),
            others: self.others,
            accepted: self.accepted,
            stop,
        }
    }
}
