//! The Python programs: that they are Python, that they hold the constants of the case, and that they agree with the
//! stand-alone program where PyTorch is present.

use std::process::Command;

use case::{Case, Kind, Role};

use crate::sample::Sample;
use crate::tests::ALL_KINDS;
use crate::vendor::tests::{file, folder, program, sample, succeed};
use crate::vendor::{FRONTEND, GUARD_PYTHON, TORCH};

const LINES: [&str; 4] = [
    "fprop f32 nchw n1 c4 k4 g2 i9 f3 p1 engine=25 fill=real:3 out=finite wsfill=00",
    "dgrad f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1 s2x2 engine=25 knobs=2:1,24:7 fill=onehot:1",
    "wgrad bf16 nchw n1 c8 k8 i5x6x7 f1x3x3 d1x2x2 engine=25 fill=sparse:9 keep=x:100-900,y:17",
    "fprop f16,f16,f32 nhwc n1 c8 k8 i5x6 f2x2 p1:0x0:1 heur=B#2 fill=tern:2",
];

#[test]
fn every_program_is_python() {
    let Some(python) = program("python3") else { return };
    let mut texts: Vec<(String, String)> = Vec::new();
    let samples = LINES.map(sample).into_iter().chain(ALL_KINDS.map(|kind| Sample::new(kind, LINES[1])));
    for (number, sample) in samples.enumerate() {
        for name in [TORCH, FRONTEND, GUARD_PYTHON] {
            texts.push((format!("{number}-{}", name.replace('/', "-")), file(&sample, name)));
        }
    }
    let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = folder(&texts);
    let paths = texts.iter().map(|(name, _)| folder.path().join(name));
    succeed(Command::new(python).args(["-m", "py_compile"]).args(paths));
}

#[test]
fn a_program_without_its_packages_says_so_and_is_not_applicable() {
    let Some(python) = program("python3") else { return };
    for name in [TORCH, FRONTEND] {
        let folder = folder(&[("repro.py", &file(&sample(LINES[1]), name))]);
        // -I and -S leave out every installed package.
        let run =
            Command::new(&python).args(["-I", "-S"]).arg(folder.path().join("repro.py")).output().unwrap();
        assert_eq!(run.status.code(), Some(77), "{run:?}");
        assert!(
            String::from_utf8_lossy(&run.stdout).starts_with("not applicable: No module named"),
            "{run:?}"
        );
    }
}

#[test]
fn the_engine_is_chosen_by_number_with_knobs_by_name() {
    let text = file(&sample(LINES[1]), FRONTEND);
    assert!(text.contains("ENGINE, KNOBS = 25, {\"KERNEL_CFG\":7,\"TILE_SIZE\":1}"), "{text}");
    assert!(text.contains("graph.create_execution_plan(ENGINE, knobs)"));
    let ranked = Sample { outcome: without_candidate(), ..sample(LINES[3]) };
    let text = file(&ranked, FRONTEND);
    assert!(text.contains("ENGINE, KNOBS = None, {}"));
    assert!(text.contains("MODES, RANK = [cudnn.heur_mode.B], 2"));
}

/// What is seen where the process dies before any configuration is announced.
fn without_candidate() -> case::Outcome {
    case::Outcome { candidate: None, ..Sample::new(Kind::Crash, LINES[1]).outcome }
}

/// Runs where `CONVICT_TEST_TORCH` names a Python that has PyTorch; no GPU is needed.
#[test]
fn values_and_reference_of_the_programs_are_those_of_the_kernels() {
    let Some(python) = super::python("CONVICT_TEST_TORCH", "PyTorch") else { return };
    for line in &LINES {
        let text = file(&sample(line), FRONTEND).replace("import cudnn\n", "import types\n");
        let (constants, _) = text.split_once("COMPUTE = ").unwrap();
        let (_, rest) = text.split_once("# ---- Values").unwrap();
        let (values, _) = rest.split_once("# ---- The run").unwrap();
        let folder = folder(&[("print.py", &format!("{constants}\n# {values}\n{PRINT}"))]);
        let run = succeed(Command::new(&python).arg(folder.path().join("print.py")));
        let seen: [Vec<f64>; 5] = serde_json::from_slice(&run.stdout).unwrap();
        let expected = kernels(&line.parse().unwrap());
        for (part, (seen, expected)) in seen.iter().zip(&expected).enumerate() {
            assert_eq!(seen.len(), expected.len(), "{line}: part {part}");
            let close =
                |(seen, expected): (&f64, &f64)| (seen - expected).abs() <= 1e-12 * expected.abs().max(1.0);
            assert!(seen.iter().zip(expected).all(close), "{line}: part {part}: {seen:?} {expected:?}");
        }
    }
}

/// Prints x, w and y (empty for the one that is written), the result and the sums of absolute products.
const PRINT: &str = "
import json
inputs = {name: filled(name) for name in 'xwy' if name != OUTPUT}
BOUND = [0.0, 0.0, 0.0]
parts = [inputs[name].double() if name in inputs else None for name in 'xwy']
absolute = reference(*(part.abs() if part is not None else None for part in parts))
lists = [part.flatten().tolist() if part is not None else [] for part in parts]
print(json.dumps(lists + [reference(*parts).flatten().tolist(), absolute.flatten().tolist()]))
";

/// The same from the kernels' twins.
fn kernels(case: &Case) -> [Vec<f64>; 5] {
    let fill = case.options.fill.unwrap();
    let bytes = Role::ALL.map(|role| {
        let parameters = oracle::fill_params(case, role, fill);
        let mut memory = vec![0; usize::try_from(case.problem.geometry().bytes(role)).unwrap()];
        kernel::twin::fill(&parameters, &mut memory).unwrap();
        memory
    });
    let reference = oracle::reference_params(case, fill);
    let outcome = kernel::twin::reference(&reference, &bytes[0], &bytes[1], &bytes[2]).unwrap();
    let output = case.problem.operation.output();
    let tensor = |role: Role| {
        let view = oracle::fill_params(case, role, fill).view;
        let width = kernel::element_bytes(view.dtype);
        let bits = crate::tests::program::kernel_order(&view, &bytes[role.index()], width);
        bits.into_iter().map(|bits| kernel::decode_bits(view.dtype, bits)).collect::<Vec<f64>>()
    };
    let [x, w, y] = Role::ALL.map(|role| if role == output { Vec::new() } else { tensor(role) });
    [x, w, y, outcome.result, outcome.abs_sum]
}
