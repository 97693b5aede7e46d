//! What convict says to input that it cannot take: one clear line and a documented exit code. Knows command lines.

use std::fs;
use std::path::Path;
use std::process::Command;

use case::Verdict;

use crate::convict::{BINARY, Run, convict, fresh_folder, simulate, verdict};

/// Exit codes of the README's table.
const FOUND: i32 = 1;
const USAGE: i32 = 2;
const MACHINE: i32 = 3;
const OURS: i32 = 4;
const UNJUDGED: i32 = 77;

/// The run failed with that code and said exactly that line.
fn assert_says(run: &Run, code: i32, line: &str) {
    assert_eq!(run.code, Some(code), "{run:?}");
    assert_eq!(run.stderr, format!("convict: {line}\n"), "{run:?}");
}

#[test]
fn a_bad_case_line_is_refused_with_field_value_and_rule() {
    let table = [
        ("fprop f32 nchw n0 c1 k1 i1x1 f1x1", "n: '0' is below 1, the least allowed"),
        ("fprop f32 nchw n1 c1 k1 z4 i1 f1", "size: 'z4' is no field: n c k g i f p s d take a number"),
        (
            "fprop f32 nchw n1 c1 k1 i1 f1 speed=9",
            "option: 'speed' is none of engine, knobs, heur, tf32, set, ws, wsfill, fill, keep, out, alpha, beta, repeat, y, expect",
        ),
        ("fprop f32 nchw n1 c1 k1 i2 f3", "f: '3' with dilation 1 spans 3, more than the padded input of 2"),
        ("fprop f32 nchw n1 c3 k2 g2 i1 f1", "c: '3' is not divisible by g = 2"),
        ("fprop f31 nchw n1 c1 k1 i1 f1", "dtype: 'f31' is none of f32, f64, f16, bf16, i8, i32"),
        (
            "pool f32 nchw n1 c1 k1 i1 f1",
            "operation: 'pool' is none of fprop, dgrad, wgrad, maxpool, avgpool, matmul, rmsnorm",
        ),
        ("fprop f32 nchw n1 c1 k1 i1x1 f1", "f: '1' has 1 axis, but i has 2 axes; write it as in f1x1"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 engine=-1", "engine: '-1' is below 0, the least allowed"),
        (
            "fprop f32 nchw n1 c1 k1 i1 f1 knobs=1:2",
            "knobs: '1:2' belongs to an engine, and none is named; add engine=N",
        ),
        ("fprop f32 nchw n1 c1 k1 i3 f1 y=9", "y: '9' is an output size given on purpose; add expect=refuse"),
        (
            "",
            "operation: is missing; a case line begins with one of fprop, dgrad, wgrad, maxpool, avgpool, matmul, rmsnorm",
        ),
    ];
    for (line, reason) in table {
        for command in ["show", "check", "minimize", "engines"] {
            assert_says(&convict([command, line]), USAGE, &format!("bad case: {reason}"));
        }
    }
}

#[test]
fn hostile_text_stays_on_one_printable_line() {
    let run = convict(["show", "fprop f32 nchw n1 c1 k1 i1 f1 \u{1b}[31m\n=x"]);
    assert_eq!(run.code, Some(USAGE), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert!(!run.stderr.contains('\u{1b}'), "{run:?}");
    let long = format!("fprop f32 nchw n{} c1 k1 i1 f1", "9".repeat(6_000));
    assert_says(
        &convict(["show", &long]),
        USAGE,
        "bad case: case: the line has 6028 bytes, more than the 5120 allowed",
    );
}

#[test]
fn a_command_line_that_asks_for_nothing_possible_is_usage() {
    let table: [(&[&str], &str); 4] = [
        (&["hunt", "--simulate"], "a hunt needs an end: give --time, --cases or --cases-from"),
        (&["hunt", "--time", "ten"], "'ten' is no duration: write seconds, or hours, minutes and seconds"),
        (&["check", CASE, "--device=0,7"], "this command runs on one device"),
        (&["swim"], "unrecognized subcommand 'swim'"),
    ];
    for (arguments, part) in table {
        let run = convict(arguments);
        assert_eq!(run.code, Some(USAGE), "{run:?}");
        assert!(run.stderr.contains(part), "{run:?}");
    }
    let run = convict(["hunt", "--simulate", "--cases-from", "/no/such/file"]);
    assert_says(&run, USAGE, "--cases-from /no/such/file: No such file or directory (os error 2)");
    let run = simulate(Path::new("/no/such/script"), ["check", CASE]);
    assert_says(&run, USAGE, "--faults /no/such/script: No such file or directory (os error 2)");
    let run = simulate(Path::new("/"), ["check", CASE]);
    assert_says(&run, USAGE, "--faults /: is a folder, not a fault script");
    let script = fresh_folder("faults-cut").join("faults.json");
    fs::write(&script, "[{").expect("a file");
    let run = simulate(&script, ["check", CASE]);
    let line = format!(
        "--faults {}: is no fault script: EOF while parsing an object at line 1 column 2",
        script.display()
    );
    assert_says(&run, USAGE, &line);
    let run = convict(["check", CASE, "--faults", "none"]);
    assert_says(&run, USAGE, "--faults needs --simulate: a real library takes no fault script");
    let run = simulate(Path::new("none"), ["hunt", "--cases", "1", "--workers", "1", "--device", "0,1"]);
    let line = "--device names 2 devices, more than there are workers (1); add workers by --workers, or name fewer \
                devices";
    assert_says(&run, USAGE, line);
    let run = simulate(Path::new("none"), ["hunt", "--cases", "1", "--resume", "--out", "/no/such/folder"]);
    assert_says(&run, USAGE, "--resume: nothing to resume in /no/such/folder");
}

#[test]
fn a_list_with_a_bad_line_is_refused_by_its_number() {
    let folder = fresh_folder("cli-list");
    let list = folder.join("cases.txt");
    fs::write(&list, "# a comment\n\nfprop f32 nchw n1 c1 k1 i1 f1\nfprop f32 nchw n0 c1 k1 i1 f1\n")
        .expect("a list");
    let name = list.display().to_string();
    let run = convict(["hunt", "--simulate", "--cases-from", &name]);
    assert_says(&run, USAGE, &format!("--cases-from {name}, line 4: n: '0' is below 1, the least allowed"));
    fs::write(&list, "# nothing\n").expect("a list");
    let run = convict(["hunt", "--simulate", "--cases-from", &name]);
    assert_says(&run, USAGE, &format!("--cases-from {name}: holds no case line"));
}

const CASE: &str = "fprop f32 nchw n1 c1 k1 i4 f1";

#[test]
fn a_corpus_is_a_list_of_which_cases_pinned_to_another_set_are_passed_over() {
    let folder = fresh_folder("cli-corpus");
    let entry = |line: &str| corpus::Entry::new(&line.parse().expect("a case"), None, Vec::new()).print();
    let put = |name: &str, line: &str| fs::write(folder.join(name), entry(line)).expect("an entry");
    put("here.json", CASE);
    put("there.json", &format!("{CASE} engine=1 set=9.1.0-full"));
    let out = folder.join("out").display().to_string();
    let hunt = |from: &Path| {
        let from = from.display().to_string();
        simulate(Path::new("none"), ["hunt", "--cases-from", &from, "--workers", "1", "--out", &out])
    };
    let run = hunt(&folder);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("pinned to engines of another library set than 9.19.0-full: 1\n"), "{run:?}");
    assert!(run.stdout.contains(" 1 problems, "), "{run:?}");
    let there = folder.join("there.json");
    let line = format!(
        "--cases-from {}: every case is pinned to another library set than 9.19.0-full",
        there.display()
    );
    assert_says(&hunt(&there), UNJUDGED, &line);
    fs::write(&there, "{}").expect("a file");
    let run = hunt(&there);
    let line = format!("convict: --cases-from {}: missing field", there.display());
    assert!(run.code == Some(USAGE) && run.stderr.starts_with(&line), "{run:?}");
}

#[test]
fn a_machine_that_cannot_run_it_is_told_what_is_missing() {
    let empty = fresh_folder("cli-empty");
    let empty = empty.display().to_string();
    let run = convict(["check", CASE, "--library", "/no/such/folder"]);
    let line = "--library /no/such/folder: No such file or directory (os error 2); name a readable folder";
    assert_says(&run, MACHINE, line);
    let run = convict(["check", CASE, "--library", &empty]);
    assert_says(&run, MACHINE, &format!("--library {empty}: holds no libcudnn.so.9 or libcudnn.so.8"));
    let run = convict(["check", CASE, &format!("--simulate={empty}")]);
    assert_says(&run, MACHINE, &format!("--simulate {empty}: holds no libcudnn.so.9"));
}

#[test]
fn a_copy_of_the_simulators_folder_simulates_too() {
    assert_eq!(convict(["check", CASE, "--simulate", "--faults", "none"]).code, Some(0));
    let beside = Path::new(BINARY).parent().expect("a folder");
    let folders = fs::read_dir(beside).expect("entries").map(|entry| entry.expect("an entry").path());
    let assembled = folders.filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("convict-simulator-"))
    });
    let latest = assembled.max_by_key(|path| fs::metadata(path).and_then(|data| data.modified()).ok());
    let copy = fresh_folder("cli-simulator").join("copy");
    let copied = Command::new("cp").arg("-r").arg(latest.expect("a folder")).arg(&copy).status().expect("cp");
    assert!(copied.success());
    let run = convict(["check", CASE, &format!("--simulate={}", copy.display()), "--faults", "none"]);
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn without_a_driver_or_a_library_the_line_says_so() {
    let usual = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/cuda/lib64", "/usr/local/lib"];
    let has = |file: &str| usual.iter().any(|folder| Path::new(folder).join(file).exists());
    if !has("libcudnn.so.9") && !has("libcudnn.so.8") {
        let run = convict(["check", CASE]);
        assert_eq!(run.code, Some(MACHINE), "{run:?}");
        assert!(run.stderr.starts_with("convict: no cuDNN in the usual folders ("), "{run:?}");
        assert!(run.stderr.ends_with("; name one with --library DIR\n"), "{run:?}");
    }
    if !has("libcuda.so.1") {
        let libraries = fresh_folder("cli-no-driver");
        fs::write(libraries.join("libcudnn.so.9"), "").expect("a file of that name");
        let run = convict(["check", CASE, "--library", &libraries.display().to_string()]);
        assert_eq!(run.code, Some(MACHINE), "{run:?}");
        assert!(run.stderr.starts_with("convict: no CUDA driver: libcuda.so.1 cannot be opened"), "{run:?}");
        assert!(run.stderr.ends_with("; install one, or use --simulate\n"), "{run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
}

#[test]
fn a_folder_that_holds_another_hunt_is_left_alone() {
    let out = fresh_folder("cli-occupied");
    let name = out.display().to_string();
    let hunt = |seed: &str, resume: bool| {
        let mut arguments = vec!["hunt", "--cases", "1", "--workers", "1", "--seed", seed, "--out", &name];
        arguments.extend(resume.then_some("--resume"));
        simulate(Path::new("none"), arguments)
    };
    assert_eq!(hunt("1", false).code, Some(0));
    let events = || fs::read(out.join("events.jsonl")).expect("events");
    let before = events();
    let again = hunt("1", false);
    assert_eq!(again.code, Some(USAGE), "{again:?}");
    assert!(again.stderr.contains(": already holds a hunt (seed 1, engines: all, digest "), "{again:?}");
    assert!(again.stderr.ends_with("); go on with it by --resume, or name another folder\n"), "{again:?}");
    let other = hunt("2", true);
    assert_eq!(other.code, Some(USAGE), "{other:?}");
    assert!(other.stderr.contains(": holds a hunt with seed 1, engines: all, digest "), "{other:?}");
    for run in [again, other] {
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
    assert_eq!(events(), before);
    assert_eq!(hunt("1", true).code, Some(0));
}

#[test]
fn a_folder_that_cannot_be_is_usage_and_named() {
    let folder = fresh_folder("cli-no-folder");
    let file = folder.join("file");
    fs::write(&file, "").expect("a file");
    let out = file.join("out").display().to_string();
    let run = simulate(Path::new("none"), ["hunt", "--cases", "1", "--out", &out]);
    assert_says(&run, USAGE, &format!("--out {out}: Not a directory (os error 20)"));
}

#[test]
fn a_full_disk_ends_a_hunt_with_one_line_and_keeps_what_was_written() {
    let folder = fresh_folder("cli-full");
    // A file system of its own that fills up at once; where namespaces are forbidden there is nothing to try on.
    let script = "mount -t tmpfs -o size=64k none \"$1\" 2> /dev/null || exit 99; shift; exec \"$@\"";
    let out = folder.join("out").display().to_string();
    let arguments = ["hunt", "--simulate", "--seed", "1", "--cases", "40", "--workers", "1", "--out", &out];
    let _turn = crate::convict::turn();
    let output = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(&folder)
        .arg(crate::convict::BINARY)
        .args(arguments)
        .output();
    let Ok(output) = output else { return };
    let run = Run::from(output);
    if run.code == Some(99) || run.stderr.contains("unshare") {
        return;
    }
    assert_eq!(run.code, Some(OURS), "{run:?}");
    assert!(run.stderr.contains("No space left on device"), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
}

#[test]
fn an_engine_out_of_range_is_no_failure_of_the_library() {
    let run = simulate(Path::new("none"), ["check", &format!("{CASE} engine=9999")]);
    assert_eq!(run.code, Some(UNJUDGED), "{run:?}");
    assert!(!run.stdout.contains("FAULT"), "{run:?}");
}

#[test]
fn a_hunt_without_a_single_check_says_of_which_cases_nothing_was_judged() {
    let folder = fresh_folder("cli-unjudged");
    let list = folder.join("cases.txt");
    fs::write(&list, format!("{CASE} engine=9999\n")).expect("a list");
    let (list, out) = (list.display().to_string(), folder.join("out").display().to_string());
    let run = simulate(Path::new("none"), ["hunt", "--cases-from", &list, "--out", &out]);
    assert_eq!(run.code, Some(UNJUDGED), "{run:?}");
    assert!(run.stdout.contains(&format!("not judged: {CASE} engine=9999\n  ")), "{run:?}");
    assert!(run.stdout.contains("nothing could be judged") && !run.stdout.contains("no findings"), "{run:?}");
}

#[test]
fn a_check_that_could_see_nothing_says_so_in_a_plain_line() {
    let run = simulate(Path::new("none"), ["check", &format!("{CASE} fill=zero:1")]);
    assert_eq!(run.code, Some(UNJUDGED), "{run:?}");
    let said = run.stdout.lines().find(|line| line.starts_with("untrusted: only 0 of "));
    assert!(said.is_some_and(|line| line.ends_with("too few to tell anything")), "{run:?}");
    assert!(!run.stdout.contains('{') && !run.stdout.contains("Random("), "{run:?}");
}

#[test]
fn a_check_of_few_kept_inputs_counts_where_an_output_sees_them() {
    let case = "wgrad f16 nhwc n2 c8 k8 i9x9 f3x3 p1x1 fill=int2:1";
    let run = simulate(Path::new("none"), ["check", &format!("{case} keep=x:700,y:700")]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = simulate(Path::new("none"), ["check", &format!("{case} keep=x:0,y:700")]);
    assert_eq!(run.code, Some(UNJUDGED), "{run:?}");
    assert!(run.stdout.contains("untrusted: only 0 of "), "{run:?}");
}

#[test]
fn a_case_of_another_library_set_is_not_judged_unless_told() {
    let case = format!("{CASE} engine=0 set=8.9.7-full");
    let run = simulate(Path::new("none"), ["check", &case]);
    assert_eq!(run.code, Some(UNJUDGED), "{run:?}");
    assert!(run.stderr.starts_with("convict: the case belongs to library set 8.9.7-full, but "), "{run:?}");
    let run = simulate(Path::new("none"), ["check", &case, "--any-set"]);
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn what_must_be_refused_passes_when_it_is_and_fails_when_it_is_not() {
    let check = |case: &str| simulate(Path::new("none"), ["check", "--json", case]);
    for case in
        ["fprop f32 nchw n0 c1 k1 i1x1 f1x1 expect=refuse", "fprop f32 nchw n1 c1 k1 i3 f1 y=9 expect=refuse"]
    {
        let run = check(case);
        assert_eq!((run.code, verdict(&run)), (Some(0), Verdict::Pass), "{case}");
    }
    let run = check(&format!("{CASE} expect=refuse"));
    assert_eq!(run.code, Some(FOUND), "{run:?}");
    let Verdict::Fault(fault) = verdict(&run) else { panic!("{run:?}") };
    assert_eq!(fault.sameness.kind, case::Kind::Accepted);
}

#[test]
fn minimize_refuses_a_case_that_passes_and_a_folder_that_exists() {
    let run = simulate(Path::new("none"), ["minimize", CASE]);
    assert_says(&run, USAGE, "the case passes: nothing to minimize");
    let folder = fresh_folder("cli-exists").display().to_string();
    let run = simulate(Path::new("none"), ["minimize", CASE, "--out", &folder]);
    assert_says(&run, USAGE, &format!("--out {folder}: exists already; name a new folder"));
}

#[test]
fn show_prints_the_canonical_line_its_json_and_sizes_without_a_library() {
    let run = convict(["show", "wgrad f16 nhwc,nhwc,nhwc n2 c8 k4 i9x7 f3x3 p1x1 s1x1"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let head = "wgrad f16 nhwc n2 c8 k4 i9x7 f3x3 p1x1\ngradient of a convolution's weights, batch 2, ";
    assert!(run.stdout.starts_with(head), "{run:?}");
    for part in ["multiply-adds                 36288", "2 4 9 7", "\"format\": 1"] {
        assert!(run.stdout.contains(part), "'{part}' is missing in {run:?}");
    }
    let json = convict(["show", "--json", CASE]);
    let case: case::Case = serde_json::from_str(&json.stdout).expect("the JSON form");
    assert_eq!(case.to_string(), CASE);
}

#[test]
fn the_self_test_passes_on_the_simulator() {
    let run = simulate(Path::new("none"), ["selftest"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!run.stdout.contains("FAILED"), "{run:?}");
    for words in ["convict's own stand-in", "killed after ", " (SIGABRT) in plan; the next case passes"] {
        assert!(run.stdout.contains(words), "'{words}' is missing in {run:?}");
    }
}

#[test]
fn a_hunt_on_all_devices_starts() {
    let out = fresh_folder("all-devices").join("out");
    let out = out.display().to_string();
    let arguments =
        ["hunt", "--simulate", "--faults", "none", "--cases", "1", "--device", "all", "--out", &out];
    let run = convict(arguments);
    assert_eq!(run.code, Some(0), "{run:?}");
}
