//! Rounding units of the element types: one row per type. Knows numbers alone.

use case::{Case, DType, Fill, FillKind, Notes};

/// Largest finite f16.
pub(crate) const F16_MAX: f64 = 65504.0;

/// 2^-11: the rounding unit of TF32, to which tensor cores narrow f32.
pub(crate) const TF32_UNIT: f64 = 1.0 / 2048.0;

/// What rounding to a type costs.
struct Row {
    /// Largest relative error of rounding to nearest.
    unit: f64,
    /// Largest absolute error near 0, with subnormals flushed where some kernels do.
    tiny: f64,
    /// Unit of the partial sums that an engine may keep under REDUCED_PRECISION_REDUCTION.
    reduced_unit: f64,
}

fn row(dtype: DType) -> Row {
    let power = |exponent: i32| f64::powi(2.0, exponent);
    match dtype {
        DType::F32 => Row { unit: power(-24), tiny: power(-126), reduced_unit: TF32_UNIT },
        DType::F64 => Row { unit: power(-53), tiny: power(-1022), reduced_unit: power(-24) },
        DType::F16 => Row { unit: power(-11), tiny: power(-24), reduced_unit: power(-11) },
        DType::Bf16 => Row { unit: power(-8), tiny: power(-126), reduced_unit: power(-8) },
        // Integers are exact within their range, and round to the nearest one.
        DType::I8 => Row { unit: power(-8), tiny: 0.5, reduced_unit: power(-8) },
        DType::I32 => Row { unit: power(-32), tiny: 0.5, reduced_unit: power(-32) },
    }
}

/// Largest relative error of rounding to nearest in that type.
pub(crate) fn unit(dtype: DType) -> f64 {
    row(dtype).unit
}

/// Largest absolute error that rounding adds near 0.
pub(crate) fn tiny(dtype: DType) -> f64 {
    row(dtype).tiny
}

/// Rounding unit of the sums: the compute type's, or a tensor's where the engine declares reduced precision.
/// Its inverse is the largest integer up to which sums are exact.
pub(crate) fn accumulation_unit(case: &Case, notes: &Notes) -> f64 {
    let dtypes = case.problem.dtypes;
    let declared = unit(dtypes.compute);
    if !notes.reduces_precision() {
        return declared;
    }
    dtypes.tensors().into_iter().map(|dtype| row(dtype).reduced_unit).fold(declared, f64::max)
}

/// True where sums may be kept in f16 and so overflow at 65504.
pub(crate) fn accumulates_in_f16(case: &Case, notes: &Notes) -> bool {
    let dtypes = case.problem.dtypes;
    dtypes.compute == DType::F16 || (notes.reduces_precision() && dtypes.tensors().contains(&DType::F16))
}

/// The type that the operation writes.
pub(crate) fn output_dtype(case: &Case) -> DType {
    case.problem.dtypes.tensors()[case.problem.operation.output().index()]
}

/// The types of the tensors that the operation reads.
pub(crate) fn input_dtypes(case: &Case) -> impl Iterator<Item = DType> {
    let tensors = case.problem.dtypes.tensors();
    case.problem.operation.inputs().iter().map(move |role| tensors[role.index()])
}

/// True where every value is an integer of magnitude at most 128 (beside NaN): each type down to bf16 holds
/// it exactly, so that narrowing the inputs changes nothing.
pub(crate) fn survives_narrowing(fill: Fill) -> bool {
    fill.kind.is_integer() || fill.kind == FillKind::Nan
}

/// Largest magnitude of beta times what the output holds before the run; 0 where beta is 0.
pub(crate) fn prior_magnitude(case: &Case, fill: Fill) -> f64 {
    let largest = match fill.kind {
        FillKind::Zero => 0.0,
        FillKind::One | FillKind::Int1 | FillKind::Tern | FillKind::Real | FillKind::Onehot => 1.0,
        FillKind::Int2 | FillKind::Nan | FillKind::Sparse => 2.0,
        FillKind::Index => 30.0,
        FillKind::Ramp => 128.0,
    };
    case.options.beta.value().abs() * largest
}

/// The value, or the largest finite one in place of infinity and NaN: JSON can hold neither.
pub(crate) fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::MAX }
}
