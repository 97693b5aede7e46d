//! Regions shaped like real tickets, each with a start and the smallest case that fails.

use case::{
    Axis, Case, Config, DType, DTypes, EngineChoice, Expect, Knob, Layout, Layouts, Role, Scale, Workspace,
    WorkspaceAmount, WorkspaceFill,
};

use super::Region;

fn last(case: &Case) -> Axis {
    case.problem.axes[case.problem.axes.len() - 1]
}

fn last_mut(case: &mut Case) -> &mut Axis {
    let end = case.problem.axes.len() - 1;
    &mut case.problem.axes[end]
}

fn outputs(case: &Case) -> i64 {
    case.problem.n * case.problem.axes.iter().map(Axis::output).product::<i64>()
}

fn x_elements(case: &Case) -> i64 {
    case.problem.geometry().elements(Role::X)
}

fn one_group(case: &mut Case) {
    case.problem.g = 1;
}

/// Cases that a process may have run before, of engines 2, 1 and 3.
const HEAVY: &str = "fprop f16 nhwc n8 c32 k32 i28x28 f3x3 p1x1 engine=2";
const LIGHT: &str = "wgrad f32 nchw n1 c4 k4 i9 f3 engine=1";
const WIDE: &str = "dgrad bf16 nhwc n2 c8 k24 i14x14 f5x5 s2x2 engine=3";

fn parse(line: &str) -> Case {
    line.parse().expect("an example is a case")
}

/// True for a case that pins that engine.
fn ran(case: &Case, engine: i64) -> bool {
    matches!(&case.options.engine, EngineChoice::Pinned(config) if config.engine == engine)
}

/// The regions.
pub(crate) const REGIONS: &[Region] = &[
    Region {
        name: "every case of the engine",
        holds: |_| true,
        force: |_| {},
        start: "dgrad f16 nhwc n8 c64 k32 g4 i28x28 f3x3 p1x1 s2x2 engine=7 knobs=1:2,4:0 ws=+64 alpha=0.5",
        least: "dgrad f32 nchw n1 c1 k1 i1 f1 engine=7",
    },
    Region {
        name: "one output column, strided, bf16",
        holds: |case| {
            let axis = last(case);
            axis.output() == 1 && axis.stride > 1 && case.problem.dtypes.x == DType::Bf16
        },
        force: |case| {
            case.problem.dtypes = DTypes::uniform(DType::Bf16);
            let axis = last_mut(case);
            axis.stride = 2;
            axis.input = ((axis.filter - 1) * axis.dilation + 1 - axis.pad_before - axis.pad_after).max(1);
        },
        start: "fprop bf16 nhwc n4 c32 k16 i14x3 f3x3 p1x0 s1x2 engine=7 fill=int2:3 wsfill=ff out=nan",
        least: "fprop bf16 nchw n1 c1 k1 i1 f1 s2 engine=7 fill=zero:1 wsfill=00 out=nan",
    },
    Region {
        name: "stride with dilation",
        holds: |case| case.problem.axes.iter().any(|axis| axis.stride > 1 && axis.dilation > 1),
        force: |case| {
            last_mut(case).stride = 3;
            last_mut(case).dilation = 2;
        },
        start: "wgrad f16 nchw n16 c48 k24 i56x30 f3x5 p1x2 s1x3 d1x2 engine=7",
        least: "wgrad f32 nchw n1 c1 k1 i1 f1 s2 d2 engine=7",
    },
    Region {
        name: "channels last with a tail of 8",
        holds: |case| case.problem.layouts.x == Layout::Nhwc && case.problem.c % 8 != 0 && case.problem.c > 8,
        force: |case| {
            case.problem.layouts = Layouts::uniform(Layout::Nhwc);
            one_group(case);
            case.problem.c |= 1;
        },
        start: "fprop f16 nhwc n2 c36 k64 i14x14 f3x3 p1x1 engine=7 knobs=2:3",
        least: "fprop f32 nhwc n1 c9 k1 i1 f1 engine=7",
    },
    Region {
        name: "workspace aligned to less than 16",
        holds: |case| case.options.workspace.alignment < 16,
        force: |case| case.options.workspace.alignment = 2,
        start: "fprop f32 nchw n2 c8 k8 i9x9 f3x3 engine=7 ws=+4096@2 alpha=2",
        least: "fprop f32 nchw n1 c1 k1 i1 f1 engine=7 ws=exact@8",
    },
    Region {
        name: "depthwise",
        holds: |case| case.problem.g == case.problem.c && case.problem.g > 1,
        force: |case| {
            case.problem.g = 12;
            case.problem.c = 12;
            case.problem.k = 24;
        },
        start: "dgrad f32 nhwc n4 c96 k192 g96 i28x28 f5x5 p2x2 engine=7",
        least: "dgrad f32 nchw n1 c2 k2 g2 i1 f1 engine=7",
    },
    Region {
        name: "width in tiles of 32",
        holds: |case| last(case).input % 32 == 0,
        force: |case| last_mut(case).input = 160,
        start: "fprop f64 nchw n3 c5 k7 i17x224 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c1 k1 i32 f1 engine=7",
    },
    Region {
        name: "many outputs and filters",
        holds: |case| outputs(case) >= 1000 && case.problem.k >= 8,
        force: |case| {
            one_group(case);
            case.problem.n = 64;
            case.problem.k = 64;
        },
        start: "fprop f16 nhwc n32 c16 k64 i28x28 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c1 k8 i1000 f1 engine=7",
    },
    Region {
        name: "three axes, bf16, large planes",
        holds: |case| {
            let axes = &case.problem.axes;
            axes.len() == 3 && axes[1].input * axes[2].input >= 100 && case.problem.dtypes.y == DType::Bf16
        },
        force: |case| {
            case.problem.dtypes = DTypes::uniform(DType::Bf16);
            case.problem.axes.truncate(1);
            case.problem.axes.extend([Axis::plain(30, 3), Axis::plain(40, 3)]);
        },
        start: "fprop bf16 nhwc n2 c8 k8 i5x20x20 f3x3x3 p1x1x1 engine=7",
        least: "fprop bf16 nchw n1 c1 k1 i1x1x100 f1x1x1 engine=7",
    },
    Region {
        name: "workspace assumed zero",
        holds: |case| {
            matches!(case.options.workspace.contents, Some(WorkspaceFill::Ones | WorkspaceFill::Random(_)))
        },
        force: |case| case.options.workspace.contents = Some(WorkspaceFill::Random(77)),
        start: "wgrad f32 nchw n2 c8 k8 i9x9 f3x3 engine=7 wsfill=rand:9 fill=int2:1 out=finite",
        least: "wgrad f32 nchw n1 c1 k1 i1 f1 engine=7 wsfill=ff fill=zero:1 out=nan",
    },
    Region {
        name: "one filter width",
        holds: |case| last(case).filter == 5,
        force: |case| {
            let axis = last_mut(case);
            *axis = Axis { filter: 5, input: 40, dilation: 1, ..*axis };
        },
        start: "fprop f16 nhwc n2 c8 k8 i9x40 f3x5 p1x2 s2x1 engine=7",
        least: "fprop f32 nchw n1 c1 k1 i5 f5 engine=7",
    },
    Region {
        name: "tail filters of 64",
        holds: |case| case.problem.k % 64 > 32,
        force: |case| {
            one_group(case);
            case.problem.k += 48;
        },
        start: "fprop f16 nhwc n2 c8 k304 i9x9 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c1 k33 i1 f1 engine=7",
    },
    Region {
        name: "many channels",
        holds: |case| case.problem.c / case.problem.g >= 100,
        force: |case| {
            one_group(case);
            case.problem.c += 200;
        },
        start: "dgrad f16 nchw n2 c512 k8 i9x9 f3x3 p1x1 engine=7",
        least: "dgrad f32 nchw n1 c100 k1 i1 f1 engine=7",
    },
    Region {
        name: "asymmetric padding",
        holds: |case| case.problem.axes.iter().any(|axis| axis.pad_before < axis.pad_after),
        force: |case| {
            let axis = last_mut(case);
            axis.filter = 4;
            axis.input += 9;
            (axis.pad_before, axis.pad_after) = (1, 3);
        },
        start: "fprop f32 nchw n2 c8 k8 i9x9 f4x4 p1:2x1:3 engine=7",
        least: "fprop f32 nchw n1 c1 k1 i1 f2 p0:1 engine=7",
    },
    Region {
        name: "scaled at all",
        holds: |case| case.options.alpha != Scale::new(1.0) || case.options.beta != Scale::new(0.0),
        force: |case| case.options.alpha = Scale::new(2.0),
        start: "fprop f16 nhwc n2 c4 k4 i9x12 f3x3 p1x1 engine=7 alpha=0.5 beta=2",
        least: "fprop f32 nchw n1 c1 k1 i1 f1 engine=7 beta=1",
    },
    Region {
        name: "prior output scaled",
        holds: |case| case.options.beta.value() != 0.0 && case.problem.n >= 2,
        force: |case| {
            case.options.output_fill = None;
            case.options.beta = Scale::new(0.3);
            case.problem.n += 1;
        },
        start: "fprop f32 nchw n20 c8 k8 i9x9 f3x3 engine=7 beta=0.25 alpha=3",
        least: "fprop f32 nchw n2 c1 k1 i1 f1 engine=7 beta=1",
    },
    Region {
        name: "one knob of three",
        holds: |case| match &case.options.engine {
            EngineChoice::Pinned(config) => config.knobs.iter().any(|knob| knob.knob == 1),
            EngineChoice::Any | EngineChoice::Ranked { .. } => false,
        },
        force: |case| {
            let knobs = (0..3).map(|knob| Knob { knob, value: 2 }).collect();
            *case = case.pinned(Config { engine: 7, knobs });
        },
        start: "fprop f32 nchw n20 c8 k8 i9x9 f3x3 engine=7 knobs=0:3,1:1,5:2",
        least: "fprop f32 nchw n1 c1 k1 i1 f1 engine=7 knobs=1:1",
    },
    Region {
        name: "seen only in repetition",
        holds: |case| case.options.repeat >= 6 && case.problem.k >= 2,
        force: |case| {
            case.options.repeat = 20;
            case.problem.k += case.problem.g;
        },
        start: "wgrad f16 nhwc n20 c8 k8 i9x9 f3x3 engine=7 repeat=40",
        least: "wgrad f32 nchw n1 c1 k2 i1 f1 engine=7 repeat=6",
    },
    Region {
        name: "an island of channels",
        holds: |case| (24..32).contains(&case.problem.c) && case.problem.n >= 3,
        force: |case| {
            one_group(case);
            case.problem.c = 30;
            case.problem.n += 2;
        },
        start: "fprop f32 nchw n20 c30 k8 i9x9 f3x3 engine=7",
        least: "fprop f32 nchw n3 c24 k1 i1 f1 engine=7",
    },
    Region {
        name: "square planes",
        holds: |case| matches!(case.problem.axes.as_slice(), [h, w] if h.input == w.input && h.input >= 7),
        force: |case| case.problem.axes = vec![Axis::plain(56, 3); 2],
        start: "fprop f16 nhwc n2 c8 k16 i28x28 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c1 k1 i7x7 f1x1 engine=7",
    },
    Region {
        name: "odd filters in f16",
        holds: |case| case.problem.dtypes.w == DType::F16 && case.problem.k % 2 == 1 && case.problem.k >= 3,
        force: |case| {
            one_group(case);
            case.problem.dtypes = DTypes::uniform(DType::F16);
            case.problem.k |= 3;
        },
        start: "fprop f16 nchw n2 c8 k57 i28x28 f3x3 p1x1 engine=7",
        least: "fprop f16 nchw n1 c1 k3 i1 f1 engine=7",
    },
    Region {
        name: "a product of outputs",
        holds: |case| outputs(case) >= 4096,
        force: |case| case.problem.n = 4096,
        start: "fprop f32 nchw n16 c8 k8 i30x31 f3x3 engine=7",
        least: "fprop f32 nchw n1 c1 k1 i4096 f1 engine=7",
    },
    Region {
        name: "groups of four channels",
        holds: |case| case.problem.g >= 4 && case.problem.c / case.problem.g == 4,
        force: |case| {
            case.problem.g = 16;
            case.problem.c = 64;
            case.problem.k *= 16;
        },
        start: "fprop f16 nhwc n2 c128 k256 g32 i14x14 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c16 k4 g4 i1 f1 engine=7",
    },
    Region {
        name: "y wider than x",
        holds: |case| case.problem.dtypes.x == DType::F16 && case.problem.dtypes.y == DType::F32,
        force: |case| {
            case.problem.dtypes = DTypes { x: DType::F16, w: DType::F16, y: DType::F32, compute: DType::F32 };
        },
        start: "fprop f16,f16,f32 nhwc n2 c8 k8 i9x9 f3x3 engine=7",
        least: "fprop f16,f32,f32 nchw n1 c1 k1 i1 f1 engine=7",
    },
    Region {
        name: "a nonsense batch taken",
        holds: |case| case.problem.n == 0 && case.options.expect == Expect::Refuse,
        force: |case| {
            case.problem.n = 0;
            case.options.expect = Expect::Refuse;
            case.options.workspace = Workspace { amount: WorkspaceAmount::Max(7000), ..Workspace::default() };
        },
        start: "fprop f32 nchw n0 c8 k8 g2 i9x9 f3x3 p1x1 y=7x7 engine=7 expect=refuse",
        least: "fprop f32 nchw n0 c1 k1 i1 f1 engine=7 expect=refuse",
    },
    Region {
        name: "2^21 elements of x",
        holds: |case| x_elements(case) >= 1 << 21,
        force: |case| {
            case.problem.n = 64;
            case.problem.c = 512 * case.problem.g;
            case.problem.axes = vec![Axis::plain(112, 3); 2];
        },
        start: "fprop f16 nhwc n64 c64 k64 i56x56 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c1480 k1 i1417 f1 engine=7",
    },
    Region {
        name: "channels by 24, 5 over",
        holds: |case| case.problem.c % 24 == 5,
        force: |case| {
            one_group(case);
            case.problem.c = 24 * 20 + 5;
        },
        start: "fprop f16 nhwc n2 c197 k16 i14x14 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c5 k1 i1 f1 engine=7",
    },
    Region {
        name: "an island in every tile",
        holds: |case| case.problem.k % 32 >= 24,
        force: |case| {
            one_group(case);
            case.problem.k = 250;
        },
        start: "fprop f16 nhwc n2 c8 k254 i14x14 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c1 k24 i1 f1 engine=7",
    },
    Region {
        name: "one value, its neighbours pass",
        holds: |case| case.problem.c == 48 && last(case).input >= 9,
        force: |case| {
            one_group(case);
            case.problem.c = 48;
            last_mut(case).input += 9;
        },
        start: "fprop f16 nhwc n4 c48 k24 i14x30 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c48 k1 i9 f1 engine=7",
    },
    Region {
        name: "cubes",
        holds: |case| {
            let inputs: Vec<i64> = case.problem.axes.iter().map(|axis| axis.input).collect();
            matches!(inputs.as_slice(), [d, h, w] if d == h && h == w && *w >= 5)
        },
        force: |case| case.problem.axes = vec![Axis::plain(24, 3); 3],
        start: "fprop f16 nhwc n2 c8 k8 i20x20x20 f3x3x3 p1x1x1 engine=7",
        least: "fprop f32 nchw n1 c1 k1 i5x5x5 f1x1x1 engine=7",
    },
    Region {
        name: "twice as many filters as channels",
        holds: |case| case.problem.k == 2 * case.problem.c && case.problem.c >= 6,
        force: |case| {
            one_group(case);
            case.problem.c += 8;
            case.problem.k = 2 * case.problem.c;
        },
        start: "fprop f16 nhwc n2 c64 k128 i14x14 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c6 k12 i1 f1 engine=7",
    },
    Region {
        name: "three more filters than channels",
        holds: |case| case.problem.k == case.problem.c + 3 && case.problem.c >= 5,
        force: |case| {
            one_group(case);
            case.problem.c += 8;
            case.problem.k = case.problem.c + 3;
        },
        start: "fprop f16 nhwc n2 c61 k64 i14x14 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c5 k8 i1 f1 engine=7",
    },
    Region {
        name: "batch tied to groups",
        holds: |case| case.problem.n == case.problem.g && case.problem.g >= 3,
        force: |case| {
            (case.problem.n, case.problem.g, case.problem.c, case.problem.k) = (16, 16, 64, 32);
        },
        start: "wgrad f32 nchw n16 c64 k32 g16 i14x14 f3x3 p1x1 engine=7",
        least: "wgrad f32 nchw n3 c3 k3 g3 i1 f1 engine=7",
    },
    Region {
        name: "2^16 elements of w",
        holds: |case| case.problem.geometry().elements(Role::W) >= 1 << 16,
        force: |case| {
            one_group(case);
            (case.problem.c, case.problem.k) = (700, 900);
        },
        start: "wgrad f16 nhwc n8 c512 k512 i14x14 f3x3 p1x1 engine=7",
        least: "wgrad f32 nchw n1 c256 k256 i1 f1 engine=7",
    },
    Region {
        name: "300000 elements of y",
        holds: |case| case.problem.geometry().elements(Role::Y) >= 300_000,
        force: |case| {
            one_group(case);
            case.problem.n = 64;
            case.problem.k = 512;
            case.problem.axes = vec![Axis::plain(40, 3); 2];
        },
        start: "dgrad f16 nhwc n32 c64 k64 i58x58 f3x3 p1x1 engine=7",
        least: "dgrad f32 nchw n1 c1 k600 i500 f1 engine=7",
    },
    Region {
        name: "2^20 multiply-adds",
        holds: |case| case.problem.geometry().multiply_adds() >= 1 << 20,
        force: |case| {
            one_group(case);
            case.problem.n = 16;
            (case.problem.c, case.problem.k) = (64, 64);
            case.problem.axes = vec![Axis::plain(20, 3); 2];
        },
        start: "fprop f16 nhwc n8 c64 k64 i14x14 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c100 k107 i98 f1 engine=7",
    },
    Region {
        name: "a line of channels and width",
        holds: |case| case.problem.c * last(case).input >= 1 << 16,
        force: |case| {
            one_group(case);
            case.problem.c = 500;
            last_mut(case).input += 200;
        },
        start: "fprop f16 nhwc n4 c512 k32 i28x224 f3x3 p1x1 engine=7",
        least: "fprop f32 nchw n1 c256 k1 i256 f1 engine=7",
    },
    Region {
        name: "channels last x, plain y",
        holds: |case| case.problem.layouts.x == Layout::Nhwc && case.problem.layouts.y == Layout::Nchw,
        force: |case| {
            case.problem.layouts = Layouts { x: Layout::Nhwc, w: Layout::Nhwc, y: Layout::Nchw };
        },
        start: "fprop f16 nhwc,nhwc,nchw n2 c8 k8 i9x9 f3x3 engine=7",
        least: "fprop f32 nhwc,nchw,nchw n1 c1 k1 i1 f1 engine=7",
    },
    Region {
        name: "full padding of a wide filter",
        holds: |case| {
            case.problem.axes.iter().any(|axis| axis.filter >= 3 && axis.pad_before == axis.filter - 1)
        },
        force: |case| {
            let axis = last_mut(case);
            *axis = Axis { pad_before: 4, pad_after: 2, ..Axis::plain(30, 5) };
        },
        start: "dgrad f32 nchw n2 c8 k8 i20x30 f3x5 p1x4 engine=7",
        least: "dgrad f32 nchw n1 c1 k1 i1 f3 p2:0 engine=7",
    },
    Region {
        name: "odd batches of five or more",
        holds: |case| case.problem.n % 2 == 1 && case.problem.n >= 5,
        force: |case| {
            case.problem.n = 63;
        },
        start: "wgrad bf16 nhwc n33 c8 k8 i9x9 f3x3 engine=7",
        least: "wgrad f32 nchw n5 c1 k1 i1 f1 engine=7",
    },
    Region {
        name: "after a wide filter of another engine",
        holds: |case| case.history.iter().any(|earlier| ran(earlier, 3) && last(earlier).filter >= 3),
        force: |case| {
            case.history = [HEAVY, LIGHT, WIDE, LIGHT, HEAVY].repeat(5).into_iter().map(parse).collect();
        },
        start: "dgrad f16 nhwc n2 c8 k8 i9x9 f3x3 p1x1 engine=3 ; fprop f16 nhwc n4 c8 k8 i9x9 f3x3 engine=2 ; \
                wgrad f32 nchw n2 c4 k4 i6 f2 engine=3 ; fprop f16 nhwc n2 c8 k8 i9x9 f3x3 engine=7",
        least: "dgrad f32 nchw n1 c1 k1 i3 f3 engine=3 ; fprop f32 nchw n1 c1 k1 i1 f1 engine=7",
    },
    Region {
        name: "odd channels after two calls in order",
        holds: |case| {
            let first = case.history.iter().position(|earlier| ran(earlier, 3));
            let second = case.history.iter().rposition(|earlier| ran(earlier, 2) && earlier.problem.n > 1);
            first.zip(second).is_some_and(|(first, second)| first < second) && case.problem.c % 2 == 1
        },
        force: |case| {
            case.history = [LIGHT, WIDE, LIGHT, LIGHT, HEAVY].repeat(4).into_iter().map(parse).collect();
            case.problem.c = 7 * case.problem.g;
        },
        start: "dgrad f16 nhwc n2 c8 k8 i9x9 f3x3 p1x1 engine=3 ; wgrad f32 nchw n2 c4 k4 i6 f2 engine=1 ; \
                fprop f16 nhwc n4 c8 k8 i9x9 f3x3 engine=2 ; wgrad bf16 nchw n3 c9 k4 i6x6 f2x2 engine=7",
        least: "dgrad f32 nchw n1 c1 k1 i1 f1 engine=3 ; fprop f32 nchw n2 c1 k1 i1 f1 engine=2 ; \
                wgrad f32 nchw n1 c1 k1 i1 f1 engine=7",
    },
];
