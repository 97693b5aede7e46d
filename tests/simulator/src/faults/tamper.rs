//! What faults do to one execution's results. Knows positions in the output; writes to no memory itself.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use case::Role;

use super::{Acting, Action, Buffer, Region, Side};
use crate::problem::Problem;

/// Bytes to write beside a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// The buffer.
    pub buffer: Buffer,
    /// The side.
    pub side: Side,
    /// How many, adjacent to the edge.
    pub bytes: u64,
}

/// What an execution leaves once faults have acted on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tampered {
    /// The outputs in logical order; absent ones are never written.
    pub values: Vec<Option<f64>>,
    /// Writes beside buffers.
    pub outside: Vec<Outside>,
    /// Whether the first input is overwritten.
    pub input: bool,
    /// The device error that ends the context, a `CUresult`.
    pub sticky: Option<i32>,
    /// Bytes of host memory to lose.
    pub leak: usize,
}

/// Lays faults over right values. `residue` is what the workspace's last word held before, as an f32.
#[must_use]
pub fn tamper(problem: &Problem, right: Vec<f64>, residue: Option<f32>, faults: &[Acting]) -> Tampered {
    let mut result = Tampered { values: right.into_iter().map(Some).collect(), ..Tampered::default() };
    for acting in faults {
        match acting.action {
            Action::Wrong { at } => result.each(problem, at, |value| Some(off(value))),
            Action::Flaky { at, rate } if chance() < rate => {
                result.each(problem, at, |value| Some(off(value)))
            }
            Action::Zero { at } => result.each(problem, at, |_| Some(0.0)),
            Action::Unwritten { at } => result.each(problem, at, |_| None),
            Action::Nan { at } => result.each(problem, at, |_| Some(f64::NAN)),
            Action::Nondeterministic { rate } if falls_due(acting.earlier, rate) => {
                result.each(problem, Region::Scattered, |value| Some(next_single(value)));
            }
            Action::ReadWorkspace => {
                if let (Some(residue), Some(Some(first))) = (residue, result.values.first_mut()) {
                    *first += f64::from(residue);
                }
            }
            Action::FollowWorkspace { error } => {
                if residue.is_some_and(|residue| residue.to_bits() % 4 != 0) {
                    result.sticky = Some(error);
                }
            }
            Action::WriteOutside { buffer, side, bytes } => {
                result.outside.push(Outside { buffer, side, bytes });
            }
            Action::LyingWorkspace { bytes } => {
                let bytes = u64::try_from(bytes).unwrap_or(0);
                result.outside.push(Outside { buffer: Buffer::Workspace, side: Side::After, bytes });
            }
            Action::WriteInput => result.input = true,
            Action::Sticky { error } => result.sticky = Some(error),
            Action::Leak { bytes } => result.leak += bytes,
            Action::Flaky { .. }
            | Action::Nondeterministic { .. }
            | Action::Surplus { .. }
            | Action::Garble
            | Action::Status { .. }
            | Action::Crash { .. }
            | Action::Hang { .. } => {}
        }
    }
    result
}

impl Tampered {
    fn each(&mut self, problem: &Problem, region: Region, change: impl Fn(f64) -> Option<f64>) {
        let extents = &problem.tensor(problem.operation.output()).extents;
        let spatial: i64 = extents[2..].iter().product();
        let (spatial, inner) = (spatial as usize, extents[1] as usize);
        let count = self.values.len();
        let takes = |index: usize| match region {
            Region::LastChannel => index / spatial % inner == inner - 1,
            Region::LastItem => index >= count - spatial * inner,
            Region::Corner => index == count - 1,
            Region::Scattered => index.is_multiple_of(7),
        };
        for (index, value) in self.values.iter_mut().enumerate() {
            if let (Some(right), true) = (*value, takes(index)) {
                *value = change(right);
            }
        }
    }
}

/// A value that no bound excuses in any type, and that is not 0 where the right one is an integer.
fn off(value: f64) -> f64 {
    value + 1.0 + value.abs() / 4.0
}

/// The neighbouring f32, away from 0.
fn next_single(value: f64) -> f64 {
    let single = value as f32;
    if single.is_finite() { f64::from(f32::from_bits(single.to_bits() + 1)) } else { value }
}

/// True for a share of the counts, evenly spread.
fn falls_due(earlier: u64, rate: f64) -> bool {
    let due = |count: u64| (count as f64 * rate).floor();
    due(earlier + 1) > due(earlier)
}

/// A number from 0 to 1 that differs each time.
fn chance() -> f64 {
    (RandomState::new().hash_one(0_u8) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The input that a fault overwrites.
pub(crate) fn spoiled_input(problem: &Problem) -> Role {
    problem.operation.inputs()[0]
}
