//! `convict check`: one case, one verdict, the numbers behind it.

use case::{Case, Environment, Execution, Fault, Matrix, Outcome, Recipe, Tier, Untrusted, Verdict};
use serde::Serialize;

use crate::args::{Check, Switch};
use crate::failure::{CLEAN, FOUND, Failure, UNJUDGED};
use crate::machine::Machine;
use crate::planning::planned;
use crate::screen::outln;

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'run> {
    case: String,
    set: String,
    verdict: &'run Verdict,
    outcome: &'run Outcome,
}

/// Runs the case and prints its verdict.
pub(crate) fn run(arguments: &Check) -> Result<u8, Failure> {
    let case: Case = arguments.case.parse()?;
    let planned = planned(&arguments.plans, arguments.machine.simulate.is_some(), Switch::All)?;
    let machine = Machine::of(&arguments.machine, &arguments.device.device, planned.as_ref())?;
    machine.prepare()?;
    let mut slot = machine.slot();
    let environment = slot.environment()?.clone();
    require_set(&case, &environment, arguments.any_set)?;
    let matrix = if arguments.full { Matrix::Full } else { Matrix::Standard };
    let (verdict, outcome) = hunt::check(&mut slot, &case, matrix)?;
    if arguments.json {
        let report =
            Report { case: case.to_string(), set: environment.set(), verdict: &verdict, outcome: &outcome };
        let text = serde_json::to_string(&report).map_err(|error| Failure::Ours(error.to_string()))?;
        outln!("{text}");
    } else {
        outln!("{}", machine.describe(&environment));
        outln!("{case}");
        print(&case, &verdict, &outcome);
    }
    Ok(code(&verdict))
}

/// An engine index means nothing on another library set.
pub(crate) fn require_set(case: &Case, environment: &Environment, any_set: bool) -> Result<(), Failure> {
    match case.other_set(&environment.set()) {
        Some(set) if !any_set => Err(Failure::Unjudged(format!(
            "the case belongs to library set {set}, but {} is loaded; nothing was judged (--any-set judges it here)",
            environment.set()
        ))),
        Some(_) | None => Ok(()),
    }
}

/// 1 for a failure of tier A or B; what is informative is none. 77 where the library declined or the check says
/// nothing.
fn code(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Fault(fault) if fault.tier != Tier::C => FOUND,
        Verdict::Fault(_) | Verdict::Pass => CLEAN,
        Verdict::Unsupported(_) | Verdict::Untrusted(_) => UNJUDGED,
    }
}

fn print(case: &Case, verdict: &Verdict, outcome: &Outcome) {
    match verdict {
        Verdict::Pass => outln!("pass"),
        Verdict::Unsupported(refusal) => outln!(
            "unsupported: {} ({}) in {}{}",
            refusal.name,
            refusal.status,
            refusal.phase.name(),
            if refusal.reason.is_empty() { String::new() } else { format!(": {}", refusal.reason) }
        ),
        Verdict::Untrusted(Untrusted::Skipped(reason)) => outln!("nothing was judged: {reason}"),
        Verdict::Untrusted(why) => outln!("untrusted: {why}"),
        Verdict::Fault(fault) => {
            outln!("{}", headline(fault));
            outln!("signature  {}", case::Signature::new(&fault.sameness, &case.problem));
        }
    }
    if let Some(candidate) = &outcome.candidate {
        let knobs: Vec<String> =
            candidate.config.knobs.iter().map(|knob| format!("{}:{}", knob.knob, knob.value)).collect();
        let knobs = if knobs.is_empty() { "default".to_owned() } else { knobs.join(",") };
        outln!("engine     {} knobs {knobs}, {}", candidate.config.engine, candidate.ranks);
    }
    if let Some(observation) = &outcome.observation {
        outln!("notes      {}", or_none(&observation.notes.names()));
        outln!("workspace  {} bytes", observation.workspace_bytes);
        for (index, execution) in observation.executions.iter().enumerate() {
            print_execution(case, index, execution);
        }
    }
    if !outcome.stderr.is_empty() {
        outln!("libraries wrote:\n{}", outcome.stderr.trim_end());
    }
}

/// What was seen, under a word that agrees with the exit code.
fn headline(fault: &Fault) -> String {
    match fault.tier {
        Tier::A | Tier::B => format!("FAULT, tier {}: {}", fault.tier.name(), fault.summary),
        Tier::C => format!(
            "INFORMATIVE, tier C, which doesn't count as a failure because no documentation promises otherwise: {}",
            fault.summary
        ),
    }
}

/// What the output held before the run.
fn output_before(case: &Case, recipe: &Recipe) -> &'static str {
    // The output is read then, so it gets data like the inputs.
    if case.options.beta.value() == 0.0 { recipe.output.name() } else { "filled alike (beta)" }
}

fn or_none(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(" ") }
}

fn print_execution(case: &Case, index: usize, execution: &Execution) {
    let (recipe, census) = (&execution.recipe, &execution.census);
    outln!(
        "run {index}: {}:{} output {} workspace {}: {} of {} differ, {} NaN, {} unwritten, largest error {:e}, \
         {:.3} of its bound, {} us",
        recipe.fill.kind.name(),
        recipe.fill.seed,
        output_before(case, recipe),
        recipe.workspace,
        census.differing,
        census.checked,
        census.nan,
        census.stale,
        census.error_max,
        census.ratio_max,
        execution.execute_us
    );
    for (position, got, expected) in execution.excerpt.iter().take(4) {
        outln!("    at {}: got {got}, expected {expected}", oracle::print_position(case, *position));
    }
    for hit in &execution.guards {
        let side = if hit.after { "after" } else { "before" };
        outln!("    {} bytes changed {side} {}, nearest {} away", hit.changed, hit.zone.name(), hit.nearest);
    }
}

#[cfg(test)]
mod tests {
    use case::{Fill, FillKind, Kind, Operation, OutputFill, Phase, Sameness, WorkspaceFill};

    use super::*;

    fn fault(tier: Tier) -> Fault {
        let sameness = Sameness {
            kind: Kind::Wrong,
            operation: Operation::Fprop,
            phase: Phase::Judge,
            cause: "finite".to_owned(),
            engine: Some(1),
        };
        Fault { sameness, tier, summary: "1 of 2 differ".to_owned(), recipe: None }
    }

    #[test]
    fn what_is_informative_is_not_called_a_fault() {
        for tier in [Tier::A, Tier::B, Tier::C] {
            let failure = code(&Verdict::Fault(fault(tier))) == FOUND;
            let line = headline(&fault(tier));
            assert_eq!(line.starts_with("FAULT, "), failure, "{line}");
            assert_eq!(line.contains("doesn't count as a failure"), !failure, "{line}");
            assert!(line.ends_with(": 1 of 2 differ"), "{line}");
        }
    }

    #[test]
    fn with_beta_the_output_holds_data_and_no_poison() {
        let recipe = Recipe {
            fill: Fill { kind: FillKind::Int2, seed: 1 },
            output: OutputFill::Nan,
            workspace: WorkspaceFill::Zero,
            repeats: None,
        };
        let before = |line: &str| output_before(&line.parse().expect("a case"), &recipe);
        assert_eq!(before("fprop f32 nchw n1 c1 k1 i1 f1"), "nan");
        assert_eq!(before("fprop f32 nchw n1 c1 k1 i1 f1 beta=-1"), "filled alike (beta)");
    }
}
