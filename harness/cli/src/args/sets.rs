//! The arguments of `convict sets`. Knows names and help texts; opens nothing.

use clap::Args;

/// `convict sets`.
#[derive(Debug, Args)]
pub(crate) struct Sets {
    /// Fetch this wheel and the companions that it needs to execute, such as `wheel:9.19` or `wheel:9.27.0.42-jit`.
    #[arg(long, value_name = "NAME")]
    pub(crate) fetch: Option<String>,
    /// With --fetch: leave out cuBLASLt, which planning without a GPU does without.
    #[arg(long, requires = "fetch")]
    pub(crate) plans_only: bool,
    /// List the wheels that are in the cache alone.
    #[arg(long, conflicts_with = "fetch")]
    pub(crate) cached: bool,
    /// Print one JSON object a wheel.
    #[arg(long)]
    pub(crate) json: bool,
}
