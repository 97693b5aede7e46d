//! Plainer contents of buffers, where the case pins them. What it leaves to the matrix of executions stays
//! there. Which elements of the inputs matter is the business of `keep`.

use case::{Case, Fill, FillKind, OutputFill, WorkspaceFill};

use crate::edits::Edit;

/// Seed of proposed fills: the smallest that people write.
const SEED: u64 = 1;

/// Seeds of fills that are mostly zeros: each puts what is not zero elsewhere.
const SPARSE_SEEDS: [u64; 4] = [1, 2, 3, 4];

/// Simpler fills, workspace contents and output contents, simplest first.
pub(crate) fn simpler(case: &Case) -> Vec<Edit> {
    let mut edits = Vec::new();
    if let Some(now) = case.options.fill {
        for fill in FillKind::ALL.into_iter().flat_map(|kind| fills(kind, now.seed)) {
            let name = format!("fill {}:{}", fill.kind.name(), fill.seed);
            edits.push(Edit::made(name, case, |case| case.options.fill = Some(fill)));
        }
    }
    if case.options.workspace.contents.is_some() {
        for (name, contents) in [
            ("workspace contents 00", WorkspaceFill::Zero),
            ("workspace contents ff", WorkspaceFill::Ones),
            ("workspace contents rand", WorkspaceFill::Random(SEED)),
        ] {
            edits.push(Edit::made(name, case, |case| case.options.workspace.contents = Some(contents)));
        }
    }
    if case.options.output_fill.is_some() {
        edits.push(Edit::made("output contents nan", case, |case| {
            case.options.output_fill = Some(OutputFill::Nan);
        }));
    }
    edits
}

/// A kind with the smallest seeds, then with the seed that showed the failure.
fn fills(kind: FillKind, seed: u64) -> Vec<Fill> {
    let mut seeds = match kind {
        FillKind::Onehot | FillKind::Sparse => SPARSE_SEEDS.to_vec(),
        FillKind::Zero | FillKind::One => vec![SEED],
        FillKind::Int2
        | FillKind::Int1
        | FillKind::Tern
        | FillKind::Real
        | FillKind::Index
        | FillKind::Ramp
        | FillKind::Nan => vec![SEED, seed],
    };
    seeds.dedup();
    seeds.into_iter().map(|seed| Fill { kind, seed }).collect()
}
