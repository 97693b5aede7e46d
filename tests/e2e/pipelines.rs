//! The pipelines of `docs/pipelines`, linted and run as far as one machine can, and reports against their schema.
//! Says what is skipped for want of which package. Knows scripts by their exit codes and lines.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::bundle::copy_folder;
use crate::convict::{BINARY, convict, fresh_folder, root, script, turn};

const SLURM: &str = "docs/pipelines/slurm.sh";

/// Writes an executable script.
fn stand_in(path: &Path, lines: &str) -> PathBuf {
    fs::write(path, format!("#!/bin/bash\n{lines}\n")).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    path.to_owned()
}

#[test]
fn every_pipeline_fits_the_schema_of_its_service_and_every_script_in_it_is_sound() {
    let Some(run) = script("tests/e2e/pipelines.sh", [""; 0], &[]) else { return };
    assert_eq!(run.code, Some(0), "{run:?}");
    for name in ["github.yml: OK", "gitlab.yml: OK", "kubernetes.yml: OK", "slurm.sh: OK", "drain.sh: OK"] {
        assert!(run.stdout.contains(name), "{name}: {run:?}");
    }
}

#[test]
fn a_pipeline_with_a_slip_is_complained_of() {
    let folder = fresh_folder("pipelines-slips");
    let slips = [
        ("github.yml", "runs-on:", "run-on:"),
        ("gitlab.yml", "parallel: 3", "parallel: many"),
        ("kubernetes.yml", "completions: 3", "completions: three"),
        ("slurm.sh", "code=0", "code=0; if"),
    ];
    copy_folder(&root().join("docs/pipelines"), &folder);
    for (name, right, wrong) in slips {
        let text = fs::read_to_string(folder.join(name)).expect("a pipeline");
        assert!(text.contains(right), "{name}: {right}");
        fs::write(folder.join(name), text.replace(right, wrong)).expect("a pipeline");
    }
    let Some(run) = script("tests/e2e/pipelines.sh", [&folder], &[]) else { return };
    assert_eq!(run.code, Some(1), "{run:?}");
    for (name, ..) in slips {
        assert!(!run.stdout.contains(&format!("{name}: OK")), "{name}: {run:?}");
    }
}

#[test]
fn a_report_that_fits_the_schema_is_told_from_one_that_does_not() {
    let sample = root().join("tests/e2e/data/junit-sample.xml");
    let Some(run) = script("tests/e2e/junit.sh", [&sample], &[]) else { return };
    assert_eq!(run.code, Some(0), "{run:?}");
    let folder = fresh_folder("junit");
    let text = fs::read_to_string(&sample).expect("the sample");
    for (name, right, wrong) in
        [("child", "failure", "fault"), ("attribute", "tests=\"3\"", ""), ("form", "</", "<")]
    {
        let broken = folder.join(format!("{name}.xml"));
        fs::write(&broken, text.replace(right, wrong)).expect("a report");
        let run = script("tests/e2e/junit.sh", [&broken], &[]).expect("an answer");
        assert_eq!(run.code, Some(1), "{name}: {run:?}");
    }
}

#[test]
fn a_task_on_a_broken_node_is_tried_again_and_the_array_still_ends() {
    let folder = fresh_folder("slurm-requeue");
    // The second task meets trouble at its first try.
    let convict = stand_in(
        &folder.join("convict"),
        "[ \"$1$SLURM_ARRAY_TASK_ID${SLURM_RESTART_COUNT:-0}\" != selftest10 ] || exit 75\n\
         echo \"$1 $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT\"",
    );
    let out = folder.join("out");
    let environment = [
        ("CONVICT", convict.as_os_str()),
        ("OUT", out.as_os_str()),
        ("POLL_S", OsStr::new("0.5")),
        ("SIMULATE", OsStr::new("1")),
    ];
    let cluster = folder.join("cluster");
    let Some(run) =
        script("tests/e2e/slurm.sh", [cluster.as_os_str(), root().join(SLURM).as_os_str()], &environment)
    else {
        return;
    };
    assert_eq!(run.code, Some(0), "{run:?}");
    for task in 0..3 {
        let log = fs::read_to_string(out.join(format!("{task}.log"))).expect("a task's log");
        assert!(log.contains(&format!("replay {task}/3")), "{log}");
        assert_eq!(log.contains("DUE TO JOB REQUEUE"), task == 1, "{log}");
    }
}

#[test]
fn the_worst_of_all_tasks_is_what_the_array_ends_with() {
    let folder = fresh_folder("slurm-worst");
    // A queue that has just emptied.
    stand_in(&folder.join("squeue"), "[ \"$2\" != --array ] || printf '0\\n1\\n2\\n'");
    stand_in(
        &folder.join("sbatch"),
        "at=0; for code in $CODES; do echo $code > $OUT/$((at++)).code; done; echo 7",
    );
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a search path"));
    let table = [
        ("0 0 0", 0),
        ("0 77 0", 0),
        ("77 77 77", 77),
        ("0 75 0", 75),
        ("0 75 1", 1),
        ("3 75 0", 3),
        ("0 0", 75),
        ("", 75),
    ];
    for (number, (codes, expected)) in table.into_iter().enumerate() {
        let out = folder.join(number.to_string());
        let environment = [
            ("PATH", OsStr::new(&path)),
            ("CODES", OsStr::new(codes)),
            ("OUT", out.as_os_str()),
            ("POLL_S", OsStr::new("0")),
        ];
        let code = std::process::Command::new(root().join(SLURM)).envs(environment).output().expect("bash");
        assert_eq!(code.status.code(), Some(expected), "{codes}: {code:?}");
    }
}

#[test]
fn a_gpu_in_trouble_is_drained_and_one_that_ran_a_wrong_kernel_is_not() {
    let folder = fresh_folder("drain");
    stand_in(&folder.join("dmesg"), "echo \"$LOG\"");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a search path"));
    let table = [
        ("", 0),
        ("[9.1] NVRM: Xid (PCI:0000:01:00): 13, pid=7, name=convict, Graphics SM Warp Exception", 0),
        ("[9.1] NVRM: Xid (PCI:0000:01:00): 31, pid=7, name=convict, Ch 00000008, MMU Fault", 0),
        ("[9.1] NVRM: Xid (PCI:0000:01:00): 79, pid=7, GPU has fallen off the bus.", 1),
        ("[9.1] NVRM: Xid (PCI:0000:01:00): 119, pid=7, Timeout waiting for RPC from GSP!", 1),
    ];
    for (line, expected) in table {
        let environment = [("PATH", OsStr::new(&path)), ("LOG", OsStr::new(line))];
        let run = script("docs/pipelines/drain.sh", [""; 0], &environment).expect("an answer");
        assert_eq!(run.code, Some(expected), "{line}: {run:?}");
    }
}

/// Ids of the entries that a list names, one a line.
fn listed(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.is_empty()).collect()
}

#[test]
fn an_array_of_three_replays_each_entry_exactly_once() {
    let folder = fresh_folder("slurm-array");
    let corpus = folder.join("corpus/seeds");
    copy_folder(&root().join("corpus/seeds"), &corpus);
    let whole = convict([OsStr::new("replay"), corpus.as_os_str(), "--simulate".as_ref(), "--list".as_ref()]);
    assert_eq!(whole.code, Some(0), "{whole:?}");
    // What each task runs is what it would list; the run itself is written to its log.
    let binary = stand_in(
        &folder.join("convict"),
        &format!(
            "[ \"$1\" != replay ] || '{BINARY}' replay \"$2\" --simulate --list > \"$OUT/$SLURM_ARRAY_TASK_ID.ids\"\n\
             exec '{BINARY}' \"$@\""
        ),
    );
    let out = folder.join("out");
    let environment = [
        ("CONVICT", binary.as_os_str()),
        ("CORPUS", corpus.as_os_str()),
        ("OUT", out.as_os_str()),
        ("POLL_S", OsStr::new("0.5")),
        ("SIMULATE", OsStr::new("1")),
    ];
    let cluster = folder.join("cluster");
    let _turn = turn();
    let Some(run) =
        script("tests/e2e/slurm.sh", [cluster.as_os_str(), root().join(SLURM).as_os_str()], &environment)
    else {
        return;
    };
    assert_eq!(run.code, Some(0), "{run:?}");
    let mut ids = Vec::new();
    let mut reports = 0;
    for task in 0..3 {
        let text = fs::read_to_string(out.join(format!("{task}.ids"))).expect("a task's list");
        let mine: Vec<String> = listed(&text).into_iter().map(str::to_owned).collect();
        assert!(!mine.is_empty(), "task {task} has nothing to do");
        ids.extend(mine);
        let report = fs::read_to_string(out.join(format!("{task}.xml"))).expect("a task's report");
        reports += report.matches("<testcase").count();
        // Where there is no xmllint, the script says so.
        let form = script("tests/e2e/junit.sh", [out.join(format!("{task}.xml"))], &[]);
        assert!(form.is_none_or(|form| form.code == Some(0)), "task {task}");
    }
    ids.sort_unstable();
    let mut expected = listed(&whole.stdout);
    expected.sort_unstable();
    assert_eq!(ids, expected);
    assert_eq!(reports, expected.len());
}
