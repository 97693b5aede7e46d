//! Planted failing regions shaped like real tickets, with known smallest cases, and random cases inside them.
//! Knows no search; shared by tests and bench.

use case::{
    Axis, Case, Config, DType, DTypes, EngineChoice, Expect, Fill, FillKind, Knob, Layout, Layouts,
    Operation, OutputFill, Problem, Scale, Workspace, WorkspaceAmount, WorkspaceFill,
};
use minimizer::Answer;

/// A set of failing cases.
pub(crate) struct Region {
    /// What fails.
    pub(crate) name: &'static str,
    /// True inside.
    pub(crate) holds: fn(&Case) -> bool,
    /// Moves a random case towards the inside.
    pub(crate) force: fn(&mut Case),
    /// A case inside.
    pub(crate) start: &'static str,
    /// The smallest case that the search must reach from `start`.
    pub(crate) least: &'static str,
}

impl Region {
    /// The predicate of the region.
    pub(crate) fn answer(&self, case: &Case) -> Answer {
        if (self.holds)(case) { Answer::Same } else { Answer::Pass }
    }

    /// Random cases inside, the same for every run.
    pub(crate) fn inside(&self, count: usize) -> Vec<Case> {
        let seed =
            self.name.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let mut random = Random(seed);
        let mut cases = Vec::new();
        for _ in 0..10_000 {
            let mut case = random.case();
            (self.force)(&mut case);
            if case.validate().is_ok() && (self.holds)(&case) {
                cases.push(case);
            }
            if cases.len() == count {
                return cases;
            }
        }
        panic!("region '{}' is too rare among random cases", self.name)
    }
}

/// The value below which so many per cent lie.
pub(crate) fn percentile(values: &mut [u32], percent: usize) -> u32 {
    values.sort_unstable();
    values[(values.len() - 1) * percent / 100]
}

/// SplitMix64: small, fixed for ever, good enough to pick shapes.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).expect("small")).expect("small")
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    fn axis(&mut self) -> Axis {
        let filter = self.pick(&[1, 1, 2, 3, 3, 3, 5, 7]);
        let dilation = self.pick(&[1, 1, 1, 1, 2, 3]);
        let span = (filter - 1) * dilation + 1;
        let pad = self.pick(&[0, span / 2, span / 2, span - 1]);
        Axis {
            filter,
            dilation,
            input: span + self.pick(&[0, 1, 3, 6, 7, 13, 14, 27, 31, 56, 111, 224]),
            pad_before: pad,
            pad_after: self.pick(&[pad, pad, pad, 0]),
            stride: self.pick(&[1, 1, 1, 2, 3]),
        }
    }

    fn case(&mut self) -> Case {
        let widths = [1, 2, 3, 4, 7, 8, 16, 24, 32, 48, 64, 100, 256, 512];
        let g = self.pick(&[1, 1, 1, 1, 2, 4, 8]);
        let dtype = self.pick(&DType::ALL);
        let layout = self.pick(&Layout::ALL);
        let rank = self.pick(&[1, 2, 2, 2, 2, 2, 3, 3]);
        let mut case = Case::new(Problem {
            operation: self.pick(&Operation::ALL),
            dtypes: DTypes::uniform(dtype),
            layouts: Layouts::uniform(layout),
            n: self.pick(&[1, 1, 2, 3, 4, 8, 16, 32, 64]),
            c: g * self.pick(&widths),
            k: g * self.pick(&widths),
            g,
            axes: (0..rank).map(|_| self.axis()).collect(),
            declared_output: None,
        });
        let options = &mut case.options;
        let knobs = (0..self.pick(&[0, 0, 0, 1, 2, 3])).map(|knob| Knob { knob, value: 1 }).collect();
        options.engine = EngineChoice::Pinned(Config { engine: 7, knobs });
        options.fill = Some(Fill {
            kind: self.pick(&[FillKind::Int2, FillKind::Int1, FillKind::Tern, FillKind::Real]),
            seed: 5,
        });
        options.workspace.contents =
            Some(self.pick(&[WorkspaceFill::Zero, WorkspaceFill::Ones, WorkspaceFill::Random(9)]));
        options.output_fill = Some(self.pick(&[OutputFill::Nan, OutputFill::Finite]));
        options.workspace.alignment = self.pick(&[256, 256, 256, 256, 16, 128]);
        if self.below(8) == 0 {
            options.alpha = Scale::new(0.75);
        }
        case
    }
}

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
    case.problem.geometry().elements(case::Role::X)
}

fn one_group(case: &mut Case) {
    case.problem.g = 1;
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
        least: "",
    },
];
