//! The verdict on outcomes, whole: each row of the decision table, random outcomes, and outcomes measured by
//! the kernels' twins.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its own case has failed")]

mod chaos;
mod contract;
mod measured;
mod partials;
mod scene;
mod table;
