//! `convict ladder` from outside, on the simulator: the whole of it, faults that are found at the rung where they
//! belong, and what it is climbed under. Knows what a user sees; reaches into no room.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::convict::{BINARY, Run, convict, fresh_folder, simulate};

/// Climbs on the simulator with a fault script; JSON of what was told, and the exit code.
fn climb(faults: &Path, arguments: &[&str]) -> (Value, Option<i32>) {
    let run = simulate(faults, ["ladder", "--json"].iter().chain(arguments));
    let told = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    (told, run.code)
}

fn none() -> &'static Path {
    Path::new("none")
}

/// A fault script in a folder of its own.
fn script(name: &str, text: &str) -> PathBuf {
    let path = fresh_folder(&format!("ladder-{name}")).join("faults.json");
    fs::write(&path, text).expect("a file");
    path
}

fn standings(told: &Value) -> Vec<&str> {
    let rungs = told["rungs"].as_array().expect("rungs");
    rungs.iter().map(|rung| rung["standing"].as_str().expect("a standing")).collect()
}

/// The first break of a rung.
fn first_break(told: &Value, rung: usize) -> &Value {
    let found = &told["rungs"][rung]["breaks"][0];
    assert!(found.is_object(), "{told}");
    found
}

/// The folder of libraries that the binary puts together beside itself.
fn simulator_folder() -> PathBuf {
    assert_eq!(convict(["selftest", "--simulate", "--faults", "none"]).code, Some(0));
    let beside = Path::new(BINARY).parent().expect("a folder");
    let is_simulator = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or("");
        name.starts_with("convict-simulator-") && path.join("libcudnn.so.9").exists()
    };
    let entries = fs::read_dir(beside).expect("a folder").filter_map(Result::ok);
    entries.map(|entry| entry.path()).find(is_simulator).expect("the simulator's folder")
}

#[test]
fn every_rung_holds_where_nothing_is_wrong() {
    let (told, code) = climb(none(), &[]);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(standings(&told), ["held"; 4], "{told}");
    assert!(told["broke_at"].is_null() && told["next"].as_array().is_some_and(Vec::is_empty), "{told}");
    let shapes = told["rungs"][2]["notes"].to_string();
    for operation in ["fprop", "dgrad", "wgrad", "maxpool", "avgpool", "matmul", "rmsnorm"] {
        assert!(shapes.contains(&format!("{operation}: ")), "{operation}: {shapes}");
    }
    assert!(!shapes.contains("not judged") && !shapes.contains(": 0 plans"), "{shapes}");
    let training = told["rungs"][3]["words"].as_str().expect("words");
    assert!(
        training.contains("24 steps twice") && training.contains("the same bits each time"),
        "{training}"
    );
}

#[test]
fn a_fault_in_pooling_is_found_at_rung_two_and_the_training_is_climbed_all_the_same() {
    let fault = r#"[{"name": "pool", "when": ["operation = maxpool"], "what": {"wrong": {"at": "corner"}}}]"#;
    let faults = script("pooling", fault);
    let (told, code) = climb(&faults, &[]);
    assert_eq!(code, Some(1), "{told}");
    assert_eq!(standings(&told), ["held", "held", "broke", "held"], "{told}");
    assert_eq!((&told["broke_at"], &told["trouble"]), (&Value::from(2), &Value::from("wrong")), "{told}");
    for found in told["rungs"][2]["breaks"].as_array().expect("breaks") {
        assert!(found["case"].as_str().is_some_and(|case| case.starts_with("maxpool ")), "{found}");
        assert_eq!(found["again"].to_string(), "[3,3]", "{found}");
    }
    let next = told["next"][0].as_str().expect("a command");
    let wanted = format!("--faults {} --simulate --out bundle", faults.display());
    assert!(next.starts_with("convict minimize 'maxpool ") && next.ends_with(&wanted), "{next}");
}

#[test]
fn a_weight_gradient_that_is_wrong_for_the_networks_shapes_alone_is_found_at_rung_three() {
    let fault = r#"[{"name": "net", "when": ["operation = wgrad", "n = 10", "k = 12"],
                     "what": {"wrong": {"at": "corner"}}}]"#;
    let faults = script("wgrad", fault);
    let (told, code) = climb(&faults, &[]);
    assert_eq!(code, Some(1), "{told}");
    assert_eq!(standings(&told), ["held", "held", "held", "broke"], "{told}");
    assert_eq!((&told["broke_at"], &told["trouble"]), (&Value::from(3), &Value::from("wrong")), "{told}");
    let found = first_break(&told, 3);
    assert_eq!(
        (found["again"].to_string().as_str(), &found["alone"]),
        ("[2,2]", &Value::from(true)),
        "{found}"
    );
    let case = found["case"].as_str().expect("a case");
    assert!(case.starts_with("wgrad f32 nchw n10 c8 k12 ") && case.contains("engine="), "{case}");
    let text = simulate(&faults, ["ladder", "--rung", "3"]);
    for words in
        ["it broke at rung 3: a result is wrong", "what that means: ", "next: convict minimize 'wgrad "]
    {
        assert!(text.stdout.contains(words), "{words}: {text:?}");
    }
}

#[test]
fn what_comes_and_goes_in_a_training_is_found_by_its_loss_and_led_back_to_its_convolution() {
    // The ninth time is in neither of the steps that are looked at first.
    let fault = r#"[{"name": "net", "when": ["operation = wgrad", "n = 10", "k = 12"], "nth": 9,
                     "what": {"wrong": {"at": "scattered"}}}]"#;
    let (told, code) = climb(&script("ninth", fault), &["--rung", "3"]);
    assert_eq!(code, Some(1), "{told}");
    let found = first_break(&told, 3);
    assert!(found["place"].as_str().is_some_and(|place| place.contains("step 9 of run 1")), "{found}");
    assert_eq!((&found["trouble"], &found["alone"]), (&Value::from("wrong"), &Value::from(false)), "{found}");
    let troubles: Vec<&str> = told["rungs"][3]["breaks"]
        .as_array()
        .expect("breaks")
        .iter()
        .filter_map(|one| one["trouble"].as_str())
        .collect();
    assert!(troubles.contains(&"drift"), "{told}");
}

#[test]
fn a_process_that_dies_in_a_training_is_told_with_step_and_convolution() {
    let fault = r#"[{"name": "net", "when": ["operation = dgrad", "n = 10", "k = 12"], "nth": 30,
                     "what": {"crash": {"site": "execute", "by": "segfault"}}}]"#;
    let (told, code) = climb(&script("crash", fault), &["--rung", "3"]);
    assert_eq!((code, &told["trouble"]), (Some(1), &Value::from("crash")), "{told}");
    let found = first_break(&told, 3);
    assert_eq!(found["place"], "dgrad of layer 2, step 6 of run 2", "{found}");
    assert_eq!(found["again"].to_string(), "[2,2]", "{found}");
}

#[test]
fn a_library_that_is_wrong_about_everything_breaks_the_first_rung_and_nothing_above_is_climbed() {
    let fault = r#"[{"name": "all", "when": [], "what": {"wrong": {"at": "corner"}}}]"#;
    let (told, code) = climb(&script("all", fault), &[]);
    assert_eq!(code, Some(1), "{told}");
    assert_eq!(standings(&told), ["held", "broke", "unclimbed", "unclimbed"], "{told}");
    let summary = first_break(&told, 1)["summary"].as_str().expect("a summary");
    assert!(summary.contains("none is right"), "{summary}");
}

#[test]
fn too_little_memory_or_workspace_is_no_fault_and_is_told_as_what_it_is() {
    let (told, code) = climb(none(), &["--rung", "3", "--memory-left", "0"]);
    assert_eq!((code, &told["trouble"]), (Some(1), &Value::from("memory")), "{told}");
    assert!(told["means"].as_str().is_some_and(|means| means.contains("no fault")), "{told}");
    // Also where it is convict itself that keeps to its share.
    let (told, code) = climb(none(), &["--rung", "1", "--memory-left", "1"]);
    assert_eq!((code, &told["trouble"]), (Some(1), &Value::from("memory")), "{told}");
    let (told, code) = climb(none(), &["--rung", "3", "--memory-left", "8MiB", "--fragment"]);
    assert_eq!((code, standings(&told)[3]), (Some(0), "held"), "{told}");
    let (told, code) = climb(none(), &["--rung", "2", "--workspace-limit", "0"]);
    assert_eq!(code, Some(0), "{told}");
    let notes = told["rungs"][2]["notes"].to_string();
    assert!(notes.contains("bytes of workspace, the case allows 0"), "{notes}");
}

#[test]
fn plans_of_another_version_are_offered_and_rightly_declined() {
    let old = script("plans", r#"{"version": "9.15.0", "faults": []}"#);
    let file = old.with_file_name("plans.json");
    let file = file.to_str().expect("a path");
    let (told, code) = climb(&old, &["--rung", "3", "--save-plans", file]);
    assert_eq!((code, &told["set"]), (Some(0), &Value::from("9.15.0-full")), "{told}");
    let (told, code) = climb(none(), &["--rung", "1", "--stale-plans", file]);
    assert_eq!(code, Some(0), "{told}");
    let notes = told["rungs"][1]["notes"].to_string();
    assert!(notes.contains("of 11 plans of 9.15.0-full 11 were declined"), "{notes}");
    let same = simulate(&old, ["ladder", "--rung", "1", "--stale-plans", file]);
    assert_eq!(same.code, Some(2), "{same:?}");
    // A library that takes what it should decline: the file says that another version made them.
    let text = fs::read_to_string(file).expect("the plans").replace("9.15.0-full", "9.14.0-full");
    fs::write(file, text).expect("a file");
    let (told, code) = climb(&old, &["--rung", "1", "--stale-plans", file]);
    assert_eq!((code, &told["trouble"]), (Some(1), &Value::from("stale_taken")), "{told}");
    assert_eq!(told["rungs"][1]["breaks"].as_array().map(Vec::len), Some(11), "{told}");
}

#[test]
fn another_stack_beside_is_borne_where_it_stands_in_nobodys_way() {
    let folder = fresh_folder("ladder-second");
    let simulator = simulator_folder();
    for name in ["libcudnn.so.9", "libcublasLt.so.12"] {
        fs::copy(simulator.join(name), folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let second = folder.to_str().expect("a path");
    let (told, code) = climb(none(), &["--rung", "1", "--second-stack", second]);
    assert_eq!((code, told["under"].to_string().as_str()), (Some(0), "[\"second_stack\"]"), "{told}");
    fs::write(folder.join("libcudart.so.13"), "no library").expect("a file");
    let (told, code) = climb(none(), &["--second-stack", second]);
    assert_eq!((code, &told["broke_at"]), (Some(1), &Value::from(0)), "{told}");
    let means = told["means"].as_str().expect("a meaning");
    assert!(means.starts_with("Alone the library set can be used"), "{means}");
}

#[test]
fn an_unfit_machine_is_no_finding_and_bad_usage_is_told_in_one_line() {
    let empty = fresh_folder("ladder-empty");
    let empty = empty.to_str().expect("a path");
    let unfit = simulate(none(), ["ladder", "--json", "--library", empty]);
    assert_eq!(unfit.code, Some(3), "{unfit:?}");
    let told: Value = serde_json::from_str(&unfit.stdout).expect("JSON");
    let means = told["means"].as_str().expect("a meaning");
    assert!(means.contains("Nothing was run") && !unfit.stdout.contains("convict selftest"), "{unfit:?}");
    assert!(unfit.stdout.contains("\"broke_at\":0") && unfit.stdout.contains("convict doctor"), "{unfit:?}");
    let one_line = |arguments: &[&str], words: &str| {
        let run: Run = simulate(none(), ["ladder"].iter().chain(arguments));
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(words), "{arguments:?}: {run:?}");
        run
    };
    let broken = format!("{empty}/broken.json");
    fs::write(&broken, b"\xff{").expect("a file");
    for (arguments, words) in [
        (vec!["--stale-plans", empty], "is no plain file"),
        (vec!["--stale-plans", "/dev/zero"], "is no plain file"),
        (vec!["--save-plans", empty], "is a folder"),
        (vec!["--save-plans", "/nowhere/plans"], "its folder is not there"),
        (vec!["--stale-plans", &broken], "is no text"),
        (vec!["--stale-plans", "/nowhere/plans"], "No such file"),
        (vec!["--second-stack", empty], "holds no library of CUDA"),
        (vec!["--rung", "3", "--stale-plans", &broken], "rung 1"),
        (vec!["--rung", "2", "--save-plans", &broken], "rung 3"),
    ] {
        let run = one_line(&arguments, words);
        assert_eq!(run.stderr.lines().count(), 1, "{arguments:?}: {run:?}");
    }
    // What is no plan is declined by the library, whatever it says of itself.
    let odd = format!("{empty}/odd.json");
    let text =
        r#"{"form": 1, "set": "9.1.0-full\u001b[31m", "gpu": "", "plans": [{"case": "none", "json": "{"}]}"#;
    fs::write(&odd, text).expect("a file");
    let run = simulate(none(), ["ladder", "--rung", "1", "--stale-plans", &odd]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("1 were declined") && !run.stdout.contains('\u{1b}'), "{run:?}");
    for (option, value) in [("--memory-left", "99999999999999999999"), ("--seconds", "0"), ("--rung", "0")] {
        one_line(&[option, value], option);
    }
    one_line(&["--memory-left", "much"], "is no number of bytes");
    one_line(&["--fragment"], "--memory-left");
    one_line(&["--rung", "4"], "--rung");
}
