//! The stand-alone programs, compiled and run. All of them go into one executable, each in a namespace of its own,
//! so that the compiler reads the standard library once. Where there is no g++ the tests say that they are skipped.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use case::{Case, Fill, Kind, Role, WorkspaceFill};

use super::ALL_KINDS;
use crate::repro;
use crate::sample::Sample;

/// One case for each kind; between them they have every pass, rank, type, layout and telling family of data.
const LINES: [&str; 10] = [
    "fprop f32 nchw n2 c3 k4 i5x6 f3x2 p1x0:1 s2x1 engine=3 fill=real:7 wsfill=rand:9 out=finite",
    "dgrad f64 nhwc n1 c2 k2 i4x4 f2x2 heur=B#1 beta=2 fill=nan:3 ; \
     wgrad bf16 nchw n2 c2 k2 i3x4x5 f2x2x3 d1x2x1 engine=5 knobs=2:1 ws=+64@16 wsfill=rand:2 repeat=3 ; \
     dgrad f16 nhwc n1 c4 k6 g2 i7 f3 p1 s2 d2 engine=4 knobs=2:1,24:0 fill=real:3",
    "wgrad bf16 nchw n2 c2 k2 i3x4x5 f2x2x3 d1x2x1 heur=fallback#2 fill=real:5 ws=+256@16",
    "fprop f64 nhwc n1 c2 k2 i4x4 f2x2 alpha=0.5 beta=2 fill=int2:8 keep=x:7 ws=max:1KiB",
    "dgrad f32,f16,bf16 nchw,nhwc,nchw n2 c3 k2 i4x3 f2x2 fill=int1:4",
    "wgrad f16 nhwc n3 c4 k4 g4 i6x6 f3x3 p2x2 fill=tern:11 repeat=20",
    "fprop bf16 nchw n1 c3 k5 i8x4 f1x1 heur=B#0 fill=index:1",
    "dgrad f16 nchw n2 c2 k3 i5x5 f3x3 p1x1 fill=onehot:21 keep=w:3-30,y:20-40",
    "wgrad f32 nchw n2 c2 k3 i5x5 f3x3 p1x1 beta=-1 fill=sparse:22",
    "fprop f16 nchw n1 c1 k2 i4x4 f3x3 y=3x2 fill=nan:24 expect=refuse",
];

/// Operations that are no convolution, in each type and layout, also before and after others.
const OTHERS: [&str; 5] = [
    "maxpool f16 nhwc n2 c3 i5x6 f3x2 p1:0x1 s2x1 engine=3 fill=nan:7",
    "avgpool f32 nchw n1 c3 i4x3x5 f2x1x3 p0x0x1 engine=0 fill=real:3",
    "matmul f16,bf16,f32 row,col,row b2 m3 n4 k9 engine=1 knobs=2:1 fill=int2:5 keep=w:3-40",
    "fprop f32 nchw n1 c2 k2 i4 f3 engine=1 fill=int2:1 ; maxpool f64 nchw n1 c2 i4x4 f2x2 engine=2 fill=ramp:1 ; \
     matmul f32 b2 m2 n2 k2 engine=0 fill=onehot:1 ; rmsnorm bf16 nchw n2 c3 engine=0 fill=real:1 ; \
     rmsnorm f64 nhwc n3 c7 engine=0 fill=real:8",
    "rmsnorm f32 nchw n1 c4 engine=0 fill=int1:2 ; avgpool f16 nchw n1 c2 i4 f2 engine=2 fill=one:1 ; \
     dgrad f32 nchw n1 c2 k2 i5x4 f3x2 engine=1 fill=int2:6",
];

fn samples() -> Vec<Sample> {
    let convolutions = LINES.into_iter().zip(ALL_KINDS).map(|(line, kind)| Sample::new(kind, line));
    convolutions.chain(OTHERS.into_iter().map(|line| Sample::new(Kind::Wrong, line))).collect()
}

/// The programs with their headers in front, each in a namespace; the first argument chooses one.
fn combined(sources: &[String]) -> String {
    let mut headers: Vec<&str> = Vec::new();
    let (mut bodies, mut choices) = (String::new(), String::new());
    for (number, source) in sources.iter().enumerate() {
        let (includes, body): (Vec<&str>, Vec<&str>) =
            source.lines().partition(|line| line.starts_with("#include"));
        headers = includes;
        writeln!(bodies, "namespace program_{number} {{\n{}\n}}", body.join("\n")).unwrap();
        writeln!(choices, "case {number}: return program_{number}::main(count - 1, arguments + 1);").unwrap();
    }
    let choose = format!("switch (std::atoi(arguments[1])) {{\n{choices}default: return 2;\n}}");
    format!("{}\n{bodies}int main(int count, char **arguments) {{\n{choose}\n}}\n", headers.join("\n"))
}

/// Programs in one executable: few enough for a short compilation, many enough to share the headers.
const PROGRAMS_PER_EXECUTABLE: usize = 5;

/// Everything that is compiled; removed with it.
struct Built {
    folder: tempfile::TempDir,
}

impl Built {
    fn run(&self, number: usize, arguments: &[&str], fault: &str) -> Output {
        let executable = self.folder.path().join(executable(number / PROGRAMS_PER_EXECUTABLE));
        let choice = (number % PROGRAMS_PER_EXECUTABLE).to_string();
        let mut command = Command::new("timeout");
        command.arg("20").arg(executable).arg(choice).args(arguments).env("FAULT", fault);
        command.output().unwrap()
    }

    /// Exit code and last line of a run on the fake libraries.
    fn try_out(&self, kind: Kind, fault: &str) -> (i32, String) {
        let number = ALL_KINDS.iter().position(|known| *known == kind).unwrap();
        let library = self.folder.path().join("libfake.so");
        let library = library.to_str().unwrap();
        let output = self.run(number, &[library, "--driver", library], fault);
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code().unwrap_or(-1), text.lines().last().unwrap_or("").to_owned())
    }
}

fn executable(chunk: usize) -> String {
    format!("programs-{chunk}")
}

/// Starts a compiler that takes no warning; `None` where there is none.
fn compile(arguments: &[&str], folder: &Path) -> Option<Child> {
    let strict = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror"];
    let mut command = Command::new("g++");
    command.args(strict).args(arguments).current_dir(folder).stderr(Stdio::piped());
    command.spawn().ok()
}

/// Everything compiled; `None` where there is no compiler.
fn compile_all() -> Option<Built> {
    let folder = tempfile::tempdir().unwrap();
    let sources: Vec<String> =
        samples().iter().map(|sample| repro::render(&sample.finding()).unwrap()).collect();
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library.cpp");
    let library = ["-shared", "-fPIC", library.to_str().unwrap(), "-o", "libfake.so"];
    let mut compilers = vec![compile(&library, folder.path())?];
    for (chunk, sources) in sources.chunks(PROGRAMS_PER_EXECUTABLE).enumerate() {
        let name = executable(chunk);
        let source = format!("{name}.cpp");
        fs::write(folder.path().join(&source), combined(sources)).unwrap();
        compilers.push(compile(&[&source, "-o", &name, "-ldl", "-pthread"], folder.path())?);
    }
    for compiler in compilers {
        let output = compiler.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    Some(Built { folder })
}

/// What `--show` should print for a case, from the kernels' twins.
fn expected(case: &Case, fill: Fill) -> String {
    let mut text = String::new();
    let mut bytes = Vec::new();
    for role in Role::ALL {
        if !case.problem.operation.tensors().contains(&role) {
            bytes.push(Vec::new());
            continue;
        }
        let parameters = oracle::fill_params(case, role, fill);
        let width = kernel::element_bytes(parameters.view.dtype);
        let mut memory = vec![0; usize::try_from(case.problem.geometry().bytes(role)).unwrap()];
        kernel::twin::fill(&parameters, &mut memory).unwrap();
        let elements = kernel_order(&parameters.view, &memory, width);
        writeln!(
            text,
            "{}{}",
            role.name(),
            elements.iter().map(|bits| format!(" {bits:x}")).collect::<String>()
        )
        .unwrap();
        bytes.push(memory);
    }
    if let Some(WorkspaceFill::Random(seed)) = case.options.workspace.contents {
        let bytes = (0..2).flat_map(|index| kernel::stream_word(seed, index).to_le_bytes()).take(13);
        writeln!(text, "workspace{}", bytes.map(|byte| format!(" {byte:x}")).collect::<String>()).unwrap();
    }
    let parameters = oracle::reference_params(case, fill);
    let outcome = kernel::twin::reference(&parameters, &bytes[0], &bytes[1], &bytes[2]).unwrap();
    let output = case.problem.operation.output();
    let dtype = oracle::tensor_view(case, output).dtype;
    for (position, (result, absolute)) in outcome.result.iter().zip(&outcome.abs_sum).enumerate() {
        let bits = kernel::encode(dtype, *result);
        writeln!(text, "expected {position} {bits:x} {result:e} {absolute:e}").unwrap();
    }
    text
}

/// Bits of every element in logical order.
pub(crate) fn kernel_order(view: &kernel::TensorView, memory: &[u8], width: usize) -> Vec<u64> {
    let count: i64 = view.extent.iter().product();
    (0..count)
        .map(|linear| {
            let mut rest = linear;
            let mut element = 0;
            for (extent, stride) in view.extent.into_iter().zip(view.stride).rev() {
                element += rest % extent * stride;
                rest /= extent;
            }
            let start = usize::try_from(element).unwrap() * width;
            memory[start..start + width].iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
        })
        .collect()
}

/// Lines whose third and fourth words, sums with last bits that depend on the order of summation, are rounded.
fn rounded(text: &str) -> Vec<String> {
    let round = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["expected", position, bits, sum, absolute] => {
                let [sum, absolute] = [sum, absolute].map(|word| word.parse::<f64>().unwrap());
                format!("{position} {bits} {sum:.9e} {absolute:.9e}")
            }
            _ => line.to_owned(),
        }
    };
    text.lines().map(round).collect()
}

fn programs_fill_and_convolve_as_the_kernels_do(built: &Built) {
    for (number, (line, sample)) in LINES.iter().chain(&OTHERS).zip(samples()).enumerate() {
        let fill = sample.case.options.fill.unwrap();
        let shown = String::from_utf8(built.run(number, &["--show"], "").stdout).unwrap();
        let (shown, expected) = (rounded(&shown), rounded(&expected(&sample.case, fill)));
        assert_eq!(shown.len(), expected.len(), "{line}");
        for (shown, expected) in shown.iter().zip(&expected) {
            assert_eq!(shown, expected, "{line}");
        }
    }
}

fn exit_codes_tell_present_absent_other_and_not_applicable_apart(built: &Built) {
    for (kind, fault, code, line) in [
        (Kind::Wrong, "", 1, "BUG PRESENT: execution 1 gave wrong values"),
        (Kind::Inexact, "", 1, "BUG PRESENT: execution 1 gave wrong values"),
        (Kind::Oob, "before", 1, "BUG PRESENT: execution 1 left its buffers"),
        (Kind::Oob, "", 0, "bug absent: 10 executions showed nothing"),
        (Kind::Input, "input", 1, "BUG PRESENT: execution 1 changed its inputs"),
        (Kind::Input, "before", 0, "bug absent: 10 executions showed nothing"),
        (Kind::Nondet, "nondet", 1, "BUG PRESENT: execution 2 differs from the first in 1 outputs"),
        (Kind::Nondet, "", 0, "bug absent: 10 executions showed nothing"),
        (Kind::Status, "status", 1, "BUG PRESENT: the status that was seen before"),
        (
            Kind::Status,
            "other_status",
            3,
            "another failure: a status that was not seen when the bug was found",
        ),
        (Kind::Status, "refuse", 77, "not applicable: this cuDNN declines the case"),
        (Kind::Status, "", 0, "bug absent: 22 executions showed nothing"),
        (Kind::Accepted, "", 1, "BUG PRESENT: what had to be refused was executed"),
        (Kind::Accepted, "bad_parameter", 0, "bug absent: what can't be computed was refused"),
        (Kind::Crash, "", 0, "bug absent: 4 executions showed nothing"),
        (Kind::Device, "", 0, "bug absent: 4 executions showed nothing"),
        (Kind::Wrong, "no_device", 77, "not applicable: cuInit returned CUDA_ERROR_OF_THE_FAKE (100)"),
        (Kind::Wrong, "bad_parameter", 77, "not applicable: this cuDNN declines the case"),
    ] {
        assert_eq!(built.try_out(kind, fault), (code, line.to_owned()), "{kind:?} {fault}");
    }
    // At once, inside the library's own call, and only in the last execution of a check.
    for fault in ["device", "noticed_device", "fourth_device"] {
        let (code, line) = built.try_out(Kind::Device, fault);
        assert!(code == 1 && line.contains("(700) after the plan was launched"), "{fault}: {line}");
    }
    let (code, line) = built.try_out(Kind::Wrong, "noticed_device");
    assert!(code == 3 && line.starts_with("another failure"), "{line}");
    let (code, line) = built.try_out(Kind::Wrong, "device");
    assert!(code == 3 && line.starts_with("another failure"), "{line}");
}

fn wrong_arguments_and_missing_libraries_are_told_in_one_line(built: &Built) {
    for (arguments, code, line) in [
        (&["--nonsense"][..], 2, "usage: "),
        (&["a", "b"], 2, "usage: "),
        (&["--driver", "/nowhere/libcuda.so.1"], 77, "not applicable: no CUDA driver: "),
    ] {
        let output = built.run(0, arguments, "");
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.starts_with(line) && text.lines().count() == 1, "{text}");
    }
}

/// One test, so that what was compiled is shared by the three checks and removed after them.
#[test]
#[expect(clippy::print_stdout, reason = "a test that was skipped says so")]
fn programs_compile_without_warnings_compute_as_the_kernels_do_and_tell_how_they_end() {
    let Some(built) = compile_all() else {
        println!("skipped: no g++");
        return;
    };
    programs_fill_and_convolve_as_the_kernels_do(&built);
    exit_codes_tell_present_absent_other_and_not_applicable_apart(&built);
    wrong_arguments_and_missing_libraries_are_told_in_one_line(&built);
}
