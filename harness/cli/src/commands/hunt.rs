//! `convict hunt`: assembles source, slots and folder, runs the campaign, prints what it found.

use std::path::Path;

use case::{Case, Selection, Tier};
use hunt::{Generator, HuntError, HuntOptions, Limits, Source, Summary};

use crate::args::{EngineSet, Hunt};
use crate::commands::check::require_set;
use crate::failure::{CLEAN, FOUND, Failure};
use crate::machine::{Machine, describe};
use crate::out::Out;
use crate::terminal::Terminal;

/// Share of a worker's memory that generated tensors may take; the rest is for references and workspaces.
const TENSOR_SHARE: f64 = 0.25;

/// Runs a hunt to its end.
pub(crate) fn run(arguments: &Hunt) -> Result<u8, Failure> {
    let listed = arguments.cases_from.as_deref().map(read_cases).transpose()?;
    if arguments.time.is_none() && arguments.cases.is_none() && listed.is_none() {
        return Err(Failure::Usage("a hunt needs an end: give --time, --cases or --cases-from".to_owned()));
    }
    let machine = Machine::new(&arguments.machine, None)?;
    machine.prepare()?;
    let workers = arguments.workers.map_or_else(cores, |workers| workers as usize);
    let mut slots = machine.slots(workers);
    let environment = slots[0].environment()?.clone();
    let mut options =
        HuntOptions::new(source(arguments, listed, &machine, environment.memory_bytes, workers));
    options.selection = match arguments.engines {
        EngineSet::All => Selection::All,
        EngineSet::Heuristics => Selection::Heuristics,
    };
    options.time = arguments.time;
    options.problems_max = arguments.cases;
    if let Source::Listed(cases) = &options.source {
        for case in cases {
            require_set(case, &environment, false)?;
        }
    }
    let terms = options.source.terms(options.selection);
    let (out, ledger) = Out::open(arguments, &terms, (&machine, workers))?;
    let terminal = Terminal::new(arguments.json);
    terminal.say(&describe(&environment, machine.simulated()));
    stop_on_signal(&machine)?;
    let sink = |entry: &hunt::Entry| {
        out.take(entry)?;
        terminal.take(entry, &out);
        Ok(())
    };
    let summary = hunt::hunt(&options, slots, ledger, machine.interrupt(), &sink);
    terminal.close();
    out.finish().map_err(|error| Failure::Ours(format!("--out {}: {error}", arguments.out.display())))?;
    let summary = out.with_bundles(summary.map_err(failure)?);
    report(arguments, &summary)?;
    Ok(if summary.findings.iter().any(|finding| finding.tier != Tier::C) { FOUND } else { CLEAN })
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn source(
    arguments: &Hunt,
    listed: Option<Vec<Case>>,
    machine: &Machine,
    memory_bytes: u64,
    workers: usize,
) -> Source {
    match listed {
        Some(cases) => Source::Listed(cases),
        None if machine.simulated() => Source::Generated(Generator::new(arguments.seed, Limits::simulator())),
        None => {
            let share = memory_bytes as f64 / workers as f64 * TENSOR_SHARE;
            #[expect(clippy::cast_possible_truncation, reason = "a share of a byte count")]
            let limits = Limits::device(share as i64);
            Source::Generated(Generator::new(arguments.seed, limits))
        }
    }
}

/// Reads case lines; blank lines and those that begin with # are passed over.
fn read_cases(path: &Path) -> Result<Vec<Case>, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("--cases-from {}: {error}", path.display())))?;
    let mut cases = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let case = line.parse().map_err(|error| {
            Failure::Usage(format!("--cases-from {}, line {}: {error}", path.display(), number + 1))
        })?;
        cases.push(case);
    }
    if cases.is_empty() {
        return Err(Failure::Usage(format!("--cases-from {}: holds no case line", path.display())));
    }
    Ok(cases)
}

/// Ctrl-C, and a polite kill, end the hunt cleanly; whatever is found so far stays.
pub(crate) fn stop_on_signal(machine: &Machine) -> Result<(), Failure> {
    let interrupt = machine.interrupt().clone();
    ctrlc::set_handler(move || interrupt.set())
        .map_err(|error| Failure::Ours(format!("signal handler: {error}")))
}

/// Whose trouble a hunt's error is.
pub(crate) fn failure(error: HuntError) -> Failure {
    match error {
        HuntError::Harness(error) => error.into(),
        HuntError::Passes(message) => Failure::Usage(message),
        HuntError::OtherSet { .. } => Failure::Usage(error.to_string()),
        HuntError::Record(_) | HuntError::NoSlots => Failure::Ours(error.to_string()),
    }
}

fn report(arguments: &Hunt, summary: &Summary) -> Result<(), Failure> {
    if arguments.json {
        let text = serde_json::to_string(summary).map_err(|error| Failure::Ours(error.to_string()))?;
        println!("{text}");
        return Ok(());
    }
    println!(
        "\n{} checks in {:.1} s ({:.1} a second; {} compiled at run time, {} precompiled), {} problems, {} engines",
        summary.checks,
        summary.seconds,
        summary.checks_per_second,
        summary.run_time_compiled,
        summary.precompiled,
        summary.problems,
        summary.engines
    );
    if let Some(share) = summary.foreign_share {
        println!("{:.1} % of the workers' time was spent inside cuDNN and CUDA", 100.0 * share);
    }
    for (reason, count) in &summary.refusals {
        println!("  not executed, {reason}: {count}");
    }
    for flaky in &summary.flaky {
        println!("flaky, {} of {} runs: {}", flaky.hits, flaky.runs, flaky.case);
    }
    if summary.findings.is_empty() {
        println!("no findings");
    }
    for finding in &summary.findings {
        println!(
            "\n{}  tier {}  {} of {} runs",
            finding.signature,
            finding.tier.name(),
            finding.hits,
            finding.runs
        );
        println!("  {}", finding.summary);
        println!("  convict check '{}'", finding.case);
        if let Some(bundle) = &finding.bundle {
            println!("  {}", arguments.out.join(bundle).display());
        }
    }
    if summary.interrupted {
        println!("\ninterrupted; go on with --resume");
    }
    Ok(())
}
