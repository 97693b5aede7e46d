//! `convict bisect` and `convict sets` from outside: simulated versions with a planted interval, published wheels where
//! they can be had, and bad input. Knows answers and exit codes; knows no library.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::convict::{Run, convict, convict_in, fresh_folder, root, wheels};

const CASE: &str = "fprop f32 nchw n2 c1 k1 i4x4 f1x1";

/// What is planted in some versions: it shows in every case of two items or more.
const FAULT: &str =
    r#"{"name": "x", "when": ["operation = fprop", "n >= 2"], "what": {"wrong": {"at": "corner"}}}"#;

/// What ends the process while a plan is built.
const CRASH: &str = r#"{"name": "x", "when": ["operation = fprop", "n >= 2"], "what": {"crash": {"site": "plan", "by": "abort"}}}"#;

/// A folder of simulated sets, each a version and whether it has the fault.
fn simulated(name: &str, versions: &[(&str, bool)]) -> PathBuf {
    with_fault(name, versions, FAULT)
}

fn with_fault(name: &str, versions: &[(&str, bool)], fault: &str) -> PathBuf {
    let folder = fresh_folder(name);
    for (version, bad) in versions {
        let place = folder.join("sets").join(version);
        fs::create_dir_all(&place).expect("a folder");
        let faults = if *bad { fault } else { "" };
        let script = format!(r#"{{"version": "{version}", "faults": [{faults}]}}"#);
        fs::write(place.join("faults.json"), script).expect("written");
    }
    folder
}

fn bisect(folder: &Path, case: &str, more: &[&str]) -> Run {
    let sets = folder.join("sets").display().to_string();
    let fixed = ["bisect", case, "--simulate", "--sets", &sets];
    convict(fixed.iter().chain(more))
}

/// The searches of `--json`.
fn searches(run: &Run) -> Vec<Value> {
    assert_eq!(run.code, Some(0), "{run:?}");
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    report["searches"].as_array().expect("a list").clone()
}

#[test]
fn bisect_over_five_simulated_versions_finds_the_planted_interval_and_goes_on_from_its_log() {
    let versions =
        [("9.12.0", false), ("9.14.0", false), ("9.15.0", true), ("9.17.0", true), ("9.17.1", false)];
    let folder = simulated("bisect-five", &versions);
    let out = folder.join("out").display().to_string();
    let run = bisect(&folder, CASE, &["--out", &out]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("first bad 9.15.0, last good 9.14.0, first fixed 9.17.1\n"), "{run:?}");
    assert!(run.stdout.contains("full sets, wrong\n"), "{run:?}");
    let log = || fs::read_to_string(Path::new(&out).join("bisect.jsonl")).expect("the log");
    let whole = log();
    // A kill in the middle of a line: what is whole is not run again.
    let kept = whole.lines().take(8).map(|line| format!("{line}\n")).collect::<String>();
    fs::write(Path::new(&out).join("bisect.jsonl"), format!("{kept}{{\"set\":")).expect("written");
    let found = searches(&bisect(&folder, CASE, &["--out", &out, "--resume", "--json"]));
    assert_eq!(found[0]["intervals"][0]["first_bad"], "9.15.0");
    assert_eq!(found[0]["intervals"][0]["first_fixed"], "9.17.1");
    assert!(log().starts_with(&kept) && log().lines().count() == whole.lines().count());
    let other = bisect(&folder, "fprop f32 nchw n3 c1 k1 i4x4 f1x1", &["--out", &out, "--resume"]);
    assert!(other.code == Some(2) && other.stderr.contains("is about another case"), "{other:?}");
    let anew = bisect(&folder, CASE, &["--out", &out]);
    assert!(anew.code == Some(2) && anew.stderr.contains("--resume"), "{anew:?}");
}

#[test]
fn bisect_takes_a_pinned_engine_by_its_problem_and_passes_over_sets_that_cannot_be_used() {
    let folder = simulated("bisect-pinned", &[("9.12.0", false), ("9.14.0", true), ("9.19.0", true)]);
    fs::create_dir(folder.join("sets/empty")).expect("a folder");
    fs::create_dir(folder.join("sets/broken")).expect("a folder");
    fs::write(folder.join("sets/broken/faults.json"), r#"{"version": "10.0"}"#).expect("written");
    let run = bisect(&folder, &format!("{CASE} engine=10 set=9.19.0-full"), &["--json"]);
    let found = searches(&run);
    assert_eq!(found[0]["intervals"][0]["first_bad"], "9.14.0", "{found:#?}");
    assert_eq!(found[0]["intervals"][0]["last_good"], "9.12.0", "{found:#?}");
    assert!(run.stderr.contains("the case pins an engine of library set 9.19.0-full"), "{run:?}");
    assert_eq!(run.stderr.matches("left out, ").count(), 2, "{run:?}");
    assert!(run.stderr.contains("empty: is no simulated library set"), "{run:?}");
}

#[test]
fn bisect_of_planning_alone_survives_a_library_that_ends_its_process() {
    let folder = with_fault("bisect-crash", &[("9.12.0", false), ("9.14.0", true), ("9.15.0", true)], CRASH);
    let properties = root().join("tests/e2e/data/h200.json").display().to_string();
    for plans in ["own", "heuristics"] {
        let more = ["--properties", &properties, "--engines", plans, "--json"];
        let found = searches(&bisect(&folder, CASE, &more));
        assert_eq!(
            (&found[0]["kind"], &found[0]["intervals"][0]["first_bad"]),
            (&"crash".into(), &"9.14.0".into())
        );
    }
}

#[test]
fn bisect_says_where_nothing_fails_and_where_nothing_can_be_judged() {
    let folder = simulated("bisect-none", &[("9.12.0", false), ("9.14.0", false), ("9.15.0", false)]);
    let run = bisect(&folder, CASE, &[]);
    assert!(run.code == Some(0) && run.stdout.contains("no version that was tried fails"), "{run:?}");
    let run = bisect(&folder, &format!("{CASE} fill=zero:1"), &["--runs-max", "2"]);
    assert!(run.code == Some(77) && run.stdout.contains("nothing could be judged"), "{run:?}");
}

#[test]
fn what_bisect_and_sets_cannot_use_is_told_in_one_line() {
    let folder = simulated("bisect-usage", &[("9.12.0", false)]);
    let refused = |run: Run, code: i32, words: &str| {
        assert!(run.code == Some(code) && run.stderr.contains(words), "{words}: {run:?}");
        assert_eq!(run.stderr.lines().filter(|line| line.starts_with("convict: ")).count(), 1, "{run:?}");
    };
    refused(bisect(&folder, CASE, &["--versions", "9.19..9.12"]), 2, "the wrong way round");
    refused(bisect(&folder, CASE, &["--versions", "9.20..9.28"]), 2, "no library set is in that range");
    refused(bisect(&folder, CASE, &["--library", "/tmp"]), 2, "--library can't join library sets");
    refused(bisect(&folder, CASE, &["--faults", "none"]), 2, "--faults can't join library sets");
    refused(convict(["bisect", CASE, "--versions", "..", "--simulate"]), 2, "--simulate needs --sets");
    refused(convict(["bisect", CASE, "--sets", "/nonexistent"]), 2, "No such file");
    refused(bisect(&folder, "fprop f99", &[]), 2, "bad case");
    refused(convict(["sets", "--fetch", "wheel:9.99-jit"]), 2, "the nearest are 9.26.1.1, 9.27.0.42");
    refused(convict(["sets", "--fetch", "nonsense"]), 2, "is no name of a wheel");
    let cache = folder.join("cache").display().to_string();
    let nowhere = [("PATH", folder.as_os_str()), ("CONVICT_CACHE", cache.as_ref())];
    refused(convict_in(&nowhere, ["sets", "--fetch", "wheel:9.12.0.46-jit"]), 3, "there is no python3");
    let run = convict(["bisect", CASE, "--versions", "..", "--kind", "odd"]);
    assert!(run.code == Some(2) && run.stderr.contains("no such failure; one of wrong"), "{run:?}");
}

#[test]
fn every_published_wheel_is_listed_and_none_is_in_an_empty_cache() {
    let cache = fresh_folder("sets-empty");
    let run = convict_in(&[("CONVICT_CACHE", cache.as_os_str())], ["sets", "--json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let wheels: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(wheels.len() > 100 && wheels.iter().all(|wheel| wheel["cached"] == false));
    assert!(wheels.iter().any(|wheel| wheel["name"] == "wheel:9.19.0.56-cu13"));
}

/// The wheels of the acceptance: two with the run-time-compiled engines alone, one with all.
const WHEELS: [&str; 3] = ["wheel:9.12.0.46-jit-cu13", "wheel:9.19.0.56-jit-cu13", "wheel:9.19.0.56-cu13"];

#[test]
fn bisect_over_published_wheels_finds_what_changed_in_planning_without_a_gpu() {
    let Some(cache) = wheels(&WHEELS) else { return };
    let properties = root().join("tests/e2e/data/h200.json").display().to_string();
    let variables = [("CONVICT_CACHE", cache.as_os_str())];
    let plan = |case: &str, more: &[&str]| {
        let fixed = ["bisect", case, "--properties", &properties, "--runs", "1", "--json"];
        searches(&convict_in(&variables, fixed.iter().chain(more)))
    };
    // 9.12's run-time-compiled engines take no f32 in NCHW, those of 9.19 do; only the ends are tried.
    let ends = ["--configuration", "jit", "--versions", "9.12.0.46..9.19.0.56", "--runs-max", "2"];
    let found = plan("fprop f32 nchw n1 c1 k1 i1x4 f1x1", &ends);
    let interval = &found[0]["intervals"][0];
    assert_eq!(
        (&found[0]["kind"], &interval["first_bad"]),
        (&"refused".into(), &"9.12.0.46".into()),
        "{found:#?}"
    );
    assert_eq!(interval["first_fixed"], "9.19.0.56", "{found:#?}");
    assert_eq!(interval["unknown_after"].as_array().map(Vec::len), Some(9), "{found:#?}");
    // The same wheels as unpacked sets in a folder, which needs no network; f64 takes the full set.
    let folder = fresh_folder("bisect-wheels");
    for entry in fs::read_dir(&cache).expect("the cache") {
        let entry = entry.expect("an entry");
        // Other tests have other wheels in the same cache.
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains("cudnn")
            && ["-9.12.0.46-", "-9.19.0.56-"].iter().any(|version| name.contains(version))
        {
            std::os::unix::fs::symlink(entry.path(), folder.join(entry.file_name())).expect("linked");
        }
    }
    let nvrtc = fs::read_dir(&cache).expect("the cache").filter_map(Result::ok);
    let nvrtc = nvrtc.map(|entry| entry.path().join("nvidia/cu13/lib")).find(|lib| lib.is_dir());
    let nvrtc = nvrtc.expect("a companion").display().to_string();
    let found = plan(
        "fprop f64 nchw n1 c1 k1 i4x4 f1x1",
        &["--sets", &folder.display().to_string(), "--companion", &nvrtc],
    );
    let answers = |configuration: &str| -> Vec<&str> {
        let search = found.iter().find(|search| search["configuration"] == configuration).expect("a search");
        let versions = search["versions"].as_array().expect("a list");
        versions.iter().map(|version| version["answer"].as_str().unwrap_or("none")).collect()
    };
    assert_eq!((answers("full"), answers("jit")), (vec!["good"], vec!["bad", "bad"]), "{found:#?}");
}
