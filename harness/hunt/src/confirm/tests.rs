//! The forms in which a suspect is repeated: what they pin and what they leave free.

use case::{Case, Config, Fault, Kind, Operation, Phase, Sameness, Selection, Tier};

use super::{REPEATS_FOR_NONDETERMINISM, forms, glance};
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
