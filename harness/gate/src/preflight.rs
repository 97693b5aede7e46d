//! Whether a machine can run the simplest convolution: what has to hold before anything else is looked at. Knows one
//! case and its plans; decides no exit code.

use case::{Case, Job, Selection, Verdict};
use corpus::Showing;
use exec::HarnessError;
use hunt::Bench;

use crate::ask::{Asking, run};
use crate::thresholds::Thresholds;

/// Small integers, which every engine computes exactly.
const KNOWN_GOOD: &str = "fprop f32 nchw n2 c4 k4 i8x8 f3x3 p1x1 fill=int2:1";

/// How the known-good convolution went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Convolution {
    /// The plan that is tried first is right.
    Right,
    /// That plan is not, as the text says, and another one is: the library's trouble, not the device's.
    FirstWrong(String),
    /// No plan is, as the text says.
    Wrong(String),
}

/// A known-good convolution must be right and memory must be free, else nothing that follows means anything.
///
/// # Errors
/// What is wrong with the machine, in one line; or trouble of the bench.
pub fn preflight<B: Bench + ?Sized>(bench: &mut B) -> Result<Option<String>, HarnessError> {
    let environment = bench.environment()?;
    if let Some(unmet) = Thresholds::default().unmet(&environment).into_iter().next() {
        return Ok(Some(unmet.words));
    }
    Ok(match convolution(bench)? {
        Convolution::Right | Convolution::FirstWrong(_) => None,
        Convolution::Wrong(why) => Some(why),
    })
}

/// Runs the known-good convolution, within the time that the bench has been given.
///
/// # Errors
/// Trouble of the bench, among which are the end of its time and a device that fails the simplest case after an
/// abnormal end.
pub fn convolution<B: Bench + ?Sized>(bench: &mut B) -> Result<Convolution, HarnessError> {
    let good: Case = match KNOWN_GOOD.parse() {
        Ok(case) => case,
        Err(error) => return Ok(Convolution::Wrong(format!("{KNOWN_GOOD}: {error}"))),
    };
    let asking =
        Asking { engines: Selection::Single, multiply_adds_max: 0, time: None, looking_for_one: false };
    let why = match run(bench, &good, &asking)? {
        Showing::Passed => return Ok(Convolution::Right),
        Showing::Failed(failing) => format!("the known-good convolution fails: {}", failing.summary),
        Showing::Refused(why) => format!("the known-good convolution is refused: {why}"),
        Showing::Skipped(why) | Showing::Untrusted(why) | Showing::Trouble(why) => {
            format!("the known-good convolution could not be judged: {why}")
        }
    };
    // A library may be wrong about the simplest convolution: the plan ranked first by the run-time-compiled engines of
    // cuDNN 9.27.0 is, on an H200. The device is well where any plan is right.
    let job = Job::new(0, good, Selection::Heuristics);
    let mut right = false;
    hunt::survey(bench, &job, &mut |_, verdict| right |= verdict == Verdict::Pass)?;
    Ok(if right { Convolution::FirstWrong(why) } else { Convolution::Wrong(why) })
}
