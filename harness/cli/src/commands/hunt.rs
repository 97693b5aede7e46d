//! `convict hunt`: assembles source, slots and folder, runs the campaign, prints what it found.

use case::{Case, Selection, Tier};
use hunt::{
    Around, FoundSummary, Generator, HuntError, HuntOptions, Limits, Operations, Source, Summary, Weighted,
};

use crate::args::{EngineSet, Hunt, Switch};
use crate::cases::Written;
use crate::commands::check::require_set;
use crate::failure::{CLEAN, FOUND, Failure, UNJUDGED};
use crate::machine::Machine;
use crate::out::Out;
use crate::planning::planned;
use crate::screen::outln;
use crate::terminal::Terminal;
use crate::traffic;

/// Share of a worker's memory that generated tensors may take; the rest is for references and workspaces.
const TENSOR_SHARE: f64 = 0.25;

/// Most cases before a finding's own that are printed with it; a longer row is read from the bundle.
const HISTORY_SHOWN: usize = 3;

/// Listed cases of which nothing was judged that are named; the others are counted.
const UNJUDGED_SHOWN: usize = 10;

/// Runs a hunt to its end.
pub(crate) fn run(arguments: &Hunt) -> Result<u8, Failure> {
    let listed = arguments.cases_from.as_deref().map(Written::read).transpose()?;
    let around = arguments.around.as_deref().map(traffic::weighted).transpose()?;
    if arguments.time.is_none() && arguments.cases.is_none() && listed.is_none() {
        return Err(Failure::Usage("a hunt needs an end: give --time, --cases or --cases-from".to_owned()));
    }
    let planned = planned(&arguments.plans, arguments.machine.simulate.is_some(), compiled(arguments))?;
    let machine = Machine::of(&arguments.machine, &arguments.devices.device, planned.as_ref())?;
    let workers =
        arguments.workers.map_or_else(|| cores().max(machine.devices()), |workers| workers as usize);
    machine.require_workers(workers)?;
    machine.prepare()?;
    let mut slots = machine.slots(workers);
    let environment = slots[0].environment()?.clone();
    let listed = listed.map(|written| written.on(&environment, machine.simulated())).transpose()?;
    let mut options =
        HuntOptions::new(source(arguments, (listed, around), &machine, (environment.memory_bytes, workers)));
    options.selection = match arguments.engines {
        EngineSet::All => Selection::All,
        EngineSet::Heuristics => Selection::Heuristics,
    };
    options.plans_only = planned.is_some();
    options.time = arguments.time;
    options.problems_max = arguments.cases;
    for case in own_cases(&options.source) {
        require_set(case, &environment, false)?;
    }
    let terms = options.source.terms(options.selection);
    let listed = terms.listed.map(|listed| listed.min(arguments.cases.unwrap_or(u64::MAX)));
    let (out, ledger) = Out::open(arguments, &terms, (&machine, workers))?;
    let terminal = Terminal::new(arguments.json);
    terminal.say(&machine.describe(&environment));
    let sink = |entry: &hunt::Entry| {
        out.take(entry)?;
        terminal.take(entry, &out);
        Ok(())
    };
    let summary = hunt::hunt(&options, slots, ledger, machine.interrupt(), &sink);
    let tried = out.finish(&|done, of| terminal.trying(done, of));
    terminal.close();
    tried.map_err(|error| Failure::Ours(format!("--out {}: {error}", arguments.out.display())))?;
    let summary = out.with_bundles(summary.map_err(failure)?);
    report(arguments, &summary, listed)?;
    Ok(code(&summary))
}

/// Which plans that compile are built where `--rtc` says nothing: cuDNN has hardly any others of what is no
/// convolution, so that without them nothing would be judged.
fn compiled(arguments: &Hunt) -> Switch {
    let others = |operations: Operations| operations.iter().any(|operation| !operation.is_convolution());
    if arguments.operations.is_some_and(others) { Switch::On } else { Switch::Off }
}

/// What was found so far decides, whether the hunt ended or was interrupted.
fn code(summary: &Summary) -> u8 {
    if summary.findings.iter().any(|finding| finding.tier != Tier::C) {
        FOUND
    } else if summary.judged_nothing() {
        UNJUDGED
    } else {
        CLEAN
    }
}

pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn source(
    arguments: &Hunt,
    (listed, around): (Option<Vec<Case>>, Option<Vec<Weighted>>),
    machine: &Machine,
    (memory_bytes, workers): (u64, usize),
) -> Source {
    let limits = || {
        if machine.plans_only() {
            return Limits::planning();
        }
        if machine.simulated() {
            return Limits::simulator();
        }
        let share = memory_bytes as f64 / workers as f64 * TENSOR_SHARE;
        #[expect(clippy::cast_possible_truncation, reason = "a share of a byte count")]
        let bytes = share as i64;
        Limits::device(bytes)
    };
    match (listed, around) {
        (Some(cases), _) => Source::Listed(cases),
        (None, Some(around)) => Source::Around(Around::new(arguments.seed, limits(), around)),
        (None, None) => {
            let operations = arguments.operations.unwrap_or(Operations::CONVOLUTIONS);
            let generator = if machine.plans_only() {
                Generator::planning(arguments.seed)
            } else {
                Generator::new(arguments.seed, limits())
            };
            Source::Generated(generator.over(operations))
        }
    }
}

/// The cases of a source that somebody wrote.
fn own_cases(source: &Source) -> Vec<&Case> {
    match source {
        Source::Generated(_) => Vec::new(),
        Source::Listed(cases) => cases.iter().collect(),
        Source::Around(around) => around.listed().iter().map(|weighted| &weighted.case).collect(),
    }
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

fn report(arguments: &Hunt, summary: &Summary, listed: Option<u64>) -> Result<(), Failure> {
    if arguments.json {
        let text = serde_json::to_string(summary).map_err(|error| Failure::Ours(error.to_string()))?;
        outln!("{text}");
        return Ok(());
    }
    outln!(
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
        outln!("{:.1} % of the workers' time was spent inside cuDNN and CUDA", 100.0 * share);
    }
    for (reason, count) in &summary.refusals {
        outln!("  not executed, {reason}: {count}");
    }
    if summary.problems_unjudged > 0 {
        outln!("no plan of {} of the {} problems was judged", summary.problems_unjudged, summary.problems);
    }
    for flaky in &summary.flaky {
        outln!("flaky, {} of {} runs: {}", flaky.hits, flaky.runs, flaky.case);
    }
    for line in unjudged(summary, listed) {
        outln!("{line}");
    }
    if summary.judged_nothing() {
        outln!("nothing could be judged: not a single check was made");
    } else if summary.findings.is_empty() {
        outln!("no findings");
    }
    for finding in &summary.findings {
        print_finding(arguments, finding);
    }
    if summary.interrupted {
        outln!("\ninterrupted; go on with --resume");
    }
    Ok(())
}

fn print_finding(arguments: &Hunt, finding: &FoundSummary) {
    outln!(
        "\n{}  tier {}  {} of {} runs",
        finding.signature,
        finding.tier.name(),
        finding.hits,
        finding.runs
    );
    outln!("  {}", finding.summary);
    if let Some(shortfall) = &finding.shortfall {
        outln!("  {shortfall}");
    }
    let plans = arguments.plans.words();
    let bundle = finding.bundle.as_ref().map(|bundle| arguments.out.join(bundle));
    match &bundle {
        Some(bundle) if finding.case.matches(';').count() > HISTORY_SHOWN => {
            let case = bundle.join("case.txt");
            outln!("  convict check{plans} \"$(cat {})\"", case.display());
        }
        Some(_) | None => outln!("  convict check{plans} '{}'", finding.case),
    }
    if let Some(bundle) = bundle {
        outln!("  {}", bundle.display());
    }
}

/// The cases of a list of which nothing was judged, and how many were not reached.
fn unjudged(summary: &Summary, listed: Option<u64>) -> Vec<String> {
    let mut lines: Vec<String> = summary
        .unjudged
        .iter()
        .take(UNJUDGED_SHOWN)
        .map(|unjudged| {
            let reasons: Vec<String> =
                unjudged.reasons.iter().map(|(reason, count)| format!("{reason} ({count})")).collect();
            let why = if reasons.is_empty() { "there was no plan".to_owned() } else { reasons.join(", ") };
            format!("not judged: {}\n  {why}", unjudged.case)
        })
        .collect();
    if let Some(more) = summary.unjudged.len().checked_sub(UNJUDGED_SHOWN).filter(|more| *more > 0) {
        lines.push(format!("not judged: {more} more listed cases, named in summary.json"));
    }
    if let Some(missed) =
        listed.and_then(|listed| listed.checked_sub(summary.problems)).filter(|left| *left > 0)
    {
        lines.push(format!("not surveyed to the end before the hunt ended: {missed} listed cases"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use hunt::{Ledger, Unjudged};

    use super::*;

    fn summary(unjudged: u64, problems: u64) -> Summary {
        let unjudged = (0..unjudged).map(|index| Unjudged {
            index,
            case: format!("case {index}"),
            reasons: vec![("NOT_SUPPORTED in plan".to_owned(), 3)],
        });
        Summary { unjudged: unjudged.collect(), problems, ..Ledger::default().summary() }
    }

    #[test]
    fn at_most_ten_cases_that_were_not_judged_are_named_and_the_rest_is_counted() {
        assert_eq!(unjudged(&summary(1, 1), Some(1)), ["not judged: case 0\n  NOT_SUPPORTED in plan (3)"]);
        let lines = unjudged(&summary(12, 12), Some(15));
        assert_eq!(lines.len(), 12);
        assert_eq!(lines[10], "not judged: 2 more listed cases, named in summary.json");
        assert_eq!(lines[11], "not surveyed to the end before the hunt ended: 3 listed cases");
        assert!(unjudged(&summary(0, 3), Some(3)).is_empty() && unjudged(&summary(0, 3), None).is_empty());
    }

    #[test]
    fn a_hunt_without_a_single_check_judged_nothing_and_any_check_is_clean() {
        assert_eq!(code(&summary(1, 1)), UNJUDGED);
        assert_eq!(code(&Summary { checks: 1, ..summary(1, 2) }), CLEAN);
        let refused = [("as expected".to_owned(), 2)].into_iter().collect();
        assert_eq!(code(&Summary { refusals: refused, ..summary(0, 1) }), CLEAN);
    }
}
