//! Where problems come from: the generator or a list, by number. Knows order; runs nothing.

use case::{Case, Selection};

use crate::event::Terms;
use crate::generator::Generator;

/// Problems that a digest covers.
const DIGEST_PROBLEMS: u64 = 32;

/// The problems of a hunt.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// An endless stream.
    Generated(Generator),
    /// These, in this order.
    Listed(Vec<Case>),
}

impl Source {
    /// The problem with that number, from 0; `None` past the end of a list.
    #[must_use]
    pub fn problem(&self, index: u64) -> Option<Case> {
        match self {
            Self::Generated(generator) => Some(generator.problem(index)),
            Self::Listed(cases) => cases.get(usize::try_from(index).ok()?).cloned(),
        }
    }

    /// What identifies a hunt over these problems.
    #[must_use]
    pub fn terms(&self, selection: Selection) -> Terms {
        let (seed, listed, covered) = match self {
            Self::Generated(generator) => (Some(generator.seed()), None, DIGEST_PROBLEMS),
            Self::Listed(cases) => (None, Some(cases.len() as u64), cases.len() as u64),
        };
        let digest = (0..covered)
            .filter_map(|index| self.problem(index))
            .fold(FNV_OFFSET, |digest, case| fnv(digest, &format!("{case}\n")));
        Terms { seed, listed, digest, selection }
    }
}

const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;

/// FNV-1a, 64 bits: stable across versions, which the standard library's hasher does not promise.
fn fnv(digest: u64, text: &str) -> u64 {
    text.bytes().fold(digest, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
}
