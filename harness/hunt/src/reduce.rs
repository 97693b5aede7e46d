//! Puts the minimizer's questions to benches. Knows how its answers are gathered and recorded; the strategy is
//! the minimizer's.

use std::time::{Duration, Instant};

use case::{Case, Tier};
use minimizer::{Answer, Event, MinimizeError, Minimized, Predicate, Rate, Replay, Settings, Step};

use crate::bench::Bench;
use crate::error::HuntError;
use crate::event::{Finding, HuntEvent, Reduction};
use crate::pursuit::{Offer, Tell};

pub(crate) mod questions;
mod team;

use questions::{Reply, Terms};
use team::{Diary, Team};

/// What one minimization may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// Most runs of the predicate.
    pub calls_max: u32,
    /// Most seconds.
    pub seconds_max: f64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { calls_max: 400, seconds_max: 1200.0 }
    }
}

/// What the minimization of a finding for information may use: its arithmetic is told in a few words anyway.
const INFORMATIVE: Allowance = Allowance { calls_max: 40, seconds_max: 20.0 };

impl Allowance {
    /// The same, with no more than a finding for information is worth.
    pub(crate) fn informative(self) -> Self {
        Self { calls_max: self.calls_max.min(INFORMATIVE.calls_max), ..self }
            .lasting(Duration::from_secs_f64(INFORMATIVE.seconds_max))
    }

    /// The same, with so much time at the most.
    pub(crate) fn lasting(self, time: Duration) -> Self {
        Self { seconds_max: self.seconds_max.min(time.as_secs_f64()), ..self }
    }

    /// The same, ending at that moment at the latest.
    pub(crate) fn ending(self, at: Option<Instant>) -> Self {
        let left = at.map_or(f64::MAX, |at| at.saturating_duration_since(Instant::now()).as_secs_f64());
        Self { seconds_max: self.seconds_max.min(left), ..self }
    }
}

/// Keeps a line.
pub type Record<'a> = dyn Fn(&str) -> Result<(), HuntError> + 'a;

/// What a minimization may lean on beside its bench.
#[derive(Default)]
pub struct Desk<'a> {
    /// Benches that work on the next questions meanwhile. The result is the same without them.
    pub aides: Vec<&'a mut dyn Bench>,
    /// Answers of an earlier, interrupted minimization of the same case.
    pub earlier: Replay,
    /// Where each run is recorded, line by line, before it begins and after it ended.
    pub record: Option<&'a Record<'a>>,
}

/// The smallest case that fails like the finding, and how it was found. Where the search cannot begin,
/// because the failure did not show or no time is left, the case stays what it is.
///
/// # Errors
/// Those of the bench, and of whoever records events.
pub(crate) fn reduce<B: Bench>(
    bench: &mut B,
    finding: &Finding,
    allowance: Allowance,
    desk: &mut Desk<'_>,
    (tell, offer): (&Tell<'_>, &Offer<'_>),
) -> Result<(Case, Reduction), HuntError> {
    let settings = Settings {
        limits: minimizer::Limits { calls_max: allowance.calls_max, seconds_max: allowance.seconds_max },
        seen: Rate { hits: finding.hits, runs: finding.runs },
        // What is told for information only is not worth the new processes that more runs take.
        confirm_runs: if finding.tier == Tier::C { finding.runs } else { Settings::CONFIRM_RUNS },
        earlier: std::mem::take(&mut desk.earlier),
    };
    let terms = Terms::of(finding);
    let books = Books { record: desk.record, offer };
    let mut log: Vec<String> = Vec::new();
    let mut untold: Result<(), HuntError> = Ok(());
    let mut observe = |event: Event<'_>| {
        let told = match event {
            Event::Asking { call, case, .. } => tell(asking(finding, call, case)),
            Event::Answered(step) | Event::Recalled(step) => {
                log.extend(serde_json::to_string(step).ok());
                if step.accepted { tell(adopted(finding, step)) } else { Ok(()) }
            }
        };
        if untold.is_ok() {
            untold = told;
        }
    };
    let (minimized, trouble) = std::thread::scope(|scope| {
        let hands = if desk.aides.is_empty() {
            Hands::One(bench)
        } else {
            let mut benches: Vec<&mut dyn Bench> = vec![bench];
            for aide in &mut desk.aides {
                benches.push(&mut **aide);
            }
            Hands::Many(Team::new(scope, &terms, benches))
        };
        let mut questions = Questions { hands, terms: &terms, books, trouble: None };
        let minimized = minimizer::minimize(&finding.case, &mut questions, &settings, &mut observe);
        (minimized, questions.trouble)
    });
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    untold?;
    Ok(match minimized {
        Ok(minimized) => (minimized.case.clone(), report(&minimized, log)),
        Err(error) => (finding.case.clone(), not_begun(&error, log)),
    })
}

fn asking(finding: &Finding, call: u32, case: &Case) -> HuntEvent {
    let (provisional, case) = (finding.provisional.clone(), case.to_string());
    HuntEvent::Asking { provisional, case, call: u64::from(call) }
}

fn adopted(finding: &Finding, step: &Step) -> HuntEvent {
    let (provisional, case) = (finding.provisional.clone(), step.case.to_string());
    HuntEvent::Minimizing { provisional, case, calls: u64::from(step.call) }
}

fn report(minimized: &Minimized, log: Vec<String>) -> Reduction {
    Reduction {
        one_minimal: minimized.one_minimal,
        predicate_calls: u64::from(minimized.calls),
        speculative_calls: u64::from(minimized.speculative_calls),
        recalled_calls: u64::from(minimized.recalled),
        rate: minimized.rate,
        comes_and_goes: minimized.flaky.is_some(),
        doubt: None,
        seconds: minimized.seconds,
        sweep_tried: u64::from(minimized.swept),
        sweep_listed: u64::from(minimized.sweep_total),
        guarantee: minimized.guarantee(),
        steps: minimized.accepted.iter().map(|step: &Step| step.case.to_string()).collect(),
        log,
    }
}

fn not_begun(error: &MinimizeError, log: Vec<String>) -> Reduction {
    let doubtful = matches!(error, MinimizeError::AcceptsAnything(_));
    Reduction {
        one_minimal: false,
        predicate_calls: log.len() as u64,
        speculative_calls: 0,
        recalled_calls: 0,
        rate: Rate::default(),
        comes_and_goes: false,
        doubt: doubtful.then(|| error.to_string()),
        seconds: 0.0,
        sweep_tried: 0,
        sweep_listed: 0,
        guarantee: format!("Not minimized: {error}."),
        steps: Vec::new(),
        log,
    }
}

/// Where runs and other failures are written down.
#[derive(Clone, Copy)]
struct Books<'a> {
    record: Option<&'a Record<'a>>,
    offer: &'a Offer<'a>,
}

impl Diary for Books<'_> {
    fn began(&mut self, case: &Case) -> Result<(), HuntError> {
        self.record.map_or(Ok(()), |record| record(&Replay::running(case)))
    }

    fn ended(&mut self, case: &Case, reply: &Reply) -> Result<(), HuntError> {
        self.record.map_or(Ok(()), |record| record(&Replay::answered(case, &reply.answer)))
    }
}

/// Who runs cases.
enum Hands<'a, B> {
    One(&'a mut B),
    Many(Team),
}

/// Benches as the minimizer's predicate.
struct Questions<'a, B> {
    hands: Hands<'a, B>,
    terms: &'a Terms,
    books: Books<'a>,
    /// What ended the questions; after it every answer is that the machine is in trouble.
    trouble: Option<HuntError>,
}

impl<B: Bench> Questions<'_, B> {
    fn put(&mut self, case: &Case, afresh: bool) -> Answer {
        if let Some(trouble) = &self.trouble {
            return Answer::Infra(trouble.to_string());
        }
        if let Some(answer) = self.terms.foregone(case) {
            return answer;
        }
        self.run(case, afresh).unwrap_or_else(|error| {
            let answer = Answer::Infra(error.to_string());
            self.trouble = Some(error);
            answer
        })
    }

    fn run(&mut self, case: &Case, afresh: bool) -> Result<Answer, HuntError> {
        let reply = match &mut self.hands {
            Hands::One(bench) => {
                self.books.began(case)?;
                let reply = self.terms.put(*bench, case, afresh)?;
                self.books.ended(case, &reply)?;
                reply
            }
            Hands::Many(team) => team.ask(case, afresh, &mut self.books)?,
        };
        if let Some(sibling) = reply.sibling {
            (self.books.offer)(sibling)?;
        }
        Ok(reply.answer)
    }
}

impl<B: Bench> Predicate for Questions<'_, B> {
    fn ask(&mut self, case: &Case) -> Answer {
        self.put(case, false)
    }

    fn ask_afresh(&mut self, case: &Case) -> Answer {
        self.put(case, true)
    }

    fn width(&self) -> usize {
        match &self.hands {
            Hands::One(_) => 1,
            Hands::Many(team) => team.width(),
        }
    }

    fn hint(&mut self, likely: &[Case]) {
        if let Hands::Many(team) = &mut self.hands {
            let runs: Vec<Case> =
                likely.iter().filter(|case| self.terms.foregone(case).is_none()).cloned().collect();
            team.expect(&runs);
        }
    }

    fn speculative_calls(&self) -> u32 {
        match &self.hands {
            Hands::One(_) => 0,
            Hands::Many(team) => team.speculative_runs(),
        }
    }
}
