//! `convict minimize`: one failing case to a smallest one, with what is claimed about it.

use case::Case;
use hunt::{Allowance, Bench, Desk, EXPLANATION, Finding, HuntError, HuntEvent, MinimizedCase, Reduction};
use minimizer::{Rate, Replay};
use serde_json::{Value, json};

use crate::args::{Minimize, Switch};
use crate::bundle::Bundler;
use crate::commands::check::require_set;
use crate::commands::hunt::failure;
use crate::failure::{CLEAN, Failure};
use crate::log::Log;
use crate::machine::Machine;
use crate::planning::planned;
use crate::screen::outln;

/// Minimizes the case and prints the result.
pub(crate) fn run(arguments: &Minimize) -> Result<u8, Failure> {
    let case: Case = arguments.case.parse()?;
    let (log, earlier) = open_log(arguments, &case)?;
    let planned = planned(&arguments.plans, arguments.machine.simulate.is_some(), Switch::All)?;
    let machine = Machine::of(&arguments.machine, &arguments.devices.device, planned.as_ref())?;
    machine.require_workers(arguments.workers as usize)?;
    machine.prepare()?;
    let mut slots = machine.slots(arguments.workers as usize);
    let mut slot = slots.swap_remove(0);
    let environment = slot.environment()?.clone();
    require_set(&case, &environment, arguments.any_set)?;
    if !arguments.json {
        outln!("{}", machine.describe(&environment));
    }
    let allowance = Allowance { calls_max: arguments.calls, seconds_max: arguments.time.as_secs_f64() };
    let tell = |event: HuntEvent| {
        if let HuntEvent::Minimizing { case, calls, .. } = event
            && !arguments.json
        {
            outln!("{calls:>4}  {case}");
        }
        Ok(())
    };
    let write = |line: &str| log.as_ref().map_or(Ok(()), |log| log.write(line));
    let aides = slots.iter_mut().map(|slot| slot as &mut dyn Bench).collect();
    let mut desk = Desk { aides, earlier, record: Some(&write) };
    let mut minimized =
        hunt::minimize_case(&mut slot, &case, allowance, &mut desk, &tell).map_err(failure)?;
    if let Some(folder) = &arguments.out {
        minimized.finding.explained =
            match hunt::explain_finding(&mut slot, &minimized.finding, EXPLANATION, None) {
                Ok(explained) => Some(explained),
                // It comes and goes; the bundle says that nothing was found out.
                Err(HuntError::Passes(_)) => None,
                Err(error) => return Err(failure(error)),
            };
        let bundler = Bundler::new(&machine);
        bundler
            .try_out(&minimized.finding)
            .and_then(|tried| bundler.write(folder, &minimized.finding, Some(&tried)))
            .map_err(|error| Failure::file("--out", folder, &error))?;
    }
    print(arguments, &minimized);
    Ok(CLEAN)
}

/// The log in the folder of the bundle, and what it holds already.
fn open_log(arguments: &Minimize, case: &Case) -> Result<(Option<Log>, Replay), Failure> {
    Ok(match &arguments.out {
        None => (None, Replay::default()),
        Some(folder) if arguments.resume => {
            let (log, earlier) = Log::reopen(folder, case)?;
            (Some(log), earlier)
        }
        Some(folder) => (Some(Log::new(folder, case)?), Replay::default()),
    })
}

fn print(arguments: &Minimize, minimized: &MinimizedCase) {
    let finding = &minimized.finding;
    let reduction = finding.reduction.as_ref();
    if arguments.json {
        let report = json!({
            "signature": finding.signature,
            "tier": finding.tier,
            "original": finding.original.to_string(),
            "case": finding.case.to_string(),
            "summary": finding.fault.summary,
            "hits": finding.hits,
            "runs": finding.runs,
            "one_minimal": reduction.is_some_and(|reduction| reduction.one_minimal),
            "predicate_calls": reduction.map_or(0, |reduction| reduction.predicate_calls),
            "speculative_calls": reduction.map_or(0, |reduction| reduction.speculative_calls),
            "recalled_calls": reduction.map_or(0, |reduction| reduction.recalled_calls),
            "rate": rate(finding, reduction),
            "guarantee": reduction.map(|reduction| &reduction.guarantee),
            "siblings": minimized.siblings.iter().map(|sibling| &sibling.provisional).collect::<Vec<_>>(),
        });
        outln!("{report}");
        return;
    }
    outln!("\n{}", finding.case);
    outln!("{}, tier {}: {}", finding.signature, finding.tier.name(), finding.fault.summary);
    outln!("failed in {} of {} fresh processes", finding.hits, finding.runs);
    if let Some(reduction) = reduction {
        outln!("{}", reduction.guarantee);
        outln!(
            "{} predicate calls, {} speculative ones, {} from the log, {:.1} s",
            reduction.predicate_calls,
            reduction.speculative_calls,
            reduction.recalled_calls,
            reduction.seconds
        );
    }
    for sibling in &minimized.siblings {
        outln!("met on the way: {} in {}", sibling.provisional, sibling.case);
    }
}

/// How often the final case failed: in fresh processes, or where the failure comes and goes, in the search's last
/// runs, whose number does not depend on what they showed.
fn rate(finding: &Finding, reduction: Option<&Reduction>) -> Value {
    let measured = reduction.filter(|reduction| reduction.comes_and_goes).map(|reduction| reduction.rate);
    let rate = measured.unwrap_or(Rate { hits: finding.hits, runs: finding.runs });
    let (low, high) = rate.interval();
    json!({ "hits": rate.hits, "runs": rate.runs, "share": rate.share(), "low": low, "high": high })
}
