//! The check could have seen nothing. Knows how many references are not 0; finds no fault.

use case::{ReferenceFacts, Untrusted, Verdict};

use crate::judge::Scene;

/// Share of the outputs with products whose reference must not be 0.
const SHARE_MIN_PERCENT: u128 = 30;

/// Speaks where every execution was too weak: families such as one-hot are weak alone and tell much beside
/// others.
pub(crate) fn speak(scene: &Scene<'_>) -> Option<Verdict> {
    let mut facts = scene.executions().iter().map(|execution| execution.reference);
    let first = facts.next()?;
    let is_vacuous = if scene.case.options.keep.is_all() { is_weak } else { is_zero };
    (is_vacuous(first) && facts.all(is_vacuous)).then_some(Verdict::Untrusted(Untrusted::Vacuous {
        non_zero: first.non_zero,
        with_products: first.with_products,
    }))
}

/// Where a case keeps few inputs, most references are 0 on purpose: what they must not become is looked at too.
fn is_zero(facts: ReferenceFacts) -> bool {
    facts.with_products > 0 && facts.non_zero == 0
}

fn is_weak(facts: ReferenceFacts) -> bool {
    // Outputs without products must be the scaled prior, which is checked whatever its value.
    u128::from(facts.non_zero) * 100 < u128::from(facts.with_products) * SHARE_MIN_PERCENT
}
