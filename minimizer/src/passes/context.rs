//! Options back to their defaults: all at once, in halves, one by one. The engine, the set and the
//! expectation are never touched, and buffer contents are the matter of `data`.

use case::{Case, EngineChoice, Scale, Workspace, WorkspaceAmount};

use crate::edits::Edit;
use crate::order::{ALPHAS, BETAS};

/// One option back to its default.
type Row = (&'static str, fn(&mut Case));

/// Options about how a plan is run.
const EXECUTION: [Row; 3] = [
    ("repeat to 1", |case| case.options.repeat = 1),
    ("workspace amount to exact", |case| case.options.workspace.amount = WorkspaceAmount::Exact),
    ("workspace alignment to 256", |case| {
        case.options.workspace.alignment = Workspace::DEFAULT_ALIGNMENT;
    }),
];

/// Options about what is computed and by which variant.
const ARITHMETIC: [Row; 5] = [
    ("alpha to 1", |case| case.options.alpha = Scale::new(1.0)),
    ("beta to 0", |case| case.options.beta = Scale::new(0.0)),
    ("tf32 on", |case| case.options.tf32 = true),
    ("knobs away", drop_knobs),
    ("declared output away", |case| case.problem.declared_output = None),
];

fn drop_knobs(case: &mut Case) {
    match &mut case.options.engine {
        EngineChoice::Pinned(config) => config.knobs.clear(),
        EngineChoice::Any | EngineChoice::Ranked { .. } => {}
    }
}

fn apply(rows: &[Row], case: &mut Case) {
    for (_, change) in rows {
        change(case);
    }
}

/// Every option to its default.
pub(crate) fn all_default(case: &mut Case) {
    apply(&EXECUTION, case);
    apply(&ARITHMETIC, case);
}

/// All, each half, each.
pub(crate) fn blocks_and_singles(case: &Case) -> Vec<Edit> {
    let mut edits = vec![
        Edit::made("all options", case, all_default),
        Edit::made("execution options", case, |case| apply(&EXECUTION, case)),
        Edit::made("arithmetic options", case, |case| apply(&ARITHMETIC, case)),
    ];
    edits.extend(singles(case));
    edits
}

/// Each option, each knob, plainer scales.
pub(crate) fn singles(case: &Case) -> Vec<Edit> {
    let mut edits: Vec<Edit> =
        EXECUTION.iter().chain(&ARITHMETIC).map(|(name, change)| Edit::made(*name, case, change)).collect();
    edits.extend(each_knob_away(case));
    for alpha in ALPHAS {
        edits.push(Edit::made(format!("alpha {alpha}"), case, |case| case.options.alpha = Scale::new(alpha)));
    }
    for beta in BETAS {
        edits.push(Edit::made(format!("beta {beta}"), case, |case| case.options.beta = Scale::new(beta)));
    }
    edits
}

fn each_knob_away(case: &Case) -> Vec<Edit> {
    let EngineChoice::Pinned(config) = &case.options.engine else { return Vec::new() };
    config
        .knobs
        .iter()
        .map(|dropped| {
            let mut rest = config.clone();
            rest.knobs.retain(|knob| knob != dropped);
            Edit::new(format!("knob {} away", dropped.knob), case.pinned(rest))
        })
        .collect()
}
