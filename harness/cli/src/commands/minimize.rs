//! `convict minimize`: one failing case to a smallest one, with what is claimed about it.

use std::path::Path;

use case::Case;
use hunt::{Allowance, HuntEvent, MinimizedCase};
use serde_json::json;

use crate::args::Minimize;
use crate::bundle::Bundler;
use crate::commands::check::require_set;
use crate::commands::hunt::{failure, stop_on_signal};
use crate::failure::{CLEAN, Failure};
use crate::machine::{Machine, describe};

/// Minimizes the case and prints the result.
pub(crate) fn run(arguments: &Minimize) -> Result<u8, Failure> {
    let case: Case = arguments.case.parse()?;
    refuse_existing(arguments.out.as_deref())?;
    let machine = Machine::new(&arguments.machine, None)?;
    machine.prepare()?;
    let mut slot = machine.slot();
    let environment = slot.environment()?.clone();
    require_set(&case, &environment, arguments.any_set)?;
    stop_on_signal(&machine)?;
    if !arguments.json {
        println!("{}", describe(&environment, machine.simulated()));
    }
    let allowance = Allowance { calls_max: arguments.calls, seconds_max: arguments.time.as_secs_f64() };
    let tell = |event: HuntEvent| {
        if let HuntEvent::Minimizing { case, calls, .. } = event
            && !arguments.json
        {
            println!("{calls:>4}  {case}");
        }
        Ok(())
    };
    let minimized = hunt::minimize_case(&mut slot, &case, allowance, &tell).map_err(failure)?;
    if let Some(folder) = &arguments.out {
        Bundler::new(&machine)
            .write(folder, &minimized.finding, true)
            .map_err(|error| Failure::file("--out", folder, &error))?;
    }
    print(arguments, &minimized);
    Ok(CLEAN)
}

fn refuse_existing(out: Option<&Path>) -> Result<(), Failure> {
    match out {
        Some(folder) if folder.exists() => {
            Err(Failure::Usage(format!("--out {}: exists already; name a new folder", folder.display())))
        }
        Some(_) | None => Ok(()),
    }
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
            "siblings": minimized.siblings.iter().map(|sibling| &sibling.provisional).collect::<Vec<_>>(),
        });
        println!("{report}");
        return;
    }
    println!("\n{}", finding.case);
    println!("{}, tier {}: {}", finding.signature, finding.tier.name(), finding.fault.summary);
    println!("failed in {} of {} fresh processes", finding.hits, finding.runs);
    if let Some(reduction) = reduction {
        println!("{}", reduction.guarantee);
        println!("{} predicate calls, {:.1} s", reduction.predicate_calls, reduction.seconds);
    }
    for sibling in &minimized.siblings {
        println!("met on the way: {} in {}", sibling.provisional, sibling.case);
    }
}
