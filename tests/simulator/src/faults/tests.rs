//! Predicates, scripts and the planted table. Knows no library.

use case::{Case, EngineChoice, Operation};

use super::*;
use crate::problem::{Convolution, Problem, Tensor};

/// The problem of a case, as descriptors would state it.
pub(crate) fn problem(case: &Case) -> Problem {
    let geometry = case.problem.geometry();
    let number = |dtype: case::DType| match dtype {
        case::DType::F32 => 0,
        case::DType::F64 => 1,
        case::DType::F16 => 2,
        case::DType::Bf16 => 9,
        case::DType::I8 => 3,
        case::DType::I32 => 4,
    };
    let column = |of: fn(&case::Axis) -> i64| case.problem.axes.iter().map(of).collect::<Vec<i64>>();
    Problem {
        operation: case.problem.operation,
        tensors: case::Role::ALL.map(|role| Tensor {
            dtype: number(case.problem.dtypes.tensors()[role.index()]),
            extents: geometry.dimensions(role),
            strides: geometry.strides(role),
            alignment: 16,
            id: role.index() as i64,
            vector: case.problem.layouts.tensors()[role.index()].vector(),
        }),
        convolution: Convolution {
            compute: number(case.problem.dtypes.compute),
            mode: 1,
            pad_before: column(|axis| axis.pad_before),
            pad_after: column(|axis| axis.pad_after),
            stride: column(|axis| axis.stride),
            dilation: column(|axis| axis.dilation),
        },
        alpha: 1.0,
        beta: 0.0,
    }
}

fn atom(text: &str) -> Atom {
    Atom::try_from(text.to_owned()).unwrap()
}

fn holds(text: &str, line: &str) -> bool {
    let case: Case = line.parse().unwrap();
    let problem = problem(&case);
    atom(text).holds(&Facts { problem: &problem, engine: Some(7), workspace_alignment: Some(64) })
}

const LINE: &str = "dgrad f16 nhwc n6 c8 k36 g4 i9x17 f3x5 p1:2x0 s2x1 d1x3";

#[test]
fn atoms_read_every_field() {
    let true_ones = [
        "operation = dgrad",
        "engine = 7",
        "dtype = f16",
        "layout = nhwc",
        "rank = 2",
        "n = 6",
        "c = 8",
        "k = 36",
        "g = 4",
        "c/g = 2",
        "k/g = 9",
        "k/g mod 8 = 1",
        "i[0] = 9",
        "i[last] = 17",
        "f[1] = 5",
        "p[0] = 1",
        "q[0] = 2",
        "s[0] != 1",
        "d[last] >= 3",
        "o[0] = 5",
        "o[1] <= 5",
        "n * c/g = 12",
        "n * c/g mod 5 = 2",
        "alpha = 1",
        "beta < 1",
        "wsalign = 64",
        "dtype != f32",
    ];
    for text in true_ones {
        assert!(holds(text, LINE), "{text}");
    }
    for text in
        ["operation = fprop", "engine > 7", "i[2] = 1", "i[2] != 1", "dtype < f32", "n = f16", "n mod 4 = 1"]
    {
        assert!(!holds(text, LINE), "{text}");
    }
}

#[test]
fn malformed_atoms_are_refused_with_their_text() {
    for text in [
        "",
        "n",
        "n =",
        "n = 1 2",
        "m = 1",
        "i = 1",
        "i[3] = 1",
        "i[last = 1",
        "n mod 0 = 1",
        "n ~ 1",
        "n * = 1",
    ] {
        let error = Atom::try_from(text.to_owned()).unwrap_err();
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn atoms_print_as_they_are_read() {
    for text in ["k/g mod 8 = 1", "n * o[last] >= 64", "dtype = f16", "alpha = 0.5", "q[1] != 2"] {
        assert_eq!(atom(text).to_string(), text);
    }
}

#[test]
fn a_fault_survives_its_json() {
    for planted in all_planted() {
        let text = serde_json::to_string(&planted.fault).unwrap();
        assert_eq!(serde_json::from_str::<Fault>(&text).unwrap(), planted.fault);
    }
    let unknown = r#"[{"name": "x", "when": [], "what": {"nan": {"at": "corner"}}, "odd": 1}]"#;
    assert!(Script::parse(unknown).is_err());
}

#[test]
fn the_nth_time_counts_only_times_that_hold() {
    let text = r#"[{"name": "third", "when": ["n = 6"], "nth": 3, "what": {"wrong": {"at": "corner"}}}]"#;
    let script = Script::parse(text).unwrap();
    let case: Case = LINE.parse().unwrap();
    let problem = problem(&case);
    let facts = Facts { problem: &problem, engine: Some(0), workspace_alignment: None };
    let acted: Vec<usize> = (0..7).map(|_| script.at(Site::Execute, &facts).len()).collect();
    assert_eq!(acted, [0, 0, 1, 0, 0, 1, 0]);
    assert!(script.at(Site::Plan, &facts).is_empty());
}

#[test]
fn what_needs_an_execution_before_waits_for_one() {
    let text = r#"[{"name": "second", "when": ["n = 6"], "after": ["engine = 3"], "what": {"wrong": {"at": "corner"}}}]"#;
    let script = Script::parse(text).unwrap();
    let case: Case = LINE.parse().unwrap();
    let problem = problem(&case);
    let facts = |engine| Facts { problem: &problem, engine: Some(engine), workspace_alignment: None };
    let acts = |site, engine| script.at(site, &facts(engine)).len();
    assert_eq!([acts(Site::Execute, 2), acts(Site::Plan, 3), acts(Site::Execute, 2)], [0; 3]);
    assert_eq!(acts(Site::Execute, 3), 0, "not yet at the one that it waits for");
    assert_eq!([acts(Site::Execute, 2), acts(Site::Execute, 3)], [1; 2]);
}

fn all_planted() -> Vec<Planted> {
    planted().into_iter().chain(planted_others()).chain(planted_in_plans()).collect()
}

#[test]
fn planted_faults_hold_at_their_minimum_and_nowhere_near_the_plainest_case() {
    assert!(planted().len() >= 14 && planted_others().len() >= 14 && planted_in_plans().len() >= 6);
    for planted in all_planted() {
        let case = planted.case().unwrap_or_else(|| panic!("{}", planted.minimum));
        assert_eq!(case.to_string(), planted.minimum);
        let engine = match &case.options.engine {
            EngineChoice::Pinned(config) => Some(config.engine),
            EngineChoice::Any | EngineChoice::Ranked { .. } => None,
        };
        let exact = problem(&case);
        let facts = Facts { problem: &exact, engine, workspace_alignment: Some(256) };
        assert!(planted.fault.holds(&facts), "{}", planted.minimum);
        assert!(
            engine.is_none_or(|index| crate::engine::engine(exact.operation, index)
                .unwrap()
                .takes(&exact)
                .is_ok()),
            "{}",
            planted.minimum
        );
        for operation in Operation::ALL {
            let sizes = match operation {
                Operation::MaxPool | Operation::AvgPool => "nchw n1 c1 i1x1 f1x1",
                Operation::MatMul => "m1 n1 k1",
                Operation::RmsNorm => "nchw n1 c1",
                Operation::Fprop | Operation::Dgrad | Operation::Wgrad => "nchw n1 c1 k1 i1x1 f1x1",
            };
            let plainest: Case = format!("{} f32 {sizes}", operation.name()).parse().unwrap();
            let plainest = problem(&plainest);
            let facts = Facts { problem: &plainest, ..facts };
            assert!(!planted.fault.holds(&facts), "{}", planted.minimum);
        }
        let words = planted.fault.when.len();
        assert!(words >= 2, "{}: {words} conditions were read", planted.minimum);
    }
}

#[test]
fn no_planted_fault_hides_another_and_signatures_differ() {
    let table = all_planted();
    let places: std::collections::HashSet<(Operation, String)> = table
        .iter()
        .map(|planted| {
            let case = planted.case().unwrap();
            (case.problem.operation, format!("{:?}", case.options.engine))
        })
        .collect();
    assert_eq!(places.len(), table.len());
    let signatures: std::collections::HashSet<String> =
        table.iter().map(|planted| planted.signature().unwrap().to_string()).collect();
    assert_eq!(signatures.len(), table.len());
}

#[test]
fn every_condition_of_the_table_was_read() {
    let table = all_planted();
    let conditions: usize = table.iter().map(|planted| planted.fault.when.len()).sum();
    let before: usize = table.iter().map(|planted| planted.fault.after.len()).sum();
    assert_eq!((conditions, before), (87 + 26 + 20, 3));
}

fn tampered_after(residue: Option<f32>, action: Action, earlier: u64) -> Tampered {
    let case: Case = "fprop f32 nchw n2 c1 k3 i2 f1".parse().unwrap();
    tamper(&problem(&case), (1..=12).map(f64::from).collect(), residue, &[Acting { action, earlier }])
}

fn tampered(action: Action, earlier: u64) -> Tampered {
    tampered_after(Some(0.5), action, earlier)
}

#[test]
fn regions_reach_what_they_say() {
    let zeroed = |at| {
        let values = tampered(Action::Zero { at }, 0).values;
        (0..values.len()).filter(|index| values[*index] == Some(0.0)).collect::<Vec<usize>>()
    };
    assert_eq!(zeroed(Region::LastChannel), [4, 5, 10, 11]);
    assert_eq!(zeroed(Region::LastItem), [6, 7, 8, 9, 10, 11]);
    assert_eq!(zeroed(Region::Corner), [11]);
    assert_eq!(zeroed(Region::Scattered), [0, 7]);
}

#[test]
fn effects_are_what_they_are_called() {
    assert_eq!(tampered(Action::Unwritten { at: Region::Corner }, 0).values[11], None);
    assert!(tampered(Action::Nan { at: Region::Corner }, 0).values[11].unwrap().is_nan());
    assert_eq!(tampered(Action::ReadWorkspace, 0).values[0], Some(1.5));
    assert_eq!(tampered(Action::Wrong { at: Region::Corner }, 0).values[11], Some(16.0));
    assert_eq!(tampered(Action::Flaky { at: Region::Corner, rate: 1.0 }, 0).values[11], Some(16.0));
    assert_eq!(tampered(Action::Flaky { at: Region::Corner, rate: 0.0 }, 0).values[11], Some(12.0));
    let halves: Vec<bool> = (0..4)
        .map(|time| tampered(Action::Nondeterministic { rate: 0.5 }, time).values[0] != Some(1.0))
        .collect();
    assert_eq!(halves, [false, true, false, true]);
}

#[test]
fn only_a_workspace_that_is_no_offset_ends_the_context() {
    let sticky = |residue| tampered_after(residue, Action::FollowWorkspace { error: 716 }, 0).sticky;
    assert_eq!(sticky(Some(f32::from_bits(u32::MAX))), Some(716));
    assert_eq!(sticky(Some(f32::from_bits(0x0102_0306))), Some(716));
    assert_eq!(sticky(Some(0.0)), None);
    assert_eq!(sticky(Some(f32::from_bits(64))), None);
    assert_eq!(sticky(None), None);
}

#[test]
fn the_variable_names_the_planted_set_nothing_or_a_file() {
    assert_eq!(Script::named(None).unwrap().faults.len(), all_planted().len());
    assert!(Script::named(Some("none")).unwrap().faults.is_empty());
    assert!(matches!(Script::named(Some("/nonexistent.json")), Err(ScriptError::File(..))));
}

#[test]
fn a_script_may_name_the_version_that_the_library_claims() {
    let fault = r#"{"name": "x", "when": ["n = 2"], "what": "write_input"}"#;
    let version = |text: &str| Script::parse(text).map(|script| script.version());
    assert_eq!(version(&format!("[{fault}]")).unwrap(), 91_900);
    assert_eq!(version(&format!(r#" {{"version": "9.15.1", "faults": [{fault}]}}"#)).unwrap(), 91_501);
    assert_eq!(version(r#"{"version": "9.9.0"}"#).unwrap(), 90_900);
    assert_eq!(Script::parse(&format!(r#"{{"faults": [{fault}, {fault}]}}"#)).unwrap().faults.len(), 2);
    for text in ["9.15", "8.9.7", "9.100.0", "9.1.x", "9.1.2.3", "", "-9.1.1"] {
        let refused = version(&format!(r#"{{"version": "{text}"}}"#)).unwrap_err().to_string();
        assert!(refused.contains("is no version that the simulator can play"), "{text}: {refused}");
    }
    assert!(version(r#"{"versions": "9.15.1"}"#).is_err());
}
