//! Renders the stand-alone program of a finding. Knows which constants the template wants; the program itself is
//! in `templates/repro.cpp` and the parts beside it.

mod contents;
mod history;
mod pass;

use case::{
    Axis, Candidate, Case, DType, Ended, EngineChoice, HeuristicMode, Keep, Kept, Kind, Phase, Problem,
    Recipe, Reload, Role, WorkspaceAmount,
};
use minijinja::{Environment, value::Serde};
use serde::Serialize;

use crate::escape::for_program;
use crate::finding::Finding;
use crate::repro::contents::{Contents, Schedule};
use crate::repro::history::Earlier;
use crate::repro::pass::{Parts, Pass};
use crate::title::title;

/// The template and its parts, by the names that it includes them with.
const TEMPLATES: [(&str, &str); 12] = [
    ("repro.cpp", include_str!("../templates/repro.cpp")),
    ("repro/values.cpp", include_str!("../templates/repro/values.cpp")),
    ("repro/reference.cpp", include_str!("../templates/repro/reference.cpp")),
    ("repro/driver.cpp", include_str!("../templates/repro/driver.cpp")),
    ("repro/library.cpp", include_str!("../templates/repro/library.cpp")),
    ("repro/graph.cpp", include_str!("../templates/repro/graph.cpp")),
    ("repro/operations.cpp", include_str!("../templates/repro/operations.cpp")),
    ("repro/buffers.cpp", include_str!("../templates/repro/buffers.cpp")),
    ("repro/history.cpp", include_str!("../templates/repro/history.cpp")),
    ("repro/run.cpp", include_str!("../templates/repro/run.cpp")),
    ("repro/symbols.cpp", include_str!("../templates/repro/symbols.cpp")),
    ("repro/plans.cpp", include_str!("../templates/repro/plans.cpp")),
];

/// The constants of one program, as C++ text.
#[derive(Serialize)]
struct Program {
    title: String,
    summary: String,
    checks: &'static str,
    signal_note: bool,
    convolutions: String,
    what: &'static str,
    case: String,
    history: Vec<Earlier>,
    cudnn: String,
    cudart_major: u64,
    configuration: &'static str,
    library_configuration: &'static str,
    gpu: String,
    driver: String,
    kind: &'static str,
    phase: &'static str,
    code: i32,
    code_note: String,
    operation: &'static str,
    pass: Pass,
    #[serde(flatten)]
    parts: Parts,
    axes: usize,
    tensors: Vec<Tensor>,
    compute: &'static str,
    groups: i64,
    pad_before: String,
    pad_after: String,
    stride: String,
    dilation: String,
    alpha: String,
    beta: String,
    engine: i64,
    knobs: String,
    heuristic_mode: &'static str,
    heuristic_rank: u32,
    ask_every_heuristic: &'static str,
    workspace_extra: i64,
    workspace_max: i64,
    workspace_alignment: i64,
    recipes: Vec<Contents>,
    kept: String,
    rounds: u32,
    accumulate: String,
    relative: String,
    absolute: String,
    seen_wrong: String,
    plans_only: bool,
    device_properties: String,
    integers: bool,
    vectors: String,
}

/// One tensor in five dimensions.
#[derive(Serialize)]
struct Tensor {
    name: &'static str,
    dtype: &'static str,
    extent: String,
    stride: String,
}

/// The program's source.
///
/// # Errors
/// A template that does not render: our own trouble.
pub(crate) fn render(finding: &Finding<'_>) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    // The output is C++, where HTML escapes would be wrong; text from outside went through `for_program`.
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    let mut source = environment.get_template("repro.cpp")?.render(Serde(program(finding)))?;
    source.push('\n');
    Ok(source)
}

/// What the first execution of a check of the case starts from.
pub(crate) fn first_recipe(case: &Case) -> Option<Recipe> {
    Schedule::as_checked(case).rows.first().map(|(recipe, _)| *recipe)
}

fn program(finding: &Finding<'_>) -> Program {
    let (problem, options) = (&finding.case.problem, &finding.case.options);
    let (environment, sameness) = (finding.environment, &finding.fault.sameness);
    let (code, code_note) = code(finding);
    let choice = choice(finding);
    let schedule = Schedule::of(finding);
    let (workspace_extra, workspace_max) = workspace(options.workspace.amount);
    let [accumulate, relative, absolute] = bounds(finding).map(double);
    let configuration = environment.configuration;
    Program {
        title: for_program(&title(finding)),
        summary: for_program(&finding.fault.summary),
        checks: checks(sameness.kind),
        signal_note: matches!(sameness.kind, Kind::Crash | Kind::Hang),
        convolutions: match finding.case.history.len() {
            0 => format!("one {}", Parts::words(finding.case)),
            count => format!("a {} after {count} others", Parts::words(finding.case)),
        },
        what: Parts::words(finding.case),
        case: finding.case.to_string().replace(" ; ", " ;\n//   "),
        history: finding.case.history.iter().map(Earlier::of).collect(),
        cudnn: environment.cudnn_text(),
        cudart_major: environment.cudart / 1000,
        configuration: configuration.map_or("unknown", case::LibraryConfiguration::name),
        library_configuration: configuration.map_or("", case::LibraryConfiguration::variable),
        gpu: for_program(&environment.gpu),
        driver: for_program(crate::simulated::driver(environment)),
        kind: sameness.kind.name(),
        phase: sameness.phase.name(),
        code,
        code_note: for_program(&code_note),
        operation: problem.operation.name(),
        pass: Pass::of(problem.operation),
        parts: Parts::of(finding.case),
        axes: problem.axes.len(),
        tensors: Role::ALL.map(|role| tensor(problem, role)).into(),
        compute: data_type(problem.dtypes.compute),
        groups: problem.g.max(1),
        pad_before: three(&problem.axes, 0, |axis| axis.pad_before),
        pad_after: three(&problem.axes, 0, |axis| axis.pad_after),
        stride: three(&problem.axes, 1, |axis| axis.stride),
        dilation: three(&problem.axes, 1, |axis| axis.dilation),
        alpha: double(scale(problem, options.alpha.value())),
        beta: double(options.beta.value()),
        engine: choice.engine,
        knobs: choice.knobs,
        heuristic_mode: choice.mode,
        heuristic_rank: choice.rank,
        ask_every_heuristic: if sameness.phase == Phase::Heuristics { "true" } else { "false" },
        workspace_extra,
        workspace_max,
        workspace_alignment: options.workspace.alignment,
        recipes: schedule.words(),
        kept: kept(options.keep),
        rounds: schedule.rounds,
        accumulate,
        relative,
        absolute,
        seen_wrong: seen_wrong(finding),
        plans_only: environment.plans_only,
        device_properties: literal(&environment.device_properties),
        integers: problem.dtypes.has_integers(),
        vectors: vectors(problem),
    }
}

/// A C++ string literal of any text: what is not plain ASCII is written by its bytes.
fn literal(text: &str) -> String {
    let mut written = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' | b'?' => written.extend(['\\', char::from(byte)]),
            b' '..=b'~' => written.push(char::from(byte)),
            // Three octal digits end by themselves, whatever follows.
            _ => written.push_str(&format!("\\{byte:03o}")),
        }
    }
    written + "\""
}

/// Vector lengths of x, w and y; empty where none is vectorised.
fn vectors(problem: &Problem) -> String {
    let vectors = problem.layouts.tensors().map(case::Layout::vector);
    if vectors == [1; 3] { String::new() } else { join(&vectors) }
}

/// What a sum is multiplied by: alpha, or one over the elements of a window that is averaged.
fn scale(problem: &Problem, alpha: f64) -> f64 {
    if problem.operation == case::Operation::AvgPool {
        // A window has fewer elements than 2^53.
        1.0 / problem.geometry().reduction() as f64
    } else {
        alpha
    }
}

/// Bytes beyond what the plan asks for, and the most that it may ask for; -1 sets no limit.
fn workspace(amount: WorkspaceAmount) -> (i64, i64) {
    match amount {
        WorkspaceAmount::Exact => (0, -1),
        WorkspaceAmount::Extra(bytes) => (bytes, -1),
        WorkspaceAmount::Max(bytes) => (0, bytes),
    }
}

/// What the program does after each execution, to end the header's sentence.
fn checks(kind: Kind) -> &'static str {
    match kind {
        Kind::Wrong | Kind::Inexact => "compares every result with its own reference in double precision",
        Kind::Nondet => "compares the bits of repeated executions",
        Kind::Oob => "looks whether bytes beside the buffers changed",
        Kind::Input => "looks whether the inputs changed",
        Kind::Status => "waits for the status that should not come back",
        Kind::Device => "waits for the CUDA error that follows a reported success",
        Kind::Crash => "waits for the process to be killed by a signal",
        Kind::Hang => "waits for a call that does not return",
        Kind::Accepted => "looks whether a case that can't be computed is refused",
        Kind::Workspace => "compares what is told about the workspace",
        Kind::Reload => "stores the plan as JSON and reads it back",
    }
}

/// The number that is waited for, and its name.
fn code(finding: &Finding<'_>) -> (i32, String) {
    let ended = finding.outcome.observation.as_ref().map(|observation| &observation.ended);
    if let (Kind::Reload, Some(Reload::Refused(refusal))) = (finding.fault.sameness.kind, reload(finding)) {
        return (refusal.status, format!("cudnnStatus_t: {}", refusal.name));
    }
    match (finding.fault.sameness.kind, ended) {
        (Kind::Status, Some(Ended::Status(refusal))) => {
            (refusal.status, format!("cudnnStatus_t: {}", refusal.name))
        }
        (Kind::Device, Some(Ended::Device { code, name, .. })) => (*code, format!("CUresult: {name}")),
        _ => (-1, "no status or CUDA error is waited for".to_owned()),
    }
}

fn reload<'a>(finding: &'a Finding<'_>) -> Option<&'a Reload> {
    let planning = finding.outcome.observation.as_ref()?.planning.as_ref()?;
    Some(&planning.reload)
}

/// How the program comes to a configuration.
struct Choice {
    engine: i64,
    knobs: String,
    mode: &'static str,
    rank: u32,
}

/// What the case says; where it leaves the choice open, the configuration that failed.
fn choice(finding: &Finding<'_>) -> Choice {
    pinned(&finding.case.options.engine, finding.outcome.candidate.as_ref())
}

fn pinned(engine: &EngineChoice, failed: Option<&Candidate>) -> Choice {
    let pinned = |config: &case::Config| {
        let knobs: Vec<String> =
            config.knobs.iter().map(|knob| format!("{{{}, {}}}", knob.knob, knob.value)).collect();
        Choice { engine: config.engine, knobs: knobs.join(", "), mode: mode_name(HeuristicMode::A), rank: 0 }
    };
    let ranked = |mode, rank| Choice { engine: -1, knobs: String::new(), mode: mode_name(mode), rank };
    match (engine, failed) {
        (EngineChoice::Pinned(config), _) => pinned(config),
        (EngineChoice::Ranked { mode, rank }, _) => ranked(*mode, *rank),
        (EngineChoice::Any, Some(candidate)) => pinned(&candidate.config),
        (EngineChoice::Any, None) => ranked(HeuristicMode::A, 0),
    }
}

fn mode_name(mode: HeuristicMode) -> &'static str {
    match mode {
        HeuristicMode::A => "CUDNN_HEUR_MODE_A",
        HeuristicMode::B => "CUDNN_HEUR_MODE_B",
        HeuristicMode::Fallback => "CUDNN_HEUR_MODE_FALLBACK",
    }
}

fn data_type(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "CUDNN_DATA_FLOAT",
        DType::F64 => "CUDNN_DATA_DOUBLE",
        DType::F16 => "CUDNN_DATA_HALF",
        DType::Bf16 => "CUDNN_DATA_BFLOAT16",
        DType::I8 => "CUDNN_DATA_INT8",
        DType::I32 => "CUDNN_DATA_INT32",
    }
}

fn tensor(problem: &Problem, role: Role) -> Tensor {
    let geometry = problem.geometry();
    Tensor {
        name: role.name(),
        dtype: data_type(problem.dtypes.tensors()[role.index()]),
        extent: five(&geometry.dimensions(role), 1),
        stride: five(&geometry.strides(role), 0),
    }
}

/// First and number of the elements that keep their values, for each tensor; empty where all of all tensors do.
fn kept(keep: Keep) -> String {
    if keep.is_all() {
        return String::new();
    }
    let of = |kept: Option<Kept>| kept.map_or((0, 0), |kept| (kept.first, kept.elements()));
    let ranges = Role::ALL.map(|role| of(keep.of(role)));
    ranges.map(|(first, count)| format!("{{{first}, {count}}}")).join(", ")
}

/// Outer and inner extent stay in front; the axes move to the right end.
fn five(values: &[i64], missing: i64) -> String {
    let axes = values.len().saturating_sub(2).min(3);
    let padding = vec![missing; 3 - axes];
    let (outer, inner) = values.split_at(values.len().min(2));
    join(&[outer, &padding, inner].concat())
}

fn three(axes: &[Axis], missing: i64, of: impl Fn(&Axis) -> i64) -> String {
    let mut values = vec![missing; 3_usize.saturating_sub(axes.len())];
    values.extend(axes.iter().map(of));
    join(&values)
}

fn join<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// A literal of that exact value; what is not finite becomes the largest number.
fn double(value: f64) -> String {
    if value.is_finite() { format!("{value:e}") } else { format!("{:e}", f64::MAX) }
}

/// Shares that no rounding of any type comes near, for real data of which nothing was measured.
const OBVIOUS: [f64; 3] = [1.0 / 64.0, 1.0 / 64.0, 1.0 / 64.0];

/// What an output may be wrong by: the bounds that decided; nothing where the exact value is due.
pub(crate) fn bounds(finding: &Finding<'_>) -> [f64; 3] {
    if finding.fault.sameness.kind != Kind::Wrong {
        return [0.0; 3];
    }
    match (finding.telling_execution(), finding.fault.recipe) {
        (Some(execution), _) => {
            let census = &execution.census;
            [census.accumulate, census.output, census.absolute]
        }
        (None, Some(recipe)) if recipe.fill.kind.is_integer() => [0.0; 3],
        (None, _) => OBVIOUS,
    }
}

fn seen_wrong(finding: &Finding<'_>) -> String {
    let excerpt = finding.telling_execution().map_or(&[][..], |execution| &execution.excerpt);
    join(&excerpt.iter().map(|(position, _, _)| *position).collect::<Vec<_>>())
}
