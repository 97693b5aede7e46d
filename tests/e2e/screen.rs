//! What becomes of convict's output where it goes wrong: a full device, a reader that leaves. Knows streams; asserts
//! nothing about findings.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::convict::{BINARY, fresh_folder, turn};

#[test]
fn an_output_that_is_full_is_told_in_one_line() {
    let _turn = turn();
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let run = Command::new(BINARY)
        .args(["show", "fprop f32 nchw n1 c1 k1 i1 f1"])
        .stdout(full)
        .output()
        .expect("convict starts");
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(4), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("convict: standard output: "), "{said}");
}

#[test]
fn a_reader_that_leaves_ends_no_hunt() {
    let _turn = turn();
    let folder = fresh_folder("reader-left").join("out");
    let mut hunt = Command::new(BINARY)
        .args(["hunt", "--simulate", "--seed", "1", "--cases", "30", "--workers", "2", "--out"])
        .arg(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("convict starts");
    let mut first = String::new();
    // The other end of the pipe is closed once the first line was read.
    BufReader::new(hunt.stdout.take().expect("a pipe")).read_line(&mut first).expect("a line");
    assert!(first.starts_with("SIMULATOR"), "{first}");
    let status = hunt.wait().expect("it ends");
    assert!(matches!(status.code(), Some(0 | 1)), "{status}");
    let summary = fs::read_to_string(folder.join("summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    assert_eq!(summary["problems"], 30, "{summary}");
}
