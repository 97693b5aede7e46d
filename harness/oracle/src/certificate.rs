//! When every order of summation gives the same bits, so that one differing bit is a fault. Knows integers
//! and the notes that exclude them; compares nothing.

use case::{Case, DType, Fill, Notes, Operation, ReferenceFacts};

use crate::numeric::{
    F16_MAX, TF32_UNIT, accumulation_unit, output_dtype, prior_magnitude, survives_narrowing, unit,
};
use crate::view::scale;

/// Whether a result must equal the single rounding of the exact sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// It must.
    Exact {
        /// One line: the numbers that prove it.
        because: String,
    },
    /// It need not; bounds apply.
    None {
        /// One line: the condition that fails.
        because: String,
    },
}

impl Certificate {
    /// True where every bit counts.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        match self {
            Self::Exact { .. } => true,
            Self::None { .. } => false,
        }
    }

    /// The numbers or the condition behind it.
    #[must_use]
    pub fn because(&self) -> &str {
        match self {
            Self::Exact { because } | Self::None { because } => because,
        }
    }
}

/// Scales within which powers of two keep every type away from underflow and overflow.
const SCALE_MIN: f64 = 1.0 / 256.0;
const SCALE_MAX: f64 = 256.0;

/// Asks whether sums are exact for one fill of a case on an engine with these notes.
///
/// They are where data are integers (at most 128, so that narrowing them to any type changes nothing), alpha
/// and beta are powers of two, the largest sum of absolute products fits the significand of the sums (2^24
/// for f32, 2^53 for f64, 2^11 and 2^8 where sums may be kept in f16 and bf16), results fit an f16 output,
/// and no transform is declared. A 16-bit output that beta adds to must hold the convolution itself exactly, since
/// engines round it before they add. An engine that declares DOWN_CONVERT_INPUTS was measured to round f32
/// results above 2^11 like TF32, so results up to there are certified.
///
/// The largest element of a window is one of the elements, whatever they are. A mean is a sum scaled by one over the
/// elements of its window. Normalization takes a root and is never exact.
#[must_use]
pub fn certificate(case: &Case, notes: &Notes, facts: &ReferenceFacts, fill: Fill) -> Certificate {
    match case.problem.operation {
        Operation::MaxPool => return of_the_largest(case, notes, facts, fill),
        Operation::RmsNorm => return none("a root is not exact".to_owned()),
        Operation::Fprop | Operation::Dgrad | Operation::Wgrad | Operation::AvgPool | Operation::MatMul => {}
    }
    let limit = 1.0 / accumulation_unit(case, notes);
    let Some(granule) = granule(case) else {
        let of_scales = "alpha or beta is no power of two from 2^-8 to 2^8".to_owned();
        let elements = case.problem.geometry().reduction();
        let of_windows = format!("a mean of {elements} elements, no power of two up to 2^8");
        return none(if case.problem.operation.is_pooling() { of_windows } else { of_scales });
    };
    let (sum, result) = (facts.abs_sum_max / granule, facts.abs_result_max / granule);
    if !fill.kind.is_integer() {
        return none(format!("{} data are no integers", fill.kind.name()));
    }
    if notes.fft() || notes.winograd() {
        return none("the engine declares a transform".to_owned());
    }
    // NaN compares false, so an unknown sum certifies nothing.
    if !matches!(sum.partial_cmp(&limit), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)) {
        return none(format!("largest sum of absolute products {sum} > {}", print_power(limit)));
    }
    if output_dtype(case) == DType::F16 && facts.abs_result_max > F16_MAX {
        return none(format!("largest result {} exceeds f16", facts.abs_result_max));
    }
    let prior = prior_magnitude(case, fill) / granule;
    let held = 1.0 / unit(output_dtype(case));
    if prior > 0.0 && result + prior > held {
        return none(format!(
            "the convolution before beta is added may reach {} > {}",
            result + prior,
            print_power(held)
        ));
    }
    let narrow = 1.0 / TF32_UNIT;
    let rounds_results = notes.down_converts() && case.problem.dtypes.tensors().contains(&DType::F32);
    if rounds_results && result > narrow {
        return none(format!(
            "largest result {result} > 2^11 on an engine that declares DOWN_CONVERT_INPUTS"
        ));
    }
    let because = format!("largest sum of absolute products {sum} <= {}", print_power(limit));
    Certificate::Exact { because }
}

/// Elements are read as they are where no narrower type is declared, and written with one rounding.
fn of_the_largest(case: &Case, notes: &Notes, facts: &ReferenceFacts, fill: Fill) -> Certificate {
    let dtypes = case.problem.dtypes;
    if !survives_narrowing(fill) && (notes.down_converts() || unit(dtypes.compute) > unit(dtypes.x)) {
        return none("elements may be read in a narrower type".to_owned());
    }
    if output_dtype(case) == DType::F16 && facts.abs_result_max > F16_MAX {
        return none(format!("largest result {} exceeds f16", facts.abs_result_max));
    }
    Certificate::Exact { because: "the largest element of a window is one of them".to_owned() }
}

/// True where the output has 16 bits and they hold every partial sum of integers exactly, in whatever order and
/// wherever it is kept: where a certificate holds as well, nothing is rounded at all.
pub(crate) fn output_type_holds_sums(case: &Case, facts: &ReferenceFacts) -> bool {
    let output = output_dtype(case);
    granule(case)
        .is_some_and(|granule| output.bytes() == 2 && facts.abs_sum_max / granule <= 1.0 / unit(output))
}

fn none(because: String) -> Certificate {
    Certificate::None { because }
}

/// The smallest step between results: the smaller of the scales that are not 0, a mean's being one over its elements.
/// `None` where one is no power of two, or far from 1.
fn granule(case: &Case) -> Option<f64> {
    let scales = [scale(case).abs(), case.options.beta.value().abs()];
    let mut granule = SCALE_MAX;
    for scale in scales.into_iter().filter(|scale| *scale != 0.0) {
        let is_power_of_two = scale.to_bits() << 12 == 0;
        if !is_power_of_two || !(SCALE_MIN..=SCALE_MAX).contains(&scale) {
            return None;
        }
        granule = granule.min(scale);
    }
    Some(granule)
}

fn print_power(power_of_two: f64) -> String {
    format!("2^{}", power_of_two.log2())
}
