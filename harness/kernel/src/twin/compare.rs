//! Twin of `convict_compare`. Knows one tensor and the reference's numbers; judges nothing.

use crate::number::{decode_bits, element_bytes, encode, load};
use crate::params::CompareParams;
use crate::refusal::Refusal;
use crate::totals::CompareTotals;
use crate::view::{self, each_element};

/// Compares every element with the reference's result and sum of absolute products at its logical index.
pub fn compare(
    params: &CompareParams,
    got: &[u8],
    result: &[f64],
    abs_sum: &[f64],
) -> Result<CompareTotals, Refusal> {
    view::check(&params.got, got)?;
    let count = view::count(&params.got)?;
    view::need(count, result.len())?;
    view::need(count, abs_sum.len())?;
    let width = element_bytes(params.got.dtype);
    let mut totals = CompareTotals::START;
    each_element(&params.got, |element| {
        let index = element.linear as usize;
        let bits = load(&got[element.byte..element.byte + width]);
        let reference = Reference { result: result[index], abs_sum: abs_sum[index] };
        judge(params, bits, &reference, element.linear, &mut totals);
    });
    Ok(totals)
}

struct Reference {
    result: f64,
    abs_sum: f64,
}

fn judge(params: &CompareParams, bits: u64, reference: &Reference, linear: u64, totals: &mut CompareTotals) {
    let (dtype, result) = (params.got.dtype, reference.result);
    let poison = params.poison & (u64::MAX >> (64 - 8 * element_bytes(dtype)));
    let rounded_bits = encode(dtype, result);
    let (got, rounded) = (decode_bits(dtype, bits), decode_bits(dtype, rounded_bits));
    let same = got == rounded || (got.is_nan() && rounded.is_nan());
    // Infinity minus infinity is no error where both are right.
    let error = if same && !got.is_finite() { 0.0 } else { (got - result).abs() };
    let bound = params.accumulate * reference.abs_sum + params.output * result.abs() + params.absolute;
    let ratio = if error == 0.0 { 0.0 } else { error / bound };
    let beyond = if same { 0.0 } else { (got - rounded).abs() };
    let stale = params.poison_known != 0 && bits == poison && rounded_bits != poison;
    totals.checked += 1;
    if !same {
        totals.last_differing = totals.last_differing.max(linear);
    }
    note(!same, linear, &mut totals.differing, &mut totals.first_differing);
    note(got.is_nan() && !result.is_nan(), linear, &mut totals.nan, &mut totals.first_nan);
    note(stale, linear, &mut totals.stale, &mut totals.first_stale);
    totals.zero += u64::from(got == 0.0 && rounded != 0.0);
    totals.infinite += u64::from(got.is_infinite() && rounded.is_finite());
    let over = |limit: f64| error.is_nan() || error > limit;
    note(over(bound), linear, &mut totals.over_element, &mut totals.first_over_element);
    note(over(params.norm_bound), linear, &mut totals.over_norm, &mut totals.first_over_norm);
    if error.is_finite() {
        totals.max_error_bits = totals.max_error_bits.max(error.to_bits());
        if !ratio.is_nan() {
            totals.max_ratio_bits = totals.max_ratio_bits.max(ratio.to_bits());
        }
    }
    if beyond.is_finite() {
        totals.beyond_rounded = totals.beyond_rounded.max(beyond.to_bits());
    }
}

/// Counts an event, and remembers where it was seen first.
fn note(seen: bool, linear: u64, count: &mut u64, first: &mut u64) {
    if seen {
        *count += 1;
        *first = linear.min(*first);
    }
}
