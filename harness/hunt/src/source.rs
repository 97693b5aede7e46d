//! Where problems come from: the generator, a list, or what lies around one, by number. Knows order; runs nothing.

use case::{Case, Selection};

use crate::around::{self, Around};
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
    /// These first, then an endless stream around them.
    Around(Around),
}

impl Source {
    /// The problem with that number, from 0; `None` past the end of a list.
    #[must_use]
    pub fn problem(&self, index: u64) -> Option<Case> {
        match self {
            Self::Generated(generator) => Some(generator.problem(index)),
            Self::Listed(cases) => cases.get(usize::try_from(index).ok()?).cloned(),
            Self::Around(around) => around.problem(index),
        }
    }

    /// True where problems never run out and this one is nobody's own: such a problem may be visited in part.
    #[must_use]
    pub fn is_endless(&self, index: u64) -> bool {
        match self {
            Self::Generated(_) => true,
            Self::Listed(_) => false,
            Self::Around(around) => index >= around.listed().len() as u64,
        }
    }

    /// What identifies a hunt over these problems.
    #[must_use]
    pub fn terms(&self, selection: Selection) -> Terms {
        let (seed, listed, covered) = match self {
            Self::Generated(generator) => (Some(generator.seed()), None, DIGEST_PROBLEMS),
            Self::Listed(cases) => (None, Some(cases.len() as u64), cases.len() as u64),
            Self::Around(around) => {
                let listed = around.listed().len() as u64;
                (Some(around.seed()), Some(listed), listed.saturating_add(DIGEST_PROBLEMS))
            }
        };
        // Two lists with other counts begin with the same cases, and go on with others.
        let counts = match self {
            Self::Around(around) => around::lines(around).fold(FNV_OFFSET, |digest, line| fnv(digest, &line)),
            Self::Generated(_) | Self::Listed(_) => FNV_OFFSET,
        };
        let digest = (0..covered)
            .filter_map(|index| self.problem(index))
            .fold(counts, |digest, case| fnv(digest, &format!("{case}\n")));
        Terms { seed, listed, digest, selection }
    }
}

const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;

/// FNV-1a, 64 bits: stable across versions, which the standard library's hasher does not promise.
fn fnv(digest: u64, text: &str) -> u64 {
    text.bytes().fold(digest, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
}
