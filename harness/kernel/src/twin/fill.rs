//! Twins of `convict_fill` and `convict_verify`. Knows one tensor's bytes; never touches gaps between elements.

use crate::fill::{FillKind, Special};
use crate::number::{element_bytes, encode, load};
use crate::params::FillParams;
use crate::refusal::Refusal;
use crate::totals::VerifyTotals;
use crate::view::{self, Element, each_element};

/// Writes every element of the view into its memory, which starts at the view's first element.
pub fn fill(params: &FillParams, bytes: &mut [u8]) -> Result<(), Refusal> {
    let expect = expectation(params, bytes)?;
    let width = element_bytes(params.view.dtype);
    each_element(&params.view, |element| {
        let bits = expect(&element).to_le_bytes();
        bytes[element.byte..element.byte + width].copy_from_slice(&bits[..width]);
    });
    Ok(())
}

/// Counts the elements whose bits are not what [`fill`] writes.
pub fn verify(params: &FillParams, bytes: &[u8]) -> Result<VerifyTotals, Refusal> {
    let expect = expectation(params, bytes)?;
    let width = element_bytes(params.view.dtype);
    let mut totals = VerifyTotals::START;
    each_element(&params.view, |element| {
        if load(&bytes[element.byte..element.byte + width]) != expect(&element) {
            totals.differing += 1;
            totals.first = totals.first.min(element.linear);
        }
    });
    Ok(totals)
}

/// Checks the parameters once, and returns what gives each element's bits.
fn expectation(params: &FillParams, bytes: &[u8]) -> Result<impl Fn(&Element) -> u64 + use<>, Refusal> {
    view::check(&params.view, bytes)?;
    let kind = FillKind::try_from(params.kind)?;
    let special = Special::of(params, view::count(&params.view)?);
    let params = *params;
    Ok(move |element: &Element| {
        encode(params.view.dtype, special.raw_value(kind, &params, element.at, element.linear))
    })
}
