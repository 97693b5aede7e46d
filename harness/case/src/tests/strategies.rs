//! Random cases, valid by construction. Knows the rules of `validate` and nothing of what engines support.

use proptest::prelude::*;

use crate::{
    Axis, Case, Config, DType, DTypes, EngineChoice, Expect, Fill, FillKind, HeuristicMode, Keep, Kept, Knob,
    Layout, Layouts, Operation, Options, OutputFill, Problem, Scale, Workspace, WorkspaceAmount,
    WorkspaceFill,
};

fn dtypes() -> impl Strategy<Value = DTypes> {
    let one = || prop::sample::select(&DType::ALL[..]);
    let compute = prop::sample::select(vec![DType::F32, DType::F64, DType::F16]);
    prop_oneof![
        one().prop_map(DTypes::uniform),
        (one(), one(), one(), compute).prop_map(|(x, w, y, compute)| DTypes { x, w, y, compute }),
    ]
}

fn layouts() -> impl Strategy<Value = Layouts> {
    let one = || prop::sample::select(&Layout::PLAIN[..]);
    (one(), one(), one()).prop_map(|(x, w, y)| Layouts { x, w, y })
}

fn axis() -> impl Strategy<Value = Axis> {
    (1..=7_i64, 0..=4_i64, 0..=4_i64, 1..=4_i64, 1..=4_i64, 0..=40_i64).prop_map(
        |(filter, pad_before, pad_after, stride, dilation, spare)| {
            let span = (filter - 1) * dilation + 1;
            let input = (span - pad_before - pad_after).max(1) + spare;
            Axis { input, filter, pad_before, pad_after, stride, dilation }
        },
    )
}

fn operation() -> impl Strategy<Value = Operation> {
    prop::sample::select(&Operation::ALL[..])
}

fn right_problem() -> impl Strategy<Value = Problem> {
    let sizes = (1..=300_i64, 1..=64_i64, 1..=64_i64, 1..=8_i64);
    let vectors = prop::sample::select(vec![None, None, Some(Layout::Nchwc4), Some(Layout::Nchwc32)]);
    let tensors = (dtypes(), layouts(), vectors);
    (operation(), tensors, sizes, prop::collection::vec(axis(), 1..=3)).prop_map(
        |(operation, (mut dtypes, mut layouts, vectors), (n, mut c_group, mut k_group, g), axes)| {
            if let (Some(layout), true) = (vectors, operation.is_convolution()) {
                (dtypes, layouts) = (DTypes::uniform(DType::I8), Layouts::uniform(layout));
                (c_group, k_group) = (c_group * layout.vector(), k_group * layout.vector());
            }
            let mut problem = Problem {
                operation,
                dtypes,
                layouts,
                n,
                c: c_group * g,
                k: k_group * g,
                g,
                axes,
                declared_output: None,
            }
            .fitted();
            if operation.is_pooling() {
                for axis in &mut problem.axes {
                    (axis.pad_before, axis.pad_after) =
                        (axis.pad_before % axis.filter, axis.pad_after % axis.filter);
                    axis.input = axis.input.max(axis.filter);
                }
            }
            problem
        },
    )
}

/// Sizes that no rule of ours restrains, the ends of i64 among them.
fn wild() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), -2..=2_i64, Just(i64::MIN), Just(i64::MAX)]
}

fn wild_axis() -> impl Strategy<Value = Axis> {
    (wild(), wild(), wild(), wild(), wild(), wild()).prop_map(
        |(input, filter, pad_before, pad_after, stride, dilation)| Axis {
            input,
            filter,
            pad_before,
            pad_after,
            stride,
            dilation,
        },
    )
}

fn refused_problem() -> impl Strategy<Value = Problem> {
    let axes = prop::collection::vec((wild_axis(), wild()), 1..=3);
    let sizes = (wild(), wild(), wild(), wild());
    (operation(), dtypes(), layouts(), sizes, axes, any::<bool>()).prop_map(
        |(operation, dtypes, layouts, (n, c, k, g), axes, declare)| {
            // The line of a matmul holds no batch that does not divide its products.
            let (c, k, g) = if operation == Operation::MatMul { (c, k, 1) } else { (c, k, g) };
            Problem {
                operation,
                dtypes,
                layouts,
                n,
                c,
                k,
                g,
                declared_output: declare.then(|| axes.iter().map(|(_, declared)| *declared).collect()),
                axes: axes.into_iter().map(|(axis, _)| axis).collect(),
            }
            .fitted()
        },
    )
}

fn engine() -> impl Strategy<Value = EngineChoice> {
    let knobs = prop::collection::btree_map(any::<i64>(), any::<i64>(), 0..4)
        .prop_map(|knobs| knobs.into_iter().map(|(knob, value)| Knob { knob, value }).collect::<Vec<_>>());
    prop_oneof![
        Just(EngineChoice::Any),
        (0..100_i64, knobs).prop_map(|(engine, knobs)| EngineChoice::Pinned(Config { engine, knobs })),
        (prop::sample::select(&HeuristicMode::ALL[..]), any::<u32>())
            .prop_map(|(mode, rank)| EngineChoice::Ranked { mode, rank }),
    ]
}

fn workspace() -> impl Strategy<Value = Workspace> {
    let bytes = || prop_oneof![0..=1_i64 << 40, (0..=40_u32).prop_map(|shift| 1 << shift)];
    let amount = prop_oneof![
        Just(WorkspaceAmount::Exact),
        bytes().prop_map(WorkspaceAmount::Extra),
        bytes().prop_map(WorkspaceAmount::Max),
    ];
    let contents = prop_oneof![
        Just(WorkspaceFill::Zero),
        Just(WorkspaceFill::Ones),
        any::<u64>().prop_map(WorkspaceFill::Random),
    ];
    (amount, 0..=20_u32, prop::option::of(contents)).prop_map(|(amount, shift, contents)| Workspace {
        amount,
        alignment: 1 << shift,
        contents,
    })
}

fn scale(plain: f64) -> impl Strategy<Value = Scale> {
    use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    // Scales beyond f32 are refused.
    let within = |scale: f64| {
        if scale.abs() > f64::from(f32::MAX) { scale.signum() * scale.abs().powf(0.125) } else { scale }
    };
    let any = (NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE).prop_map(within);
    prop_oneof![Just(plain), any].prop_map(Scale::new)
}

fn options(expect: Expect) -> impl Strategy<Value = Options> {
    let fill =
        (prop::sample::select(&FillKind::ALL[..]), any::<u64>()).prop_map(|(kind, seed)| Fill { kind, seed });
    let output = prop::sample::select(vec![OutputFill::Nan, OutputFill::Finite]);
    let data = (prop::option::of(fill), prop::option::of(output));
    let plan = (engine(), any::<bool>(), prop::option::of("[A-Za-z0-9._+-]{1,64}"));
    (plan, workspace(), data, scale(1.0), scale(0.0), 1..=10_000_u32).prop_map(
        move |((engine, tf32, set), workspace, (fill, output_fill), alpha, beta, repeat)| Options {
            tf32: tf32 || matches!(engine, EngineChoice::Pinned(_)),
            engine,
            set,
            workspace,
            fill,
            keep: Keep::default(),
            output_fill: output_fill.filter(|_| beta.value() == 0.0),
            alpha,
            beta,
            repeat,
            expect,
        },
    )
}

/// Two numbers for each input that order themselves into a range.
type Ranges = [Option<(u64, u64)>; 2];

fn ranges() -> impl Strategy<Value = Ranges> {
    [prop::option::of(any::<(u64, u64)>()), prop::option::of(any::<(u64, u64)>())]
}

/// The case with those ranges kept, where it gives its data: inside its tensors, or anywhere where it must be refused.
fn keeping(mut case: Case, ranges: Ranges) -> Case {
    if case.options.fill.is_none() {
        return case;
    }
    for (role, range) in case.problem.operation.inputs().iter().copied().zip(ranges) {
        let elements = match case.options.expect {
            Expect::Right => case.problem.geometry().elements(role),
            Expect::Refuse => i64::MAX,
        };
        let within = |number: u64| i64::try_from(number % elements.unsigned_abs()).expect("below an i64");
        *case.options.keep.of_mut(role) = range.map(|(one, two)| Kept {
            first: within(one).min(within(two)),
            last: within(one).max(within(two)),
        });
    }
    case
}

/// The case with plain scales where its operation has none.
fn unscaled(mut case: Case) -> Case {
    if !case.problem.operation.is_convolution() {
        (case.options.alpha, case.options.beta) = (Scale::new(1.0), Scale::new(0.0));
    }
    case
}

/// Cases that must be computed rightly or refused.
pub(super) fn right_case() -> impl Strategy<Value = Case> {
    (right_problem(), options(Expect::Right), ranges()).prop_map(|(problem, options, ranges)| {
        keeping(unscaled(Case { options, ..Case::new(problem) }), ranges)
    })
}

/// Cases that must be refused, of any size at all.
pub(super) fn refused_case() -> impl Strategy<Value = Case> {
    (refused_problem(), options(Expect::Refuse), ranges()).prop_map(|(problem, options, ranges)| {
        keeping(unscaled(Case { options, ..Case::new(problem) }), ranges)
    })
}

/// Both kinds, with and without cases before them.
pub(super) fn any_case() -> impl Strategy<Value = Case> {
    let judged = prop_oneof![right_case(), refused_case()];
    let history = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(right_case(), 1..4)];
    (judged, history).prop_map(|(case, history)| Case { history, ..case })
}
