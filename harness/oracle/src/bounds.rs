//! How wrong an element may be where sums are not exact. Knows rounding units and the arithmetic that notes
//! declare; knows nothing of what was measured.

use case::{Case, DType, Fill, FillKind, Notes, Operation, ReferenceFacts};

use crate::certificate::{certificate, output_type_holds_sums};
use crate::numeric::{
    TF32_UNIT, accumulation_unit, finite, input_dtypes, output_dtype, prior_magnitude, survives_narrowing,
    tiny, unit,
};
use crate::partials::{Room, room};
use crate::view::scale;

/// An element may be wrong by `accumulate * abs_sum + output * |reference| + absolute`; beyond `norm` no
/// rounding explains it, whatever the element. `norm` is never below the first bound of any element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Factor of the element's own sum of absolute products.
    pub accumulate: f64,
    /// Factor of the element's own reference.
    pub output: f64,
    /// What any element may be wrong by: rounding near 0, and a transform's error where one is possible.
    pub absolute: f64,
    /// The worst case of all elements.
    pub norm: f64,
    /// What partial results kept in the output's type may cost, as a factor of the sum of absolute products; in `norm`
    /// and, where a certificate holds, in `accumulate`.
    pub partials: f64,
}

/// Numerical note TENSOR_CORE: f32 operands may be read as TF32.
const TENSOR_CORE: i32 = 0;

/// Numerical notes that declare arithmetic other than plain sums: TENSOR_CORE, DOWN_CONVERT_INPUTS,
/// REDUCED_PRECISION_REDUCTION, FFT and the four of WINOGRAD. The others (nondeterminism, NaN) excuse no
/// error.
const ARITHMETIC_NOTES: [i32; 8] = [0, 1, 2, 3, 5, 6, 7, 8];

/// Errors of Winograd transforms relative to the largest sum of absolute products, four times what F(4x4,
/// 3x3) shows: transforms in 16 bits, and in f32. bf16 has 3 bits less than f16.
const WINOGRAD_F16: f64 = 1e-2;
const WINOGRAD_BF16: f64 = 8e-2;
const WINOGRAD_F32: f64 = 5e-6;

/// The bounds of one fill of a case on an engine with these notes. All are finite.
///
/// With u the unit of the sums, n the most products of one output, A an element's sum of absolute products
/// and M the largest of them:
/// - sums: c u A with c = 4 + sqrt(n), which chopped accumulation of zero-mean data stays below by half; data
///   that may share one sign gets 2 (n + 2), the worst case of chopping, and so does `norm`. f64 doubles
///   both, since the reference rounds as well.
/// - operands that may be narrowed: twice the narrower unit each, as operands may be chopped. Integer fills
///   survive narrowing, so they add nothing.
/// - output: one rounding, two where alpha and beta scale it or where the type has 16 bits, since engines were
///   measured to keep one partial result in the output's type; engines that declare DOWN_CONVERT_INPUTS round
///   f32 results like TF32 (measured).
/// - prior output: the convolution is rounded before beta times the prior value is added (measured), so near a
///   cancellation the rounding goes with the prior value's magnitude.
/// - partial results: an output of 16 bits has room for some of them kept in its own type (`partials.rs`). Where a
///   certificate makes each differing bit count it is in the first bound, element by element. Elsewhere the first
///   bound marks what is inexact, and the room is in `norm` alone, which then decides whether it is wrong.
/// - nothing to round: where even 16 bits hold every partial sum exactly, neither partial results nor the output
///   cost anything. What is left, doubled because rounding to the output's type at most doubles a deviation from a
///   value of that type, is what a transform may cost.
/// - transforms: they mix neighbours, so their error goes with M: 16 u log2(size) M for FFT, a share of M for
///   Winograd. Engines that declare FFT or WINOGRAD get it, and those that declare no arithmetic at all: some
///   of them were measured to behave like FFT. Convolutions alone have any.
///
/// The largest element of a window is read and written: nothing but the rounding to a narrower output counts. A mean
/// is a sum that is scaled. For RMS normalization A is the result's own magnitude: the n squares have one sign, so
/// chopping costs their sum n u at most and its root half of that, and c = n / 2 + 10 has room for the mean, epsilon, a
/// root that is off by some units, and two products.
#[must_use]
pub fn bounds(case: &Case, notes: &Notes, facts: &ReferenceFacts, fill: Fill) -> Bounds {
    let sum_unit = accumulation_unit(case, notes);
    let operands = operand_rounding(case, notes, fill);
    let worst = worst_sum_factor(case, facts);
    // Squares have one sign, whatever the data.
    let cancels = has_zero_mean(case, fill) && case.problem.operation != Operation::RmsNorm;
    let sums = if cancels { worst.min(sum_factor(case, facts)) } else { worst };
    let certified = certificate(case, notes, facts, fill).is_exact();
    // A largest element is certified whatever the data are, which a narrower output may then round.
    let nothing_rounds = certified && fill.kind.is_integer() && output_type_holds_sums(case, facts);
    let (output, times) = if nothing_rounds { (0.0, 2.0) } else { (output_rounding(case, notes), 1.0) };
    let partials = if nothing_rounds { Room::default() } else { room(case, notes, facts, fill) };
    let counted = if certified { partials } else { Room::default() };
    let largest = finite(facts.abs_sum_max);
    let absolute = tiny(output_dtype(case))
        + lost_below_f16(case, notes, facts, fill)
        + output * prior_magnitude(case, fill)
        + times * transform_error(case, notes, sum_unit) * largest;
    let norm = (times * (worst * sum_unit + operands) + partials.own) * largest
        + output * finite(facts.abs_result_max)
        + absolute
        + partials.common;
    Bounds {
        accumulate: times * (sums * sum_unit + operands) + counted.own,
        output,
        absolute: finite(absolute + counted.common),
        // The factor keeps the rounding of this very sum from putting `norm` below an element's own bound.
        norm: finite(norm * (1.0 + 1e-12)),
        partials: partials.own,
    }
}

/// The bounds for data of which nothing is known but that it is real: products may all share one sign.
#[must_use]
pub fn bounds_of_any_data(case: &Case, notes: &Notes, facts: &ReferenceFacts) -> Bounds {
    let bounds = bounds(case, notes, facts, Fill { kind: FillKind::Real, seed: 0 });
    let worst = worst_sum_factor(case, facts);
    let excess = (worst - worst.min(sum_factor(case, facts))) * accumulation_unit(case, notes);
    Bounds { accumulate: bounds.accumulate + excess, ..bounds }
}

/// True where notes declare how the engine computes, beyond plain sums in the compute type.
pub(crate) fn declares_arithmetic(notes: &Notes) -> bool {
    notes.numerical.iter().any(|note| ARITHMETIC_NOTES.contains(note))
}

/// Beside half a row's products: what mean, root and products of a normalization may cost, in units.
const NORMALIZATION: f64 = 10.0;

/// c of sums of zero-mean data.
fn sum_factor(case: &Case, facts: &ReferenceFacts) -> f64 {
    doubled_in_f64(case, 4.0 + count(facts.products_max).sqrt())
}

/// c that chopping can reach at most.
fn worst_sum_factor(case: &Case, facts: &ReferenceFacts) -> f64 {
    let products = count(facts.products_max);
    let factor = match case.problem.operation {
        Operation::Fprop | Operation::Dgrad | Operation::Wgrad | Operation::AvgPool | Operation::MatMul => {
            2.0 * (products + 2.0)
        }
        Operation::MaxPool => 0.0,
        Operation::RmsNorm => products / 2.0 + NORMALIZATION,
    };
    doubled_in_f64(case, factor)
}

fn doubled_in_f64(case: &Case, factor: f64) -> f64 {
    if case.problem.dtypes.compute == DType::F64 { 2.0 * factor } else { factor }
}

/// True where signs come from a hash, so that errors of products cancel as a random walk does. The walk's length is
/// taken from the count of products, so nothing is promised where most of them may have been made 0.
pub(crate) fn has_zero_mean(case: &Case, fill: Fill) -> bool {
    if !case.options.keep.is_all() {
        return false;
    }
    match fill.kind {
        FillKind::Int2
        | FillKind::Int1
        | FillKind::Tern
        | FillKind::Real
        | FillKind::Sparse
        | FillKind::Nan
        // One operand is a ramp and the other has hashed signs.
        | FillKind::Ramp => true,
        FillKind::Zero | FillKind::One | FillKind::Index | FillKind::Onehot => false,
    }
}

/// What reading the operands in a narrower type may cost, relative to the sum of absolute products.
fn operand_rounding(case: &Case, notes: &Notes, fill: Fill) -> f64 {
    if survives_narrowing(fill) {
        return 0.0;
    }
    let compute = unit(case.problem.dtypes.compute);
    let allowed = case.options.tf32 && multiplies(case);
    let narrowed = allowed || notes.down_converts() || notes.numerical.contains(&TENSOR_CORE);
    let cost = |input: DType| {
        let read_as = if input == DType::F32 && narrowed { compute.max(TF32_UNIT) } else { compute };
        if read_as > unit(input) { 2.0 * read_as } else { 0.0 }
    };
    input_dtypes(case).map(cost).sum()
}

/// True for sums of products, which tensor cores may take over.
fn multiplies(case: &Case) -> bool {
    case.problem.operation.is_convolution() || case.problem.operation == Operation::MatMul
}

/// Share of the reference that rounding the result may cost.
fn output_rounding(case: &Case, notes: &Notes) -> f64 {
    let dtype = output_dtype(case);
    if case.problem.operation == Operation::MaxPool && unit(dtype) <= unit(case.problem.dtypes.x) {
        return 0.0;
    }
    let scaled = scale(case) != 1.0 || case.options.beta.value() != 0.0;
    let once = if dtype == DType::F32 && notes.down_converts() {
        2.0 * TF32_UNIT
    } else {
        unit(dtype).max(accumulation_unit(case, notes))
    };
    if scaled || dtype.bytes() == 2 { 2.0 * once } else { once }
}

/// Operands that are narrowed to f16 lose what lies below its smallest subnormal: half of 2^-24 for each
/// operand of each product, whose other operand is at most 1.
fn lost_below_f16(case: &Case, notes: &Notes, facts: &ReferenceFacts, fill: Fill) -> f64 {
    let narrowed = notes.down_converts() && input_dtypes(case).any(|input| input == DType::F32);
    if !narrowed || survives_narrowing(fill) {
        return 0.0;
    }
    finite(count(facts.products_max) * tiny(DType::F16) * case.options.alpha.value().abs())
}

/// What a transform may cost relative to the largest sum of absolute products; 0 where none is possible.
fn transform_error(case: &Case, notes: &Notes, sum_unit: f64) -> f64 {
    if !case.problem.operation.is_convolution() {
        return 0.0;
    }
    let fourier = 16.0 * sum_unit * fourier_size_log2(case);
    match (notes.winograd(), notes.fft() || !declares_arithmetic(notes)) {
        (true, _) => fourier.max(winograd_error(case, notes)),
        (false, true) => fourier,
        (false, false) => 0.0,
    }
}

fn winograd_error(case: &Case, notes: &Notes) -> f64 {
    let narrowed = notes.down_converts() || notes.numerical.contains(&TENSOR_CORE);
    let of = |dtype: DType| match dtype {
        DType::Bf16 => WINOGRAD_BF16,
        DType::F16 => WINOGRAD_F16,
        DType::F32 if narrowed => WINOGRAD_F16,
        DType::F32 | DType::I8 | DType::I32 => WINOGRAD_F32,
        DType::F64 => WINOGRAD_F32 * unit(DType::F64) / unit(DType::F32),
    };
    case.problem.dtypes.tensors().into_iter().map(of).fold(0.0, f64::max)
}

/// log2 of the points of a transform over the padded image, each axis a power of two.
fn fourier_size_log2(case: &Case) -> f64 {
    let bits = |axis: &case::Axis| {
        let padded = [axis.pad_before, axis.pad_after, axis.filter].into_iter();
        let points = padded.fold(axis.input, i64::saturating_add).max(2);
        f64::from(64 - (points - 1).leading_zeros())
    };
    case.problem.axes.iter().map(bits).sum()
}

/// A count as a float; above 2^53 it is rounded, which no bound notices.
fn count(number: u64) -> f64 {
    number as f64
}
