//! The forms in which a suspect is repeated: what they pin and what they leave free.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use case::{
    Case, Config, Fault, Kind, Operation, OutputFill, Phase, Sameness, Selection, Tier, WorkspaceFill,
};

use super::{Conditions, Confirmation, REPEATS_FOR_NONDETERMINISM, Rigor, confirm_any, forms, glance};
use crate::bench::script::{How, Planted, Script, World, planted};
use crate::event::Suspect;

fn suspect(line: &str, kind: Kind, cause: &str) -> Suspect {
    let case: Case = line.parse().unwrap();
    let recipes = oracle::recipes(&case, case::Matrix::Full);
    let sameness = Sameness::new(kind, Operation::Fprop, Phase::Judge, cause, Some(1));
    Suspect {
        provisional: String::new(),
        case,
        selection: Selection::All,
        config: Some(Config { engine: 1, knobs: Vec::new() }),
        fault: Fault { sameness, tier: Tier::B, summary: String::new(), recipe: Some(recipes[1]) },
        history: Vec::new(),
    }
}

fn lines(suspect: &Suspect) -> Vec<String> {
    forms(suspect, "").iter().map(|form| form.case.to_string()).collect()
}

const LINE: &str = "fprop f32 nchw n2 c2 k2 i2 f1";

#[test]
fn a_nondeterministic_repeat_gets_its_repeats_in_every_form_and_at_a_glance() {
    let suspect = suspect(LINE, Kind::Nondet, "repeat");
    let forms = forms(&suspect, "");
    assert_eq!(forms.len(), 2);
    assert!(forms.iter().all(|form| form.case.options.repeat == REPEATS_FOR_NONDETERMINISM));
    let case = glance(&suspect.case, suspect.config.as_ref().unwrap(), &suspect.fault, "");
    assert_eq!(case, forms[0].case);
}

#[test]
fn what_differed_between_two_executions_is_never_pinned_by_us() {
    assert_eq!(
        lines(&suspect(LINE, Kind::Nondet, "workspace")),
        [
            format!("{LINE} engine=1 fill=int2:1 out=nan"),
            format!("{LINE} engine=1 fill=int2:1"),
            format!("{LINE} engine=1"),
        ]
    );
    assert_eq!(
        lines(&suspect(LINE, Kind::Nondet, "output")),
        [format!("{LINE} engine=1 wsfill=ff fill=int2:1"), format!("{LINE} engine=1")]
    );
}

#[test]
fn at_a_glance_other_failures_are_left_to_the_matrix() {
    let suspect = suspect(LINE, Kind::Wrong, "finite");
    let case = glance(&suspect.case, suspect.config.as_ref().unwrap(), &suspect.fault, "");
    assert_eq!(case.to_string(), format!("{LINE} engine=1"));
}

/// A failure that ended its batch of executions in that phase, so that it carries no recipe.
fn batch_ender(line: &str, kind: Kind, phase: Phase, cause: &str) -> Suspect {
    let mut suspect = suspect(line, kind, cause);
    suspect.fault.recipe = None;
    suspect.fault.sameness = Sameness::new(kind, Operation::Fprop, phase, cause, Some(1));
    suspect
}

#[test]
fn what_ended_a_batch_is_tried_with_the_contents_of_each_standard_execution_and_then_with_its_plan() {
    let expected = [
        format!("{LINE} engine=1 wsfill=ff fill=int2:1 out=nan"),
        format!("{LINE} engine=1 wsfill=00 fill=int2:2 out=finite"),
        format!("{LINE} engine=1 wsfill=rand:1 fill=real:3 out=nan"),
        format!("{LINE} engine=1"),
    ];
    for (kind, phase) in [
        (Kind::Device, Phase::Sync),
        (Kind::Device, Phase::ReadBack),
        (Kind::Crash, Phase::Execute),
        (Kind::Hang, Phase::Execute),
    ] {
        let suspect = batch_ender(LINE, kind, phase, "x");
        assert_eq!(lines(&suspect), expected, "{kind:?} in {phase:?}");
        let case = glance(&suspect.case, suspect.config.as_ref().unwrap(), &suspect.fault, "");
        assert_eq!(case.to_string(), format!("{LINE} engine=1"), "{kind:?} in {phase:?}");
    }
}

#[test]
fn what_failed_before_any_execution_pins_no_contents() {
    for (kind, phase) in
        [(Kind::Crash, Phase::Plan), (Kind::Hang, Phase::Plan), (Kind::Status, Phase::Execute)]
    {
        assert_eq!(lines(&batch_ender(LINE, kind, phase, "x")), [format!("{LINE} engine=1")], "{kind:?}");
    }
}

#[test]
fn contents_that_the_case_pins_are_kept_and_none_is_tried_twice() {
    let device = |line: &str| lines(&batch_ender(line, Kind::Device, Phase::Sync, "x"));
    let pinned = format!("{LINE} engine=1 wsfill=00 fill=one:1 out=nan");
    assert_eq!(device(&pinned), [pinned]);
    assert_eq!(
        device(&format!("{LINE} fill=one:1 beta=2")),
        [
            format!("{LINE} engine=1 wsfill=ff fill=one:1 beta=2"),
            format!("{LINE} engine=1 wsfill=00 fill=one:1 beta=2"),
            format!("{LINE} engine=1 wsfill=rand:1 fill=one:1 beta=2"),
            format!("{LINE} engine=1 fill=one:1 beta=2"),
        ]
    );
}

/// How a device fault of engine 1 is confirmed, and how many processes that took.
fn confirmed(fault: Planted) -> (Confirmation, u64) {
    let world = World::new(vec![fault]);
    let mut suspect = batch_ender(LINE, Kind::Device, Phase::Sync, "cuda_error_illegal_address");
    suspect.fault.sameness.operation = suspect.case.problem.operation;
    let forms = forms(&suspect, "");
    let conditions = Conditions { until: None, alone: false, rigor: Rigor::SERIOUS };
    let mut bench = Script::new(&Arc::clone(&world));
    let confirmation = confirm_any(&mut bench, forms, &suspect.fault.sameness, conditions).unwrap();
    (confirmation, world.fresh.load(Ordering::Relaxed))
}

#[test]
fn a_device_fault_is_confirmed_with_the_first_contents_that_bring_it_back() {
    let zeroed = |case: &Case| {
        matches!(case.options.workspace.contents, None | Some(WorkspaceFill::Zero))
            && case.options.output_fill != Some(OutputFill::Nan)
    };
    let (confirmation, processes) = confirmed(planted(Some(1), How::Device, zeroed));
    assert!(confirmation.confirmed().is_some());
    assert_eq!(
        confirmation.form.case.to_string(),
        format!("{LINE} engine=1 wsfill=00 fill=int2:2 out=finite")
    );
    assert_eq!((confirmation.hits, confirmation.runs, processes), (3, 3, 4));
}

#[test]
fn a_device_fault_that_needs_several_contents_in_a_row_stays_with_its_plan() {
    let (confirmation, processes) =
        confirmed(planted(Some(1), How::Device, |case: &Case| case.options.fill.is_none()));
    assert!(confirmation.confirmed().is_some());
    assert_eq!(confirmation.form.case.to_string(), format!("{LINE} engine=1"));
    assert_eq!((confirmation.hits, confirmation.runs, processes), (3, 3, 6));
}

#[test]
fn where_every_contents_miss_once_the_plan_gets_all_its_runs() {
    // Every fourth run in the region shows it: the fourth is the first with the whole plan.
    let fault = Planted { every: 4, ..planted(Some(1), How::Device, |_| true) };
    let (confirmation, processes) = confirmed(fault);
    assert_eq!(confirmation.form.case.to_string(), format!("{LINE} engine=1"));
    assert_eq!((confirmation.hits, confirmation.runs, processes), (3, 9, 12));
}
