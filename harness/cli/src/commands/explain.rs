//! `convict explain`: where the failure of a case lies, which near cases pass, and how its plan is reached.

use std::path::Path;

use case::{Alternative, Case, Cell, Explanation, Map, Probes, Reach};
use comfy_table::{Table, presets};
use hunt::{Allowance, Explained, Finding};
use serde_json::json;

use crate::args::Explain;
use crate::commands::check::require_set;
use crate::commands::hunt::{failure, stop_on_signal};
use crate::failure::{CLEAN, Failure};
use crate::machine::{Machine, describe};

/// Explains the case, or the case of a bundle, and prints what was found.
pub(crate) fn run(arguments: &Explain) -> Result<u8, Failure> {
    let (case, original) = target(&arguments.target)?;
    let machine = Machine::new(&arguments.machine, None)?;
    machine.prepare()?;
    let mut slot = machine.slot();
    let environment = slot.environment()?.clone();
    require_set(&case, &environment, arguments.any_set)?;
    stop_on_signal(&machine)?;
    if !arguments.json {
        println!("{}", describe(&environment, machine.simulated()));
    }
    let mut finding = hunt::accuse(&mut slot, &case).map_err(failure)?;
    finding.original = original;
    let allowance = Allowance { calls_max: arguments.calls, seconds_max: arguments.time.as_secs_f64() };
    let Explained { explanation, reach } =
        hunt::explain_finding(&mut slot, &finding, allowance, None).map_err(failure)?;
    if arguments.json {
        let report = json!({
            "case": finding.case.to_string(),
            "signature": finding.signature,
            "expression": explanation.region.to_string(),
            "explanation": explanation,
            "reach": reach,
        });
        println!("{report}");
    } else {
        print(&finding, &explanation, &reach);
    }
    Ok(CLEAN)
}

/// The case and the case as it was met: both of a bundle, or twice the one of the command line.
fn target(target: &str) -> Result<(Case, Case), Failure> {
    let folder = Path::new(target);
    if !folder.is_dir() {
        let case: Case = target.parse()?;
        return Ok((case.clone(), case));
    }
    let bundle =
        reports::read(folder).map_err(|error| Failure::Usage(format!("{}: {error}", folder.display())))?;
    Ok((bundle.case, bundle.original))
}

fn print(finding: &Finding, explanation: &Explanation, reach: &Reach) {
    let region = &explanation.region;
    println!("{}\n{}\n", finding.case, finding.fault.summary);
    let doubt = region.support().doubt().map_or_else(String::new, |doubt| format!(" ({doubt})"));
    println!("fails where     {region}{doubt}");
    println!("inside          {}", counts(&region.inside));
    println!("just outside    {}", counts(&region.outside));
    for line in region.inside.counter_examples.iter().chain(&region.outside.counter_examples) {
        println!("contradicted by {line}");
    }
    let any = if explanation.any.is_empty() { "nothing".to_owned() } else { explanation.any.join(", ") };
    println!("has no effect   {any}");
    let end = if explanation.complete { "" } else { "; the budget ended first, so take it as a guess" };
    println!("cases run       {}{end}", explanation.calls);
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
        println!("\n{table}");
    }
}

fn print_map(map: &Map) {
    println!("\n{} downwards, {} across: x fails, . passes, ! fails otherwise", map.down, map.across);
    let values = map.rows.iter().chain(&map.columns).map(|value| value.to_string().len());
    let width = values.max().unwrap_or(1) + 1;
    let head: String = map.columns.iter().map(|value| format!("{value:>width$}")).collect();
    println!("{:>width$}{head}", "");
    for (row, cells) in map.rows.iter().zip(&map.cells) {
        let line: String = cells.iter().map(|cell| format!("{:>width$}", sign(*cell))).collect();
        println!("{}", format!("{row:>width$}{line}").trim_end());
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
    println!("\nreached         {}", reach.severity.words());
    println!("ranks           {}; of the case as it was met {}", reach.ranks, reach.original_ranks);
    println!("right           {} of {} plans that ran", reach.right, reach.ran);
    if let Some(Alternative { config, time_ratio, execute_us }) = &reach.alternative {
        let ratio =
            time_ratio.map_or_else(String::new, |ratio| format!(", {ratio:.2} times the failing plan's"));
        println!("use instead     engine {}, {execute_us} us{ratio}", config.engine);
    }
}
