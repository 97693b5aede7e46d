//! One slot's share of a hunt: a lead where one waits, else the next problem. Knows what to do with its
//! bench's troubles; shares everything else.

use std::sync::atomic::Ordering;
use std::time::Duration;

use exec::HarnessError;

use super::Floor;
use super::survey::survey_problem;
use crate::bench::Bench;
use crate::error::HuntError;
use crate::event::{Finding, HuntEvent};
use crate::explain::explain_finding;
use crate::life::Life;
use crate::pursuit::{End, Pursuit};
use crate::reduce::Desk;
use crate::suspects::Lead;

/// Troubles in a row after which a slot gives up: more than one lead is tried, so that no lead costs a slot.
const STRIKES_MAX: u32 = 5;

/// How long an idle slot sleeps before it looks again.
const IDLE: Duration = Duration::from_millis(20);

/// Works until the hunt is over or the bench is beyond use, then looks further into what was found.
pub(super) fn work<B: Bench>(floor: &Floor<'_>, number: usize, mut bench: B) -> Result<(), HuntError> {
    let watch = floor.watch();
    hunt(floor, number, &mut bench)?;
    drop(watch);
    floor.wait_for_others();
    explain(floor, &mut bench)
}

/// Looks into findings one after the other. What can't be explained stays as it was found.
fn explain<B: Bench>(floor: &Floor<'_>, bench: &mut B) -> Result<(), HuntError> {
    let Some(allowance) = floor.options.explanation else { return Ok(()) };
    while let Some((finding, number, of)) = floor.next_unexplained() {
        let signature = finding.signature.clone();
        floor.record.tell(HuntEvent::Explaining { signature, number, of })?;
        bench.fresh();
        match explain_finding(bench, &finding, allowance, None) {
            Ok(explained) => {
                let finding = Box::new(Finding { explained: Some(explained), ..finding });
                floor.record.tell(HuntEvent::Explained(finding))?;
            }
            Err(HuntError::Harness(HarnessError::Interrupted)) => return Ok(()),
            Err(error @ HuntError::Record(_)) => return Err(error),
            // It comes and goes, or the device is in trouble: both were told while hunting.
            Err(_) => {}
        }
    }
    Ok(())
}

fn hunt<B: Bench>(floor: &Floor<'_>, number: usize, bench: &mut B) -> Result<(), HuntError> {
    let mut strikes = 0;
    let mut hunting = true;
    let mut life = Life::default();
    while !floor.is_over() {
        let step = step(floor, (bench, &mut life), &mut hunting);
        match step {
            Ok(Step::Worked) => strikes = 0,
            Ok(Step::Idle) => {
                if floor.suspects().is_idle() {
                    return Ok(());
                }
                wait(floor);
            }
            Err(error) => {
                strikes += 1;
                if let Some(end) = trouble(floor, number, error, strikes) {
                    return end;
                }
                bench.fresh();
            }
        }
    }
    Ok(())
}

enum Step {
    Worked,
    Idle,
}

fn step<B: Bench>(
    floor: &Floor<'_>,
    (bench, life): (&mut B, &mut Life),
    hunting: &mut bool,
) -> Result<Step, HuntError> {
    if let Some(lead) = floor.next_lead(*hunting) {
        follow(floor, bench, lead)?;
        return Ok(Step::Worked);
    }
    if *hunting {
        if let Some((index, case)) = floor.next_problem() {
            survey_problem(floor, (bench, life), index, &case)?;
            return Ok(Step::Worked);
        }
        *hunting = false;
        return Ok(Step::Worked);
    }
    Ok(Step::Idle)
}

fn wait(floor: &Floor<'_>) {
    let suspects = floor.suspects();
    // Woken or not, the loop looks again; a poisoned lock is looked at there too.
    drop(floor.changed.wait_timeout(suspects, IDLE));
}

/// What a trouble means for the slot: `Some` ends it.
fn trouble(
    floor: &Floor<'_>,
    number: usize,
    error: HuntError,
    strikes: u32,
) -> Option<Result<(), HuntError>> {
    let lost = match &error {
        HuntError::Harness(HarnessError::Interrupted) => return Some(Ok(())),
        HuntError::Harness(HarnessError::Unhealthy { .. } | HarnessError::Unusable { .. }) => true,
        HuntError::Harness(
            HarnessError::Spawn { .. }
            | HarnessError::Io { .. }
            | HarnessError::Frame(_)
            | HarnessError::Broken { .. }
            | HarnessError::OutOfTime,
        ) => strikes >= STRIKES_MAX,
        HuntError::Record(_) | HuntError::NoSlots | HuntError::OtherSet { .. } | HuntError::Passes(_) => {
            floor.stop.store(true, Ordering::Relaxed);
            return Some(Err(error));
        }
    };
    if !lost {
        return None;
    }
    let told = floor.record.tell(HuntEvent::SlotLost { slot: number as u64, message: error.to_string() });
    Some(Err(told.err().unwrap_or(error)))
}

/// Follows a lead and puts it away, whatever came of it.
fn follow<B: Bench>(floor: &Floor<'_>, bench: &mut B, lead: Lead) -> Result<(), HuntError> {
    let mut pursuit = Pursuit {
        bench,
        set: &floor.set,
        allowance: &|tier| floor.allowance(tier),
        until: floor.end,
        reserve: floor.reserve(),
        tell: &|event| floor.record.tell(event),
        offer: &|suspect| floor.offer(suspect),
        known: &|| floor.record.ledger().found().cloned().collect(),
        desk: &mut Desk::default(),
    };
    let end = pursuit.follow(&lead);
    let mut suspects = floor.suspects();
    match &end {
        Ok(End::Found(finding)) => suspects.settle(&lead, &finding.signature),
        Ok(End::Merged(signature)) => suspects.settle(&lead, signature),
        Ok(End::Dropped(..) | End::OutOfTime) => suspects.shelve(&lead),
        Err(_) => suspects.hand_back(lead),
    }
    drop(suspects);
    floor.changed.notify_all();
    end.map(drop)
}
