//! Findings made by hand, for tests. Knows one believable failure of each kind.

use case::{
    Alternative, Atom, Candidate, Case, Cell, Census, Config, Ended, Environment, Execution, Exit,
    Explanation, Fault, Fill, FillKind, Kind, LibraryConfiguration, Map, MappedFile, Notes, Observation,
    Outcome, OutputFill, Phase, Probes, Property, Quantity, Ranks, Reach, Recipe, ReferenceFacts, Region,
    Role, Sameness, Severity, Signature, SpotCheck, Tier, Twin, WorkspaceFill,
};

use crate::finding::{Finding, Minimization};

/// Owns what a finding borrows.
pub(crate) struct Sample {
    pub(crate) signature: Signature,
    pub(crate) fault: Fault,
    pub(crate) case: Case,
    pub(crate) original: Case,
    pub(crate) environment: Environment,
    pub(crate) outcome: Outcome,
    pub(crate) minimization: Minimization,
    pub(crate) explanation: Option<Explanation>,
    pub(crate) reach: Option<Reach>,
    pub(crate) library_log: String,
    pub(crate) secrets: Vec<String>,
}

impl Sample {
    /// A failure of that kind on that case line.
    pub(crate) fn new(kind: Kind, line: &str) -> Self {
        let case: Case = line.parse().expect("a case line");
        let (phase, cause) = place(kind);
        let sameness = Sameness::new(kind, case.problem.operation, phase, cause, Some(25));
        let recipe = Recipe {
            fill: case.options.fill.unwrap_or(Fill { kind: FillKind::Int2, seed: 1 }),
            output: case.options.output_fill.unwrap_or(OutputFill::Nan),
            workspace: case.options.workspace.contents.unwrap_or(WorkspaceFill::Ones),
            repeats: None,
        };
        let measured = matches!(kind, Kind::Wrong | Kind::Inexact | Kind::Nondet | Kind::Oob | Kind::Input);
        let fault = Fault {
            sameness: sameness.clone(),
            tier: Tier::A,
            summary: "17 of 6272 outputs wrong (finite), first at (n0 c3 h0 w2): got 17, expected 21"
                .to_owned(),
            recipe: measured.then_some(recipe),
        };
        Self {
            signature: Signature::new(&sameness, &case.problem),
            fault,
            original: "dgrad f16 nchw n16 c64 k128 i28x28 f3x3 p1x1".parse().expect("a case line"),
            environment: environment(),
            outcome: outcome(kind, phase, measured.then_some(recipe)),
            minimization: minimization(),
            explanation: Some(explanation()),
            reach: Some(reach()),
            library_log: "I! CuDNN (v91900 56) function cudnnBackendExecute() called:\n".to_owned(),
            secrets: vec!["gpu-host-7".to_owned()],
            case,
        }
    }

    pub(crate) fn finding(&self) -> Finding<'_> {
        Finding {
            signature: &self.signature,
            fault: &self.fault,
            case: &self.case,
            original: &self.original,
            environment: &self.environment,
            outcome: &self.outcome,
            hits: 3,
            runs: 4,
            ranks: Ranks { a: Some(2), b: None, fallback: Some(0) },
            minimization: &self.minimization,
            explanation: self.explanation.as_ref(),
            reach: self.reach.as_ref(),
            library_log: &self.library_log,
            tool_version: "0.1.0",
            secrets: &self.secrets,
        }
    }
}

/// Where a kind shows, and its cause.
fn place(kind: Kind) -> (Phase, &'static str) {
    match kind {
        Kind::Wrong => (Phase::Judge, "finite"),
        Kind::Inexact => (Phase::Judge, "undeclared"),
        Kind::Nondet => (Phase::Judge, "repeat"),
        Kind::Oob => (Phase::Judge, "x_after"),
        Kind::Input => (Phase::Judge, "w"),
        Kind::Status => (Phase::Plan, "INTERNAL_ERROR"),
        Kind::Device => (Phase::Sync, "ILLEGAL_ADDRESS"),
        Kind::Crash => (Phase::Heuristics, "sigsegv"),
        Kind::Hang => (Phase::Sync, "deadline"),
        Kind::Accepted => (Phase::Execute, "accepted"),
        Kind::Workspace => (Phase::Plan, "config"),
        Kind::Reload => (Phase::Plan, "text"),
    }
}

fn environment() -> Environment {
    let file = |name: &str, place: &str, digit: &str| MappedFile {
        name: name.to_owned(),
        place: place.to_owned(),
        bytes: 123_456,
        sha256: digit.repeat(64),
        build_id: digit.repeat(40),
        version: String::new(),
    };
    Environment {
        gpu: "NVIDIA H200".to_owned(),
        compute_capability: 90,
        memory_bytes: 150_754_820_096,
        memory_free_bytes: 150_000_000_000,
        devices_visible: 8,
        driver_cuda: 13_000,
        driver: "580.159.04".to_owned(),
        cudnn: 91_900,
        cudart: 13_010,
        configuration: Some(LibraryConfiguration::Full),
        found: "given by --library".to_owned(),
        files: vec![
            file("libcudnn.so.9", "wheel:nvidia/cudnn/lib", "a"),
            file("libcuda.so.1", "system:/usr/lib/x86_64-linux-gnu", "b"),
        ],
        conflict: String::new(),
        device_properties: String::new(),
        plans_only: false,
        assumed: Vec::new(),
    }
}

fn execution(recipe: Recipe) -> Execution {
    Execution {
        recipe,
        reference: ReferenceFacts {
            outputs: 6272,
            with_products: 6272,
            non_zero: 6000,
            products_max: 288,
            abs_sum_max: 720.0,
            abs_result_max: 120.0,
        },
        spot: SpotCheck { sampled: 64, disagreeing: 0 },
        census: Census {
            checked: 6272,
            differing: 17,
            first_differing: 590,
            last_differing: 900,
            over_element: 17,
            first_over_element: 590,
            error_max: 4.0,
            ratio_max: 9.5,
            accumulate: 2.5e-6,
            output: 4.88e-4,
            absolute: 2.98e-8,
            norm: 0.06,
            ..Census::default()
        },
        guards: Vec::new(),
        inputs_changed: Vec::new(),
        repeat_differing: None,
        excerpt: vec![(590, "17".to_owned(), "21".to_owned()), (594, "-3".to_owned(), "1".to_owned())],
        execute_us: 31,
    }
}

fn outcome(kind: Kind, phase: Phase, recipe: Option<Recipe>) -> Outcome {
    let candidate = Candidate {
        config: Config { engine: 25, knobs: Vec::new() },
        ranks: Ranks { a: Some(2), b: None, fallback: Some(0) },
    };
    let ended = if kind == Kind::Status {
        Ended::Status(case::Refusal {
            phase,
            status: 4000,
            name: "INTERNAL_ERROR".to_owned(),
            reason: "ptr <null> | `x`".to_owned(),
        })
    } else if kind == Kind::Device {
        Ended::Device { phase, code: 700, name: "ILLEGAL_ADDRESS".to_owned(), sticky: true }
    } else {
        Ended::Completed
    };
    let observation = Observation {
        candidate: Some(candidate.clone()),
        notes: Notes { numerical: vec![0], behavior: vec![0] },
        workspace_bytes: 4096,
        plan_us: 480_000,
        ended,
        executions: recipe.map(execution).into_iter().collect(),
        planning: None,
    };
    let (exit, observation) = if kind == Kind::Crash {
        (Exit::Signalled(11), None)
    } else if kind == Kind::Hang {
        (Exit::TimedOut(10_000), None)
    } else {
        (Exit::Answered, Some(observation))
    };
    Outcome { candidate: Some(candidate), exit, phase, observation, stderr: String::new() }
}

fn explanation() -> Explanation {
    let inner = |extent: i64| if extent % 7 == 0 { Cell::Fails } else { Cell::Passes };
    let row = |channels: i64| -> Vec<Cell> {
        (12..=16).map(|extent| if channels < 8 { Cell::Passes } else { inner(extent) }).collect()
    };
    Explanation {
        region: Region {
            atoms: vec![
                Atom::OneOf(Property::DType(Role::X), vec!["f16".to_owned(), "bf16".to_owned()]),
                Atom::Residue(Quantity::Input(0), 7, 0),
                Atom::AtLeast(Quantity::C, 8),
            ],
            inside: Probes {
                tested: 64,
                failed: 63,
                counter_examples: vec!["fprop f16 nchw n1 c9 k1 i7x7 f1x1".to_owned()],
            },
            outside: Probes { tested: 61, failed: 0, counter_examples: Vec::new() },
        },
        twins: vec![
            Twin {
                field: "input[-1]".to_owned(),
                fails: "14".to_owned(),
                passes: "15".to_owned(),
                case: "dgrad f16 nchw n2 c16 k32 i14x15 f3x3 p1x1 engine=25".to_owned(),
            },
            Twin {
                field: "dtype(x)".to_owned(),
                fails: "f16".to_owned(),
                passes: "f32".to_owned(),
                case: "dgrad f32 nchw n2 c16 k32 i14x14 f3x3 p1x1 engine=25".to_owned(),
            },
        ],
        any: ["n", "k", "g", "stride[-1]", "stride[-2]"].map(str::to_owned).to_vec(),
        map: Some(Map {
            across: Quantity::Input(0),
            columns: (12..=16).collect(),
            down: Quantity::C,
            rows: vec![4, 7, 8, 16],
            cells: [4, 7, 8, 16].map(row).to_vec(),
        }),
        calls: 161,
        complete: true,
    }
}

fn reach() -> Reach {
    Reach {
        ranks: Ranks { a: Some(2), b: None, fallback: Some(0) },
        original_ranks: Ranks { a: Some(0), b: Some(1), fallback: Some(0) },
        severity: Severity::ByDefault,
        alternative: Some(Alternative {
            config: Config { engine: 0, knobs: Vec::new() },
            time_ratio: Some(1.31),
            execute_us: 41,
        }),
        right: 5,
        ran: 6,
    }
}

fn minimization() -> Minimization {
    Minimization {
        calls: 31,
        one_minimal: true,
        swept: 22,
        sweep_total: 22,
        guarantee:
            "R is 1-minimal with respect to edit list v1: each of the 22 listed single edits was tried."
                .to_owned(),
        log: minimize_log(),
        seconds: 24.5,
    }
}

/// A few questions, as the minimizer logs them.
fn minimize_log() -> Vec<String> {
    let question = |(call, pass, line, answer, accepted): &(u32, &str, &str, &str, bool)| {
        let case: Case = line.parse().expect("a case line");
        serde_json::json!({ "call": call, "pass": pass, "case": case, "answer": answer, "accepted": accepted })
            .to_string()
    };
    let questions = [
        (1, "original", "dgrad f16 nchw n16 c64 k128 i28x28 f3x3 p1x1", "same", false),
        (2, "shortcut", "dgrad f16 nchw n1 c1 k1 i1x1 f1x1", "pass", false),
        (3, "integers", "dgrad f16 nchw n2 c64 k128 i28x28 f3x3 p1x1", "same", true),
        (9, "integers", "dgrad f16 nchw n2 c16 k128 i28x28 f3x3 p1x1", "same", true),
        (14, "integers", "dgrad f16 nchw n2 c16 k32 i28x28 f3x3 p1x1", "same", true),
        (20, "integers", "dgrad f16 nchw n2 c16 k32 i14x14 f3x3 p1x1", "same", true),
        (31, "sweep", "dgrad f16 nchw n2 c16 k32 i13x14 f3x3 p1x1", "pass", false),
    ];
    questions.iter().map(question).collect()
}
