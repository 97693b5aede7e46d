//! What a run proves. Knows the kinds of verdict; how they are reached is the oracle's matter.

use serde::{Deserialize, Serialize};

use crate::signature::Sameness;
use crate::trial::{Recipe, Refusal};

/// How a failing configuration is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Tier {
    /// A heuristic list recommends it.
    A,
    /// Only an explicit choice of engine reaches it.
    B,
    /// Informative: a rule that no text promises, such as a workspace aligned to less than 256 bytes.
    C,
}

impl Tier {
    /// Upper-case letter.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
        }
    }
}

/// Why a check says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Untrusted {
    /// Too few outputs with products have a reference other than 0.
    Vacuous {
        /// Outputs whose reference is not 0.
        non_zero: u64,
        /// Outputs with at least one product.
        with_products: u64,
    },
    /// Device and CPU reference disagree: our own trouble.
    Reference {
        /// Outputs compared.
        sampled: u32,
        /// Outputs that disagree.
        disagreeing: u32,
    },
    /// Not run, for the reason given.
    Skipped(String),
}

/// One plain line, printed after words that say that nothing was proved.
impl std::fmt::Display for Untrusted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Vacuous { non_zero, with_products } => write!(
                formatter,
                "only {non_zero} of {with_products} outputs with products have a right answer other than 0, \
                 too few to tell anything"
            ),
            Self::Reference { sampled, disagreeing } => write!(
                formatter,
                "the references on the device and on the CPU disagree at {disagreeing} of {sampled} sampled outputs"
            ),
            Self::Skipped(reason) => formatter.write_str(reason),
        }
    }
}

/// A failure, with the numbers a person needs first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What a reduction must keep.
    pub sameness: Sameness,
    /// How it is reached.
    pub tier: Tier,
    /// One line: what was seen, with its numbers.
    pub summary: String,
    /// Buffer contents of the execution that showed it, where one did.
    pub recipe: Option<Recipe>,
}

/// What one visit to a configuration proves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Right.
    Pass,
    /// The library declined, as it may.
    Unsupported(Refusal),
    /// The check says nothing.
    Untrusted(Untrusted),
    /// A failure.
    Fault(Fault),
}
