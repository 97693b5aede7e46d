//! `convict explain`: where the failure of a case lies, which near cases pass, and how its plan is reached.

use std::path::Path;

use case::{Alternative, Case, Cell, Explanation, Map, Probes, Reach};
use comfy_table::{Table, presets};
use hunt::{Allowance, Explained, Finding};
use serde_json::json;

use crate::args::{Explain, Switch};
use crate::commands::check::require_set;
use crate::commands::hunt::failure;
use crate::failure::{CLEAN, Failure};
use crate::machine::Machine;
use crate::planning::planned;
use crate::screen::outln;

/// Explains the case, or the case of a bundle, and prints what was found.
pub(crate) fn run(arguments: &Explain) -> Result<u8, Failure> {
    let Target { case, original, bundle } = target(&arguments.target)?;
    if arguments.update && bundle.is_none() {
        return Err(Failure::Usage(format!("--update: '{}' is no bundle", arguments.target.escape_debug())));
    }
    let planned = planned(&arguments.plans, arguments.machine.simulate.is_some(), Switch::Off)?;
    let machine = Machine::of(&arguments.machine, &arguments.device.device, planned.as_ref())?;
    machine.prepare()?;
    let mut slot = machine.slot();
    let environment = slot.environment()?.clone();
    require_set(&case, &environment, arguments.any_set)?;
    if !arguments.json {
        outln!("{}", machine.describe(&environment));
    }
    let mut finding = hunt::accuse(&mut slot, &case).map_err(failure)?;
    finding.original = original;
    let bundle = bundle.filter(|_| arguments.update);
    if bundle.as_ref().is_some_and(|bundle| bundle.verdict.sameness != finding.fault.sameness) {
        let line = format!("--update: the case fails in another way here: {}", finding.fault.summary);
        return Err(Failure::Usage(line));
    }
    let allowance = Allowance { calls_max: arguments.calls, seconds_max: arguments.time.as_secs_f64() };
    let Explained { explanation, reach } =
        hunt::explain_finding(&mut slot, &finding, allowance, None).map_err(failure)?;
    if bundle.is_some() {
        let folder = Path::new(&arguments.target);
        reports::record_explanation(folder, &explanation, &reach)
            .map_err(|error| Failure::Ours(format!("--update: {}: {error}", folder.display())))?;
    }
    if arguments.json {
        let report = json!({
            "case": finding.case.to_string(),
            "signature": finding.signature,
            "expression": explanation.region.to_string(),
            "explanation": explanation,
            "reach": reach,
        });
        outln!("{report}");
    } else {
        print(&finding, &explanation, &reach);
    }
    Ok(CLEAN)
}

/// What is explained.
struct Target {
    case: Case,
    /// The case as it was met; the same one where nothing else is known.
    original: Case,
    /// The bundle that it is from.
    bundle: Option<reports::Bundle>,
}

fn target(target: &str) -> Result<Target, Failure> {
    let folder = Path::new(target);
    if !folder.is_dir() {
        let case: Case = target.parse()?;
        return Ok(Target { original: case.clone(), case, bundle: None });
    }
    let bundle =
        reports::read(folder).map_err(|error| Failure::Usage(format!("{}: {error}", folder.display())))?;
    Ok(Target { case: bundle.case.clone(), original: bundle.original.clone(), bundle: Some(bundle) })
}

fn print(finding: &Finding, explanation: &Explanation, reach: &Reach) {
    let region = &explanation.region;
    outln!("{}\n{}\n", finding.case, finding.fault.summary);
    let doubt = region.support().doubt().map_or_else(String::new, |doubt| format!(" ({doubt})"));
    outln!("fails where     {region}{doubt}");
    outln!("inside          {}", counts(&region.inside));
    outln!("just outside    {}", counts(&region.outside));
    for line in region.inside.counter_examples.iter().chain(&region.outside.counter_examples) {
        outln!("contradicted by {line}");
    }
    let any = if explanation.any.is_empty() { "nothing".to_owned() } else { explanation.any.join(", ") };
    outln!("has no effect   {any}");
    let end = if explanation.complete { "" } else { "; the budget ended first, so take it as a guess" };
    outln!("cases run       {}{end}", explanation.calls);
    print_twins(explanation);
    if let Some(map) = &explanation.map {
        print_map(map);
    }
    print_reach(reach);
}

fn counts(probes: &Probes) -> String {
    match probes.tested {
        0 => "not tried on random cases".to_owned(),
        tested => format!("{} of {tested} random cases fail", probes.failed),
    }
}

fn print_twins(explanation: &Explanation) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["field", "fails", "passes", "passing case"]);
    for twin in &explanation.twins {
        table.add_row([&twin.field, &twin.fails, &twin.passes, &twin.case]);
    }
    if !explanation.twins.is_empty() {
        outln!("\n{table}");
    }
}

fn print_map(map: &Map) {
    outln!("\n{} downwards, {} across: x fails, . passes, ! fails otherwise", map.down, map.across);
    let values = map.rows.iter().chain(&map.columns).map(|value| value.to_string().len());
    let width = values.max().unwrap_or(1) + 1;
    let head: String = map.columns.iter().map(|value| format!("{value:>width$}")).collect();
    outln!("{:>width$}{head}", "");
    for (row, cells) in map.rows.iter().zip(&map.cells) {
        let line: String = cells.iter().map(|cell| format!("{:>width$}", sign(*cell))).collect();
        outln!("{}", format!("{row:>width$}{line}").trim_end());
    }
}

fn sign(cell: Cell) -> char {
    match cell {
        Cell::Fails => 'x',
        Cell::Passes => '.',
        Cell::Other => '!',
        Cell::Unjudged => ' ',
    }
}

fn print_reach(reach: &Reach) {
    outln!("\nreached         {}", reach.severity.words());
    outln!("ranks           {}; of the case as it was met {}", reach.ranks, reach.original_ranks);
    outln!("right           {} of {} plans that ran", reach.right, reach.ran);
    if let Some(Alternative { config, time_ratio, execute_us }) = &reach.alternative {
        let ratio =
            time_ratio.map_or_else(String::new, |ratio| format!(", {ratio:.2} times the failing plan's"));
        outln!("use instead     engine {}, {execute_us} us{ratio}", config.engine);
    }
}
