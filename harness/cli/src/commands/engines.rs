//! `convict engines`: the plans of a case, with what they declare and how they are reached. Executes nothing.

mod table;

use case::{Case, Ended, Job, Observation, Selection};
use comfy_table::{Table, presets};
use exec::JobEvent;

use crate::args::{Engines, Switch};
use crate::failure::{CLEAN, Failure};
use crate::machine::Machine;
use crate::planning::planned;
use crate::screen::outln;
use crate::words;

/// Lists every configuration of the case and how its plan turned out, or makes tables of engines.
pub(crate) fn run(arguments: &Engines) -> Result<u8, Failure> {
    let Some(line) = &arguments.case else { return table::run(arguments) };
    let case: Case = line.parse()?;
    let plans = arguments.plans();
    let [plans] = plans.as_slice() else {
        return Err(Failure::Usage("the plans of a case are listed for one --arch at a time".to_owned()));
    };
    let planned = planned(plans, arguments.machine.simulate.is_some(), Switch::All)?;
    let machine = Machine::of(&arguments.machine, &arguments.device.device, planned.as_ref())?;
    machine.prepare()?;
    let mut slot = machine.slot();
    let environment = slot.environment()?.clone();
    let job = Job::new(1, case.clone(), Selection::Describe);
    let mut outcomes = Vec::new();
    slot.run(&job, &mut |event| {
        if let JobEvent::Outcome(outcome) = event {
            outcomes.push(outcome);
        }
    })?;
    if arguments.json {
        for outcome in &outcomes {
            let text = serde_json::to_string(outcome).map_err(|error| Failure::Ours(error.to_string()))?;
            outln!("{text}");
        }
        return Ok(CLEAN);
    }
    outln!("{}", machine.describe(&environment));
    outln!("{case}\n");
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["engine", "knobs", "lists", "plan", "workspace", "build ms", "notes"]);
    for outcome in &outcomes {
        match (&outcome.candidate, &outcome.observation) {
            (Some(_), Some(observation)) => {
                table.add_row(row(observation));
            }
            (candidate, _) => {
                let engine =
                    candidate.as_ref().map_or_else(|| "-".to_owned(), |of| of.config.engine.to_string());
                table.add_row([engine, String::new(), String::new(), words::ended(outcome)]);
            }
        }
    }
    outln!("{table}");
    Ok(CLEAN)
}

fn row(observation: &Observation) -> [String; 7] {
    let (engine, knobs, ranks) = match &observation.candidate {
        Some(candidate) => {
            let knobs: Vec<String> =
                candidate.config.knobs.iter().map(|knob| format!("{}:{}", knob.knob, knob.value)).collect();
            (candidate.config.engine.to_string(), knobs.join(","), candidate.ranks.to_string())
        }
        None => (String::from("-"), String::new(), String::new()),
    };
    let plan = match &observation.ended {
        Ended::Completed | Ended::Described => "built".to_owned(),
        Ended::Status(refusal) => refusal.name.clone(),
        Ended::Device { name, .. } => name.clone(),
        Ended::Skipped(reason) => reason.clone(),
    };
    let mut notes = observation.notes.names();
    if observation.notes.compiles_at_run_time() {
        notes.push("compiles at run time".to_owned());
    }
    let milliseconds = format!("{:.1}", observation.plan_us as f64 / 1000.0);
    [engine, knobs, ranks, plan, observation.workspace_bytes.to_string(), milliseconds, notes.join(" ")]
}
