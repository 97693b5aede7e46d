//! What is left of a bundle's claims, and what that comes to: words and exit code. A table; runs nothing.

use crate::failure::{CLEAN, FOUND, UNJUDGED};

/// What is left of one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// All of it.
    Holds,
    /// It showed in some runs, where the bundle says all.
    Partly,
    /// Nothing.
    Gone,
    /// It could not be judged.
    Unjudged,
}

/// What is left of the whole bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    Holds,
    /// What could be judged holds, and something could not.
    HoldsAsFarAsJudged,
    Partly,
    Gone,
    Unjudged,
}

impl Whole {
    /// Of the case and of the program.
    pub(super) fn of(case: Standing, program: Standing) -> Self {
        use Standing::{Gone, Holds, Partly, Unjudged};
        match (case, program) {
            (Holds, Holds) => Self::Holds,
            (Holds, Unjudged) | (Unjudged, Holds) => Self::HoldsAsFarAsJudged,
            (Unjudged, Unjudged) => Self::Unjudged,
            (Gone, Gone | Unjudged) | (Unjudged, Gone) => Self::Gone,
            (Partly, _) | (_, Partly) | (Holds, Gone) | (Gone, Holds) => Self::Partly,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsAsFarAsJudged => "holds in part: as far as it could be judged",
            Self::Partly => "holds in part",
            Self::Gone => "does not hold on this machine",
            Self::Unjudged => "nothing could be judged",
        }
    }

    pub(super) fn code(self) -> u8 {
        match self {
            Self::Holds | Self::HoldsAsFarAsJudged => CLEAN,
            Self::Partly | Self::Gone => FOUND,
            Self::Unjudged => UNJUDGED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_judged_and_still_holds_ends_well() {
        use Standing::{Gone, Holds, Partly, Unjudged};
        for (case, program, code) in [
            (Holds, Holds, 0),
            (Holds, Unjudged, 0),
            (Unjudged, Holds, 0),
            (Unjudged, Unjudged, 77),
            (Holds, Gone, 1),
            (Gone, Holds, 1),
            (Gone, Unjudged, 1),
            (Unjudged, Gone, 1),
            (Partly, Holds, 1),
            (Unjudged, Partly, 1),
        ] {
            let whole = Whole::of(case, program);
            assert_eq!(whole.code(), code, "{case:?} {program:?}");
            assert_eq!(
                whole.words().starts_with("holds"),
                case == Holds || program == Holds || code == 0 || case == Partly || program == Partly,
                "{case:?} {program:?}"
            );
        }
    }
}
