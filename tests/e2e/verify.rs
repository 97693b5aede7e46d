//! `convict verify` as whoever receives a bundle meets it: what still holds, what does not, what is never run. Knows
//! exit codes and lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::bundle::copy_folder;
use crate::convict::{BINARY, Run, convict, fresh_folder, simulate, turn};

/// A planted fault that shows itself in every run.
const CASE: &str = "dgrad f32 nchw n12 c9 k6 i7x7 f3x3 engine=10";

/// The bundle of that fault.
fn bundle() -> &'static Path {
    static BUNDLE: OnceLock<PathBuf> = OnceLock::new();
    BUNDLE.get_or_init(|| {
        let folder = fresh_folder("verify").join("bundle");
        let run = convict(["minimize", "--simulate", CASE, "--out", &folder.display().to_string()]);
        assert_eq!(run.code, Some(0), "{run:?}");
        folder
    })
}

/// Verifies it on the simulator with those faults.
fn verified(bundle: &Path, faults: &Path, more: &[&str]) -> Run {
    let name = bundle.display().to_string();
    simulate(faults, ["verify", name.as_str()].iter().chain(more).copied())
}

/// Verifies it on the simulator as it is.
fn verified_there(bundle: &Path, more: &[&str]) -> Run {
    let name = bundle.display().to_string();
    convict(["verify", "--simulate", name.as_str()].iter().chain(more).copied())
}

fn assert_says(run: &Run, code: i32, lines: &[&str]) {
    assert_eq!(run.code, Some(code), "{run:?}");
    for line in lines {
        assert!(run.stdout.contains(line), "'{line}' is missing in {run:?}");
    }
}

#[test]
fn a_bundle_holds_where_it_was_made() {
    let lines = [
        "files      whole: 35 files, form 2\n",
        "libraries  9.19.0-full, as the bundle's\n",
        "case       fails the same way in 3 of 3 runs\n",
        "program    shows it in 3 of 3 runs, built with ",
        "verdict    holds\n",
    ];
    assert_says(&verified_there(bundle(), &[]), 0, &lines);
    let run = verified_there(bundle(), &["--json", "--runs", "2"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    assert_eq!((run.code, &report["verdict"], &report["whole"]), (Some(0), &json!("holds"), &json!(true)));
    assert_eq!((&report["case"]["same"], &report["program"]["shown"]), (&json!(2), &json!(2)), "{report}");
}

#[test]
fn where_the_fault_is_gone_or_another_one_it_does_not_hold() {
    let gone = [
        "case       passes in 3 of 3 runs\n",
        "program    does not show it in 3 runs, ",
        "does not hold on this",
    ];
    assert_says(&verified(bundle(), Path::new("none"), &[]), 1, &gone);
    let faults = fresh_folder("verify-other").join("faults.json");
    let what = json!({ "nan": { "at": "corner" } });
    let script =
        json!([{ "name": "other", "when": ["operation = dgrad", "engine = 10", "n >= 5"], "what": what }]);
    fs::write(&faults, script.to_string()).expect("a fault script");
    let run = verified(bundle(), &faults, &["--runs", "1"]);
    assert_says(
        &run,
        1,
        &["case       fails otherwise (dgrad-e10-wrong-judge-nan-f32-nchw: ", " in 1 of 1 runs\n"],
    );
}

#[test]
fn a_bundle_that_was_altered_is_not_run() {
    let copy = fresh_folder("verify-altered").join("bundle");
    copy_folder(bundle(), &copy);
    fs::write(copy.join(reports::PAGE), "").expect("an altered page");
    let run = verified_there(&copy, &[]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.lines().count()), (Some(2), "", 1), "{run:?}");
    let run = verified_there(&copy, &["--json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    assert!(
        run.code == Some(2) && report["whole"] == json!(false) && report.get("machine").is_none(),
        "{report}"
    );
}

/// Hashes prove that a bundle is of one piece, not that its program can be trusted.
#[test]
fn a_program_that_does_not_follow_from_the_bundle_is_not_run_unless_asked_for() {
    let place = fresh_folder("verify-foreign");
    let (copy, mark) = (place.join("bundle"), place.join("mark"));
    copy_folder(bundle(), &copy);
    let source = format!(
        "#include <cstdio>\nint main() {{ std::fclose(std::fopen(\"{}\", \"w\")); return 1; }}\n",
        mark.display()
    );
    fs::write(copy.join(reports::PROGRAM), source).expect("another program");
    let sums = Command::new("sh")
        .args(["-c", "cut -c67- SHA256SUMS | xargs -d '\\n' sha256sum > sums && mv sums SHA256SUMS"])
        .current_dir(&copy)
        .status();
    assert!(sums.is_ok_and(|status| status.success()));
    let lines = [
        "case       fails the same way in 1 of 1 runs\n",
        "program    left alone: ",
        "holds in part: as far",
    ];
    assert_says(&verified_there(&copy, &["--runs", "1"]), 0, &lines);
    assert!(!mark.exists(), "foreign code was run");
    let run = verified_there(&copy, &["--runs", "1", "--run-program"]);
    assert_says(
        &run,
        0,
        &["program    shows it in 1 of 1 runs, built with ", "; it is not what this version"],
    );
    assert!(mark.exists());
}

#[test]
fn what_cannot_be_run_is_said_and_the_files_can_be_checked_alone() {
    let name = bundle().display().to_string();
    let run = convict(["verify", &name]);
    assert_says(
        &run,
        77,
        &["verdict    nothing could be judged: the bundle was made on the simulator; --simulate "],
    );
    let empty = fresh_folder("verify-empty").display().to_string();
    let run = convict(["verify", &name, &format!("--simulate={empty}")]);
    assert_says(&run, 3, &["files      whole: "]);
    assert!(
        run.stderr.contains("; nothing was run again (--files-only checks the files alone)\n"),
        "{run:?}"
    );
    let run = convict(["verify", "--files-only", &name]);
    assert!(run.code == Some(0) && run.stdout.lines().count() == 2, "{run:?}");
    let _turn = turn();
    let run: Run = Command::new(BINARY)
        .args(["verify", "--simulate", "--runs", "1", &name])
        .env("CXX", "/no/such/compiler")
        .output()
        .expect("convict starts")
        .into();
    assert_says(&run, 0, &["program    not run: no C++ compiler was found", "holds in part: as far as"]);
}
