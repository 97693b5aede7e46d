//! `convict engines` without a case: every engine of library sets on architectures, as tables. Prints and writes.

use std::path::Path;

use case::{Job, Operation, Outcome, Selection};
use comfy_table::{ContentArrangement, Table, presets};
use exec::{JobEvent, Slot};
use reports::engines::{self, Answer, EngineRow, EngineTable, PassTable};

use crate::args::{Engines, Switch};
use crate::failure::{CLEAN, Failure};
use crate::machine::Machine;
use crate::planning::{Planned, planned};
use crate::screen::outln;
use crate::sets::Set;

/// Characters of a line on the screen; a longer list goes on below.
const COLUMNS: u16 = 120;

/// Makes the tables of every set and architecture.
pub(super) fn run(arguments: &Engines) -> Result<u8, Failure> {
    let simulated = arguments.machine.simulate.is_some();
    let mut devices = Vec::new();
    for plans in arguments.plans() {
        let device = planned(&plans, simulated, Switch::Off)?.ok_or_else(|| {
            let words = "a table of engines needs a device to plan for: add --arch sm_90 or --device-json FILE, or name \
                         a case line";
            Failure::Usage(words.to_owned())
        })?;
        devices.push(device);
    }
    if let Some(out) = &arguments.out {
        std::fs::create_dir_all(out)
            .map_err(|error| Failure::Usage(format!("--out {}: {error}", out.display())))?;
    }
    let mut tables: Vec<EngineTable> = Vec::new();
    for device in &devices {
        if arguments.set.is_empty() {
            let machine = Machine::of(&arguments.machine, &arguments.device.device, Some(device))?;
            machine.prepare()?;
            add(&mut tables, arguments, device, &machine)?;
        }
        for name in &arguments.set {
            let set = Set::planned(name, &arguments.machine, device)?;
            add(&mut tables, arguments, device, set.machine())?;
        }
    }
    if let Some(out) = &arguments.out {
        write(out, &tables)?;
    }
    Ok(CLEAN)
}

fn add(
    tables: &mut Vec<EngineTable>,
    arguments: &Engines,
    device: &Planned,
    machine: &Machine,
) -> Result<(), Failure> {
    let mut slot = machine.slot();
    let environment = slot.environment()?.clone();
    let table = ask(&mut slot, EngineTable::new(&environment))?;
    if let Some(twin) = tables.iter().find(|known| known.name() == table.name()) {
        return Err(Failure::Usage(format!(
            "{} was named twice for {} ({} and {}); a table is known by library set and architecture",
            table.set, table.device, twin.device, device.target.name
        )));
    }
    if arguments.json {
        let text = serde_json::to_string(&table).map_err(|error| Failure::Ours(error.to_string()))?;
        outln!("{text}");
    } else {
        outln!("{}", machine.describe(&environment));
        for pass in &table.passes {
            print(pass);
        }
    }
    tables.push(table);
    Ok(())
}

/// Has every engine of every pass asked about each problem.
fn ask(slot: &mut Slot, mut table: EngineTable) -> Result<EngineTable, Failure> {
    let mut number = 0;
    for operation in Operation::CONVOLUTIONS {
        for probe in engines::probes(operation) {
            number += 1;
            let mut outcomes: Vec<Outcome> = Vec::new();
            slot.run(&Job::new(number, probe.case.clone(), Selection::Describe), &mut |event| {
                if let JobEvent::Outcome(outcome) = event {
                    outcomes.push(outcome);
                }
            })?;
            table.add(&probe, &outcomes);
        }
    }
    Ok(table)
}

fn print(pass: &PassTable) {
    outln!("\n{}: {}", pass.operation.name(), pass.words());
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(COLUMNS);
    table.set_header(["engine", "takes", "notes", "knobs"]);
    for row in pass.taking() {
        table.add_row([row.engine.to_string(), taken(pass, row), notes(row), knobs(row)]);
    }
    outln!("{table}");
    for (place, why) in &pass.declined {
        let label = pass.probes.get(*place).map_or("", |(label, _)| *label);
        outln!("{label}: {why}");
    }
    for row in &pass.engines {
        for (answer, (label, _)) in row.answers.iter().zip(&pass.probes) {
            if let Answer::Trouble(words) = answer {
                outln!("trouble: engine {} on {label}: {words}", row.engine);
            }
        }
    }
}

fn taken(pass: &PassTable, row: &EngineRow) -> String {
    let labels = row.answers.iter().zip(&pass.probes).filter(|(answer, _)| answer.takes());
    labels.map(|(_, (label, _))| *label).collect::<Vec<_>>().join(", ")
}

fn notes(row: &EngineRow) -> String {
    [row.numerical.join(" "), row.behavior.join(" ")].join(" ").trim().to_owned()
}

fn knobs(row: &EngineRow) -> String {
    row.knobs.iter().map(|range| range.name()).collect::<Vec<_>>().join(" ")
}

/// Name of the page that leads to the tables, without its ending.
const INDEX: &str = "index";

fn write(out: &Path, tables: &[EngineTable]) -> Result<(), Failure> {
    let put = |name: &str, ending: &str, text: &str| {
        let path = out.join(format!("{name}.{ending}"));
        reports::draft::write_whole(&path, text.as_bytes())
            .map_err(|error| Failure::file("--out", &path, &error))
    };
    for table in tables {
        let name = table.name();
        put(&name, "md", &engines::markdown(table))?;
        put(&name, "html", &engines::html(table))?;
        let text = serde_json::to_string(table).map_err(|error| Failure::Ours(error.to_string()))?;
        put(&name, "json", &(text + "\n"))?;
    }
    put(INDEX, "md", &engines::index_markdown(tables))?;
    put(INDEX, "html", &engines::index_html(tables))?;
    put(engines::BROWSE, "html", &engines::browse_html(tables))
}
