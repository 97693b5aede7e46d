//! The rows of the page's tables, as plain text. Knows what a triager asks; escapes nothing.

use case::{
    Axis, Case, Ended, EngineChoice, Environment, Execution, Exit, Kind, MappedFile, Recipe, Role,
    WorkspaceAmount, WorkspaceFill,
};

use crate::finding::{Finding, Minimization};
use crate::title::kind_words;
use crate::verdict::VerdictRecord;

/// A name and what there is to say.
pub(super) type Row = (&'static str, String);

const NOT_CHECKED: &str = "not checked";

/// The box at the top.
pub(super) fn verdict(finding: &Finding<'_>, record: &VerdictRecord) -> Vec<Row> {
    let sameness = &finding.fault.sameness;
    vec![
        ("Kind", format!("{} ({}, {})", kind_words(sameness.kind), sameness.phase.name(), sameness.cause)),
        ("Seen", finding.fault.summary.clone()),
        ("Reached", format!("{} (tier {})", finding.ranks, finding.fault.tier.name())),
        ("Reproduces", format!("in {} of {} runs, each in a fresh process", finding.hits, finding.runs)),
        ("Stand-alone program", record.verification.words()),
        ("Signature", finding.signature.to_string()),
        ("Regression", NOT_CHECKED.to_owned()),
        ("Duplicates", NOT_CHECKED.to_owned()),
    ]
}

/// What ought to happen, for kinds that show in no values.
pub(super) fn should(kind: Kind) -> &'static str {
    match kind {
        Kind::Wrong | Kind::Inexact => "the reference's values",
        Kind::Nondet => {
            "the same bits in every execution, since the engine does not declare NONDETERMINISTIC"
        }
        Kind::Oob => "no write outside the buffers",
        Kind::Input => "inputs that stay as they are",
        Kind::Status => "success, or a refusal before anything recommends the configuration",
        Kind::Device => "no CUDA error after cuDNN reported success",
        Kind::Crash => "a status, and a process that lives",
        Kind::Hang => "a call that returns",
        Kind::Accepted => "a refusal",
    }
}

/// What a run takes.
pub(super) fn needs(finding: &Finding<'_>) -> String {
    let observation = finding.outcome.observation.as_ref();
    let tensors = finding.case.problem.geometry().total_bytes();
    let workspace = observation.map_or("unknown".to_owned(), |seen| seen.workspace_bytes.to_string());
    let execution = finding
        .telling_execution()
        .map_or("not measured".to_owned(), |execution| format!("{} microseconds", execution.execute_us));
    format!(
        "Device memory: {tensors} bytes of tensors, workspace {workspace} bytes. Time of one execution: {execution}."
    )
}

/// The case, field by field.
pub(super) fn fields(case: &Case) -> Vec<Row> {
    let (problem, options) = (&case.problem, &case.options);
    let tensor = |role: Role| {
        let geometry = problem.geometry();
        let index = role.index();
        format!(
            "{} {} {} ({} bytes)",
            problem.dtypes.tensors()[index].name(),
            problem.layouts.tensors()[index].name(),
            join(&geometry.extents(role)),
            geometry.bytes(role)
        )
    };
    let axes = |of: fn(&Axis) -> String| problem.axes.iter().map(of).collect::<Vec<_>>().join(" x ");
    let or_default = |text: Option<String>| text.unwrap_or_else(|| "any (default)".to_owned());
    vec![
        ("operation", problem.operation.name().to_owned()),
        ("x", tensor(Role::X)),
        ("w", tensor(Role::W)),
        ("y", tensor(Role::Y)),
        ("compute type", problem.dtypes.compute.name().to_owned()),
        ("groups", marked(problem.g.to_string(), problem.g == 1)),
        ("padding", axes(|axis| format!("{}:{}", axis.pad_before, axis.pad_after))),
        ("stride", axes(|axis| axis.stride.to_string())),
        ("dilation", axes(|axis| axis.dilation.to_string())),
        ("plan", plan(&options.engine)),
        ("library set", or_default(options.set.clone())),
        ("workspace", workspace(case)),
        ("workspace contents", or_default(options.workspace.contents.map(workspace_words))),
        ("data", or_default(options.fill.map(|fill| format!("{}:{}", fill.kind.name(), fill.seed)))),
        ("output before", or_default(options.output_fill.map(|fill| fill.name().to_owned()))),
        ("alpha, beta", format!("{}, {}", options.alpha.value(), options.beta.value())),
        ("repeat", marked(options.repeat.to_string(), options.repeat == 1)),
    ]
}

fn marked(text: String, is_default: bool) -> String {
    if is_default { format!("{text} (default)") } else { text }
}

fn join(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

fn plan(engine: &EngineChoice) -> String {
    match engine {
        EngineChoice::Any => "any (default)".to_owned(),
        EngineChoice::Pinned(config) => configuration(config),
        EngineChoice::Ranked { mode, rank } => format!("rank {rank} of heuristics {}", mode.name()),
    }
}

fn configuration(config: &case::Config) -> String {
    let knobs: Vec<String> =
        config.knobs.iter().map(|knob| format!("knob {} = {}", knob.knob, knob.value)).collect();
    let knobs = if knobs.is_empty() { "default knobs".to_owned() } else { knobs.join(", ") };
    format!("engine {}, {knobs}", config.engine)
}

fn workspace(case: &Case) -> String {
    let workspace = case.options.workspace;
    let amount = match workspace.amount {
        WorkspaceAmount::Exact => "what the plan asks for (default)".to_owned(),
        WorkspaceAmount::Extra(bytes) => format!("{bytes} bytes more than the plan asks for"),
        WorkspaceAmount::Max(bytes) => format!("what the plan asks for, at most {bytes} bytes"),
    };
    format!("{amount}, aligned to {} bytes", workspace.alignment)
}

fn workspace_words(fill: WorkspaceFill) -> String {
    match fill {
        WorkspaceFill::Zero => "00".to_owned(),
        WorkspaceFill::Ones => "ff".to_owned(),
        WorkspaceFill::Random(seed) => format!("random bytes of seed {seed}"),
    }
}

/// Where in the run, and what was said there.
pub(super) fn place(finding: &Finding<'_>, record: &VerdictRecord) -> Vec<Row> {
    let mut rows = vec![
        ("phase", finding.fault.sameness.phase.name().to_owned()),
        ("process", exit_words(finding.outcome.exit)),
        ("said", record.ended.as_ref().map_or("nothing".to_owned(), ended_words)),
        ("configuration", record.config.as_ref().map_or("none yet".to_owned(), configuration)),
        ("heuristic lists", record.ranks.to_string()),
    ];
    if let Some(observation) = &finding.outcome.observation {
        let names = observation.notes.names();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let compiled = if observation.notes.compiles_at_run_time() { "yes" } else { "no" };
        rows.push(("numerical notes", names));
        rows.push(("compiled at run time", compiled.to_owned()));
        rows.push(("workspace asked for", format!("{} bytes", observation.workspace_bytes)));
    }
    rows.push(("kernel name", NOT_CHECKED.to_owned()));
    rows
}

fn exit_words(exit: Exit) -> String {
    match exit {
        Exit::Answered => "lives".to_owned(),
        Exit::Exited(code) => format!("ended with code {code}"),
        Exit::Signalled(signal) => format!("killed by signal {signal}"),
        Exit::TimedOut(limit_ms) => format!("stopped after {limit_ms} ms without progress"),
    }
}

fn ended_words(ended: &Ended) -> String {
    match ended {
        Ended::Completed => "success in every call".to_owned(),
        Ended::Described => "a plan was built".to_owned(),
        Ended::Status(refusal) => {
            let reason = if refusal.reason.is_empty() { "no reason given" } else { &refusal.reason };
            format!("{} ({}) in {}: {reason}", refusal.name, refusal.status, refusal.phase.name())
        }
        Ended::Device { phase, code, name, sticky } => {
            let context = if *sticky { "the context is lost" } else { "the context survives" };
            format!("CUDA error {name} ({code}) in {}; {context}", phase.name())
        }
        Ended::Skipped(reason) => format!("not run: {reason}"),
    }
}

/// The numbers behind the verdict; none where no execution was measured.
pub(super) fn proof(finding: &Finding<'_>) -> Vec<Row> {
    let Some(execution) = finding.telling_execution() else { return Vec::new() };
    let (census, facts, spot) = (&execution.census, &execution.reference, &execution.spot);
    let mut rows = vec![
        ("buffers before", recipe(&execution.recipe)),
        (
            "reference",
            format!(
                "double precision on the GPU; {} of {} sampled outputs differ from a second one on the CPU",
                spot.disagreeing, spot.sampled
            ),
        ),
        (
            "telling outputs",
            format!(
                "{} of {} have a reference other than 0; at most {} products each",
                facts.non_zero, facts.outputs, facts.products_max
            ),
        ),
        ("largest sum of absolute products", facts.abs_sum_max.to_string()),
        (
            "differing",
            format!(
                "{} of {} outputs, positions {} to {}",
                census.differing, census.checked, census.first_differing, census.last_differing
            ),
        ),
        (
            "beyond the bound",
            format!(
                "{} outputs; bound {:e} * sum of absolute products + {:e} * |reference| + {:e}",
                census.over_element, census.accumulate, census.output, census.absolute
            ),
        ),
        ("beyond any rounding", format!("{} outputs; bound {:e}", census.over_norm, census.norm)),
        (
            "largest error",
            format!("{:e}, {:e} times the element's bound", census.error_max, census.ratio_max),
        ),
        (
            "classes",
            format!(
                "{} NaN, {} never written, {} zero, {} infinite",
                census.nan, census.stale, census.zero, census.infinite
            ),
        ),
    ];
    rows.extend(traces(execution));
    rows
}

/// What changed that should not have.
fn traces(execution: &Execution) -> Vec<Row> {
    let mut rows = Vec::new();
    for hit in &execution.guards {
        let side = if hit.after { "after" } else { "before" };
        rows.push((
            "guard",
            format!(
                "{} bytes changed {side} {}, {} to {} bytes off its edge",
                hit.changed,
                hit.zone.name(),
                hit.nearest,
                hit.farthest
            ),
        ));
    }
    for (role, elements) in &execution.inputs_changed {
        rows.push(("input", format!("{elements} elements of {} changed", role.name())));
    }
    if let Some(differing) = execution.repeat_differing {
        rows.push(("repeat", format!("{differing} outputs differ from an execution on the same data")));
    }
    rows
}

fn recipe(recipe: &Recipe) -> String {
    format!(
        "data {}:{}, output {}, workspace {}",
        recipe.fill.kind.name(),
        recipe.fill.seed,
        recipe.output.name(),
        workspace_words(recipe.workspace)
    )
}

/// Names of the output's dimensions.
pub(super) fn output_names(case: &Case) -> Vec<&'static str> {
    let outer = match case.problem.operation.output() {
        Role::X => ["n", "c"],
        Role::W => ["k", "c"],
        Role::Y => ["n", "k"],
    };
    let axes = ["d", "h", "w"];
    let first = axes.len().saturating_sub(case.problem.axes.len());
    outer.into_iter().chain(axes.into_iter().skip(first)).collect()
}

/// Machine and versions.
pub(super) fn environment(finding: &Finding<'_>) -> Vec<Row> {
    let environment = finding.environment;
    let cuda = |number: u64| format!("{}.{}", number / 1000, number % 1000 / 10);
    let known = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
    let conflict =
        if environment.conflict.is_empty() { "none".to_owned() } else { environment.conflict.clone() };
    vec![
        ("cuDNN", format!("{} ({})", environment.cudnn_text(), environment.set())),
        ("found", known(&environment.found)),
        ("CUDA runtime of cuDNN", cuda(environment.cudart)),
        ("GPU", format!("{}, sm_{}", known(&environment.gpu), environment.compute_capability)),
        ("GPU memory", format!("{} bytes", environment.memory_bytes)),
        ("driver", known(&environment.driver)),
        ("CUDA of the driver", cuda(u64::try_from(environment.driver_cuda).unwrap_or(0))),
        ("mixed libraries", conflict),
        ("convict", finding.tool_version.to_owned()),
        ("operating system, container", NOT_CHECKED.to_owned()),
    ]
}

/// Name, place, version, bytes and SHA-256 of each mapped file.
pub(super) fn files(environment: &Environment) -> Vec<[String; 5]> {
    let row = |file: &MappedFile| {
        let hash = if file.sha256.is_empty() { NOT_CHECKED } else { &file.sha256 };
        [file.name.clone(), file.place.clone(), file.version.clone(), file.bytes.to_string(), hash.to_owned()]
    };
    environment.files.iter().map(row).collect()
}

pub(super) fn minimization(minimization: &Minimization) -> Vec<Row> {
    let one_minimal = if minimization.one_minimal { "yes" } else { "not shown" };
    vec![
        ("1-minimal", one_minimal.to_owned()),
        (
            "closing sweep",
            format!("{} of {} listed edits tried", minimization.swept, minimization.sweep_total),
        ),
        ("runs needed", minimization.calls.to_string()),
        ("seconds", format!("{:.1}", minimization.seconds)),
    ]
}

/// How a user meets it.
pub(super) fn reach(finding: &Finding<'_>) -> Vec<Row> {
    vec![
        ("met as", finding.original.to_string()),
        ("heuristic lists that hold the configuration", finding.ranks.to_string()),
        ("framework that reaches it", NOT_CHECKED.to_owned()),
    ]
}
