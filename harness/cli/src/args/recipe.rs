//! The arguments of `convict recipe`. Knows names and help texts; opens nothing.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecipeKind {
    /// A Dockerfile that needs no other file.
    Docker,
    /// A conda environment with the same wheels.
    Conda,
    /// Requirements for pip, each with its hash.
    Pip,
    /// The environment in plain words.
    Text,
}

/// `convict recipe`.
#[derive(Debug, Args)]
pub(crate) struct Recipe {
    /// A published version (`9.19.0`, `9.27-jit`, `9.14.0.64-cu12`), a folder of libraries, or the folder of a bundle.
    #[arg(value_name = "SET|BUNDLE")]
    pub(crate) target: String,
    /// What to write.
    #[arg(long, value_enum, default_value_t = RecipeKind::Text)]
    pub(crate) kind: RecipeKind,
    /// Write into this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
