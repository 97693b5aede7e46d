//! Outcomes for the tests: measured by the kernels' twins on outputs that a test produces.

use case::{
    Candidate, Case, Config, Ended, Execution, Exit, Matrix, Notes, Observation, Outcome, Phase, Ranks,
    Recipe, Role, SpotCheck,
};
use oracle::{
    census, compare_params, coordinates, expected_at, facts, fill_params, recipes, reference_params,
    sample_positions,
};

/// The case that most rows use: 32 outputs with 4 to 18 products.
pub(crate) const LINE: &str = "fprop f16 nchw n1 c2 k2 i4x4 f3x3 p1x1 engine=7";

pub(crate) fn case(line: &str) -> Case {
    line.parse().unwrap()
}

pub(crate) fn notes(numerical: &[i32]) -> Notes {
    Notes { numerical: numerical.to_vec(), behavior: Vec::new() }
}

/// Engine 7 of no heuristic list.
pub(crate) fn candidate() -> Candidate {
    Candidate { config: Config { engine: 7, knobs: Vec::new() }, ranks: Ranks::default() }
}

pub(crate) fn answered(notes: Notes, ended: Ended, executions: Vec<Execution>) -> Outcome {
    Outcome {
        candidate: Some(candidate()),
        exit: Exit::Answered,
        phase: Phase::Judge,
        observation: Some(Observation {
            candidate: Some(candidate()),
            notes,
            workspace_bytes: 0,
            plan_us: 1,
            ended,
            executions,
            planning: None,
        }),
        stderr: String::new(),
    }
}

/// A run whose outputs `produce` derives from the exact ones; the twins measure it.
pub(crate) fn run(case: &Case, notes: &Notes, produce: impl Fn(&Recipe, usize, f64) -> f64) -> Outcome {
    let executions = recipes(case, Matrix::Standard)
        .into_iter()
        .map(|recipe| measure(case, notes, recipe, |index, exact| produce(&recipe, index, exact)))
        .collect();
    answered(notes.clone(), Ended::Completed, executions)
}

pub(crate) fn perfect(case: &Case, notes: &Notes) -> Outcome {
    run(case, notes, |_, _, exact| exact)
}

fn measure(case: &Case, notes: &Notes, recipe: Recipe, produce: impl Fn(usize, f64) -> f64) -> Execution {
    let geometry = case.problem.geometry();
    let [x, w, y] = Role::ALL.map(|role| {
        let mut bytes = vec![0; usize::try_from(geometry.bytes(role)).unwrap()];
        kernel::twin::fill(&fill_params(case, role, recipe.fill), &mut bytes).unwrap();
        bytes
    });
    let reference = kernel::twin::reference(&reference_params(case, recipe.fill), &x, &w, &y).unwrap();
    let facts = facts(case, &reference.totals);
    let params = compare_params(case, notes, &facts, &recipe);
    let output = case.problem.operation.output();
    let dtype = params.got.dtype;
    let width = kernel::element_bytes(dtype);
    let mut bytes = vec![0_u8; usize::try_from(geometry.bytes(output)).unwrap()];
    let strides = geometry.strides(output);
    for (index, exact) in reference.result.iter().enumerate() {
        let at = coordinates(case, index as u64);
        let offset: i64 = at.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
        let start = usize::try_from(offset).unwrap() * width;
        let bits = kernel::encode(dtype, produce(index, *exact)).to_le_bytes();
        bytes[start..start + width].copy_from_slice(&bits[..width]);
    }
    let totals = kernel::twin::compare(&params, &bytes, &reference.result, &reference.abs_sum).unwrap();
    let sampled = sample_positions(case, 64);
    let disagreeing = sampled
        .iter()
        .filter(|position| {
            let device = reference.result[usize::try_from(**position).unwrap()];
            !oracle::agrees(&expected_at(case, recipe.fill, **position), device)
        })
        .count();
    Execution {
        recipe,
        reference: facts,
        spot: SpotCheck {
            sampled: u32::try_from(sampled.len()).unwrap(),
            disagreeing: u32::try_from(disagreeing).unwrap(),
        },
        census: census(&params, &totals),
        guards: Vec::new(),
        inputs_changed: Vec::new(),
        repeat_differing: recipe.repeats.map(|_| 0),
        excerpt: Vec::new(),
        execute_us: 1,
    }
}

/// The fault of a verdict that must be one.
pub(crate) fn fault(verdict: case::Verdict) -> case::Fault {
    match verdict {
        case::Verdict::Fault(fault) => fault,
        case::Verdict::Pass | case::Verdict::Unsupported(_) | case::Verdict::Untrusted(_) => {
            panic!("no fault: {verdict:?}")
        }
    }
}
