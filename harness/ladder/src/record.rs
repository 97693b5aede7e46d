//! What a training run showed, gathered as it came. Knows events; judges nothing.

use std::collections::BTreeMap;

use case::{Ended, Outcome, Part, Place, Planned, Refusal, Shown, StepSeen, Training};
use exec::JobEvent;

/// A tensor by its step, layer and part.
type Key = (u32, u32, u8);

/// Everything that a special errand showed.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The plans, in the order of calls.
    pub planned: Vec<Planned>,
    /// Steps of all runs, in order.
    pub steps: Vec<StepSeen>,
    /// Where and why it went no further.
    pub stopped: Option<(Place, Ended)>,
    /// How its process died, and the number that it had announced.
    pub died: Option<(Option<u32>, Outcome)>,
    /// Stored plans, by number, and how each was declined.
    pub offered: Vec<(u32, Option<Refusal>)>,
    tensors: BTreeMap<Key, Vec<u8>>,
    place: Option<u32>,
}

impl Record {
    /// Takes what a job shows.
    pub fn take(&mut self, event: JobEvent) {
        match event {
            JobEvent::Drilled(shown) => self.note(*shown),
            JobEvent::Place(ordinal) => self.place = Some(ordinal),
            JobEvent::Outcome(outcome) => self.died = Some((self.place, outcome)),
            JobEvent::Process(_) | JobEvent::Candidates(_) => {}
        }
    }

    fn note(&mut self, shown: Shown) {
        match shown {
            Shown::Planned(planned) => self.planned.push(*planned),
            Shown::Tensor { step, layer, part, hex } => {
                self.tensors.insert((step, layer, part as u8), bytes_of(&hex));
            }
            Shown::Step(step) => self.steps.push(step),
            Shown::Stopped { place, ended } => self.stopped = Some((place, ended)),
            Shown::Offered { number, refusal } => self.offered.push((number, refusal)),
        }
    }

    /// A tensor's bytes; none where it was not shown.
    #[must_use]
    pub(crate) fn tensor(&self, step: u32, layer: u32, part: Part) -> &[u8] {
        self.tensors.get(&(step, layer, part as u8)).map_or(&[], |bytes| bytes)
    }

    /// Steps whose tensors were shown.
    #[must_use]
    pub(crate) fn shown(&self) -> Vec<u32> {
        let mut steps: Vec<u32> = self.tensors.keys().map(|(step, ..)| *step).collect();
        steps.dedup();
        steps
    }

    /// The steps of one run.
    pub fn run(&self, run: u32) -> impl Iterator<Item = &StepSeen> {
        self.steps.iter().filter(move |step| step.run == run)
    }

    /// True where every step of every run was seen.
    #[must_use]
    pub fn is_whole(&self, training: &Training) -> bool {
        self.steps.len() as u64 == u64::from(training.steps) * u64::from(training.runs)
    }
}

/// The bytes in hexadecimal digits, up to the first that is none.
fn bytes_of(hex: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some((digit(*high)? * 16 + digit(*low)?) as u8),
        _ => None,
    };
    hex.as_bytes().chunks(2).map_while(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_become_bytes_and_what_is_none_ends_them() {
        assert_eq!(bytes_of("00ff1A"), [0, 255, 26]);
        assert_eq!(bytes_of("0gff"), [0_u8; 0]);
        assert_eq!(bytes_of("011"), [1]);
    }
}
