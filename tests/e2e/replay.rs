//! `convict replay` from outside: the project's own corpus on the simulator, with and without what it expects. Knows
//! entries and exit codes; reaches into no room.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use corpus::{Basis, Configuration, Corpus, Entry, Expect, Expectation, Provenance, Record, State};
use serde_json::Value;
use simulator::faults::{Action, Planted, planted, planted_in_plans};

use crate::convict::{BINARY, Run, convict, fresh_folder, root, script, simulate, turn};

/// Of failing runs, for faults that say nothing else.
const ALWAYS: f64 = 1.0;

/// The entry of a planted fault.
fn planted_entry(planted: &Planted) -> Entry {
    let mut case = planted.case().expect("a case");
    case.options.set = Some("9.19.0-full".to_owned());
    let rate = match planted.fault.what {
        Action::Flaky { rate, .. } => rate,
        Action::Wrong { .. }
        | Action::Zero { .. }
        | Action::Unwritten { .. }
        | Action::Nan { .. }
        | Action::Nondeterministic { .. }
        | Action::ReadWorkspace
        | Action::FollowWorkspace { .. }
        | Action::WriteOutside { .. }
        | Action::WriteInput
        | Action::LyingWorkspace { .. }
        | Action::Status { .. }
        | Action::Crash { .. }
        | Action::Hang { .. }
        | Action::Sticky { .. }
        | Action::Surplus { .. }
        | Action::Garble
        | Action::Leak { .. } => ALWAYS,
    };
    let expectation = Expectation {
        cudnn_from: None,
        cudnn_to: None,
        configuration: Some(Configuration::Simulator),
        architectures: Vec::new(),
        expect: if rate < ALWAYS { Expect::Flaky } else { Expect::Fail },
        basis: Basis::Observed,
        kinds: Vec::new(),
        rate: Some(rate),
        reason: format!("planted in the simulator: {}", planted.fault.name),
        ticket: None,
        resolution: None,
        owner: None,
        review_by: None,
    };
    let signature = planted.signature().expect("a signature").to_string();
    let mut entry = Entry::new(&case, Some(signature), vec![expectation]);
    entry.provenance = Some(Provenance {
        source: "convict".to_owned(),
        url: None,
        date: None,
        cudnn: None,
        symptom: format!("planted in the simulator after report {} of known.json", planted.report),
    });
    entry
}

/// The entry of each planted fault, by file name.
fn planted_entries() -> Vec<(String, Entry)> {
    let named = |planted: &Planted| {
        (format!("simulator-{}.json", planted.report.to_lowercase()), planted_entry(planted))
    };
    planted().iter().map(named).collect()
}

#[test]
fn each_planted_fault_has_its_entry_in_the_corpus() {
    let seeds = root().join("corpus/seeds");
    for (name, entry) in planted_entries() {
        let path = seeds.join(name);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, entry.print()).expect("a file");
        }
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(text, entry.print(), "{}; BLESS=1 writes it anew", path.display());
    }
}

#[test]
fn every_entry_of_the_corpus_reads() {
    let corpus = Corpus::read(&[root().join("corpus")]);
    assert!(corpus.troubles.is_empty(), "{:?}", corpus.troubles);
    let seeds = corpus.listed.iter().filter(|listed| listed.id.starts_with("seeds/")).count();
    assert!(seeds >= 60, "{seeds} seeds");
}

/// A copy of the small entries of the corpus, which a test may change.
fn copy(name: &str) -> PathBuf {
    let folder = fresh_folder(name);
    for (file, entry) in planted_entries() {
        fs::write(folder.join(file), entry.print()).expect("a file");
    }
    for first in ["first-fprop-f32-nchw", "first-wgrad-f32-nchw", "refused-zero-batch"] {
        let file = format!("{first}.json");
        fs::copy(root().join("corpus/seeds").join(&file), folder.join(&file))
            .unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    folder
}

fn replay(folder: &Path, arguments: &[&str]) -> Run {
    let folder = folder.to_string_lossy();
    let all = ["replay", &folder, "--simulate"].into_iter().chain(arguments.iter().copied());
    convict(all)
}

fn records(run: &Run) -> Vec<Record> {
    let value: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    serde_json::from_value(value["records"].clone()).expect("records")
}

fn state(run: &Run, id: &str) -> State {
    let records = records(run);
    records.iter().find(|record| record.id.ends_with(id)).unwrap_or_else(|| panic!("{id}: {records:?}")).state
}

#[test]
fn the_corpus_of_a_clean_checkout_is_as_expected_and_its_junit_file_is_valid() {
    let folder = fresh_folder("replay-corpus");
    let junit = folder.join("j.xml");
    let corpus = root().join("corpus");
    let run = replay(&corpus, &["--junit", &junit.to_string_lossy(), "--json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let records = records(&run);
    let count = |state| records.iter().filter(|record| record.state == state).count();
    assert!(count(State::Xfail) + count(State::Flaky) >= planted().len(), "{:?}", run.stdout);
    assert!(count(State::Pass) >= 60 && count(State::Infra) == 0, "{:?}", run.stdout);
    let Some(checked) = script("tests/e2e/junit.sh", [&junit], &[]) else { return };
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[test]
fn without_its_expectation_a_known_failure_is_a_regression() {
    let folder = fresh_folder("replay-without");
    // No engine is pinned: the plan that heuristics rank first fails.
    let name = "first-fprop-mixed-groups.json";
    let text = fs::read_to_string(root().join("corpus/seeds").join(name)).expect("an entry");
    fs::write(folder.join(name), &text).expect("a file");
    let run = replay(&folder, &["--json"]);
    assert_eq!((run.code, state(&run, "mixed-groups")), (Some(0), State::Xfail), "{run:?}");
    let mut entry = Entry::read(&text).expect("an entry");
    entry.expectations.retain(|one| one.configuration != Some(Configuration::Simulator));
    fs::write(folder.join(name), entry.print()).expect("a file");
    let run = replay(&folder, &["--json"]);
    assert_eq!((run.code, state(&run, "mixed-groups")), (Some(1), State::Fail), "{run:?}");
}

#[test]
fn a_fault_that_is_gone_is_an_xpass_whose_edit_closes_the_range() {
    let folder = copy("replay-fixed");
    let none = Path::new("none");
    let path = folder.to_string_lossy();
    let plain = simulate(none, ["replay", &path, "--json"]);
    assert_eq!(plain.code, Some(0), "{plain:?}");
    let xpass = records(&plain).iter().filter(|record| record.state == State::Xpass).count();
    assert_eq!(xpass, planted().len(), "{plain:?}");
    let strict = simulate(none, ["replay", &path, "--strict", "--match", "simulator-r51"]);
    assert_eq!(strict.code, Some(1), "{strict:?}");
    assert!(strict.stdout.contains("XPASS") && strict.stdout.contains("--update makes it"), "{strict:?}");
    let update = simulate(none, ["replay", &path, "--update"]);
    assert_eq!(update.code, Some(0), "{update:?}");
    let after = simulate(none, ["replay", &path, "--strict"]);
    assert_eq!(after.code, Some(0), "{after:?}");
}

#[test]
fn without_a_device_plans_are_judged_and_nothing_that_was_not_executed_is_called_right() {
    let folder = copy("replay-plans");
    for (place, planted) in planted_in_plans().iter().enumerate() {
        fs::write(folder.join(format!("plan-{place}.json")), planted_entry(planted).print()).expect("a file");
    }
    let path = folder.to_string_lossy();
    let plans = ["replay", &path, "--plan-only", "--arch", "sm_90", "--json"];
    let run = convict(plans.iter().chain(&["--simulate"]));
    assert_eq!(run.code, Some(0), "{run:?}");
    let planned = |phase: &str| ["describe", "heuristics", "plan"].contains(&phase);
    for record in records(&run) {
        let phase = record.signature.as_deref().and_then(|signature| signature.split('-').nth(3));
        let wanted = match phase {
            Some(phase) if planned(phase) => State::Xfail,
            Some(_) => State::Untrusted,
            None if record.id.contains("refused-") => State::Pass,
            None => State::Untrusted,
        };
        assert_eq!(record.state, wanted, "{record:?}");
    }
    let sound = simulate(Path::new("none"), plans.iter().copied());
    let gone = records(&sound).iter().filter(|record| record.state == State::Xpass).count();
    assert!(gone >= planted_in_plans().len(), "{sound:?}");
    assert!(records(&sound).iter().all(|record| record.state != State::Fail), "{sound:?}");
    let unnamed = convict(["replay", &path, "--simulate", "--plan-only"]);
    assert_eq!((unnamed.code, unnamed.stderr.lines().count()), (Some(2), 1), "{unnamed:?}");
}

#[test]
fn the_parts_of_a_corpus_take_each_entry_exactly_once() {
    let folder = copy("replay-shards");
    let list = |arguments: &[&str], variables: &[(&str, &str)]| {
        let _turn = turn();
        let mut command = Command::new(BINARY);
        command.args(["replay", "--list"]).arg(&folder).args(arguments);
        let run: Run = command.envs(variables.iter().copied()).output().expect("convict starts").into();
        assert_eq!(run.code, Some(0), "{run:?}");
        run.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = list(&[], &[]);
    let mut parts: Vec<String> =
        ["0/3", "1/3", "2/3"].iter().flat_map(|part| list(&["--shard", part], &[])).collect();
    parts.sort();
    assert_eq!(parts, all);
    let slurm =
        [("SLURM_ARRAY_TASK_ID", "5"), ("SLURM_ARRAY_TASK_COUNT", "3"), ("SLURM_ARRAY_TASK_MIN", "4")];
    assert_eq!(list(&[], &slurm), list(&["--shard", "1/3"], &[]));
}

#[test]
fn bad_entries_are_told_a_line_each_and_the_rest_is_run() {
    let folder = copy("replay-bad");
    let good = fs::read_to_string(folder.join("first-fprop-f32-nchw.json")).expect("an entry");
    fs::write(folder.join("a-newer.json"), good.replace("\"format\": 1", "\"format\": 7")).expect("a file");
    fs::write(folder.join("b-copy.json"), &good).expect("a file");
    let run = replay(&folder, &["--json"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    for words in ["a-newer.json: form 7 is newer than 1", "the same case as"] {
        let lines: Vec<&str> = run.stderr.lines().filter(|line| line.contains(words)).collect();
        assert_eq!(lines.len(), 1, "{words}: {}", run.stderr);
    }
    assert!(records(&run).len() > planted().len());
    let gone = replay(&folder.join("gone"), &[]);
    assert_eq!(gone.code, Some(2), "{gone:?}");
    assert_eq!(gone.stderr.lines().count(), 1, "{}", gone.stderr);
}

#[test]
fn a_device_that_fails_the_known_good_case_is_trouble_of_the_machine() {
    let folder = copy("replay-preflight");
    let script = folder.join("faults.txt");
    let fault = r#"[{"name": "all wrong", "when": [], "what": {"wrong": {"at": "corner"}}}]"#;
    fs::write(&script, fault).expect("a file");
    let run = simulate(&script, ["replay", &folder.to_string_lossy(), "--match", "first"]);
    assert_eq!(run.code, Some(75), "{run:?}");
    assert!(run.stderr.contains("preflight: the known-good convolution fails"), "{run:?}");
    assert!(run.stdout.is_empty(), "{run:?}");
}

#[test]
fn a_library_whose_first_plan_is_wrong_everywhere_is_judged_and_not_taken_for_an_ailing_device() {
    let folder = copy("replay-first-plan");
    let script = folder.join("faults.txt");
    // What cuDNN 9.27.0's run-time-compiled engines do on an H200: the plan ranked first is wrong, others are right.
    let good = "fprop f32 nchw n2 c4 k4 i8x8 f3x3 p1x1 fill=int2:1";
    let first = simulate(Path::new("none"), ["check", good, "--json"]);
    let shown: Value = serde_json::from_str(&first.stdout).expect("a report");
    let engine = &shown["outcome"]["observation"]["candidate"]["config"]["engine"];
    let when = format!("[\"operation = fprop\", \"engine = {engine}\"]");
    let fault = format!(r#"[{{"name": "first", "when": {when}, "what": {{"wrong": {{"at": "corner"}}}}}}]"#);
    fs::write(&script, fault).expect("a file");
    let run =
        simulate(&script, ["replay", &folder.to_string_lossy(), "--match", "first-fprop-f32-nchw", "--json"]);
    assert_eq!((run.code, state(&run, "first-fprop-f32-nchw")), (Some(1), State::Fail), "{run:?}");
}

#[test]
fn on_github_there_are_annotations_and_a_summary_of_the_job() {
    let folder = copy("replay-github");
    let summary = folder.join("summary.md");
    let (name, mut entry) = planted_entries().remove(0);
    entry.expectations[0].expect = Expect::Pass;
    entry.expectations[0].rate = None;
    fs::write(folder.join(&name), entry.print()).expect("a file");
    let _turn = turn();
    let run: Run = Command::new(BINARY)
        .args(["replay", "--simulate", "--match", "simulator"])
        .arg(&folder)
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", &summary)
        .output()
        .expect("convict starts")
        .into();
    assert_eq!(run.code, Some(1), "{run:?}");
    let annotations: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("::error ")).collect();
    assert_eq!(annotations.len(), 1, "{run:?}");
    assert!(annotations[0].contains(&name), "{annotations:?}");
    let page = fs::read_to_string(&summary).expect("a summary");
    assert!(page.contains("convict replay: 1 regression"), "{page}");
}
