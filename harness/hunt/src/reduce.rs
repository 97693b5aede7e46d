//! Puts the minimizer's questions to a bench. Knows how a case is asked about; the strategy is the
//! minimizer's.

use std::time::{Duration, Instant};

use case::{Case, Expect, Matrix, Sameness, Selection};
use minimizer::{Answer, Event, Minimized, Step};

use crate::bench::Bench;
use crate::confirm::repeats_needed;
use crate::error::HuntError;
use crate::event::{Finding, HuntEvent, Reduction, Suspect, provisional};
use crate::examine::{Repetition, config_of, job, leaves_traces, repeat};
use crate::pursuit::{Offer, Tell};

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

/// The smallest case that fails like the finding, and how it was found. Where the search cannot begin,
/// because the failure did not show or no time is left, the case stays what it is.
///
/// # Errors
/// Those of the bench, and of whoever records events.
pub(crate) fn reduce<B: Bench + ?Sized>(
    bench: &mut B,
    finding: &Finding,
    allowance: Allowance,
    (tell, offer): (&Tell<'_>, &Offer<'_>),
) -> Result<(Case, Reduction), HuntError> {
    let limits = minimizer::Limits { calls_max: allowance.calls_max, seconds_max: allowance.seconds_max };
    let mut questions = Questions {
        bench,
        sameness: &finding.fault.sameness,
        selection: finding.selection,
        broken: breaks_a_rule(&finding.case),
        repeats: repeats_needed(&finding.fault).min(finding.case.options.repeat),
        offer,
        trouble: None,
    };
    let mut log: Vec<String> = Vec::new();
    let mut untold: Result<(), HuntError> = Ok(());
    let mut observe = |event: Event<'_>| {
        let told = match event {
            Event::Asking { call, case, .. } => tell(asking(finding, call, case)),
            Event::Answered(step) => {
                log.extend(serde_json::to_string(step).ok());
                if step.accepted { tell(adopted(finding, step)) } else { Ok(()) }
            }
        };
        if untold.is_ok() {
            untold = told;
        }
    };
    let minimized =
        minimizer::minimize(&finding.case, &mut |case: &Case| questions.ask(case), &limits, &mut observe);
    if let Some(trouble) = questions.trouble {
        return Err(trouble);
    }
    untold?;
    Ok(match minimized {
        Ok(minimized) => (minimized.case.clone(), report(&minimized, log)),
        Err(error) => (finding.case.clone(), not_begun(&error.to_string(), log)),
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
        seconds: minimized.seconds,
        sweep_tried: u64::from(minimized.swept),
        sweep_listed: u64::from(minimized.sweep_total),
        guarantee: minimized.guarantee(),
        steps: minimized.accepted.iter().map(|step: &Step| step.case.to_string()).collect(),
        log,
    }
}

fn not_begun(reason: &str, log: Vec<String>) -> Reduction {
    Reduction {
        one_minimal: false,
        predicate_calls: log.len() as u64,
        seconds: 0.0,
        sweep_tried: 0,
        sweep_listed: 0,
        guarantee: format!("Not minimized: {reason}."),
        steps: Vec::new(),
        log,
    }
}

/// A bench as the minimizer's predicate.
struct Questions<'a, B: ?Sized> {
    bench: &'a mut B,
    sameness: &'a Sameness,
    selection: Selection,
    /// True where the failure is that a rule was broken and nobody said so: a case that keeps to the rules is
    /// right to be accepted.
    broken: bool,
    /// Fewest repeats that are asked about. Fewer would show a failure that comes and goes by luck only.
    repeats: u32,
    offer: &'a Offer<'a>,
    /// What ended the questions; after it every answer is that the machine is in trouble.
    trouble: Option<HuntError>,
}

impl<B: Bench + ?Sized> Questions<'_, B> {
    fn ask(&mut self, case: &Case) -> Answer {
        if let Some(trouble) = &self.trouble {
            return Answer::Infra(trouble.to_string());
        }
        if self.broken && !breaks_a_rule(case) {
            return Answer::Invalid("there is nothing to refuse in it".to_owned());
        }
        if case.options.repeat < self.repeats {
            return Answer::Invalid("with fewer repeats it shows by luck only".to_owned());
        }
        self.answer(case).unwrap_or_else(|error| {
            let answer = Answer::Infra(error.to_string());
            self.trouble = Some(error);
            answer
        })
    }

    fn answer(&mut self, case: &Case) -> Result<Answer, HuntError> {
        let job = job(case, self.selection, Matrix::Standard);
        Ok(match repeat(self.bench, &job, self.sameness)? {
            Repetition::Same(_) => {
                if leaves_traces(self.sameness.kind) {
                    self.bench.fresh();
                }
                Answer::Same
            }
            Repetition::Other(other) => {
                let (fault, outcome) = *other;
                let slug = provisional(&fault.sameness, case);
                if leaves_traces(fault.sameness.kind) {
                    self.bench.fresh();
                }
                let suspect = Suspect {
                    provisional: slug.clone(),
                    case: case.clone(),
                    selection: self.selection,
                    config: config_of(&outcome).cloned(),
                    fault,
                };
                (self.offer)(suspect)?;
                Answer::Other(slug)
            }
            Repetition::Passed => Answer::Pass,
            Repetition::Unjudged => Answer::Invalid("nothing was judged".to_owned()),
        })
    }
}

/// True where a refusal is expected and due: with the expectation taken away our own rules refuse the case
/// too.
fn breaks_a_rule(case: &Case) -> bool {
    if case.options.expect != Expect::Refuse {
        return false;
    }
    let mut plain = case.clone();
    plain.options.expect = Expect::Right;
    let due: Vec<i64> = plain.problem.axes.iter().map(case::Axis::output).collect();
    // An output size that was wrong on purpose may have become the right one.
    plain.problem.declared_output = plain.problem.declared_output.filter(|declared| *declared != due);
    plain.validate().is_err()
}
