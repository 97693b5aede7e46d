//! `convict preflight` from outside: a machine that is fit, thresholds that are not met, a wrong device and a wrong
//! library. Knows the one line and its exit codes.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::convict::{BINARY, Run, convict, fresh_folder, simulate, turn};

/// Outputs of every engine are wrong.
const ALL_WRONG: &str = r#"[{"name": "x", "when": [], "what": {"wrong": {"at": "corner"}}}]"#;

/// A preflight on the simulator with those faults.
fn preflight(name: &str, faults: &str, more: &[&str]) -> Run {
    let script = fresh_folder(name).join("faults.json");
    fs::write(&script, faults).expect("a script");
    simulate(&script, [OsStr::new("preflight")].into_iter().chain(more.iter().map(OsStr::new)))
}

/// Ended with that code and said one line, which holds those words.
fn assert_line(run: &Run, code: i32, words: &str) {
    assert_eq!(run.code, Some(code), "{run:?}");
    assert_eq!((run.stdout.lines().count(), run.stderr.as_str()), (1, ""), "{run:?}");
    assert!(run.stdout.contains(words), "{words}: {run:?}");
}

#[test]
fn a_fit_machine_is_told_in_one_line_and_one_object() {
    let thresholds = fresh_folder("preflight-fit-file").join("thresholds.toml");
    fs::write(
        &thresholds,
        "min-cudnn = \"9.10\"\nmax-cudnn = \"9.19\"\nallow-set = [\"9.14-full\", \"9.19\"]\n",
    )
    .expect("a file");
    let file = thresholds.display().to_string();
    let more = ["--thresholds", &file, "--min-capability", "9.0", "--min-free-memory", "1MiB"];
    let run = preflight("preflight-fit", "[]", &more);
    assert_line(&run, 0, "preflight: ok: SIMULATOR, no GPU: convict simulator sm_90, ");
    assert!(run.stdout.contains("cuDNN 9.19.0 (full)") && run.stdout.contains("fprop right in "), "{run:?}");
    let run = preflight("preflight-fit", "[]", &["--json"]);
    assert_line(&run, 0, "\"ok\":true");
    let object: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(object["convolution"], "right");
    assert_eq!(object["environment"]["set"], "9.19.0-full");
    assert_eq!(object["obstacles"], Value::Array(Vec::new()));
}

#[test]
fn thresholds_that_are_not_met_are_all_told_with_who_asked() {
    let more =
        ["--min-cudnn", "9.20", "--min-cuda", "99", "--allow-set", "9.27-jit", "--min-capability", "10.0"];
    let run = preflight("preflight-unmet", "[]", &more);
    assert_line(&run, 1, "preflight: no: SIMULATOR, no GPU: ");
    for words in [
        "cuDNN 9.19.0 is older than 9.20 (--min-cudnn)",
        "is older than 99 (--min-cuda)",
        "compute capability 9.0 is below 10.0 (--min-capability)",
        "library set 9.19.0-full is none of 9.27-jit (--allow-set)",
    ] {
        assert!(run.stdout.contains(words), "{words}: {run:?}");
    }
    let old = r#"{"version": "9.12.0"}"#;
    let thresholds = fresh_folder("preflight-unmet-file").join("thresholds.toml");
    fs::write(&thresholds, "# as agreed\nmin-cudnn = \"9.14\"\n").expect("a file");
    let file = thresholds.display().to_string();
    let run = preflight("preflight-unmet", old, &["--thresholds", &file, "--json"]);
    let object: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!((run.code, &object["code"]), (Some(1), &1.into()), "{run:?}");
    assert_eq!(object["obstacles"][0]["what"], "min-cudnn");
    assert!(object["line"].as_str().is_some_and(|line| line.contains("thresholds.toml line 2")), "{object}");
    // A flag wins over the file's line.
    let run = preflight("preflight-unmet", old, &["--thresholds", &file, "--min-cudnn", "9.12"]);
    assert_line(&run, 0, "preflight: ok:");
}

#[test]
fn a_convolution_that_no_plan_gets_right_is_the_device_s_trouble_and_outweighs_a_threshold() {
    let run = preflight("preflight-wrong", ALL_WRONG, &["--min-cudnn", "9.99"]);
    assert_line(&run, 75, "the known-good convolution fails");
    assert!(run.stdout.contains("(--min-cudnn)"), "{run:?}");
    for what in [r#"{"crash": {"site": "execute", "by": "abort"}}"#, r#"{"hang": {"site": "execute"}}"#] {
        let faults = format!(r#"[{{"name": "x", "when": [], "what": {what}}}]"#);
        let run = preflight("preflight-wrong", &faults, &[]);
        assert_line(&run, 75, "preflight: no:");
    }
}

#[test]
fn a_first_plan_that_is_wrong_where_others_are_right_is_the_library_s() {
    let good = "fprop f32 nchw n2 c4 k4 i8x8 f3x3 p1x1 fill=int2:1";
    let shown = simulate(Path::new("none"), ["check", good, "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).expect("a report");
    let engine = &shown["outcome"]["observation"]["candidate"]["config"]["engine"];
    let faults = format!(
        r#"[{{"name": "x", "when": ["operation = fprop", "engine = {engine}"], "what": {{"wrong": {{"at": "corner"}}}}}}]"#
    );
    let run = preflight("preflight-first", &faults, &[]);
    assert_line(&run, 1, "other plans are right, so it is the library, not the device");
}

#[test]
fn what_preflight_cannot_use_is_usage_and_a_machine_without_a_library_is_3() {
    let folder = fresh_folder("preflight-usage");
    let file = folder.join("thresholds.toml");
    fs::write(&file, "min-cudnn = 9.10\n").expect("a file");
    let file = file.display().to_string();
    let table: [(&[&str], &str); 5] = [
        (&["--thresholds", &file], "line 1: min-cudnn: a value stands in quotes; this is a float"),
        (&["--thresholds", "/no/such/file"], "--thresholds /no/such/file: No such file"),
        (&["--min-driver", "new"], "'new' is no version"),
        (&["--min-free-memory", "10"], "'10' is no amount of memory"),
        (&["--device", "0,1"], "this command runs on one device"),
    ];
    for (more, words) in table {
        let run = preflight("preflight-usage-script", "[]", more);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:?}");
        assert!(run.stderr.contains(words), "{words}: {run:?}");
    }
    let empty = fresh_folder("preflight-empty").display().to_string();
    let run = convict(["preflight", "--library", &empty]);
    assert_line(&run, 3, "holds no libcudnn.so.9");
    let hang = r#"[{"name": "x", "when": [], "what": {"hang": {"site": "plan"}}}]"#;
    let run = preflight("preflight-late", hang, &["--time", "1s"]);
    assert_line(&run, 75, "not done within 1 s");
}

#[test]
fn no_time_and_a_pipe_for_thresholds_are_usage_and_standard_input_is_read() {
    let run = preflight("preflight-no-time", "[]", &["--time", "0s"]);
    assert!(run.code == Some(2) && run.stderr.contains("'0s' leaves no time"), "{run:?}");
    let pipe = fresh_folder("preflight-pipe").join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
    let pipe = pipe.display().to_string();
    let run = preflight("preflight-pipe-faults", "[]", &["--thresholds", &pipe]);
    let line = format!("convict: --thresholds {pipe}: is not a regular file; - reads standard input\n");
    assert_eq!((run.code, run.stderr), (Some(2), line));
    let mut command = Command::new(BINARY);
    command.args(["preflight", "--thresholds", "-", "--simulate", "--faults", "none"]);
    let turn = turn();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("convict starts");
    child.stdin.take().expect("piped").write_all(b"min-cudnn = \"9.99\"\n").expect("written");
    let run: Run = child.wait_with_output().expect("it ends").into();
    drop(turn);
    assert_line(&run, 1, "cuDNN 9.19.0 is older than 9.99 (- line 1)");
    let number = fresh_folder("preflight-number").join("thresholds.toml");
    fs::write(&number, "min-driver = 580\n").expect("a file");
    let run = preflight("preflight-number-faults", "[]", &["--thresholds", &number.display().to_string()]);
    assert!(run.code == Some(2) && run.stderr.contains("this is an integer"), "{run:?}");
}
