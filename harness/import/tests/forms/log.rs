//! cuDNN's log: a real one, trimmed (`data/trim.py`), and written ones of both interfaces and both major versions.

use import::{Evidence, Format};

use super::{counted, read, reasons};

const REAL: &str = include_str!("../data/torch-2.11-cudnn-9.19-h200.log");

/// What the script ran: times, passes, the rest of the line. A row of one axis is two axes to PyTorch.
const RAN: [(u64, bool, &str); 8] = [
    (3, true, "f32 nchw n8 c16 k32 i28x28 f3x3 p1x1"),
    (2, true, "f16 nhwc n8 c64 k64 i56x56 f3x3 p1x1"),
    (1, false, "f16 nchw n4 c32 k48 i15x17 f5x1 p2x0 s2x2"),
    (4, true, "f32 nchw n2 c8 k16 i10x12x14 f3x3x3 p1x1x1 s1x2x2"),
    (1, true, "bf16 nhwc n2 c32 k64 g4 i20x20 f3x3 p2x2 d2x2"),
    (2, true, "f32 nchw n4 c12 k24 i1x100 f1x7 p0x3"),
    (1, true, "f64 nchw n1 c4 k6 i9x9 f3x3 p1x1"),
    (2, true, "f16 nhwc n2 c16 k16 g16 i8x8 f3x3 p1x1"),
];

#[test]
fn a_log_of_pytorch_on_a_gpu_gives_exactly_what_the_script_ran() {
    let mut expected: Vec<(u64, String)> = Vec::new();
    for (times, back, rest) in RAN {
        let passes: &[&str] = if back { &["fprop", "dgrad", "wgrad"] } else { &["fprop"] };
        expected.extend(passes.iter().map(|pass| (times, format!("{pass} {rest}"))));
    }
    let import = read(REAL.as_bytes(), None);
    let mut got = counted(&import);
    got.sort();
    expected.sort();
    assert_eq!(got, expected);
    assert_eq!(import.cases.iter().map(|found| found.count).sum::<u64>(), 46);
    assert_eq!((import.evidence, reasons(&import)), (Evidence::Executed, vec![]));
    assert!(import.cases.windows(2).all(|pair| pair[0].count >= pair[1].count));
    assert!(import.cases.iter().all(|found| found.engines.len() == 1 && !found.fused), "{:?}", import.cases);
    let first = import.cases.iter().find(|found| found.case.to_string().starts_with("fprop f32 nchw n8"));
    assert_eq!(first.map(|found| found.engines.clone()), Some(vec![70]));
}

#[test]
fn a_log_that_stops_before_any_execution_gives_its_plans_and_says_so() {
    let end = REAL.find("function cudnnBackendExecute() called").expect("an execution");
    let import = read(&REAL.as_bytes()[..end], None);
    assert_eq!(counted(&import), [(1, "fprop f32 nchw n8 c16 k32 i28x28 f3x3 p1x1".to_owned())]);
    assert_eq!((import.evidence, import.notes.len()), (Evidence::Planned, 1));
    let end = REAL.find("type=CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR").expect("a plan");
    assert_eq!(read(&REAL.as_bytes()[..end], None).evidence, Evidence::Described);
}

#[test]
fn a_log_cut_off_within_a_call_gives_what_came_before() {
    let last = REAL.rfind("executionPlan: type=").expect("an execution");
    let import = read(&REAL.as_bytes()[..last + 2_000], None);
    assert_eq!(import.cases.iter().map(|found| found.count).sum::<u64>(), 45);
    assert_eq!(reasons(&import).iter().map(|(count, _)| count).sum::<u64>(), 1, "{:?}", import.refused);
}

#[test]
fn what_a_launcher_puts_before_each_line_changes_nothing() {
    let prefixed: String = REAL.lines().map(|line| format!("[rank0] 12:01 {line}\r\n")).collect();
    assert_eq!(counted(&read(prefixed.as_bytes(), None)), counted(&read(REAL.as_bytes(), None)));
}

/// A call of the older interface, in the words of a log of version 8.
fn legacy(function: &str, names: [&str; 3], mode: &str) -> String {
    let tensor = |name: &str, dims: &str, strides: &str| {
        format!(
            "i!     {name}: type=cudnnTensorDescriptor_t:\ni!         dataType: type=cudnnDataType_t; \
             val=CUDNN_DATA_HALF (2);\ni!         nbDims: type=int; val=4;\ni!         dimA: type=int; val={dims};\n\
             i!         strideA: type=int; val={strides};\n"
        )
    };
    let filter = format!(
        "i!     {}: type=cudnnFilterDescriptor_t:\ni!         dataType: type=cudnnDataType_t; val=CUDNN_DATA_HALF (2);\n\
         i!         vect: type=int; val=0;\ni!         nbDims: type=int; val=4;\ni!         dimA: type=int; \
         val=[6,2,3,3];\ni!         format: type=cudnnTensorFormat_t; val=CUDNN_TENSOR_NHWC (1);\n",
        names[1]
    );
    format!(
        "I! CuDNN (v8401) function {function}() called:\ni!     handle: type=cudnnHandle_t; streamId=0x1;\n\
         i!     alpha: type=CUDNN_DATA_FLOAT; val=0.500000;\n{}{filter}\
         i!     convDesc: type=cudnnConvolutionDescriptor_t:\n\
         i!         mode: type=cudnnConvolutionMode_t; val={mode};\n\
         i!         dataType: type=cudnnDataType_t; val=CUDNN_DATA_FLOAT (0);\n\
         i!         arrayLength: type=int; val=2;\n\
         i!         padA: type=int; val=[0,1];\ni!         strideA: type=int; val=[1,2];\n\
         i!         dilationA: type=int; val=[1,1];\ni!         groupCount: type=int; val=2;\n\
         i!     algo: type=cudnnConvolutionFwdAlgo_t; val=CUDNN_CONVOLUTION_FWD_ALGO_GEMM (2);\n\
         i!     beta: type=CUDNN_DATA_FLOAT; val=0.000000;\n{}\
         i! Time: 2022-01-01T00:00:00.0 (0d+0h+0m+1s since start)\n\
         i! Process=1; Thread=7; GPU=0; Handle=0x1; StreamId=0x1.\n\n",
        tensor(names[0], "[3,4,5,7]", "[140,1,28,4]"),
        tensor(names[2], "[3,6,3,4]", "[72,1,24,6]"),
    )
}

#[test]
fn calls_of_the_older_interface_are_read_and_a_flipped_filter_is_none_of_ours() {
    let cross = "CUDNN_CROSS_CORRELATION (1)";
    let log = [
        legacy("cudnnConvolutionForward", ["xDesc", "wDesc", "yDesc"], cross),
        legacy("cudnnConvolutionForward", ["xDesc", "wDesc", "yDesc"], cross),
        legacy("cudnnConvolutionBackwardData", ["dxDesc", "wDesc", "dyDesc"], cross),
        legacy("cudnnConvolutionBackwardFilter", ["xDesc", "dwDesc", "dyDesc"], cross),
        legacy("cudnnConvolutionBiasActivationForward", ["xDesc", "wDesc", "yDesc"], cross),
        legacy("cudnnConvolutionForward", ["xDesc", "wDesc", "yDesc"], "CUDNN_CONVOLUTION (0)"),
        legacy("cudnnGetConvolutionForwardWorkspaceSize", ["xDesc", "wDesc", "yDesc"], cross),
    ];
    let import = read(log.concat().as_bytes(), None);
    let rest = "f16 nhwc n3 c4 k6 g2 i5x7 f3x3 p0x1 s1x2 alpha=0.5";
    assert_eq!(
        counted(&import),
        [(3, format!("fprop {rest}")), (1, format!("dgrad {rest}")), (1, format!("wgrad {rest}"))]
    );
    assert!(import.cases[0].fused && !import.cases[1].fused);
    assert_eq!(reasons(&import), [(1, "flipped filters (mode CUDNN_CONVOLUTION)")]);
}

/// The lines for an execution in the words of cuDNN 9; `change` edits them.
fn executed(change: impl Fn(String) -> String) -> String {
    let start =
        REAL.find("I! CuDNN (v91900 56) function cudnnBackendExecute() called").expect("an execution");
    let end = start + REAL[start..].find("\n\n").expect("its end");
    change(REAL[start..end].to_owned()) + "\n\n"
}

#[test]
fn what_a_case_cannot_express_is_counted_with_its_reason() {
    let log = [
        executed(|call| call.replace("CUDNN_DATA_FLOAT (0)", "CUDNN_DATA_INT8 (3)")),
        executed(|call| call.replace("[12544,784,28,1]", "[25088,784,28,1]")),
        executed(|call| call.replace("CUDNN_CROSS_CORRELATION (1)", "CUDNN_CONVOLUTION (0)")),
        executed(|call| call.replace("[8,32,28,28]", "[8,32,27,28]")),
        executed(|call| call.replace("OPERATION_CONVOLUTION_FORWARD", "OPERATION_MATMUL")),
        executed(|call| call.replace("[8,16,28,28]", "[8,16,99999999999999999999,28]")),
        executed(|call| call.replace("[8,16,28,28]", "[9223372036854775807,16,28,28]")),
        executed(|call| call.replace("[8,16,28,28]", "[8,0,28,28]")),
        executed(|call| call.replace("[1,1]", "[1]")),
    ];
    let import = read(log.concat().as_bytes(), None);
    assert_eq!(counted(&import), []);
    let expected = [
        "element type CUDNN_DATA_INT8",
        "strides that are neither nchw nor nhwc without gaps",
        "flipped filters (mode CUDNN_CONVOLUTION)",
        "an output size that does not follow from the input",
        "a graph without a convolution",
        "a tensor without extents",
        "a number that no convolution has",
        "padding for 1 axes where the tensors have 2",
    ];
    let mut lines: Vec<(u64, &str)> =
        import.refused.iter().map(|refused| (refused.lines[0], refused.reason.as_str())).collect();
    lines.sort_unstable();
    assert_eq!(lines.iter().map(|(_, reason)| *reason).collect::<Vec<_>>(), expected);
    assert_eq!(reasons(&import)[0], (2, "a number that no convolution has"));
}

#[test]
fn of_a_fused_graph_the_convolution_is_taken_and_its_inner_tensor_has_the_type_of_one_in_memory() {
    let fused = executed(|call| {
        let place = call.find("i!                 engine_id").expect("an engine");
        let pointwise =
            "i!                     operation: type=CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:\n";
        let (graph, rest) = call.split_at(place);
        let graph = graph.replace("CUDNN_DATA_FLOAT", "CUDNN_DATA_HALF");
        let last = graph.rfind("type=cudnnDataType_t; val=CUDNN_DATA_HALF").expect("the type of y");
        let (head, y) = graph.split_at(last);
        let y = y.replace("CUDNN_DATA_HALF", "CUDNN_DATA_FLOAT").replace("val=false", "val=true");
        let head = head.replace(
            "computeType: type=cudnnDataType_t; val=CUDNN_DATA_HALF",
            "computeType: type=cudnnDataType_t; val=CUDNN_DATA_FLOAT",
        );
        format!("{head}{y}{pointwise}{rest}")
    });
    let import = read(fused.as_bytes(), None);
    assert_eq!(counted(&import), [(1, "fprop f16 nchw n8 c16 k32 i28x28 f3x3 p1x1".to_owned())]);
    assert!(import.cases[0].fused);
}

#[test]
fn an_execution_that_does_not_show_its_graph_is_read_from_the_librarys_own_line_or_counted() {
    let bare = "I! CuDNN (v8204) function cudnnBackendExecute() called:\n\
                i!     executionPlan: type=CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:\n\
                i! Process=455; Thread=455; GPU=0.\n\n";
    let start = REAL.find("I! CuDNN (v91900 56) function cudnnBackendExecuteInternal() called").expect("one");
    let end = start + REAL[start..].find("\n\n").expect("its end") + 2;
    let import = read(format!("{bare}{bare}{}", &REAL[start..end]).as_bytes(), None);
    assert_eq!(counted(&import), [(1, "fprop f32 nchw n8 c16 k32 i28x28 f3x3 p1x1".to_owned())]);
    assert_eq!(reasons(&import), [(1, "an execution whose log does not show its graph")]);
}

#[test]
fn lines_that_are_no_text_and_lines_of_any_length_harm_nothing() {
    let mut bytes = b"\xff\xfe garbage\n".to_vec();
    bytes.extend(std::iter::repeat_n(b'x', 3 << 20));
    bytes.extend(b"\ni!                          \xff: type=\xff; val=[;\n");
    bytes.extend(REAL.as_bytes());
    assert_eq!(counted(&read(&bytes, Some(Format::Log))), counted(&read(REAL.as_bytes(), None)));
}
