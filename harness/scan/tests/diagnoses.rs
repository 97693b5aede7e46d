//! Logs as people have them, each after a public report and in words of our own, with the diagnosis that is expected of
//! it; and one log with nothing in it. Knows what a scan says; how it comes to it is the room's matter.

use scan::{Moment, Relation, Scan, Scanner, Symptom, When, shell_word};

/// What a log must give.
struct Expected {
    log: &'static [u8],
    /// The public report that the log follows.
    source: &'static str,
    root: &'static str,
    line: u64,
    when: When,
    moment: Option<Moment>,
    count: u64,
    /// The first cause's begin, and those of the commands to run for it, each of which has to come.
    cause: &'static str,
    commands: &'static [&'static str],
    /// Words that no command may have.
    never: &'static [&'static str],
    /// Case line of the suspect.
    suspect: Option<&'static str>,
    others: &'static [(&'static str, Relation)],
}

fn scanned(logs: &[&[u8]]) -> Scan {
    let mut scanner = Scanner::new();
    logs.iter().for_each(|log| scanner.read(*log));
    scanner.finish()
}

const fn moment(epoch: Option<u64>, step: u64) -> Option<Moment> {
    Some(Moment { epoch, step: Some(step) })
}

const EXPECTED: [Expected; 10] = [
    Expected {
        log: include_bytes!("logs/mixed-sublibraries.log"),
        source: "https://github.com/pytorch/pytorch/issues/185512",
        root: "status-version-mismatch",
        line: 15,
        when: When::Start,
        moment: Some(Moment { epoch: Some(1), step: None }),
        count: 1,
        cause: "a system cuDNN supplies a part",
        commands: &["convict doctor"],
        never: &["LOGINFO_DBG", "LOGWARN_DBG"],
        suspect: None,
        others: &[],
    },
    Expected {
        log: include_bytes!("logs/missing-library.log"),
        source: "https://github.com/SYSTRAN/faster-whisper/issues/516",
        root: "cudnn-not-loaded",
        line: 4,
        when: When::Start,
        moment: moment(None, 0),
        count: 1,
        cause: "no cuDNN of that major version",
        commands: &["convict doctor"],
        never: &[],
        suspect: None,
        others: &[("abort", Relation::Bystander)],
    },
    Expected {
        log: include_bytes!("logs/older-than-built.log"),
        source: "https://github.com/jax-ml/jax/issues/15361",
        root: "cudnn-older-than-built",
        line: 3,
        when: When::Start,
        moment: None,
        count: 1,
        cause: "a system or toolkit cuDNN comes before",
        commands: &["convict doctor"],
        never: &[],
        suspect: None,
        others: &[("dnn-init", Relation::SameLibraries)],
    },
    Expected {
        log: include_bytes!("logs/illegal-access-one-rank.log"),
        source: "https://github.com/pytorch/pytorch/issues/127605",
        root: "cuda-illegal-address",
        line: 29,
        when: When::Once,
        moment: moment(Some(3), 1200),
        count: 1,
        cause: "a kernel of the program or of an extension",
        commands: &["CUDA_LAUNCH_BLOCKING=1 python train.py"],
        never: &["LOGLEVEL_DBG", "convict bisect"],
        suspect: None,
        others: &[
            ("status-execution-failed", Relation::AfterFault),
            ("abort", Relation::Bystander),
            ("nccl-timeout", Relation::Bystander),
            ("elastic-shutdown", Relation::Bystander),
        ],
    },
    Expected {
        log: include_bytes!("logs/memory-at-validation.log"),
        source: "https://github.com/Comfy-Org/ComfyUI/issues/10075",
        root: "cuda-out-of-memory",
        line: 11,
        when: When::Change,
        moment: moment(Some(0), 120),
        count: 1,
        cause: "batch, resolution or sequence grew",
        commands: &["nvidia-smi --query-compute-apps"],
        never: &["LOGINFO_DBG", "LOGWARN_DBG"],
        suspect: None,
        others: &[("torch-no-engine", Relation::AfterShortage)],
    },
    Expected {
        log: include_bytes!("logs/red-zone.log"),
        source: "https://github.com/tensorflow/tensorflow/issues/32836",
        root: "xla-redzone",
        line: 5,
        when: When::Start,
        moment: moment(None, 1),
        count: 3,
        cause: "an engine of this cuDNN writes out of bounds",
        commands: &[],
        never: &["LOGLEVEL_DBG", "convict bisect", "convict hunt", "convict check"],
        suspect: None,
        others: &[],
    },
    Expected {
        log: include_bytes!("logs/off-the-bus.log"),
        source: "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html",
        root: "xid-79",
        line: 47,
        when: When::Once,
        moment: moment(None, 21_950),
        count: 1,
        cause: "power, temperature",
        commands: &["sudo nvidia-bug-report.sh"],
        never: &[],
        suspect: None,
        others: &[
            ("cuda-launch-failure", Relation::AfterFault),
            ("status-internal-error", Relation::AfterFault),
            ("elastic-shutdown", Relation::Bystander),
            ("gpu-lost", Relation::AfterFault),
        ],
    },
    Expected {
        log: include_bytes!("logs/same-step-each-time.log"),
        source: "https://github.com/pytorch/pytorch/issues/45769",
        root: "status-execution-failed",
        line: 29,
        when: When::Fixed,
        moment: moment(None, 2340),
        count: 3,
        cause: "a kernel of cuDNN fails for this shape",
        commands: &[
            "CUDNN_LOGINFO_DBG=1 CUDNN_LOGWARN_DBG=1 CUDNN_LOGERR_DBG=1 CUDNN_LOGDEST_DBG=stderr python train.py > traced.log",
            "convict scan traced.log",
        ],
        never: &["LOGLEVEL_DBG", "convict bisect"],
        suspect: None,
        others: &[],
    },
    Expected {
        log: include_bytes!("logs/nan-after-resolution.log"),
        source: "https://github.com/NVlabs/neuralangelo/issues/21",
        root: "loss-nonfinite",
        line: 43,
        when: When::Change,
        moment: moment(Some(13), 25_000),
        count: 8,
        cause: "what was restored is incomplete",
        commands: &["python -c"],
        never: &[],
        suspect: None,
        others: &[],
    },
    Expected {
        log: include_bytes!("logs/no-engine-bf16.log"),
        source: "https://github.com/pytorch/pytorch/issues/121834",
        root: "torch-no-engine",
        line: 141,
        when: When::Start,
        moment: None,
        count: 1,
        cause: "cuDNN has no engine for this shape",
        commands: &["convict check 'fprop bf16 nchw n1 c24 k48 i96x96x96 f5x5x5 p2x2x2 s2x2x2' --library "],
        never: &["LOGINFO_DBG", "f32 nchw", "traced.log"],
        suspect: Some("fprop bf16 nchw n1 c24 k48 i96x96x96 f5x5x5 p2x2x2 s2x2x2"),
        others: &[("cudnn-log-refusal", Relation::Before), ("torch-plan-failed", Relation::Before)],
    },
];

#[test]
fn ten_logs_give_the_diagnosis_that_is_expected_of_each() {
    let mut troubles = Vec::new();
    for expected in EXPECTED {
        let scan = scanned(&[expected.log]);
        let Some(root) = scan.symptoms.first() else {
            troubles.push(format!("{}: nothing is found", expected.root));
            continue;
        };
        let others: Vec<(&str, Relation)> =
            scan.symptoms[1..].iter().map(|other| (other.id.as_str(), other.relation)).collect();
        let got =
            (root.id.as_str(), root.first.line, root.pattern, root.first.moment, root.count, &others[..]);
        let want =
            (expected.root, expected.line, expected.when, expected.moment, expected.count, expected.others);
        if got != want {
            troubles.push(format!("after {}:\n got {got:?}\nwant {want:?}", expected.source));
        }
        let first = &root.causes[0];
        let begins = first.commands.iter().zip(expected.commands).all(|(got, want)| got.starts_with(want));
        let is_told = first.commands.is_empty() == first.note.is_some();
        if !first.cause.starts_with(expected.cause)
            || !begins
            || !is_told
            || first.commands.len() != expected.commands.len()
        {
            troubles.push(format!("{}: the first cause is {first:?}", expected.root));
        }
        let suspect = root.first.suspect.as_ref().map(|suspect| suspect.case.as_str());
        if suspect != expected.suspect {
            troubles.push(format!("{}: the suspect is {suspect:?}", expected.root));
        }
        let causes = scan.symptoms.iter().flat_map(|symptom| &symptom.causes);
        for command in causes.flat_map(|cause| &cause.commands) {
            if expected.never.iter().any(|word| command.contains(word)) || command.contains(['{', '}']) {
                troubles.push(format!("{}: {command} does not fit the log", expected.root));
            }
        }
        assert!(scan.has_symptoms() && scan.verdict().starts_with(&root.title), "{}", scan.verdict());
    }
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
}

#[test]
fn a_clean_log_gives_nothing() {
    let scan = scanned(&[include_bytes!("logs/clean.log")]);
    assert!(scan.symptoms.is_empty() && !scan.has_symptoms() && !scan.is_incomplete(), "{:?}", scan.symptoms);
    assert_eq!(scan.versions.iter().map(ToString::to_string).collect::<Vec<_>>(), ["9.19.0"]);
    assert!(scan.verdict().starts_with("nothing found"), "{}", scan.verdict());
}

fn status<'a>(scan: &'a Scan, id: &str) -> (&'a str, &'a str) {
    let symptom: &Symptom = scan.symptoms.iter().find(|symptom| symptom.id == id).expect("the symptom");
    (&symptom.statuses[0].name, &symptom.statuses[0].number)
}

#[test]
fn a_status_is_explained_as_the_version_that_the_log_shows_numbers_it() {
    let [eight, nine]: [&[u8]; 2] =
        [include_bytes!("logs/same-step-each-time.log"), include_bytes!("logs/mixed-sublibraries.log")];
    let id = "status-execution-failed";
    assert_eq!(status(&scanned(&[eight]), id), ("CUDNN_STATUS_EXECUTION_FAILED", "8"));
    let mismatch = ("CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", "1002");
    assert_eq!(status(&scanned(&[nine]), "status-version-mismatch"), mismatch);
    let unknown = b"step 700\ncuDNN error: CUDNN_STATUS_EXECUTION_FAILED\n";
    assert_eq!(status(&scanned(&[unknown]), id).1, "8 in cuDNN 8, 5000 in cuDNN 9");
}

#[test]
fn lines_of_the_librarys_own_log_become_cases_and_the_suspect_is_what_was_planned_or_executed() {
    let log = include_bytes!("logs/no-engine-bf16.log");
    let scan = scanned(&[log]);
    let executed = scan.import.cases[0].case.to_string();
    assert_eq!((scan.import.cases.len(), scan.import.cases[0].count), (1, 1));
    let suspect = scan.symptoms[0].first.suspect.as_ref().expect("a suspect");
    assert!(suspect.planned && suspect.case.contains("bf16") && suspect.case != executed, "{suspect:?}");
    // What was executed is no suspect of a failed plan, and the only one of a fault.
    let text = String::from_utf8_lossy(log);
    let before =
        text.split("I! CuDNN (v91900 56) function cudnnBackendFinalize() called:").next().expect("a begin");
    let planning = scanned(&[format!("{before}RuntimeError: FIND was unable to find an engine").as_bytes()]);
    assert_eq!(
        (planning.symptoms[0].id.as_str(), &planning.symptoms[0].first.suspect),
        ("torch-no-engine", &None)
    );
    let fault = scanned(&[format!("{text}CUDA error: misaligned address\n").as_bytes()]);
    let of_fault = fault.symptoms.iter().find(|symptom| symptom.id == "cuda-misaligned").expect("the fault");
    let suspect = of_fault.first.suspect.as_ref().expect("a suspect");
    assert_eq!((suspect.case.as_str(), suspect.planned), (executed.as_str(), false));
    // A graph that is no case takes the place of the one before it.
    let other = text.replace("CUDNN_DATA_BFLOAT16 (9)", "CUDNN_DATA_FP8_E4M3 (12)");
    assert_eq!(scanned(&[other.as_bytes()]).symptoms[0].first.suspect, None);
}

#[test]
fn what_stands_beside_a_failure_orders_its_causes() {
    let first = |log: &str| scanned(&[log.as_bytes()]).symptoms[0].causes[0].cause.clone();
    let none = "step 70\nRuntimeError: GET was unable to find an engine to execute this computation\n";
    assert!(first(none).starts_with("no memory was left"));
    let refusal = "w!         Warning: CUDNN_STATUS_NOT_SUPPORTED_SHAPE; Reason: the filter is too large\n";
    assert!(first(&format!("{refusal}{none}")).starts_with("cuDNN has no engine for this shape"));
    let far = format!("{refusal}{}{none}", "ordinary\n".repeat(500));
    assert!(first(&far).starts_with("no memory was left"));
    let status = |name| format!("step 70\nRuntimeError: cuDNN error: CUDNN_STATUS_{name}\n");
    assert_eq!(first(&status("EXECUTION_FAILED_CUDART")), "memory was short");
    assert!(first(&status("EXECUTION_FAILED")).starts_with("an earlier kernel broke the context"));
}

#[test]
fn the_log_at_hand_is_named_in_commands_as_a_shell_takes_it() {
    let log: &[u8] = include_bytes!("logs/no-engine-bf16.log");
    let commands = |name: Option<&[u8]>| {
        let mut scanner = Scanner::new();
        scanner.read_as(name.map(shell_word), &[log, b"CUDA error: misaligned address\n"].concat()[..]);
        let scan = scanner.finish();
        let fault = scan.symptoms.iter().find(|symptom| symptom.id == "cuda-misaligned").expect("the fault");
        fault.causes[0].commands.clone()
    };
    let named = commands(Some(b"my logs/it's.log"));
    assert_eq!(named[0], "convict scan 'my logs/it'\\''s.log' --cases cases.txt");
    assert!(named[1].starts_with("convict hunt --around cases.txt --library "), "{named:?}");
    // Standard input cannot be read again.
    let unnamed = commands(None);
    assert!(
        unnamed[0].starts_with("CUDNN_LOGLEVEL_DBG=3 ") && unnamed[1].contains("scan traced.log"),
        "{unnamed:?}"
    );
}

#[test]
fn a_change_is_named_with_its_line_and_a_period_with_its_steps() {
    let scan = scanned(&[include_bytes!("logs/nan-after-resolution.log")]);
    let change = scan.symptoms[0].change.as_ref().expect("a change");
    assert_eq!((change.kind.as_str(), change.line), ("resolution", 42));
    let mut log = String::new();
    for step in (10..3000).step_by(10) {
        log.push_str(&format!("step {step} loss 0.5\n"));
        if step % 500 == 0 {
            log.push_str("RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED, batch skipped\n");
        }
    }
    let scan = scanned(&[log.as_bytes()]);
    assert_eq!((scan.symptoms[0].pattern, scan.symptoms[0].period), (When::Period, Some(500)));
    let scan = scanned(&[b"step 510\nCUDA error: misaligned address\nstep 515\nstep 790\nmisaligned address\nstep 801\nstep 1333\nmisaligned address\n"]);
    assert_eq!((scan.symptoms[0].pattern, scan.symptoms[0].incidents), (When::Irregular, 3));
}

#[test]
fn of_several_logs_the_earliest_dated_error_is_the_root_whatever_their_order() {
    let late = b"2026-05-01 10:05:00 step 90 CUDA error: misaligned address\n";
    let early = b"2026-05-01 10:04:59,9 step 90 CUDA error: an illegal memory access was encountered\n";
    for (logs, file) in [([&late[..], &early[..]], 1), ([&early[..], &late[..]], 0)] {
        let scan = scanned(&logs);
        assert_eq!(
            (scan.symptoms[0].id.as_str(), scan.symptoms[0].first.file),
            ("cuda-illegal-address", file)
        );
    }
}
