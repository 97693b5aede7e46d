//! A result is outside every bound. Knows what counts as right for an engine's notes and which class of wrong
//! value is named; computes no reference.

use case::{Census, DType, Execution, FillKind, Kind, OutputFill, Phase, Verdict};

use crate::bounds::bounds;
use crate::certificate::{Certificate, certificate};
use crate::judge::{Evidence, Scene};
use crate::numeric::{F16_MAX, accumulates_in_f16, output_dtype};
use crate::position::print_position;

pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    let (execution, assessment) = scene.executions().iter().find_map(|execution| {
        let assessment = assess(scene, execution);
        (assessment.standing == Standing::Wrong).then_some((execution, assessment))
    })?;
    let class = class_of(scene, execution, assessment.count);
    Some(scene.fault(Evidence {
        kind: Kind::Wrong,
        phase: Phase::Judge,
        cause: class.name,
        // Notes that declare reduced precision state no bound; ours is generous and still only ours.
        informative: class.name == "finite"
            && (scene.notes().reduces_precision() || overflowed_narrow(scene, execution, assessment.count)),
        summary: summary(scene, execution, &assessment, &class),
        recipe: Some(execution.recipe),
    }))
}

/// True where an engine that declares narrower operands gave nothing wrong but infinities, at a size of result that the
/// narrower type cannot hold (measured: f32 sums above 65504 became infinite).
fn overflowed_narrow(scene: &Scene<'_>, execution: &Execution, wrong: u64) -> bool {
    let beyond = execution.reference.abs_result_max > F16_MAX;
    scene.notes().down_converts() && beyond && execution.census.infinite >= wrong
}

/// How a whole output stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Right, or nothing was promised.
    Right,
    /// Inside a bound, where no note excuses inexact arithmetic.
    Inexact,
    /// Outside every bound that the notes allow.
    Wrong,
}

/// How a whole output stands, and by which elements.
pub(crate) struct Assessment {
    pub(crate) standing: Standing,
    /// Elements that fail the check which decided.
    pub(crate) count: u64,
    /// The first of them.
    pub(crate) first: u64,
    /// Why the check is right, in numbers.
    pub(crate) because: String,
}

/// How far outside its bound an element must be where no certificate holds: a bound on real data rests on a model
/// of the arithmetic, and engines were measured to pass it by a small factor. An output of 16 bits must be outside the
/// bound common to all elements as well, which has room for partial results kept in 16 bits.
const RATIO_WITHOUT_CERTIFICATE: f64 = 4.0;

/// Weighs an output against its certificate and bounds.
///
/// Outside its bound an element is wrong; without a certificate, outside four times its bound and, for 16 bits, outside
/// the bound common to all, and inexact between. Inside, a certificate makes each differing bit count, as inexact
/// arithmetic, unless a transform is declared. The bound has room for a transform also where an engine
/// declares no arithmetic at all, and for partial results kept in a 16-bit output's type where that type cannot hold
/// them exactly, so such an engine is wrong only outside both bounds of the design.
pub(crate) fn assess(scene: &Scene<'_>, execution: &Execution) -> Assessment {
    let (case, notes, census) = (scene.case, scene.notes(), &execution.census);
    let fill = execution.recipe.fill;
    let certificate = certificate(case, notes, &execution.reference, fill);
    let silent_on_nan = fill.kind == FillKind::Nan && !notes.strict_nan();
    let over = (census.over_element, census.first_over_element);
    let differing = (census.differing, census.first_differing);
    let (standing, (count, first)) = if silent_on_nan {
        (Standing::Right, (0, 0))
    } else if census.stale > 0 {
        (Standing::Wrong, differing)
    } else if may_overflow(scene, execution, &certificate) {
        (Standing::Right, (0, 0))
    } else if certificate.is_exact() && census.differing > 0 {
        (if over.0 > 0 { Standing::Wrong } else { Standing::Inexact }, differing)
    } else if over.0 > 0 {
        let lost_nan = fill.kind == FillKind::Nan;
        let explained = census.over_norm == 0 && partials_in(scene, execution).is_some();
        let far = census.ratio_max > RATIO_WITHOUT_CERTIFICATE && !explained;
        let outright = lost_nan || census.nan > 0 || census.infinite > 0 || far;
        (if outright { Standing::Wrong } else { Standing::Inexact }, over)
    } else {
        (Standing::Right, (0, 0))
    };
    Assessment { standing, count, first, because: words(&certificate) }
}

/// The 16-bit type in which partial results may have been kept, where the bounds have room for that.
pub(crate) fn partials_in(scene: &Scene<'_>, execution: &Execution) -> Option<DType> {
    let bounds = bounds(scene.case, scene.notes(), &execution.reference, execution.recipe.fill);
    (bounds.partials > 0.0).then(|| output_dtype(scene.case))
}

fn words(certificate: &Certificate) -> String {
    match certificate {
        Certificate::Exact { because } => format!("sums are exact ({because})"),
        Certificate::None { because } => format!("judged by its bound ({because})"),
    }
}

/// Sums kept in f16 may overflow on the way, and an f16 output near its end may round to infinity: then
/// neither infinity nor the NaN that follows from it is a fault.
fn may_overflow(scene: &Scene<'_>, execution: &Execution, certificate: &Certificate) -> bool {
    let (case, notes, facts) = (scene.case, scene.notes(), &execution.reference);
    // A NaN fill leaves no largest sum to go by, and its integers are far from overflow.
    if certificate.is_exact() || execution.recipe.fill.kind == FillKind::Nan {
        return false;
    }
    let sums = accumulates_in_f16(case, notes) && facts.abs_sum_max >= F16_MAX;
    let norm = bounds(case, notes, facts, execution.recipe.fill).norm;
    sums || (output_dtype(case) == DType::F16 && facts.abs_result_max + norm > F16_MAX)
}

/// The value class of a wrong output.
struct Class {
    /// The word of the signature.
    name: &'static str,
    /// How the elements look.
    words: String,
    /// First element of the class.
    first: Option<u64>,
}

/// The first that applies of: NaN, stale, zero, finite.
///
/// An unwritten output keeps its poison, which is NaN in half of the executions: it counts as stale there
/// too, so that the class does not depend on the poison. The class is zero only where every wrong element is
/// zero: among random wrong values some are zero by chance, and those must not rename the fault as it
/// shrinks.
fn class_of(scene: &Scene<'_>, execution: &Execution, wrong: u64) -> Class {
    let Census { nan, stale, zero, infinite, first_nan, first_stale, .. } = execution.census;
    let poisoned = scene.case.options.beta.value() == 0.0;
    let poison_is_nan = poisoned && execution.recipe.output == OutputFill::Nan;
    let own_nan = if poison_is_nan { nan.saturating_sub(stale) } else { nan };
    if own_nan > 0 {
        // Where poison hides among them the first NaN may be poison; the excerpt shows which.
        Class { name: "nan", words: format!("{own_nan} NaN"), first: Some(first_nan) }
    } else if stale > 0 {
        Class { name: "stale", words: format!("{stale} never written"), first: Some(first_stale) }
    } else if zero > 0 && zero >= wrong {
        Class { name: "zero", words: "all zero".to_owned(), first: None }
    } else if infinite > 0 {
        Class { name: "finite", words: format!("{infinite} infinite"), first: None }
    } else {
        Class { name: "finite", words: "finite".to_owned(), first: None }
    }
}

fn summary(scene: &Scene<'_>, execution: &Execution, assessment: &Assessment, class: &Class) -> String {
    let first = class.first.unwrap_or(assessment.first);
    format!(
        "{} of {} outputs wrong ({}), {}; {}",
        assessment.count,
        execution.census.checked,
        class.words,
        first_element(scene, execution, first),
        reasons(execution, assessment)
    )
}

/// `first at (n0 c3 h0 w2): got 17, expected 21`, with values where the excerpt has them.
pub(crate) fn first_element(scene: &Scene<'_>, execution: &Execution, first: u64) -> String {
    let place = print_position(scene.case, first);
    let shown = execution.excerpt.iter().find(|(position, _, _)| *position == first);
    match shown {
        Some((_, got, expected)) => format!("first at {place}: got {got}, expected {expected}"),
        None => format!("first at {place}"),
    }
}

/// Why it is wrong, and by how much where a bound decided.
pub(crate) fn reasons(execution: &Execution, assessment: &Assessment) -> String {
    let Census { error_max, ratio_max, over_norm, .. } = execution.census;
    let beyond = if over_norm > 0 { format!(", {over_norm} beyond any rounding") } else { String::new() };
    format!(
        "{}; largest error {error_max:.4e}, {ratio_max:.3e} times the element's bound{beyond}; {} data",
        assessment.because,
        execution.recipe.fill.kind.name()
    )
}
