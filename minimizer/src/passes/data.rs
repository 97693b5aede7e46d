//! Plainer contents of buffers, where the case pins them. What it leaves to the matrix of executions stays
//! there.

use case::{Case, Fill, FillKind, OutputFill, WorkspaceFill};

use crate::edits::Edit;

/// Seed of proposed fills: the smallest that people write.
const SEED: u64 = 1;

/// Simpler fills, workspace contents and output contents, simplest first.
pub(crate) fn simpler(case: &Case) -> Vec<Edit> {
    let mut edits = Vec::new();
    if case.options.fill.is_some() {
        for kind in FillKind::ALL {
            edits.push(Edit::made(format!("fill {}", kind.name()), case, |case| {
                case.options.fill = Some(Fill { kind, seed: SEED });
            }));
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
