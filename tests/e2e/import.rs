//! `convict import` and `hunt --around` from outside: what is written can be hunted, and what cannot be read is told in
//! one line. Knows command lines; what each form means is `import`'s own tests' matter.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::convict::{convict, fresh_folder, root, simulate};

const USAGE: i32 = 2;
const UNJUDGED: i32 = 77;

fn log() -> std::path::PathBuf {
    root().join("harness/import/tests/data/torch-2.11-cudnn-9.19-h200.log")
}

#[test]
fn a_log_becomes_a_list_that_names_counts_and_is_read_back_as_the_same() {
    let folder = fresh_folder("import-list");
    let list = folder.join("cases.txt");
    let run = convict(["import".as_ref(), log().as_os_str(), "--out".as_ref(), list.as_os_str()]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:?}");
    assert_eq!(run.stderr, format!("22 cases in {}\n", list.display()));
    let text = fs::read_to_string(&list).expect("the list");
    assert!(text.starts_with("# 22 cases, 46 executions, most frequent first\n"), "{text}");
    let lines: Vec<&str> = text.lines().skip(2).take(2).collect();
    assert!(
        lines[0].starts_with("# count 4, first at line ") && lines[0].contains(", engines "),
        "{lines:?}"
    );
    assert_eq!(lines[1], "fprop f32 nchw n2 c8 k16 i10x12x14 f3x3x3 p1x1x1 s1x2x2");
    let json = |path: &Path| -> Value {
        let run = convict(["import".as_ref(), path.as_os_str(), "--json".as_ref()]);
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
    };
    let [from_log, from_list] = [json(&log()), json(&list)].map(|report| report["cases"].clone());
    assert_eq!(from_log.as_array().map(Vec::len), Some(22));
    for (one, other) in
        from_log.as_array().into_iter().flatten().zip(from_list.as_array().into_iter().flatten())
    {
        for key in ["case", "count", "fused", "engines"] {
            assert_eq!(one[key], other[key]);
        }
    }
}

#[test]
fn what_cannot_be_imported_is_told_on_one_line_each_and_the_rest_goes_on() {
    let folder = fresh_folder("import-refused");
    let table = folder.join("shapes.csv");
    fs::write(&table, "n,c,k,i,f,dtype,colour\n1,1,1,4,3,f32,red\n1,1,1,4,3,int8,red\n1,1,1,2,3,f32,red\n")
        .expect("a file");
    let run = convict(["import".as_ref(), table.as_os_str()]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.ends_with("# count 1, first at line 2\nfprop f32 nchw n1 c1 k1 i4 f3\n"), "{run:?}");
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "note: columns that are not known and were passed over: colour",
            "not imported, element type int8: 1 (line 3)",
        ]
    );
    assert!(
        lines[2].ends_with("more than the padded input of 2: 1 (line 4)") && lines.len() == 3,
        "{lines:?}"
    );
}

#[test]
fn files_that_hold_nothing_and_files_that_are_none_end_with_one_line() {
    let folder = fresh_folder("import-nothing");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).expect("a file");
        path
    };
    let (empty, binary) = (file("empty.log", b""), file("binary", b"\x7fELF\0\x01\x02\x03"));
    let table = [
        (empty, UNJUDGED, "holds nothing that can be imported; run the program with CUDNN_LOGLEVEL_DBG=3"),
        (binary, USAGE, "is binary, but no ONNX model"),
        (folder.join("missing"), USAGE, "No such file or directory"),
        (folder.clone(), USAGE, "is a folder"),
    ];
    for (path, code, words) in table {
        for arguments in [vec!["import"], vec!["hunt", "--simulate", "--cases", "1", "--around"]] {
            let path = path.as_os_str();
            let run = convict(arguments.iter().map(AsRef::as_ref).chain([path]));
            assert_eq!(run.code, Some(code), "{run:?}");
            assert!(run.stderr.contains(words) && run.stderr.lines().count() == 1, "{run:?}");
        }
    }
    let kept = file("kept.csv", b"n,c,k,i,f\n1,1,1,4,3\n");
    let run = convict(["import".as_ref(), kept.as_os_str(), "--out".as_ref(), kept.as_os_str()]);
    assert!(run.code == Some(USAGE) && run.stderr.contains("is one of the files to read"), "{run:?}");
}

#[test]
fn a_hunt_around_a_log_runs_its_cases_first_and_another_file_is_another_hunt() {
    let folder = fresh_folder("import-around");
    let (out, list) = (folder.join("out"), folder.join("list.txt"));
    fs::write(&list, "# count 9\nfprop f32 nchw n1 c2 k2 i5x5 f3x3\nwgrad f16 nhwc n2 c4 k4 i4x4 f1x1\n")
        .expect("a file");
    let hunt = |file: &Path, cases: &str, more: &[&str]| {
        let mut arguments = vec!["hunt".as_ref(), "--around".as_ref(), file.as_os_str(), "--out".as_ref()];
        arguments.extend([
            out.as_os_str(),
            "--cases".as_ref(),
            cases.as_ref(),
            "--workers".as_ref(),
            "1".as_ref(),
        ]);
        arguments.extend(more.iter().map(std::ffi::OsStr::new));
        simulate(Path::new("none"), arguments)
    };
    let run = hunt(&list, "6", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let events = fs::read_to_string(out.join(hunt::EVENTS_FILE)).expect("the journal");
    let started: Vec<Value> = events
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|entry| entry.to_string().contains("problem_started"))
        .collect();
    assert_eq!(started.len(), 6, "{events}");
    assert!(started[0].to_string().contains("fprop f32 nchw n1 c2 k2 i5x5 f3x3"), "{:?}", started[0]);
    assert!(started[1].to_string().contains("wgrad f16 nhwc n2 c4 k4 i4x4 f1x1"), "{:?}", started[1]);
    assert_eq!(hunt(&list, "9", &["--resume"]).code, Some(0));
    let run = hunt(&log(), "9", &["--resume"]);
    assert_eq!(run.code, Some(USAGE), "{run:?}");
    assert!(
        run.stderr.contains("around a list of 2 cases") && run.stderr.contains("around a list of 22 cases"),
        "{run:?}"
    );
    let run = convict(["hunt".as_ref(), "--simulate".as_ref(), "--around".as_ref(), list.as_os_str()]);
    assert!(run.code == Some(USAGE) && run.stderr.contains("a hunt needs an end"), "{run:?}");
}

#[test]
fn a_list_of_cases_has_a_size_and_is_text_or_tells_its_line() {
    let folder = fresh_folder("cases-from-refused");
    let list = folder.join("cases.txt");
    fs::write(&list, b"fprop f32 nchw n1 c1 k1 i4 f3\n\xff\n").expect("a file");
    let hunt = |path: &Path| {
        convict(["hunt".as_ref(), "--simulate".as_ref(), "--cases-from".as_ref(), path.as_os_str()])
    };
    let run = hunt(&list);
    assert_eq!(run.code, Some(USAGE), "{run:?}");
    assert!(run.stderr.trim_end().ends_with("is no UTF-8 text, from line 2 on"), "{run:?}");
    let run = hunt(Path::new("/dev/zero"));
    assert_eq!(run.code, Some(USAGE), "{run:?}");
    assert!(run.stderr.trim_end().ends_with("is larger than the 64 MiB of a list; split it"), "{run:?}");
}

#[test]
fn a_path_of_the_command_line_ends_no_line_of_ours() {
    let run = convict(["import", "no\n::error::file"]);
    assert_eq!((run.code, run.stderr.lines().count()), (Some(USAGE), 1), "{run:?}");
}
