//! Minimizes one case outside a hunt. Knows the steps of a pursuit; keeps no queue.

use std::cell::RefCell;
use std::time::Duration;

use case::{Case, Matrix, Selection, Verdict};

use crate::bench::Bench;
use crate::error::HuntError;
use crate::event::{Finding, HuntEvent, Suspect, provisional};
use crate::examine::{check, config_of};
use crate::pursuit::{End, Pursuit};
use crate::reduce::{Allowance, Desk};
use crate::suspects::Lead;

/// A finding and other failures that were met while it was minimized.
#[derive(Clone, Debug, PartialEq)]
pub struct MinimizedCase {
    /// The finding.
    pub finding: Finding,
    /// Failures of another kind, each as it was first met.
    pub siblings: Vec<Suspect>,
}

/// Checks a case, confirms its failure, minimizes it, confirms again and gathers evidence.
///
/// # Errors
/// `HuntError::Passes` where the case does not fail, or not often enough, or where the check accepts what cannot
/// fail; otherwise those of the bench and of
/// `tell`.
pub fn minimize_case<B: Bench>(
    bench: &mut B,
    case: &Case,
    allowance: Allowance,
    desk: &mut Desk<'_>,
    tell: &dyn Fn(HuntEvent) -> Result<(), HuntError>,
) -> Result<MinimizedCase, HuntError> {
    let set = bench.environment()?.set();
    let (verdict, outcome) = check(bench, case, Matrix::Standard)?;
    let fault = match verdict {
        Verdict::Fault(fault) => fault,
        Verdict::Pass => return Err(HuntError::Passes("the case passes: nothing to minimize".to_owned())),
        Verdict::Unsupported(refusal) => {
            return Err(HuntError::Passes(format!(
                "the case is refused: {} in {}",
                refusal.name,
                refusal.phase.name()
            )));
        }
        Verdict::Untrusted(why) => {
            return Err(HuntError::Passes(format!("the check of the case says nothing: {why}")));
        }
    };
    let suspect = Suspect {
        provisional: provisional(&fault.sameness, case),
        case: case.clone(),
        selection: Selection::Single,
        config: config_of(&outcome).cloned(),
        fault,
        // Its process was new, or did nothing but start.
        history: Vec::new(),
    };
    let siblings: RefCell<Vec<Suspect>> = RefCell::default();
    let mut pursuit = Pursuit {
        bench,
        set: &set,
        allowance: &|_| allowance,
        until: None,
        reserve: Duration::ZERO,
        tell,
        offer: &|sibling| {
            let mut siblings = siblings.borrow_mut();
            if siblings.iter().all(|known| known.provisional != sibling.provisional) {
                siblings.push(sibling);
            }
            Ok(())
        },
        known: &Vec::new,
        desk,
    };
    let end = pursuit.follow(&Lead::Suspect(Box::new(suspect)))?;
    match end {
        End::Found(finding) => match doubt(&finding) {
            Some(doubt) => Err(HuntError::Passes(doubt.to_owned())),
            None => Ok(MinimizedCase { finding: *finding, siblings: siblings.into_inner() }),
        },
        End::Dropped(hits, runs) => Err(HuntError::Passes(format!(
            "the failure came back in {hits} of {runs} runs: too rarely to minimize"
        ))),
        End::Merged(_) | End::OutOfTime => Err(HuntError::Passes("the failure was not followed".to_owned())),
    }
}

/// What makes the check itself doubtful.
fn doubt(finding: &Finding) -> Option<&str> {
    finding.reduction.as_ref()?.doubt.as_deref()
}

#[cfg(test)]
mod tests;
