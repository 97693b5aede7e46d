//! The rows of the page's tables, as plain text. Knows what a triager asks; escapes nothing.

use case::{Case, Config, Ended, Environment, Exit, Kind, MappedFile, Role, WorkspaceFill};

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

/// Engine and knobs in words.
pub(super) fn configuration(config: &Config) -> String {
    let knobs: Vec<String> =
        config.knobs.iter().map(|knob| format!("knob {} = {}", knob.knob, knob.value)).collect();
    let knobs = if knobs.is_empty() { "default knobs".to_owned() } else { knobs.join(", ") };
    format!("engine {}, {knobs}", config.engine)
}

/// What a workspace holds, in the words of the one-line text.
pub(super) fn workspace_words(fill: WorkspaceFill) -> String {
    match fill {
        WorkspaceFill::Zero => "00".to_owned(),
        WorkspaceFill::Ones => "ff".to_owned(),
        WorkspaceFill::Random(seed) => format!("random bytes of seed {seed}"),
    }
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
