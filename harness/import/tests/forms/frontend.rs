//! Graphs of cudnn-frontend in both versions of its JSON, whole and broken.

use import::Format;

use super::{counted, read, reasons};

const VERSION_2: &str =
    include_str!("../../../../corpus/regressions/9.19.0-wgrad-e20-wrong-judge-finite-f32-nchw/graph.json");
const ITS_CASE: &str =
    include_str!("../../../../corpus/regressions/9.19.0-wgrad-e20-wrong-judge-finite-f32-nchw/case.txt");

/// A forward graph keyed by names, whose response is not described yet.
const VERSION_1: &str = r#"{"context": {"compute_data_type": "FLOAT", "io_data_type": "HALF"}, "json_version": "1.0",
 "nodes": [{"tag": "CONV_FPROP", "inputs": {"X": "image", "W": "filter"}, "outputs": {"Y": "conv::Y"},
   "pre_padding": [1, 0], "post_padding": [1, 1], "stride": [1, 1], "dilation": [1, 1]},
  {"tag": "POINTWISE", "mode": "RELU_FWD", "inputs": {}, "outputs": {}}],
 "tensors": {"image": {"dim": [2, 8, 5, 6], "stride": [240, 1, 48, 8], "data_type": null},
  "filter": {"dim": [4, 8, 3, 3], "stride": [72, 1, 24, 8]}, "conv::Y": {"dim": [], "stride": [], "is_virtual": true}}}"#;

/// A real one, without the lines that are not read (`sed` and `grep`).
const DUMP: &str = include_str!("../data/frontend-torch-2.11-h200.log");

const CASE_1: &str = "fprop f16 nhwc n2 c8 k4 i5x6 f3x3 p1x0:1";

#[test]
fn a_graph_of_ours_reads_back_as_its_case_without_the_engine() {
    let import = read(VERSION_2.as_bytes(), None);
    let [(1, case)] = &counted(&import)[..] else { panic!("{import:?}") };
    assert!(ITS_CASE.starts_with(&format!("{case} ")), "{case} is not of {ITS_CASE}");
    assert!(!import.cases[0].fused);
}

#[test]
fn graphs_are_found_whole_one_a_line_and_between_the_lines_of_a_log() {
    let import = read(VERSION_1.as_bytes(), None);
    assert_eq!(counted(&import), [(1, CASE_1.to_owned())]);
    assert!(import.cases[0].fused);
    let line = VERSION_1.replace('\n', " ");
    let log = format!(
        "[cudnn_frontend] INFO: Validating {{0}}\n[cudnn_frontend] {VERSION_1}\nother {{ \n{line}\n{line} end\n"
    );
    let import = read(log.as_bytes(), None);
    assert_eq!((counted(&import), reasons(&import)), (vec![(3, CASE_1.to_owned())], vec![]));
}

#[test]
fn a_graph_that_is_broken_is_counted_with_its_reason_and_the_rest_goes_on() {
    let line = VERSION_1.replace('\n', " ");
    for (from, to, reason) in [
        ("\"filter\": {", "\"felt\": {", "a convolution whose W is no tensor of its graph"),
        ("\"HALF\"", "\"INT8\"", "element type INT8"),
        ("[2, 8, 5, 6]", "[2, 8]", "tensors of 2 and 4 extents; 3 to 5 make a convolution"),
        ("[2, 8, 5, 6]", "[2, 8, -5, 6]", "a number that no convolution has"),
        ("[2, 8, 5, 6]", "[9223372036854775807, 8, 5, 6]", "a number that no convolution has"),
        ("\"stride\": [1, 1]", "\"stride\": [1, 0.5]", "a convolution without stride"),
        ("CONV_FPROP", "MATMUL", "a graph without a convolution"),
    ] {
        let import =
            read(format!("{}\n{line}\n", line.replacen(from, to, 1)).as_bytes(), Some(Format::Frontend));
        assert_eq!(counted(&import), [(1, CASE_1.to_owned())], "{from}");
        assert_eq!(reasons(&import), [(1, reason)]);
    }
    let import = read(&VERSION_1.as_bytes()[..VERSION_1.len() - 9], None);
    assert_eq!(reasons(&import), [(1, "a graph that is cut off")]);
    let deep = format!("{{\"nodes\": {}{}}}", "[".repeat(500), "]".repeat(500));
    assert_eq!(reasons(&read(deep.as_bytes(), None)), [(1, "a graph that is no sound JSON")]);
}

#[test]
fn the_plain_dump_of_a_real_run_gives_each_graph_once_with_its_engine() {
    let import = read(DUMP.as_bytes(), None);
    let mut got: Vec<String> = counted(&import).into_iter().map(|(_, case)| case).collect();
    let log = read(include_bytes!("../data/torch-2.11-cudnn-9.19-h200.log"), None);
    let mut expected: Vec<String> = counted(&log).into_iter().map(|(_, case)| case).collect();
    got.sort();
    expected.sort();
    assert_eq!(got, expected);
    assert_eq!((import.evidence, reasons(&import)), (import::Evidence::Described, vec![]));
    for found in &import.cases {
        let same = log.cases.iter().find(|other| other.case == found.case).expect("the same case");
        assert_eq!((found.count, &found.engines), (1, &same.engines), "{}", found.case);
    }
}

#[test]
fn a_dump_that_leaves_roles_open_or_is_fused_is_counted_with_what_helps() {
    let first = &DUMP[..DUMP.find("[cudnn_frontend] CUDNN_BACKEND_ENGINEHEUR").expect("a graph")];
    for (from, to, reason) in [
        (
            "Tag: ConvFwd_",
            "Tag: ConvFwd_Add_",
            "a fused graph in the frontend's plain dump: log with CUDNN_LOGLEVEL_DBG=3",
        ),
        ("\"FLOAT\"", "\"INT8\"", "an element type or channels packed into vectors that no case has"),
        ("[ 8,32,28,28 ]", "[ 8,32,27,28 ]", "an output size that does not follow from the input"),
        ("CROSS_CORRELATION", "CONVOLUTION", "flipped filters (mode CONVOLUTION)"),
    ] {
        let import = read(first.replace(from, to).as_bytes(), None);
        assert_eq!((counted(&import), reasons(&import)), (vec![], vec![(1, reason)]));
    }
}
