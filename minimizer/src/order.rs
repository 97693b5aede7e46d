//! What smaller means: one total order over cases, lexicographic over the fields of `Key`. Knows sizes and
//! defaults; knows nothing of how a case is made smaller.

use case::{
    Axis, Case, DType, DTypes, Fill, FillKind, Layout, OutputFill, Scale, Workspace, WorkspaceAmount,
};
use case::{EngineChoice, WorkspaceFill};

use crate::field::Field;

/// Scales from plain to odd, the default first.
pub(crate) const ALPHAS: [f64; 5] = [1.0, 2.0, -1.0, 0.5, 0.0];
/// Scales of the prior output from plain to odd, the default first.
pub(crate) const BETAS: [f64; 5] = [0.0, 1.0, 2.0, -1.0, 0.5];

/// Place of a case in the order. Fields are compared from top to bottom; a smaller key is a smaller case.
///
/// Elements are counted rather than bytes: by bytes each half-precision case would be smaller than its f32
/// twin, and the preference for plain types would never be heard.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Cases before the one that is judged.
    history: usize,
    /// Executions beyond the single one: 1 where `repeat` asks for more.
    extras: usize,
    /// Non-default fields of workspace, scales, math mode, knobs and declared output. Buffer contents do not
    /// count.
    context: usize,
    /// Spatial axes.
    rank: usize,
    /// Groups, pads, strides, dilations and filter extents that are not trivial.
    geometry: usize,
    /// Elements of x, w and y together.
    elements: i64,
    /// Multiply-adds.
    multiply_adds: i64,
    /// Numbers, in reading order.
    values: Vec<i64>,
    /// Types, layouts and scales by rank of plainness.
    enumerations: Vec<usize>,
    /// Fill, workspace contents and output contents by rank, then the elements of the inputs that are kept, then seeds.
    data: [u64; 6],
    /// The cases before, oldest first, by what is smaller about each of them.
    earlier: Vec<Key>,
    /// The case: what makes the order total.
    case: Case,
}

impl Key {
    /// The key of a case.
    #[must_use]
    pub fn of(case: &Case) -> Self {
        let (problem, options) = (&case.problem, &case.options);
        let geometry = problem.geometry();
        let elements =
            case::Role::ALL.into_iter().fold(0_i64, |sum, role| sum.saturating_add(geometry.elements(role)));
        let nontrivial =
            problem.axes.iter().map(nontrivial_fields).sum::<usize>() + usize::from(problem.g != 1);
        Self {
            history: case.history.len(),
            extras: usize::from(options.repeat != 1),
            context: context_fields(case),
            rank: problem.axes.len(),
            geometry: nontrivial,
            elements,
            multiply_adds: geometry.multiply_adds(),
            values: values(case),
            enumerations: enumerations(case),
            data: data(case),
            earlier: case.history.iter().map(Self::of).collect(),
            case: case.clone(),
        }
    }
}

fn nontrivial_fields(axis: &Axis) -> usize {
    let fields =
        [axis.pad_before != 0, axis.pad_after != 0, axis.stride != 1, axis.dilation != 1, axis.filter != 1];
    fields.into_iter().filter(|odd| *odd).count()
}

fn context_fields(case: &Case) -> usize {
    let options = &case.options;
    let workspace = &options.workspace;
    let knobs = match &options.engine {
        EngineChoice::Pinned(config) => config.knobs.len(),
        EngineChoice::Any | EngineChoice::Ranked { .. } => 0,
    };
    let fields = [
        workspace.amount != WorkspaceAmount::Exact,
        workspace.alignment != Workspace::DEFAULT_ALIGNMENT,
        options.alpha != Scale::new(1.0),
        options.beta != Scale::new(0.0),
        !options.tf32,
        case.problem.declared_output.is_some(),
    ];
    fields.into_iter().filter(|odd| *odd).count() + knobs
}

/// Groups first, then as the fields are met in a line; sizes that only options have come last.
fn values(case: &Case) -> Vec<i64> {
    let mut fields = Field::all(case);
    fields.sort_by_key(|field| *field != Field::Groups);
    fields.into_iter().map(|field| field.get(case)).collect()
}

fn enumerations(case: &Case) -> Vec<usize> {
    let dtypes = case.problem.dtypes;
    let layouts = case.problem.layouts;
    let mut ranks = vec![
        usize::from(!dtypes.is_uniform()),
        usize::from(dtypes.compute != DTypes::default_compute(dtypes.tensors())),
    ];
    ranks.extend(dtypes.tensors().map(dtype_rank));
    ranks.push(dtype_rank(dtypes.compute));
    ranks.push(usize::from(!layouts.is_uniform()));
    ranks.extend(layouts.tensors().map(layout_rank));
    ranks.push(scale_rank(&ALPHAS, case.options.alpha));
    ranks.push(scale_rank(&BETAS, case.options.beta));
    ranks
}

fn dtype_rank(dtype: DType) -> usize {
    DType::ALL.into_iter().position(|known| known == dtype).unwrap_or(DType::ALL.len())
}

fn layout_rank(layout: Layout) -> usize {
    Layout::ALL.into_iter().position(|known| known == layout).unwrap_or(Layout::ALL.len())
}

fn scale_rank(plain: &[f64], scale: Scale) -> usize {
    plain.iter().position(|value| Scale::new(*value) == scale).unwrap_or(plain.len())
}

/// Rank of a fill kind, from 1; 0 is left for "the matrix decides".
fn kind_rank(kind: FillKind) -> u64 {
    (1..).zip(FillKind::ALL).find(|(_, known)| *known == kind).map_or(u64::MAX, |(rank, _)| rank)
}

fn data(case: &Case) -> [u64; 6] {
    let options = &case.options;
    let (fill, fill_seed) = options.fill.map_or((0, 0), |Fill { kind, seed }| (kind_rank(kind), seed));
    let (contents, contents_seed) = match options.workspace.contents {
        None => (0, 0),
        Some(WorkspaceFill::Zero) => (1, 0),
        Some(WorkspaceFill::Ones) => (2, 0),
        Some(WorkspaceFill::Random(seed)) => (3, seed),
    };
    let output = match options.output_fill {
        None => 0,
        Some(OutputFill::Nan) => 1,
        Some(OutputFill::Finite) => 2,
    };
    // Below 0 only where a case must be refused, and then nothing is made of it.
    let kept = u64::try_from(case.kept_elements()).unwrap_or(0);
    [fill, contents, output, kept, fill_seed, contents_seed]
}
