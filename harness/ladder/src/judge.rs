//! What a training run proves: how it ended, each shown convolution against f64 on the very bytes that it read, the
//! loss against the exact training, and both runs against each other. Pure.

use case::{Call, Exit, Operation, Part, Place, StepSeen, Training};
use kernel::{CompareParams, CompareTotals};
use serde::Serialize;

use crate::record::Record;
use crate::trouble::Trouble;
use crate::twin::{Course, compare};

/// Something that is wrong on a rung.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Break {
    /// What kind.
    pub trouble: Trouble,
    /// Where: a layer and pass of a training, or an operation and engine.
    pub place: String,
    /// What was seen, with its numbers.
    pub summary: String,
    /// The case line that repeats it alone, where there is one.
    pub case: Option<String>,
    /// How often it came back in fresh processes, of how many tries; absent where it was not tried.
    pub again: Option<(u32, u32)>,
    /// Whether its case line fails alone too, with the data of a check; absent where it was not tried.
    pub alone: Option<bool>,
}

impl Break {
    /// Where something shows that the machine alone does not.
    pub(crate) const UNDER_STRESS: &str = "under what was asked for beside";

    /// A break that no case line repeats.
    pub(crate) fn plain(trouble: Trouble, place: &str, summary: String) -> Self {
        Self { trouble, place: place.to_owned(), summary, case: None, again: None, alone: None }
    }

    /// True where something is wrong with what was tested, and not merely missing.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        self.trouble.is_fault()
    }
}

/// Everything that is wrong with a training, what counts most first.
#[must_use]
pub fn judge(training: &Training, record: &Record, course: &Course) -> Vec<Break> {
    let scene = Scene { training, record };
    let mut breaks: Vec<Break> = scene.ended().into_iter().collect();
    breaks.extend(scene.convolutions());
    breaks.extend(scene.not_numbers());
    if breaks.is_empty() {
        breaks.extend(scene.drift(course));
        breaks.extend(scene.repeat());
    }
    breaks
}

/// The step at which the loss left its course, where it did: a wrong gradient shows in the loss of the step after.
#[must_use]
pub(crate) fn first_astray(record: &Record, course: &Course) -> Option<u32> {
    let off = |step: &&StepSeen| {
        let at = step.step as usize;
        match (course.losses.get(at), course.tolerances.get(at)) {
            (Some(right), Some(most)) => {
                let departure = (step.loss() - right).abs();
                departure.is_nan() || departure > *most
            }
            _ => false,
        }
    };
    record.run(0).find(off).map(|step| step.step)
}

struct Scene<'run> {
    training: &'run Training,
    record: &'run Record,
}

impl Scene<'_> {
    fn at(&self, place: Place, trouble: Trouble, summary: String) -> Break {
        let line = self.line(place.call);
        Break { case: line, ..Break::plain(trouble, &place.to_string(), summary) }
    }

    /// The case line of a call, with its plan.
    fn line(&self, call: Call) -> Option<String> {
        let case = self.training.case_of(call)?;
        let planned = self.record.planned.iter().find(|planned| planned.call == call);
        let pinned = planned.map(|planned| case.pinned(planned.config.clone()));
        Some(pinned.unwrap_or(case).to_string())
    }

    /// How it ended, where it did before its time.
    fn ended(&self) -> Option<Break> {
        if let Some((ordinal, outcome)) = &self.record.died {
            let place = ordinal.and_then(|ordinal| self.training.place(ordinal));
            let phase = outcome.phase.name();
            let (trouble, summary) = match outcome.exit {
                Exit::TimedOut(limit_ms) | Exit::TooSlow(limit_ms) => {
                    (Trouble::Hang, format!("{phase} did not end within {limit_ms} ms"))
                }
                Exit::Signalled(signal) => {
                    (Trouble::Crash, format!("signal {signal} ended the process in {phase}"))
                }
                Exit::Exited(code) => {
                    (Trouble::Crash, format!("the process ended itself with code {code} in {phase}"))
                }
                Exit::Answered => return None,
            };
            return Some(match place {
                Some(place) => self.at(place, trouble, summary),
                None => Break::plain(trouble, "training", summary),
            });
        }
        let (place, ended) = self.record.stopped.as_ref()?;
        let (trouble, words) = Trouble::of_end(ended);
        // Later runs wait once a step, so that an error shows where it is waited for.
        let noticed = if place.run > 0 && trouble == Trouble::Device { ", noticed there" } else { "" };
        Some(self.at(*place, trouble, format!("{words}{noticed}")))
    }

    /// Every convolution of the shown steps that is off, first one first; what follows in the same step read what it
    /// wrote, and is judged by that.
    fn convolutions(&self) -> Vec<Break> {
        let mut breaks: Vec<Break> = Vec::new();
        for step in self.record.shown() {
            for call in self.training.calls() {
                let seen = breaks.iter().any(|known| known.case == self.line(call));
                if let (false, Some(found)) = (seen, self.convolution(step, call)) {
                    breaks.push(found);
                }
            }
        }
        breaks
    }

    fn convolution(&self, step: u32, call: Call) -> Option<Break> {
        let case = self.training.case_of(call)?;
        let planned = self.record.planned.iter().find(|planned| planned.call == call)?;
        let tensor = |part| self.record.tensor(step, call.layer, part);
        let tensors = match call.operation {
            Operation::Fprop
            | Operation::MaxPool
            | Operation::AvgPool
            | Operation::MatMul
            | Operation::RmsNorm => [Part::Input, Part::Weight, Part::Output],
            Operation::Dgrad => [Part::InputGradient, Part::Weight, Part::OutputGradient],
            Operation::Wgrad => [Part::Input, Part::WeightGradient, Part::OutputGradient],
        }
        .map(tensor);
        let (totals, params) = compare(&case, &planned.notes, tensors)?;
        if totals.over_element == 0 {
            return None;
        }
        let trouble = if totals.nan > 0 { Trouble::NotANumber } else { Trouble::Wrong };
        let engine = planned.config.engine;
        let summary = format!(
            "{} (engine {engine}, {}#{})",
            words(&totals, &params),
            planned.list.name(),
            planned.rank
        );
        Some(self.at(Place { run: 0, step: Some(step), call }, trouble, summary))
    }

    /// The first NaN or infinity of a run.
    fn not_numbers(&self) -> Option<Break> {
        let calls = self.training.calls();
        self.record.steps.iter().find_map(|step| {
            let (call, seen) = calls.iter().zip(&step.calls).find(|(_, seen)| seen.odd > 0)?;
            let place = Place { run: step.run, step: Some(step.step), call: *call };
            let count = seen.odd;
            Some(self.at(
                place,
                Trouble::NotANumber,
                format!("{count} elements of its result are NaN or infinite"),
            ))
        })
    }

    /// Where the loss leaves the course of the exact training, or does not fall.
    fn drift(&self, course: &Course) -> Option<Break> {
        let told = |summary: String| Break::plain(Trouble::Drift, "training", summary);
        if let Some(step) = first_astray(self.record, course) {
            let at = step as usize;
            let seen = self.record.run(0).find(|seen| seen.step == step).map_or(f64::NAN, StepSeen::loss);
            return Some(told(format!(
                "the loss at step {} is {seen:.6}, where the exact training has {:.6} and the engines may be off by {:.1e}",
                step + 1,
                course.losses[at],
                course.tolerances[at]
            )));
        }
        let mut losses = self.record.run(0).map(StepSeen::loss);
        let (first, last) = (losses.next()?, losses.last()?);
        (last >= first)
            .then(|| told(format!("the loss does not fall: {first:.6} at first, {last:.6} at last")))
    }

    /// The first call that gave other bits in a later run, where no engine says that it may.
    fn repeat(&self) -> Option<Break> {
        if self.record.planned.iter().any(|planned| planned.notes.nondeterministic()) {
            return None;
        }
        let calls = self.training.calls();
        (1..self.training.runs).find_map(|run| {
            let pairs = self.record.run(0).zip(self.record.run(run));
            pairs
                .flat_map(|(first, again)| {
                    first.calls.iter().zip(&again.calls).enumerate().map(move |pair| (again, pair))
                })
                .find(|(_, (_, (first, again)))| first.hash != again.hash)
                .map(|(step, (at, _))| {
                    let place = Place { run, step: Some(step.step), call: calls[at] };
                    let words =
                        "other bits than in the first run, though no engine declares NONDETERMINISTIC";
                    self.at(place, Trouble::Nondeterministic, words.to_owned())
                })
        })
    }
}

/// How much of an output is off.
fn words(totals: &CompareTotals, params: &CompareParams) -> String {
    let worst = f64::from_bits(totals.max_error_bits);
    let elements = format!("{} of {} elements", totals.over_element, totals.checked);
    let position = format!("the first at {}", position(params, totals.first_over_element));
    let nan = if totals.nan > 0 { format!(", {} NaN", totals.nan) } else { String::new() };
    let times = f64::from_bits(totals.max_ratio_bits);
    format!(
        "{elements} are beyond every rounding{nan}, {position}; the largest error {worst:.2e} is {times:.0} times its bound"
    )
}

/// Logical coordinates, as n, c, h, w.
fn position(params: &CompareParams, linear: u64) -> String {
    let mut rest = linear;
    let mut at: Vec<String> = Vec::new();
    for extent in params.got.extent.iter().rev() {
        let extent = extent.unsigned_abs().max(1);
        at.push((rest % extent).to_string());
        rest /= extent;
    }
    at.reverse();
    at.remove(2);
    format!("({})", at.join(", "))
}
