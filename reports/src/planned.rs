//! What a bundle says whose failure showed while plans were built for a device that was not there. Knows words and how
//! the case is planned again.

use case::{Case, Environment};

/// The device with its architecture, and that it was not there.
pub(crate) fn device(environment: &Environment) -> String {
    let name = if environment.gpu.is_empty() { "unknown" } else { &environment.gpu };
    let device = format!("{name}, sm_{}", environment.compute_capability);
    match (environment.plans_only, environment.assumed.as_slice()) {
        (false, _) => device,
        (true, []) => format!("{device}; planned for, not there"),
        (true, keys) => format!("{device}; planned for, not there; assumed of it: {}", keys.join(" ")),
    }
}

/// How convict runs the case again, from the bundle's folder where it has to be planned for that device.
pub(crate) fn check(environment: &Environment, case: &Case) -> String {
    let plans = if environment.plans_only { " --plan-only --device-json environment.json" } else { "" };
    format!("convict check{plans} '{case}'")
}
