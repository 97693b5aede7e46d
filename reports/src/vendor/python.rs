//! Two Python programs of a case: through PyTorch and through cudnn-frontend. Knows which constants the templates want
//! and what either interface cannot say; runs nothing.

use case::{
    Axis, Config, DType, DTypes, Ended, EngineChoice, Fill, FillKind, HeuristicMode, Keep, Kind, Knob,
    Layout, OutputFill, Phase, Recipe, Role, WorkspaceFill,
};
use minijinja::{Environment, context};
use serde_json::json;

use crate::claim::Way;
use crate::escape::for_program;
use crate::finding::Finding;
use crate::repro::bounds;
use crate::title::title;
use crate::vendor::{alone_obstacle, graph};

/// Executions: faults that come and go get a fair chance.
const EXECUTIONS: u32 = 10;

/// Names that cudnn-frontend 1.32.0 has for knobs, by cuDNN's number.
const KNOBS: [(i64, &str); 32] = [
    (1, "SWIZZLE"),
    (2, "TILE_SIZE"),
    (4, "EDGE"),
    (11, "MULTIPLY"),
    (12, "SPLIT_K_BUF"),
    (13, "TILEK"),
    (14, "STAGES"),
    (15, "REDUCTION_MODE"),
    (17, "SPLIT_K_SLC"),
    (18, "IDX_MODE"),
    (23, "SPECFILT"),
    (24, "KERNEL_CFG"),
    (25, "WORKSPACE"),
    (26, "TILE_CGA"),
    (27, "TILE_CGA_M"),
    (28, "TILE_CGA_N"),
    (29, "BLOCK_SIZE"),
    (30, "OCCUPANCY"),
    (31, "ARRAY_SIZE_PER_THREAD"),
    (33, "SPLIT_COLS"),
    (34, "TILE_ROWS"),
    (35, "TILE_COLS"),
    (36, "LOAD_SIZE"),
    (37, "CTA_COUNT"),
    (38, "STREAM_K"),
    (39, "SPLIT_P_SLC"),
    (40, "TILE_M"),
    (41, "TILE_N"),
    (42, "WARP_SPEC_CFG"),
    (43, "SWAP_AB"),
    (44, "INPUT_TMA_ENABLE"),
    (45, "OUTPUT_TMA_ENABLE"),
];

/// Why PyTorch cannot be made to run the case; `None` where it can.
pub(super) fn torch_obstacle(finding: &Finding<'_>) -> Option<String> {
    let (problem, options) = (&finding.case.problem, &finding.case.options);
    let dtypes = problem.dtypes;
    if let Some(reason) = alone_obstacle(finding.case) {
        return Some(reason);
    }
    let reason = if !problem.operation.is_convolution() {
        "this program is written for convolutions only"
    } else if !dtypes.is_uniform() || dtypes.compute != DTypes::default_compute(dtypes.tensors()) {
        "PyTorch's convolutions have one type for all tensors and choose the compute type themselves"
    } else if !problem.layouts.is_uniform() || (problem.layouts.x == Layout::Nhwc && problem.axes.len() == 1)
    {
        "PyTorch has no such memory order: it knows channels first, and channels last for two and three axes"
    } else if problem.axes.iter().any(|axis| axis.pad_before != axis.pad_after) {
        "PyTorch pads both ends alike; torch.nn.functional.pad before it makes another convolution of it"
    } else if options.alpha.value() != 1.0 || options.beta.value() != 0.0 {
        "PyTorch's convolutions have alpha 1 and beta 0"
    } else if problem.declared_output.is_some() {
        "PyTorch derives the output's extents"
    } else if !Way::of(finding).is_recommended() {
        "no heuristic list holds the failing plan, and PyTorch takes its plans from those lists"
    } else {
        return match finding.fault.sameness.kind {
            Kind::Oob => Some("PyTorch shows no bytes beside its tensors".to_owned()),
            Kind::Status => Some("PyTorch tries the next plan where one is refused".to_owned()),
            Kind::Accepted => Some("PyTorch checks a case by rules of its own first".to_owned()),
            Kind::Workspace => Some("PyTorch asks for a plan's workspace once".to_owned()),
            Kind::Reload => Some("PyTorch stores no plans".to_owned()),
            Kind::Wrong
            | Kind::Inexact
            | Kind::Nondet
            | Kind::Input
            | Kind::Device
            | Kind::Crash
            | Kind::Hang => nan_obstacle(finding),
        };
    };
    Some(reason.to_owned())
}

/// Why cudnn-frontend's Python interface cannot run the case; `None` where it can.
pub(super) fn frontend_obstacle(finding: &Finding<'_>) -> Option<String> {
    let unnamed = config(finding).and_then(|config| {
        let unnamed = config.knobs.iter().find(|knob| knob_name(knob).is_none())?;
        Some(format!("cudnn-frontend 1.32.0 has no name for knob type {}", unnamed.knob))
    });
    alone_obstacle(finding.case)
        .or_else(|| graph::obstacle(finding.case))
        .or(unnamed)
        .or_else(|| nan_obstacle(finding))
}

/// PyTorch's reference multiplies the zeros of the padding with NaN, where a convolution has no product.
fn nan_obstacle(finding: &Finding<'_>) -> Option<String> {
    let nan = recipe(finding).fill.kind == FillKind::Nan;
    nan.then(|| "the data hold a NaN, which the program's reference would spread into padding".to_owned())
}

/// The PyTorch program.
///
/// # Errors
/// A template that does not render: our own trouble.
pub(super) fn torch(finding: &Finding<'_>) -> Result<String, minijinja::Error> {
    if let Some(reason) = torch_obstacle(finding) {
        return not_expressible(finding, &reason);
    }
    let observation = finding.outcome.observation.as_ref();
    let down_converts = observation.is_some_and(|observation| observation.notes.down_converts());
    let own = context! {
        tf32 => boolean(finding.case.options.tf32 && down_converts),
        channels_last => boolean(finding.case.problem.layouts.x == Layout::Nhwc),
    };
    render("repro_torch.py", context! { ..own, ..shared(finding) })
}

/// The cudnn-frontend program.
///
/// # Errors
/// A template that does not render: our own trouble.
pub(super) fn frontend(finding: &Finding<'_>) -> Result<String, minijinja::Error> {
    if let Some(reason) = frontend_obstacle(finding) {
        return not_expressible(finding, &reason);
    }
    let config = config(finding);
    let knobs = config.map_or(&[][..], |config| &config.knobs).iter();
    let knobs: serde_json::Value =
        knobs.filter_map(|knob| Some((knob_name(knob)?.to_owned(), json!(knob.value)))).collect();
    let (mode, rank) = match finding.case.options.engine {
        EngineChoice::Ranked { mode, rank } => (mode, rank),
        EngineChoice::Any | EngineChoice::Pinned(_) => (HeuristicMode::A, 0),
    };
    let modes =
        if finding.fault.sameness.phase == Phase::Heuristics { &HeuristicMode::ALL[..] } else { &[mode] };
    let modes: Vec<String> =
        modes.iter().map(|mode| format!("cudnn.heur_mode.{}", mode.name().to_uppercase())).collect();
    let status = match finding.outcome.observation.as_ref().map(|observation| &observation.ended) {
        Some(Ended::Status(refusal)) => format!("CUDNN_STATUS_{}", refusal.name),
        Some(Ended::Completed | Ended::Described | Ended::Device { .. } | Ended::Skipped(_)) | None => {
            "no status is waited for".to_owned()
        }
    };
    let recipe = recipe(finding);
    let own = context! {
        cudnn => finding.environment.cudnn_text(),
        compute => graph::data_type(finding.case.problem.dtypes.compute),
        engine => config.map_or_else(|| "None".to_owned(), |config| config.engine.to_string()),
        // Numbers and fixed names: JSON and Python write such a dictionary alike.
        knobs => if config.is_some() { knobs.to_string() } else { "{}".to_owned() },
        modes => format!("[{}]", modes.join(", ")),
        rank,
        status => literal(&status),
        output_byte => match recipe.output { OutputFill::Nan => "0xFF", OutputFill::Finite => "0x7B" },
        workspace_byte => match recipe.workspace {
            WorkspaceFill::Zero => "0x00",
            WorkspaceFill::Ones | WorkspaceFill::Random(_) => "0xFF",
        },
    };
    render("repro_fe.py", context! { ..own, ..shared(finding) })
}

/// What both programs hold.
fn shared(finding: &Finding<'_>) -> minijinja::Value {
    let (problem, fault) = (&finding.case.problem, finding.fault);
    let geometry = problem.geometry();
    let axes = |of: fn(&Axis) -> i64| list(&problem.axes.iter().map(of).collect::<Vec<i64>>());
    let each = |of: &dyn Fn(Role) -> String| {
        let parts = Role::ALL.map(|role| format!("\"{}\": {}", role.name(), of(role)));
        format!("{{{}}}", parts.join(", "))
    };
    let Recipe { fill, .. } = recipe(finding);
    let bound =
        bounds(finding).map(|value| format!("{:e}", if value.is_finite() { value } else { f64::MAX }));
    context! {
        title => for_program(&title(finding)),
        case => finding.case.to_string(),
        summary => for_program(&fault.summary),
        operation => literal(problem.operation.name()),
        output => literal(problem.operation.output().name()),
        dim => each(&|role| list(&geometry.extents(role))),
        strides => each(&|role| list(&geometry.strides(role))),
        dtype => each(&|role| torch_type(problem.dtypes.tensors()[role.index()]).to_owned()),
        pad_before => axes(|axis| axis.pad_before),
        pad_after => axes(|axis| axis.pad_after),
        stride => axes(|axis| axis.stride),
        dilation => axes(|axis| axis.dilation),
        groups => problem.g.max(1),
        fill => literal(fill.kind.name()),
        seed => fill.seed,
        keep => kept(finding.case.options.keep),
        bound => format!("[{}]", bound.join(", ")),
        kind => literal(fault.sameness.kind.name()),
        executions => finding.case.options.repeat.max(EXECUTIONS),
    }
}

/// A Python dictionary of the ranges; empty where there are none.
fn kept(keep: Keep) -> String {
    if keep.is_all() {
        return String::new();
    }
    let ranges: Vec<String> = keep
        .ranges()
        .map(|(role, kept)| format!("\"{}\": ({}, {})", role.name(), kept.first, kept.last))
        .collect();
    format!("{{{}}}", ranges.join(", "))
}

fn render(name: &str, values: minijinja::Value) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    // The output is Python, where HTML escapes would be wrong; text from outside is a literal or one plain line.
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    for (name, source) in [
        ("case.py", include_str!("../../templates/vendor/case.py.part")),
        ("values.py", include_str!("../../templates/vendor/values.py.part")),
        ("repro_torch.py", include_str!("../../templates/vendor/repro_torch.py")),
        ("repro_fe.py", include_str!("../../templates/vendor/repro_fe.py")),
        ("not_expressible.py", include_str!("../../templates/vendor/not_expressible.py")),
    ] {
        environment.add_template(name, source)?;
    }
    Ok(environment.get_template(name)?.render(values)? + "\n")
}

fn not_expressible(finding: &Finding<'_>, reason: &str) -> Result<String, minijinja::Error> {
    let title = for_program(&title(finding));
    render("not_expressible.py", context! { title, reason => literal(reason) })
}

/// Contents of the buffers: as in the execution that showed it, else what the case pins.
fn recipe(finding: &Finding<'_>) -> Recipe {
    let options = &finding.case.options;
    finding.fault.recipe.unwrap_or_else(|| Recipe {
        fill: options.fill.unwrap_or(Fill { kind: FillKind::Int2, seed: 1 }),
        output: options.output_fill.unwrap_or(OutputFill::Nan),
        workspace: options.workspace.contents.unwrap_or(WorkspaceFill::Ones),
        repeats: None,
    })
}

/// The configuration to run: what the case pins, else the one that failed.
pub(super) fn config<'a>(finding: &Finding<'a>) -> Option<&'a Config> {
    match &finding.case.options.engine {
        EngineChoice::Pinned(config) => Some(config),
        EngineChoice::Any | EngineChoice::Ranked { .. } => {
            finding.outcome.candidate.as_ref().map(|candidate| &candidate.config)
        }
    }
}

fn knob_name(knob: &Knob) -> Option<&'static str> {
    KNOBS.into_iter().find(|(number, _)| *number == knob.knob).map(|(_, name)| name)
}

/// A Python string: JSON's text of a string is one, whatever it holds.
pub(super) fn literal(text: &str) -> String {
    json!(text).to_string()
}

fn boolean(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

fn list(values: &[i64]) -> String {
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    format!("[{}]", values.join(", "))
}

fn torch_type(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "torch.float32",
        DType::F64 => "torch.float64",
        DType::F16 => "torch.float16",
        DType::Bf16 => "torch.bfloat16",
        DType::I8 => "torch.int8",
        DType::I32 => "torch.int32",
    }
}
