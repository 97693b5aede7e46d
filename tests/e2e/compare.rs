//! `convict compare` from outside: two simulated library sets that differ in one planted fault. Knows answers, files
//! and exit codes; knows no engine but the planted one.

use std::fs;
use std::path::{Path, PathBuf};

use corpus::{Change, Contrast, Entry};

use crate::convict::{Run, convict, fresh_folder, script};

/// The one problem of the corpus that meets the fault.
const MET: &str = "dgrad f32 nchw n1 c1 k1 i5 f5";

/// One that does not.
const UNMET: &str = "fprop f32 nchw n1 c1 k1 i4 f1";

const FAULT: &str = r#"{"name": "x", "when": ["operation = dgrad", "engine = 2", "f[last] = 5"],
    "what": {"wrong": {"at": "scattered"}}}"#;

/// A folder with a corpus and two sets: `old` is sound, `new` has the fault.
fn scene(name: &str) -> PathBuf {
    let folder = fresh_folder(name);
    let put = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    for (set, version, fault) in [("old", "9.14.0", ""), ("new", "9.19.0", FAULT)] {
        let script = format!(r#"{{"version": "{version}", "faults": [{fault}]}}"#);
        put(&format!("{set}/faults.json"), &script);
    }
    for (name, line) in [("met", MET), ("unmet", UNMET)] {
        let entry = Entry::new(&line.parse().expect("a case"), None, Vec::new());
        put(&format!("corpus/{name}.json"), &entry.print());
    }
    folder
}

fn compare(folder: &Path, (baseline, candidate): (&str, &str), more: &[&str]) -> Run {
    let path = |name: &str| folder.join(name).display().to_string();
    let (corpus, baseline, candidate) = (path("corpus"), path(baseline), path(candidate));
    let fixed = ["compare", &corpus, "--simulate", "--baseline", &baseline, "--candidate", &candidate];
    convict(fixed.iter().chain(["--cases", "40", "--time", "60s"].iter()).chain(more))
}

/// The differences, which are all of one sort, each with the planted engine to blame.
fn told(run: &Run, change: Change) {
    let contrast: Contrast =
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    assert!(contrast.problems > 2 && contrast.unjudged == 0 && contrast.dismissed == 0, "{run:?}");
    assert!(contrast.differences.iter().any(|one| one.case == MET && one.source == "corpus/met"), "{run:?}");
    for one in &contrast.differences {
        assert_eq!(one.change, change, "{one:?}");
        assert!(one.case.starts_with("dgrad ") && one.case.ends_with("f5"), "{one:?}");
        assert_eq!(one.repeat, format!("{} engine=2", one.case), "{one:?}");
    }
}

#[test]
fn an_upgrade_that_brings_a_failure_is_worse_and_its_reverse_is_not() {
    let folder = scene("compare-one");
    let run = compare(&folder, ("old", "new"), &["--json"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    told(&run, Change::NewlyWrong);
    let run = compare(&folder, ("new", "old"), &["--json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    told(&run, Change::NewlyRight);
}

#[test]
fn the_result_is_written_as_pages_and_data_once() {
    let folder = scene("compare-out");
    let out = folder.join("out");
    let run = compare(&folder, ("old", "new"), &["--out", &out.display().to_string()]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let verdict = run.stdout.lines().last().expect("a verdict");
    assert!(verdict.starts_with("WORSE: 9.19.0-full against 9.14.0-full on "), "{run:?}");
    let text = |name: &str| {
        fs::read_to_string(out.join(name)).unwrap_or_else(|error| panic!("{name}: {error}: {run:?}"))
    };
    for page in ["compare.md", "compare.html"] {
        assert!(text(page).contains(&format!("{MET} engine=2")), "{page}: {}", text(page));
    }
    let contrast: Contrast = serde_json::from_str(&text("compare.json")).expect("JSON");
    assert!(contrast.has_regressions() && text("junit.xml").contains(MET), "{contrast:?}");
    let again = compare(&folder, ("old", "new"), &["--out", &out.display().to_string()]);
    let line = format!("convict: --out {}: is there already; name a new folder\n", out.display());
    assert_eq!((again.code, &again.stderr), (Some(2), &line), "{again:?}");
    let Some(checked) = script("tests/e2e/junit.sh", [out.join("junit.xml")], &[]) else { return };
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[test]
fn a_comparison_that_can_say_nothing_is_refused_in_one_line() {
    let folder = scene("compare-usage");
    let says = |run: &Run, line: &str| {
        assert!(run.code == Some(2) && run.stderr == format!("convict: {line}\n"), "{line}: {run:?}");
    };
    let old = folder.join("old");
    let line = format!(
        "{0} and {0} are the same library set, file for file; name two different ones",
        old.display()
    );
    says(&compare(&folder, ("old", "old"), &[]), &line);
    let run = compare(&folder, ("old", "new"), &["--faults", "none"]);
    says(&run, "--faults can't join library sets that have names of their own");
    fs::remove_dir_all(folder.join("corpus")).expect("a folder");
    let run = compare(&folder, ("old", "new"), &[]);
    assert!(
        run.code == Some(2) && run.stderr.ends_with("convict: nothing of the corpus can be read\n"),
        "{run:?}"
    );
}
