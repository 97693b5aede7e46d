//! Which elements of the inputs keep what the fill gives them; every other one is 0. Knows positions and their rules;
//! the values come from one formula in `kernel`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::CaseError;
use crate::operation::Role;
use crate::problem::Case;

/// A run of elements of one tensor, by row-major position over its logical extents (n, c, spatial; w: k, c / g,
/// filter), both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Position of the first element.
    pub first: i64,
    /// Position of the last element.
    pub last: i64,
}

impl Kept {
    /// Elements in it; at least 1 in a valid case.
    #[must_use]
    pub fn elements(self) -> i64 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }
}

/// As the one-line text spells it: `17` or `0-3`.
impl fmt::Display for Kept {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(formatter, "{}", self.first)
        } else {
            write!(formatter, "{}-{}", self.first, self.last)
        }
    }
}

/// What each input keeps; a tensor without a range keeps all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// Elements of the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Kept>,
    /// Elements of the filter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub w: Option<Kept>,
    /// Elements of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<Kept>,
}

impl Keep {
    /// True where no tensor has a range.
    #[must_use]
    pub fn is_all(self) -> bool {
        self == Self::default()
    }

    /// The range of a tensor.
    #[must_use]
    pub fn of(self, role: Role) -> Option<Kept> {
        match role {
            Role::X => self.x,
            Role::W => self.w,
            Role::Y => self.y,
        }
    }

    /// The place of a tensor's range.
    pub fn of_mut(&mut self, role: Role) -> &mut Option<Kept> {
        match role {
            Role::X => &mut self.x,
            Role::W => &mut self.w,
            Role::Y => &mut self.y,
        }
    }

    /// Tensors with their ranges, in role order.
    pub fn ranges(self) -> impl Iterator<Item = (Role, Kept)> {
        Role::ALL.into_iter().filter_map(move |role| Some((role, self.of(role)?)))
    }
}

/// As the one-line text spells it: `x:17,w:0-3`.
impl fmt::Display for Keep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges: Vec<String> =
            self.ranges().map(|(role, kept)| format!("{}:{kept}", role.name())).collect();
        formatter.write_str(&ranges.join(","))
    }
}

impl Case {
    /// Elements of the two inputs that keep what the fill gives them; all where nothing is said.
    #[must_use]
    pub fn kept_elements(&self) -> i64 {
        let kept = |role: Role| match self.options.keep.of(role) {
            Some(kept) => kept.elements(),
            None => self.problem.geometry().elements(role),
        };
        self.problem
            .operation
            .inputs()
            .iter()
            .copied()
            .fold(0_i64, |sum, role| sum.saturating_add(kept(role)))
    }
}

/// Rules that hold whatever the extents are.
pub(crate) fn check_names(case: &Case) -> Result<(), CaseError> {
    let keep = case.options.keep;
    if !keep.is_all() && case.options.fill.is_none() {
        let rule = "keeps elements of given data, and none are given; add fill=KIND:SEED, as in fill=int2:1";
        return Err(CaseError::new("keep", keep, rule));
    }
    let operation = case.problem.operation;
    for (role, kept) in keep.ranges() {
        let shown = format!("{}:{kept}", role.name());
        if role == operation.output() {
            let inputs: Vec<&str> = operation.inputs().iter().copied().map(Role::name).collect();
            let inputs = inputs.join(" or ");
            let rule = format!("is of the tensor that {} writes; name {inputs}", operation.name());
            return Err(CaseError::new("keep", shown, rule));
        }
        if !operation.tensors().contains(&role) {
            let rule = format!("is of a tensor that {} has not", operation.name());
            return Err(CaseError::new("keep", shown, rule));
        }
        if kept.first < 0 || kept.last < kept.first {
            let rule = "is no range; write a position or FIRST-LAST, as in keep=x:17,w:0-3";
            return Err(CaseError::new("keep", shown, rule));
        }
    }
    Ok(())
}

/// Every range lies inside its tensor.
pub(crate) fn check_positions(case: &Case) -> Result<(), CaseError> {
    for (role, kept) in case.options.keep.ranges() {
        let elements = case.problem.geometry().elements(role);
        if kept.last >= elements {
            let name = role.name();
            let rule = format!("is beyond {name}, whose positions are 0 to {}", elements - 1);
            return Err(CaseError::new("keep", format!("{name}:{kept}"), rule));
        }
    }
    Ok(())
}
