//! What the kernels counted, in the words of a case. Knows both vocabularies; judges nothing.

use case::{Case, Census, Notes, Recipe, ReferenceFacts};
use kernel::{CompareParams, CompareTotals, ReferenceTotals};

use crate::bounds::{Bounds, bounds};
use crate::data::poison_bits;
use crate::numeric::{finite, output_dtype};
use crate::view::tensor_view;

/// The reference's totals as facts. Infinity and NaN become the largest finite number, which JSON can hold.
#[must_use]
pub fn facts(case: &Case, totals: &ReferenceTotals) -> ReferenceFacts {
    let outputs = case.problem.geometry().elements(case.problem.operation.output());
    ReferenceFacts {
        outputs: u64::try_from(outputs).unwrap_or(0),
        with_products: totals.with_products,
        non_zero: totals.non_zero,
        products_max: totals.products,
        abs_sum_max: finite(f64::from_bits(totals.max_abs_sum_bits)),
        abs_result_max: finite(f64::from_bits(totals.max_abs_result_bits)),
    }
}

/// How to compare an output of the case with its reference; the three addresses are 0: the caller knows them.
#[must_use]
pub fn compare_params(case: &Case, notes: &Notes, facts: &ReferenceFacts, recipe: &Recipe) -> CompareParams {
    let Bounds { accumulate, output, absolute, norm, .. } = bounds(case, notes, facts, recipe.fill);
    CompareParams {
        got: tensor_view(case, case.problem.operation.output()),
        accumulate,
        output,
        absolute,
        norm_bound: norm,
        poison: poison_bits(output_dtype(case), recipe.output),
        // Where beta is not 0 the output starts from the fill, not from poison.
        poison_known: u32::from(case.options.beta.value() == 0.0),
        ..CompareParams::default()
    }
}

/// The comparison's totals as a census; positions without a count become 0.
#[must_use]
pub fn census(params: &CompareParams, totals: &CompareTotals) -> Census {
    let first = |count: u64, position: u64| if count == 0 { 0 } else { position };
    Census {
        checked: totals.checked,
        differing: totals.differing,
        first_differing: first(totals.differing, totals.first_differing),
        last_differing: totals.last_differing,
        nan: totals.nan,
        first_nan: first(totals.nan, totals.first_nan),
        stale: totals.stale,
        first_stale: first(totals.stale, totals.first_stale),
        zero: totals.zero,
        infinite: totals.infinite,
        over_element: totals.over_element,
        first_over_element: first(totals.over_element, totals.first_over_element),
        over_norm: totals.over_norm,
        first_over_norm: first(totals.over_norm, totals.first_over_norm),
        error_max: finite(f64::from_bits(totals.max_error_bits)),
        ratio_max: finite(f64::from_bits(totals.max_ratio_bits)),
        accumulate: params.accumulate,
        output: params.output,
        absolute: params.absolute,
        norm: params.norm_bound,
    }
}
