//! `convict scan` from outside: what it prints, how it exits, and that no log is too large or too strange for it. Knows
//! command lines; what each log means is `scan`'s own tests' matter.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::convict::{BINARY, Run, convict, fresh_folder, root, turn};

const USAGE: i32 = 2;

fn log(name: &str) -> PathBuf {
    root().join("harness/scan/tests/logs").join(name)
}

/// Runs `convict scan -` with little memory on so many copies of a text after each other.
fn fed(text: &[u8], copies: usize) -> Run {
    let _turn = turn();
    let mut child = Command::new("bash")
        .args(["-c", "ulimit -v 400000; exec \"$0\" scan -", BINARY])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash starts");
    let mut input = child.stdin.take().expect("a pipe");
    for _ in 0..copies {
        input.write_all(text).expect("convict reads to the end");
    }
    drop(input);
    child.wait_with_output().expect("an end").into()
}

#[test]
fn a_log_is_told_with_place_pattern_status_causes_and_commands() {
    let run = convict(["scan".as_ref(), log("same-step-each-time.log").as_os_str()]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""), "{run:?}");
    for words in [
        "cuDNN of the log: 8.9.7",
        "cuDNN failed while it executed (line 29, step 2340), always at step 2340; most likely",
        "1. cuDNN failed while it executed [status-execution-failed]",
        "3 lines, the last at line ",
        "CUDNN_STATUS_EXECUTION_FAILED (8), 3 times:",
        "CUDNN_LOGINFO_DBG=1 CUDNN_LOGWARN_DBG=1 CUDNN_LOGERR_DBG=1 CUDNN_LOGDEST_DBG=stderr python train.py > traced.log 2>&1",
        "              convict scan traced.log\n",
        "train.py stands for the program that wrote the log.",
        "sources https://",
    ] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
    let clean = convict(["scan".as_ref(), log("clean.log").as_os_str()]);
    assert!(clean.code == Some(0) && clean.stdout.contains("nothing found"), "{clean:?}");
}

#[test]
fn json_holds_the_same_and_the_cases_go_into_a_file_that_can_be_hunted() {
    let cases = fresh_folder("scan-cases").join("cases.txt");
    let logs = [log("clean.log"), log("no-engine-bf16.log")];
    let mut arguments = vec!["scan".as_ref(), "--json".as_ref(), "--cases".as_ref(), cases.as_os_str()];
    arguments.extend(logs.iter().map(|log| log.as_os_str()));
    let run = convict(arguments);
    assert_eq!(run.code, Some(1), "{run:?}");
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(report["symptoms"][0]["id"], "torch-no-engine");
    assert_eq!(report["symptoms"][0]["first"]["file"], 1);
    assert_eq!(report["files"][1]["name"], logs[1].display().to_string());
    let case = report["cases"][0]["case"].as_str().expect("a case");
    let text = fs::read_to_string(&cases).expect("the list");
    assert!(text.ends_with(&format!("\n{case}\n")), "{text}");
    assert_eq!(convict(["show", case]).code, Some(0));
    let suspect = &report["symptoms"][0]["first"]["suspect"];
    assert!(
        suspect["planned"] == true && suspect["case"].as_str().is_some_and(|case| case.contains("bf16")),
        "{suspect}"
    );
    let onto = convict(["scan".as_ref(), logs[1].as_os_str(), "--cases".as_ref(), logs[1].as_os_str()]);
    assert!(onto.code == Some(USAGE) && onto.stderr.contains("is one of the files to read"), "{onto:?}");
}

#[test]
fn commands_name_the_log_and_its_own_convolutions_as_a_shell_takes_them() {
    let folder = fresh_folder("scan-names");
    let path = folder.join("it's a log");
    let text = fs::read_to_string(log("no-engine-bf16.log")).expect("a log");
    let (before, _) = text.split_once("w!   ").expect("a refusal");
    fs::write(&path, format!("{before}RuntimeError: CUDA error: misaligned address\n")).expect("a file");
    let run = convict(["scan".as_ref(), path.as_os_str()]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let command =
        run.stdout.lines().find(|line| line.contains("--cases cases.txt")).expect("a command").trim();
    let ours = format!(
        "convict() {{ \"{BINARY}\" \"$@\"; }}\ncd \"$1\"\n{command} > told; grep -c '^[a-z]' cases.txt"
    );
    let output = Command::new("bash").args(["-c", &ours, "bash"]).arg(&folder).output().expect("bash");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n", "{output:?}");
}

#[test]
fn what_cannot_be_read_is_told_on_one_line_and_the_rest_goes_on() {
    let folder = fresh_folder("scan-unread");
    let packed = folder.join("log.zst");
    fs::write(&packed, b"\x28\xb5\x2f\xfd and so on").expect("a file");
    for (path, words) in [
        (folder.join("missing"), "No such file"),
        (folder.clone(), "is a folder"),
        (packed, "zstd -dc LOG | convict scan -"),
    ] {
        let run = convict(["scan".as_ref(), path.as_os_str()]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(USAGE), ""), "{run:?}");
        assert!(run.stderr.contains(words) && run.stderr.lines().count() == 1, "{run:?}");
        let both = convict(["scan".as_ref(), path.as_os_str(), log("red-zone.log").as_os_str()]);
        assert!(both.code == Some(1) && both.stdout.contains("[xla-redzone]"), "{both:?}");
        let clean = convict(["scan".as_ref(), log("clean.log").as_os_str(), path.as_os_str()]);
        assert_eq!(clean.code, Some(USAGE), "{clean:?}");
    }
    assert_eq!(convict(["scan", "-", "-"]).code, Some(USAGE));
    assert_eq!(convict(["scan"]).code, Some(USAGE));
}

#[test]
fn neither_an_endless_line_nor_distinct_calls_and_threads_take_memory() {
    let block = vec![b'x'; 1 << 20];
    let run = fed(&block, 96);
    assert!(run.code == Some(0) && run.stdout.contains("1 line, 100663296 bytes"), "{run:?}");
    let mut calls = b"I! CuDNN (v91900 56) function cudnnBackendExecute() called:\n".to_vec();
    for number in 0..60 {
        let long = "k".repeat(60_000);
        calls.extend(format!("i!     {number}{long}: type={long}; val={long};\n").into_bytes());
        calls.extend(format!("i! Process={number}; Thread={long}{number}\n").into_bytes());
        calls.extend(b"I! CuDNN (v91900 56) function cudnnBackendExecute() called:\n");
    }
    let run = fed(&calls, 4);
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn nothing_that_a_terminal_obeys_is_printed() {
    let hostile = b"step 3 \x1b]0;owned\x07 \x1b[2J CUDA error: misaligned address \xe2\x80\xae\x9b31m\r\n";
    let run = fed(hostile, 1);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(!run.stdout.contains(['\x1b', '\x07', '\r', '\u{202e}']), "{run:?}");
}
