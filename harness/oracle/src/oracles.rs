//! The oracles, first to last. Knows their order and why; each row's rule is in the file of its name.

mod accepted;
mod died;
mod guards;
mod inexact;
mod inputs;
mod planning;
mod reference;
mod repeat;
mod status;
mod stuck;
mod unmeasured;
mod vacuous;
mod values;

use case::Verdict;

use crate::judge::Scene;

/// Speaks where it has something to say, else leaves the outcome to the next.
type Oracle = fn(&Scene<'_>) -> Option<Verdict>;

/// How the run ended comes first, since an abnormal end leaves nothing to measure; a plan that was built and not
/// executed is looked at next. Then what needs no
/// reference (bytes outside a buffer, inputs), since such writes may have damaged the reference itself. Then
/// whether the reference holds, what was computed, whether it repeats, and lesser matters; last, whether the
/// check could have seen anything at all.
pub(crate) const ORACLES: [(&str, Oracle); 13] = [
    ("died", died::speak),
    ("status", status::speak),
    ("stuck", stuck::speak),
    ("accepted", accepted::speak),
    ("planning", planning::speak),
    ("unmeasured", unmeasured::speak),
    ("guards", guards::speak),
    ("inputs", inputs::speak),
    ("reference", reference::speak),
    ("values", values::speak),
    ("repeat", repeat::speak),
    ("inexact", inexact::speak),
    ("vacuous", vacuous::speak),
];
