//! The vendor's forms: held against what NVIDIA's own package writes, and run by the languages they are in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use case::{Case, Kind};

use crate::sample::Sample;
use crate::vendor::{
    DOCKERFILE, FILES, FRONTEND, FUZZER, GRAPH, ISSUE, LIBRARY_SUMS, REQUIREMENTS, TORCH, files,
};

mod guards;
mod known;
mod programs;

const LINE: &str = "dgrad f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1 engine=25 fill=int2:1 wsfill=ff out=nan";

/// Cases whose graphs are compared: each pass, one to three axes, each type, both orders, groups, odd paddings.
const GRAPH_CASES: [&str; 7] = [
    "fprop f16 nhwc n2 c16 k32 i14x14 f3x3 p1:0x1 engine=25 fill=int2:1",
    "dgrad bf16 nchw n2 c16 k32 i14x14 f3x3 p1x1 s2x1 engine=25 fill=int2:1",
    "wgrad f32 nchw n1 c8 k4 g4 i5x6x7 f1x3x3 d1x2x2 engine=25 fill=int2:1",
    "fprop f64 nchw n1 c1 k1 i9 f2 p1:0 engine=25 fill=int2:1",
    "fprop f16,f16,f32 nhwc,nchw,nhwc n1 c8 k8 i5x6 f2x2 engine=25 fill=int2:1",
    "dgrad f16/f16 nhwc n2 c16 k32 g2 i14 f3 s3 engine=25 fill=int2:1",
    "wgrad f16 nhwc n3 c16 k32 i4x5x6 f3x3x3 p1x1x1 engine=25 fill=int2:1",
];

/// Their graphs, one a line, as nvidia-cudnn-frontend 1.32.0 writes them when `tests/read_graph.py` builds them through
/// the package's own calls.
const GRAPHS: &str = include_str!("../../tests/data/frontend-1.32.0.jsonl");

/// Text of one file of a finding.
fn file(sample: &Sample, name: &str) -> String {
    let all = files(&sample.finding()).unwrap();
    all.into_iter().find(|(known, _)| *known == name).unwrap().1
}

fn sample(line: &str) -> Sample {
    Sample::new(Kind::Wrong, line)
}

/// A program of this machine; `None`, said aloud, where there is none.
fn program(name: &str) -> Option<PathBuf> {
    let found = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.exists())
    });
    if found.is_none() {
        use std::io::Write;
        // Written past the test harness, which keeps back what passing tests print.
        let _ = writeln!(std::io::stderr(), "SKIPPED: no {name} here, so its programs are not run");
    }
    found
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

/// Writes files into a fresh folder.
fn folder(texts: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in texts {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn the_graph_is_the_one_that_the_frontend_itself_writes() {
    assert_eq!(GRAPHS.lines().count(), GRAPH_CASES.len());
    for (line, graph) in GRAPH_CASES.into_iter().zip(GRAPHS.lines()) {
        let mut ours: serde_json::Value = serde_json::from_str(&file(&sample(line), GRAPH)).unwrap();
        let theirs: serde_json::Value = serde_json::from_str(graph).unwrap();
        let mine = ours.as_object_mut().unwrap();
        // What differs from graph to graph and with the library.
        assert_eq!(mine.remove("gid"), Some(1.into()));
        assert_eq!(mine.remove("cudnn_backend_version"), Some("9.19.0".into()));
        assert_eq!(ours, theirs, "{line}");
    }
}

/// The Python that a variable names; without one it says that the test is skipped.
fn python(variable: &str, package: &str) -> Option<std::ffi::OsString> {
    let named = std::env::var_os(variable);
    if named.is_none() {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "SKIPPED: {variable} names no Python with {package}");
    }
    named
}

/// Runs where `CONVICT_TEST_FRONTEND` names a Python with nvidia-cudnn-frontend 1.32.0 that finds a cuDNN; no GPU is
/// needed. `BLESS=1` keeps what it writes.
#[test]
fn the_frontend_reads_our_graphs_back_as_they_were_written() {
    let Some(python) = python("CONVICT_TEST_FRONTEND", "nvidia-cudnn-frontend 1.32.0") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let parent = folder(&[]);
    let mut command = Command::new(python);
    command.arg(root.join("tests/read_graph.py")).arg(root.join("../tests/e2e/data/h200.json"));
    for (number, line) in GRAPH_CASES.into_iter().enumerate() {
        let path = parent.path().join(format!("{number}.json"));
        std::fs::write(&path, file(&sample(line), GRAPH)).unwrap();
        command.arg(path);
    }
    let written = succeed(&mut command).stdout;
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(root.join("tests/data/frontend-1.32.0.jsonl"), written).unwrap();
    }
}

#[test]
fn every_form_says_why_where_it_cannot_hold_the_case() {
    let scaled = sample("fprop f32 nchw n1 c1 k1 i4x4 f3x3 engine=25 alpha=0.5 fill=int2:1");
    assert!(file(&scaled, GRAPH).contains("alpha 1 and beta 0"));
    for name in [FUZZER, TORCH, FRONTEND] {
        assert!(file(&scaled, name).contains("alpha"), "{name}");
    }
    let lopsided = sample("fprop f32 nchw n1 c1 k1 i4 f3 p1:0 engine=25 fill=int2:1");
    assert!(file(&lopsided, TORCH).contains("PyTorch pads both ends alike"));
    assert!(file(&lopsided, FRONTEND).contains("PAD_BEFORE, PAD_AFTER = [1], [0]"));
    let knob = sample("fprop f32 nchw n1 c1 k1 i4 f3 engine=25 knobs=0:3 fill=int2:1");
    assert!(file(&knob, FRONTEND).contains("no name for knob type 0"));
    let guarded = Sample::new(Kind::Oob, LINE);
    assert!(file(&guarded, TORCH).contains("shows no bytes beside"));
}

#[test]
fn a_plan_in_no_heuristic_list_is_out_of_pytorch_s_reach() {
    let sample = sample(LINE);
    let mut finding = sample.finding();
    assert!(files(&finding).unwrap()[2].1.contains("torch.ops.aten"));
    finding.ranks = case::Ranks::default();
    finding.reach = None;
    let text = &files(&finding).unwrap()[2].1;
    assert!(text.contains("no heuristic list holds the failing plan") && !text.contains("torch.ops"));
}

#[test]
fn the_fuzzer_gets_a_line_that_its_parser_takes() {
    let text = file(&sample(LINE), FUZZER);
    let expected = "pytest -vv -s -rA test_conv_fuzzer.py::test_repro --repro \"{'spatial_dims': 2, 'batch': 2, \
                    'in_channels': 16, 'out_channels': 32, 'groups': 1, 'input_spatial': (14, 14), \
                    'filter_spatial': (3, 3), 'padding': (1, 1), 'stride': (1, 1), 'dilation': (1, 1), \
                    'conv_type': 1, 'x_dtype': 'torch.float16', 'w_dtype': 'torch.float16', \
                    'y_dtype': 'torch.float16', 'epilogue': 0, 'rng_seed': 1}\"";
    assert_eq!(text.lines().next(), Some(expected));
    assert!(text.contains("another engine than this case names"));
    let first = file(&sample("dgrad f16 nchw n2 c16 k32 i14x14 f3x3 engine=25 fill=int2:1"), FUZZER);
    assert_eq!(first, "# Not expressible in test_conv_fuzzer.py: it lays tensors out channels last.\n");
}

#[test]
fn the_library_set_is_pinned_by_version_and_by_hash() {
    let mut sample = sample(LINE);
    sample.environment.files[0].place = "wheel:nvidia/cudnn/lib/libcudnn.so.9".to_owned();
    let requirements = file(&sample, REQUIREMENTS);
    assert!(requirements.contains("\nnvidia-cudnn-cu13==9.19.0.56  #"), "{requirements}");
    let sums = format!("{}  nvidia/cudnn/lib/libcudnn.so.9\n", "a".repeat(64));
    assert_eq!(file(&sample, LIBRARY_SUMS), sums);
    let container = file(&sample, DOCKERFILE);
    assert!(container.contains("sha256sum --check") && container.contains("ENTRYPOINT [\"./run.sh\", "));
    sample.library_log.clear();
    assert!(file(&sample, REQUIREMENTS).contains("nvidia-cudnn-cu13==9.19.0.*"));
    sample.environment.files[0].place = "wheel:../../etc; rm -rf".to_owned();
    assert_eq!(file(&sample, LIBRARY_SUMS), "");
    assert!(!file(&sample, DOCKERFILE).contains("rm -rf"));
}

#[test]
fn an_issue_has_every_field_of_the_template_and_fits_the_tracker() {
    let mut sample = sample(LINE);
    sample.library_log = "x".repeat(300_000) + &"\n````\n@all <img>".repeat(10_000);
    sample.fault.summary = "a | b <script> @all `c` ".repeat(100);
    let text = file(&sample, ISSUE);
    assert!(text.chars().count() <= 65_000, "{} characters", text.chars().count());
    for heading in [
        "# [Bug]: ",
        "### Before submitting",
        "### Affected area",
        "### Description",
        "### Steps to reproduce",
        "### Expected behavior",
        "### Actual behavior",
        "### Environment (where applicable)",
        "### Last known working version",
        "### Relevant logs",
    ] {
        assert_eq!(text.matches(heading).count(), 1, "{heading}");
    }
    let outside_of_blocks = text.split("`````").next().unwrap();
    assert!(!outside_of_blocks.contains("<script>") && !outside_of_blocks.contains("@all"));
}

#[test]
fn nothing_from_outside_leaves_its_place_in_any_form() {
    let mut sample = sample(LINE);
    let bad = "x\"\"\"\n'''; import os #\nRUN rm -rf / $(id) `id` \\ {% raw %} {{ 7 * 7 }}";
    sample.fault.summary = bad.to_owned();
    sample.environment.gpu = bad.to_owned();
    sample.environment.driver = bad.to_owned();
    sample.environment.files[0].name = bad.to_owned();
    sample.environment.files[0].version = bad.to_owned();
    for (name, text) in files(&sample.finding()).unwrap() {
        if name == ISSUE {
            continue; // prose: escaped as Markdown, see the issue's own test
        }
        for line in text.lines().filter(|line| line.contains("rm -rf") || line.contains("import os")) {
            assert!(line.starts_with("# ") || line.starts_with("// "), "{name}: {line}");
        }
        assert!(!text.contains("{{ 49 }}") && !text.contains("\n'''"), "{name}");
    }
}

#[test]
fn every_kind_of_finding_has_every_form() {
    for kind in crate::tests::ALL_KINDS {
        let sample = Sample::new(kind, LINE);
        let names: Vec<&str> = files(&sample.finding()).unwrap().map(|(name, _)| name).into();
        assert_eq!(names, FILES);
    }
}

/// A case as the guards want it.
fn parse(line: &str) -> Case {
    line.parse().unwrap()
}

#[test]
fn an_issue_quotes_the_last_execution_and_the_engine_of_a_long_log() {
    let mut sample = sample(LINE);
    let record = |name: &str, line: &str| {
        format!("I! CuDNN (v91900 56) function {name}() called:\ni!     {line}\n\n\n")
    };
    sample.library_log = record("cudnnBackendSetAttribute", "engine_id: type=int; val=25;").repeat(50)
        + &record("cudnnBackendExecute", "variantPack: here;")
        + &record("cudnnBackendExecute", "status: type=cudnnStatus_t; val=CUDNN_STATUS_SUCCESS (0);")
        + &record("cudnnGetVersion", "later").repeat(40);
    let text = file(&sample, ISSUE);
    let (_, log) = text.split_once("### Relevant logs").unwrap();
    for part in ["engine_id: type=int; val=25;", "variantPack: here;", "val=CUDNN_STATUS_SUCCESS"] {
        assert_eq!(log.matches(part).count(), 1, "{log}");
    }
    assert!(!log.contains("cudnnGetVersion") && log.lines().count() <= 30, "{log}");
}

#[test]
fn an_issue_lists_public_reports_only_and_says_what_must_not_be_sent() {
    let mut sample = sample("wgrad f32 nchw n1 c1 k1 i1 f2 p1:0 engine=20 fill=zero:1");
    (sample.fault.sameness.engine, sample.fault.sameness.cause) = (Some(20), "nan".to_owned());
    sample.signature = case::Signature::new(&sample.fault.sameness, &sample.case.problem);
    let text = file(&sample, ISSUE);
    assert!(!text.contains("corpus") && !text.contains("tells of the same"), "{text}");
    assert!(!text.contains("do not send"));
    sample.environment.gpu = "convict simulator".to_owned();
    sample.environment.driver.clear();
    let text = file(&sample, ISSUE);
    assert!(
        text.starts_with("# [Bug]: \\[SIMULATED\\] ") && text.contains("not a bug of cuDNN: do not send"),
        "{text}"
    );
    assert!(text.contains("CUDA driver: the simulator's"));
}

#[test]
fn an_issue_tells_the_survey_s_ranks() {
    let mut sample = sample(LINE);
    sample.reach.as_mut().unwrap().ranks = case::Ranks { a: Some(7), ..case::Ranks::default() };
    assert!(
        file(&sample, ISSUE)
            .contains("Reached: A#7; the case as it was met: A#0 B#1 fallback#0. Silently wrong; by default")
    );
}

#[test]
fn nvrtc_is_pinned_by_the_minor_that_its_second_file_tells() {
    let mut sample = sample(LINE);
    for (name, version) in [("libnvrtc.so.13", "13"), ("libnvrtc-builtins.so.13.0", "13.0")] {
        let known = sample.environment.files[0].clone();
        let (name, version) = (name.to_owned(), version.to_owned());
        sample.environment.files.push(case::MappedFile { name, version, ..known });
    }
    let text = file(&sample, REQUIREMENTS);
    assert!(text.contains("\nnvidia-cuda-nvrtc==13.0.*  #"), "{text}");
}
