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
    (is_vacuous(first) && facts.all(is_vacuous)).then_some(Verdict::Untrusted(Untrusted::Vacuous {
        non_zero: first.non_zero,
        with_products: first.with_products,
    }))
}

fn is_vacuous(facts: ReferenceFacts) -> bool {
    // Outputs without products must be the scaled prior, which is checked whatever its value.
    u128::from(facts.non_zero) * 100 < u128::from(facts.with_products) * SHARE_MIN_PERCENT
}
