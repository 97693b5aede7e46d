//! Which executions a plan gets. Knows fills and repeats; knows nothing of their results.

use case::{Case, Fill, FillKind, Matrix, OutputFill, Recipe, WorkspaceFill};

/// Executions of the first contents in the full matrix.
const FULL_REPEATS: u32 = 10;

type Row = (FillKind, u64, OutputFill, WorkspaceFill);

/// Contents that every plan meets, the first of them twice. Integers twice, because about one wrong result in
/// fifty is hidden by a sum of 0 under one seed; reals for the carries that small integers never exercise.
const STANDARD: [Row; 3] = [
    (FillKind::Int2, 1, OutputFill::Nan, WorkspaceFill::Ones),
    (FillKind::Int2, 2, OutputFill::Finite, WorkspaceFill::Zero),
    (FillKind::Real, 3, OutputFill::Nan, WorkspaceFill::Random(1)),
];

/// Contents for anything odd: the first data on two other workspaces, and each telling family once.
const FULL: [Row; 7] = [
    (FillKind::Int2, 1, OutputFill::Nan, WorkspaceFill::Zero),
    (FillKind::Int2, 1, OutputFill::Nan, WorkspaceFill::Random(1)),
    (FillKind::Int1, 4, OutputFill::Finite, WorkspaceFill::Ones),
    (FillKind::Tern, 5, OutputFill::Nan, WorkspaceFill::Zero),
    (FillKind::Index, 6, OutputFill::Finite, WorkspaceFill::Random(2)),
    (FillKind::Onehot, 7, OutputFill::Nan, WorkspaceFill::Ones),
    (FillKind::Ramp, 8, OutputFill::Finite, WorkspaceFill::Zero),
];

/// The executions of one plan, in order.
///
/// - What the case pins (`fill=`, `out=`, `wsfill=`) replaces that part of every row; rows that become alike
///   are made once.
/// - Execution 0 is followed by its repeat. Every later execution on the data of execution 0 also names it:
///   results may depend on nothing but the data.
/// - `repeat=N` asks for N executions of the first contents. Without it there are 2 (standard) or 10 (full);
///   only a case that pins everything is, in the standard matrix, taken at its word: one execution.
/// - Where beta is not 0 the output starts from the fill, so its poison is one fixed word and pins nothing.
#[must_use]
pub fn recipes(case: &Case, matrix: Matrix) -> Vec<Recipe> {
    let rows: &[&[Row]] = match matrix {
        Matrix::Standard => &[&STANDARD],
        Matrix::Full => &[&STANDARD, &FULL],
    };
    let mut contents: Vec<Recipe> = Vec::new();
    for row in rows.iter().copied().flatten() {
        let recipe = pin(case, *row);
        if !contents.contains(&recipe) {
            contents.push(recipe);
        }
    }
    let first = contents[0];
    let again = Recipe { repeats: Some(0), ..first };
    let times = times(case, matrix);
    let mut list = vec![first];
    list.extend((1..times.min(2)).map(|_| again));
    list.extend(contents.into_iter().skip(1).map(|recipe| {
        let repeats = (recipe.fill == first.fill).then_some(0);
        Recipe { repeats, ..recipe }
    }));
    list.extend((2..times).map(|_| again));
    list
}

/// The executions of a case that precedes the one that is judged: the first contents, as often as it says. Two
/// executions and other data would rarely bring about more, and a stand-alone program is to do the same.
#[must_use]
pub fn preceding(case: &Case) -> Vec<Recipe> {
    vec![pin(case, STANDARD[0]); usize::try_from(case.options.repeat.max(1)).unwrap_or(1)]
}

fn pin(case: &Case, (kind, seed, output, workspace): Row) -> Recipe {
    let options = &case.options;
    let output = if options.beta.value() == 0.0 { output } else { OutputFill::Nan };
    Recipe {
        fill: options.fill.unwrap_or(Fill { kind, seed }),
        output: options.output_fill.unwrap_or(output),
        workspace: options.workspace.contents.unwrap_or(workspace),
        repeats: None,
    }
}

/// How often the first contents are executed.
fn times(case: &Case, matrix: Matrix) -> u32 {
    let options = &case.options;
    let output_decided = options.output_fill.is_some() || options.beta.value() != 0.0;
    let pinned = options.fill.is_some() && output_decided && options.workspace.contents.is_some();
    let least = match matrix {
        Matrix::Standard if pinned => 1,
        Matrix::Standard => 2,
        Matrix::Full => FULL_REPEATS,
    };
    least.max(options.repeat)
}
