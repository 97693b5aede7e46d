//! Planted failing regions and random cases inside them. Knows no search; shared by tests and bench.
#![allow(dead_code, reason = "no test uses all of it")]

mod table;

use case::{
    Axis, Case, Config, DType, DTypes, EngineChoice, Fill, FillKind, Knob, Layout, Layouts, Operation,
    OutputFill, Problem, Scale, WorkspaceFill,
};
use minimizer::Answer;

pub(crate) use table::REGIONS;

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
    /// The predicate of the region, for a failure of that pass.
    pub(crate) fn answer(&self, operation: Operation, case: &Case) -> Answer {
        if case.problem.operation == operation && (self.holds)(case) { Answer::Same } else { Answer::Pass }
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
            operation: self.pick(&Operation::CONVOLUTIONS),
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
