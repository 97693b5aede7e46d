//! Guards: that both languages decide as the region itself does, and that the errata rule is what the form wants.

use std::process::Command;

use case::{Atom, Explanation, Kind, Probes, Property, Quantity, Region, Role};

use crate::sample::Sample;
use crate::vendor::tests::{LINE, file, folder, parse, program, sample, succeed};
use crate::vendor::{ERRATA, GUARD_CPP, GUARD_PYTHON, GUARD_README};

/// One region with every sort of condition and quantity.
fn region() -> Vec<Atom> {
    let product = Quantity::Product(vec![Quantity::N, Quantity::Output(0), Quantity::Output(1)]);
    vec![
        Atom::AtLeast(Quantity::Stride(0), 2),
        Atom::AtMost(Quantity::Output(0), 7),
        Atom::Differs(Quantity::Filter(1), 1),
        Atom::Residue(Quantity::GroupC, 8, 0),
        Atom::NotResidue(Quantity::K, 3, 0),
        Atom::AtLeast(product, 98),
        Atom::AtLeast(Quantity::Bytes(Role::X), 1 << 13),
        Atom::AtMost(Quantity::Elements(Role::W), 1 << 40),
        Atom::Equal(Quantity::PadDifference(0), 0),
        Atom::Equal(Quantity::WorkspaceAlignment, 256),
        Atom::OneOf(Property::DType(Role::X), vec!["f16".to_owned(), "bf16".to_owned()]),
        Atom::OneOf(Property::Beta, vec!["0".to_owned()]),
        Atom::AtLeast(Quantity::Smallest(Box::new(Quantity::PadDifference(0))), 0),
        Atom::AtMost(Quantity::Largest(Box::new(Quantity::Input(0))), 196),
        Atom::NoneOf(Property::Scales, vec!["alpha=2 beta=0".to_owned(), "alpha=1 beta=-0.5".to_owned()]),
    ]
}

const FAILING: &str = "dgrad f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1 s2x2 engine=25 fill=int2:1";

/// One edit each away from the failing case, most of them outside the region.
const NEIGHBOURS: [&str; 13] = [
    "dgrad f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1 s2x2",
    "dgrad bf16 nchw n4 c8 k32 i14x14 f3x3 p1x1 s2x2",
    "dgrad f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1 s2x1",
    "dgrad f16 nhwc n2 c16 k32 i14x17 f3x3 p1x1 s2x2",
    "dgrad f16 nhwc n2 c16 k32 i14x14 f1x3 p1x1 s2x2",
    "dgrad f16 nhwc n2 c12 k32 i14x14 f3x3 p1x1 s2x2",
    "dgrad f16 nhwc n2 c16 k33 i14x14 f3x3 p1x1 s2x2",
    "dgrad f16 nhwc n1 c16 k32 i14x14 f3x3 p1x1 s2x2",
    "dgrad f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1:0 s2x2",
    "dgrad f16 nhwc n2 c16 k32 i14x14 f3x3 p1:0x1 s2x2",
    "dgrad f32 nhwc n2 c16 k32 i14x14 f3x3 p1x1 s2x2",
    "dgrad f16 nhwc n2 c16 k32 i196 f3 p1 s2",
    "fprop f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1 s2x2",
];

fn explained() -> Sample {
    let mut sample = Sample::new(Kind::Wrong, FAILING);
    let probes = |tested, failed| Probes { tested, failed, counter_examples: Vec::new() };
    sample.explanation = Some(Explanation {
        region: Region { atoms: region(), inside: probes(64, 64), outside: probes(64, 1) },
        twins: Vec::new(),
        any: Vec::new(),
        map: None,
        calls: 128,
        complete: true,
    });
    sample
}

/// What the region itself says of each neighbour.
fn expected() -> Vec<bool> {
    let region = region();
    let within = |line: &&str| {
        let case = parse(line);
        case.problem.operation == case::Operation::Dgrad && region.iter().all(|atom| atom.holds(&case))
    };
    NEIGHBOURS.iter().map(within).collect()
}

/// Fields of a case, innermost axis first, as texts between the brackets that a language wants.
fn fields(line: &str, (open, close): (char, char)) -> Vec<(&'static str, String)> {
    let problem = parse(line).problem;
    let list = |of: fn(&case::Axis) -> i64| {
        let values: Vec<String> = problem.axes.iter().rev().map(|axis| of(axis).to_string()).collect();
        format!("{open}{},{close}", values.join(", ")).replace(",}", "}")
    };
    let quoted = |text: &str| format!("\"{text}\"");
    vec![
        ("operation", quoted(problem.operation.name())),
        ("n", problem.n.to_string()),
        ("c", problem.c.to_string()),
        ("k", problem.k.to_string()),
        ("groups", problem.g.to_string()),
        ("input", list(|axis| axis.input)),
        ("filter", list(|axis| axis.filter)),
        ("pad_before", list(|axis| axis.pad_before)),
        ("pad_after", list(|axis| axis.pad_after)),
        ("stride", list(|axis| axis.stride)),
        ("dilation", list(|axis| axis.dilation)),
        ("dtype_x", quoted(problem.dtypes.x.name())),
        ("dtype_w", quoted(problem.dtypes.w.name())),
        ("dtype_y", quoted(problem.dtypes.y.name())),
        ("layout_x", quoted(problem.layouts.x.name())),
        ("layout_w", quoted(problem.layouts.w.name())),
        ("layout_y", quoted(problem.layouts.y.name())),
    ]
}

fn decided(printed: &[u8]) -> Vec<bool> {
    String::from_utf8_lossy(printed).lines().map(|line| line == "1").collect()
}

#[test]
fn the_python_guard_decides_as_the_region_does() {
    let Some(python) = program("python3") else { return };
    let mut main = "from guard import Convolution, avoid\n".to_owned();
    for line in NEIGHBOURS {
        let fields = fields(line, ('(', ')'));
        let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        main += &format!("print(int(avoid(Convolution({}), 91900)))\n", fields.join(", "));
    }
    let folder = folder(&[("guard.py", &file(&explained(), GUARD_PYTHON)), ("main.py", &main)]);
    let run = succeed(Command::new(python).arg(folder.path().join("main.py")));
    assert_eq!(decided(&run.stdout), expected());
    assert_eq!(expected().iter().filter(|inside| **inside).count(), 2, "the test holds both sides");
}

#[test]
fn the_cpp_guard_decides_as_the_region_does() {
    let Some(compiler) = program("g++") else { return };
    let mut main = "#include \"guard.hpp\"\n#include <cstdio>\nint main() {\n".to_owned();
    for line in NEIGHBOURS {
        main += "{ convict_guard::Convolution c;";
        for (name, value) in fields(line, ('{', '}')) {
            match value.strip_prefix('{').and_then(|values| values.strip_suffix('}')) {
                Some(values) => {
                    for (place, value) in values.split(", ").enumerate() {
                        main += &format!(" c.{name}[{place}] = {value};");
                    }
                }
                None => main += &format!(" c.{name} = {value};"),
            }
        }
        main += &format!(" c.axes = {};", parse(line).problem.axes.len());
        main += " std::puts(convict_guard::avoid(c, 91900) ? \"1\" : \"0\"); }\n";
    }
    main += "}\n";
    let folder = folder(&[("guard.hpp", &file(&explained(), GUARD_CPP)), ("main.cpp", &main)]);
    let built = folder.path().join("guard");
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-Wall", "-Wextra", "-Werror"]).arg(folder.path().join("main.cpp"));
    succeed(command.arg("-o").arg(&built));
    assert_eq!(decided(&succeed(&mut Command::new(built)).stdout), expected());
}

#[test]
fn without_a_region_or_with_a_guess_the_guard_blocks_the_whole_pass_for_its_types() {
    let Some(python) = program("python3") else { return };
    let mut guess = explained();
    guess.explanation.as_mut().unwrap().region.inside.tested = 0;
    let unknown = Sample { explanation: None, ..Sample::new(Kind::Wrong, NEIGHBOURS[0]) };
    let mut main = "from guard import Convolution, avoid\n".to_owned();
    for line in NEIGHBOURS {
        let fields = fields(line, ('(', ')'));
        let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        main += &format!("print(int(avoid(Convolution({}), 91900)))\n", fields.join(", "));
        main += &format!("assert not avoid(Convolution({}), 92000)\n", fields.join(", "));
    }
    let blocked = |line: &&str| line.starts_with("dgrad f16 ");
    let expected: Vec<bool> = NEIGHBOURS.iter().map(blocked).collect();
    for sample in [guess, unknown] {
        let guard = file(&sample, GUARD_PYTHON);
        assert!(guard.contains("the whole pass is blocked for x f16, w f16, y f16, compute f32"), "{guard}");
        let folder = folder(&[("guard.py", &guard), ("main.py", &main)]);
        let run = succeed(Command::new(&python).arg(folder.path().join("main.py")));
        assert_eq!(decided(&run.stdout), expected);
        assert!(file(&sample, GUARD_README).contains("the whole pass is blocked for them"));
    }
}

#[test]
fn the_errata_rule_names_the_tag_that_plans_of_the_engine_have() {
    let rule =
        |sample: &Sample| -> serde_json::Value { serde_json::from_str(&file(sample, ERRATA)).unwrap() };
    let expected = serde_json::json!({ "version": 1, "rules": [{
        "rule_id": "dgrad-e25-wrong-judge-finite-f16-nhwc",
        "operation": "ConvBwdData",
        "engine": 25,
        "cudnn_version_start": 91_900,
        "cudnn_version_end": 91_901,
    }] });
    assert_eq!(rule(&sample(LINE)), expected);
    let knobs = rule(&sample("wgrad f16 nchw n1 c8 k8 i4 f3 engine=25 knobs=2:1,24:11 fill=int2:1"));
    assert_eq!(knobs["rules"][0]["knob"], serde_json::json!(["_k2=1", "_k24=11"]));
    assert_eq!(knobs["rules"][0]["operation"], "ConvBwdFilter");
}

#[test]
fn a_failure_before_any_engine_has_no_rule_and_the_page_says_so() {
    let mut early = sample(LINE);
    early.fault.sameness.engine = None;
    let text = file(&early, ERRATA);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["rules"], serde_json::json!([]));
    assert!(file(&early, GUARD_README).contains("before any engine is chosen"));
}

#[test]
fn the_page_of_the_guards_says_what_the_rule_blocks_too_much() {
    let page = file(&explained(), GUARD_README);
    for part in [
        "(64 of 64 inside failed, 1 of 64 outside)",
        "`ConvBwdData_eng25`",
        "for **every** shape of this pass",
        "PyTorch asks without the graph",
        "**compiled** with",
        "default knobs",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
