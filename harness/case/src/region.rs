//! Where a failure lies, in words that can be tested on any case: conditions, near cases that pass, and how the
//! failing plan is reached. Data and arithmetic; knows nothing of how it was found out.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::engine::{Config, Ranks};
use crate::operation::Role;
use crate::problem::Case;

/// An integer that a problem has, or that follows from its sizes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Batch.
    N,
    /// Channels of x.
    C,
    /// Channels of y.
    K,
    /// Groups.
    Groups,
    /// Channels of x in one group.
    GroupC,
    /// Channels of y in one group.
    GroupK,
    /// Number of spatial axes.
    Rank,
    /// Input extent of an axis, counted from the innermost one: 0 is the last.
    Input(usize),
    /// Output extent of an axis, counted likewise.
    Output(usize),
    /// Filter taps of an axis.
    Filter(usize),
    /// Padding before an axis.
    PadBefore(usize),
    /// Padding after an axis.
    PadAfter(usize),
    /// Stride of an axis.
    Stride(usize),
    /// Dilation of an axis.
    Dilation(usize),
    /// Padding after an axis less the padding before it.
    PadDifference(usize),
    /// Elements of a tensor.
    Elements(Role),
    /// Bytes of a tensor.
    Bytes(Role),
    /// Alignment of the workspace's address, bytes.
    WorkspaceAlignment,
    /// Outputs of one filter: batch times the extents of y.
    Outputs,
    /// Multiply-adds, borders counted as if inside.
    MultiplyAdds,
    /// The product of several.
    Product(Vec<Quantity>),
    /// The first less so many times the second.
    Difference(Box<Quantity>, i64, Box<Quantity>),
    /// What a division by the modulus leaves.
    Remainder(Box<Quantity>, i64),
    /// The largest of a quantity over all axes; given for axis 0.
    Largest(Box<Quantity>),
    /// The smallest of a quantity over all axes; given for axis 0.
    Smallest(Box<Quantity>),
}

/// A named property of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    /// Type of a tensor.
    DType(Role),
    /// Type of the sums.
    Compute,
    /// Memory order of a tensor.
    Layout(Role),
    /// Factor of the result.
    Alpha,
    /// Factor of the prior output.
    Beta,
    /// Both factors together, for what shows wherever they are not 1 and 0.
    Scales,
}

/// One condition on a case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Atom {
    /// The quantity has that value.
    Equal(Quantity, i64),
    /// The quantity has another value.
    Differs(Quantity, i64),
    /// The quantity is that much at the most.
    AtMost(Quantity, i64),
    /// The quantity is that much at the least.
    AtLeast(Quantity, i64),
    /// The quantity divided by the modulus leaves that remainder.
    Residue(Quantity, i64, i64),
    /// The quantity divided by the modulus leaves another remainder.
    NotResidue(Quantity, i64, i64),
    /// The property is one of those, each as the case line spells it.
    OneOf(Property, Vec<String>),
    /// The property is none of those.
    NoneOf(Property, Vec<String>),
}

impl Quantity {
    /// The value in a case; `None` where the case has no such axis.
    #[must_use]
    pub fn of(&self, case: &Case) -> Option<i64> {
        let problem = &case.problem;
        let geometry = problem.geometry();
        let groups = problem.g.max(1);
        let axis = |inner: &usize| problem.axes.iter().rev().nth(*inner);
        Some(match self {
            Self::N => problem.n,
            Self::C => problem.c,
            Self::K => problem.k,
            Self::Groups => problem.g,
            Self::GroupC => problem.c / groups,
            Self::GroupK => problem.k / groups,
            Self::Rank => problem.axes.len() as i64,
            Self::Input(inner) => axis(inner)?.input,
            Self::Output(inner) => geometry.output_spatial().into_iter().rev().nth(*inner)?,
            Self::Filter(inner) => axis(inner)?.filter,
            Self::PadBefore(inner) => axis(inner)?.pad_before,
            Self::PadAfter(inner) => axis(inner)?.pad_after,
            Self::Stride(inner) => axis(inner)?.stride,
            Self::Dilation(inner) => axis(inner)?.dilation,
            Self::PadDifference(inner) => axis(inner)?.pad_after.saturating_sub(axis(inner)?.pad_before),
            Self::Elements(role) => geometry.elements(*role),
            Self::Bytes(role) => geometry.bytes(*role),
            Self::WorkspaceAlignment => case.options.workspace.alignment,
            Self::Outputs => geometry.output_spatial().into_iter().fold(problem.n, i64::saturating_mul),
            Self::MultiplyAdds => geometry.multiply_adds(),
            Self::Product(factors) => {
                let mut product = 1_i64;
                for factor in factors {
                    product = product.saturating_mul(factor.of(case)?);
                }
                product
            }
            Self::Difference(first, times, second) => {
                first.of(case)?.saturating_sub(second.of(case)?.saturating_mul(*times))
            }
            Self::Remainder(of, modulus) => of.of(case)?.checked_rem_euclid(*modulus)?,
            Self::Largest(of) => of.over_axes(case).max()?,
            Self::Smallest(of) => of.over_axes(case).min()?,
        })
    }

    /// The values of a quantity given for axis 0, one for each axis.
    fn over_axes(&self, case: &Case) -> impl Iterator<Item = i64> {
        (0..case.problem.axes.len()).filter_map(|inner| self.on_axis(inner).of(case))
    }

    /// The same quantity of another axis.
    #[must_use]
    pub fn on_axis(&self, inner: usize) -> Self {
        match self {
            Self::Input(_) => Self::Input(inner),
            Self::Output(_) => Self::Output(inner),
            Self::Filter(_) => Self::Filter(inner),
            Self::PadBefore(_) => Self::PadBefore(inner),
            Self::PadAfter(_) => Self::PadAfter(inner),
            Self::Stride(_) => Self::Stride(inner),
            Self::Dilation(_) => Self::Dilation(inner),
            Self::PadDifference(_) => Self::PadDifference(inner),
            Self::Product(factors) => {
                Self::Product(factors.iter().map(|factor| factor.on_axis(inner)).collect())
            }
            Self::Difference(first, times, second) => {
                Self::Difference(Box::new(first.on_axis(inner)), *times, Box::new(second.on_axis(inner)))
            }
            Self::Remainder(of, modulus) => Self::Remainder(Box::new(of.on_axis(inner)), *modulus),
            Self::N
            | Self::C
            | Self::K
            | Self::Groups
            | Self::GroupC
            | Self::GroupK
            | Self::Rank
            | Self::Elements(_)
            | Self::Bytes(_)
            | Self::WorkspaceAlignment
            | Self::Outputs
            | Self::MultiplyAdds
            | Self::Largest(_)
            | Self::Smallest(_) => self.clone(),
        }
    }
}

impl Property {
    /// The value in a case, as the case line spells it.
    #[must_use]
    pub fn of(self, case: &Case) -> String {
        let (problem, options) = (&case.problem, &case.options);
        match self {
            Self::DType(role) => problem.dtypes.tensors()[role.index()].name().to_owned(),
            Self::Compute => problem.dtypes.compute.name().to_owned(),
            Self::Layout(role) => problem.layouts.tensors()[role.index()].name().to_owned(),
            Self::Alpha => options.alpha.value().to_string(),
            Self::Beta => options.beta.value().to_string(),
            Self::Scales => scales(options.alpha.value(), options.beta.value()),
        }
    }
}

/// A quantity given for axis 0 in words that carry no number of an axis, for use in brackets.
fn of_any_axis(quantity: &Quantity) -> String {
    let plain = quantity.to_string().replace("[-1]", "");
    let inner = plain.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    // A product of two differences begins and ends with brackets that are no pair.
    inner.filter(|inner| !inner.contains(['(', ')'])).map_or(plain.clone(), str::to_owned)
}

/// Both factors in words.
fn scales(alpha: f64, beta: f64) -> String {
    format!("alpha={alpha} beta={beta}")
}

impl Atom {
    /// True where the condition holds; a condition on an axis that the case lacks does not.
    #[must_use]
    pub fn holds(&self, case: &Case) -> bool {
        let known = |quantity: &Quantity, test: &dyn Fn(i64) -> bool| quantity.of(case).is_some_and(test);
        match self {
            Self::Equal(quantity, value) => known(quantity, &|seen| seen == *value),
            Self::Differs(quantity, value) => known(quantity, &|seen| seen != *value),
            Self::AtMost(quantity, most) => known(quantity, &|seen| seen <= *most),
            Self::AtLeast(quantity, least) => known(quantity, &|seen| seen >= *least),
            Self::Residue(quantity, modulus, rest) => {
                known(quantity, &|seen| seen.checked_rem_euclid(*modulus) == Some(*rest))
            }
            Self::NotResidue(quantity, modulus, rest) => {
                known(quantity, &|seen| seen.checked_rem_euclid(*modulus).is_some_and(|seen| seen != *rest))
            }
            Self::OneOf(property, values) => values.contains(&property.of(case)),
            Self::NoneOf(property, values) => !values.contains(&property.of(case)),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::N => formatter.write_str("n"),
            Self::C => formatter.write_str("c"),
            Self::K => formatter.write_str("k"),
            Self::Groups => formatter.write_str("g"),
            Self::GroupC => formatter.write_str("c/g"),
            Self::GroupK => formatter.write_str("k/g"),
            Self::Rank => formatter.write_str("axes"),
            Self::Input(inner) => write!(formatter, "input[-{}]", inner + 1),
            Self::Output(inner) => write!(formatter, "output[-{}]", inner + 1),
            Self::Filter(inner) => write!(formatter, "filter[-{}]", inner + 1),
            Self::PadBefore(inner) => write!(formatter, "pad_before[-{}]", inner + 1),
            Self::PadAfter(inner) => write!(formatter, "pad_after[-{}]", inner + 1),
            Self::Stride(inner) => write!(formatter, "stride[-{}]", inner + 1),
            Self::Dilation(inner) => write!(formatter, "dilation[-{}]", inner + 1),
            Self::PadDifference(inner) => {
                write!(formatter, "(pad_after[-{0}] - pad_before[-{0}])", inner + 1)
            }
            Self::Elements(role) => write!(formatter, "elements({})", role.name()),
            Self::Bytes(role) => write!(formatter, "bytes({})", role.name()),
            Self::WorkspaceAlignment => formatter.write_str("workspace alignment"),
            Self::Outputs => formatter.write_str("outputs"),
            Self::MultiplyAdds => formatter.write_str("multiply-adds"),
            Self::Product(factors) => {
                for (place, factor) in factors.iter().enumerate() {
                    if place > 0 {
                        formatter.write_str(" * ")?;
                    }
                    factor.fmt(formatter)?;
                }
                Ok(())
            }
            Self::Difference(first, 1, second) => write!(formatter, "({first} - {second})"),
            Self::Difference(first, times, second) => write!(formatter, "({first} - {times} * {second})"),
            Self::Remainder(of, modulus) => write!(formatter, "({of} mod {modulus})"),
            Self::Largest(of) => write!(formatter, "max({})", of_any_axis(of)),
            Self::Smallest(of) => write!(formatter, "min({})", of_any_axis(of)),
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DType(role) => write!(formatter, "dtype({})", role.name()),
            Self::Compute => formatter.write_str("compute"),
            Self::Layout(role) => write!(formatter, "layout({})", role.name()),
            Self::Alpha => formatter.write_str("alpha"),
            Self::Beta => formatter.write_str("beta"),
            Self::Scales => formatter.write_str("scales"),
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal(quantity, value) => write!(formatter, "{quantity} = {value}"),
            Self::Differs(quantity, value) => write!(formatter, "{quantity} != {value}"),
            Self::AtMost(quantity, most) => write!(formatter, "{quantity} <= {most}"),
            Self::AtLeast(quantity, least) => write!(formatter, "{quantity} >= {least}"),
            Self::Residue(quantity, modulus, rest) => write!(formatter, "{quantity} mod {modulus} = {rest}"),
            Self::NotResidue(quantity, modulus, rest) => {
                write!(formatter, "{quantity} mod {modulus} != {rest}")
            }
            Self::OneOf(property, values) => write!(formatter, "{property} in {{{}}}", values.join(", ")),
            Self::NoneOf(property, values) => {
                write!(formatter, "{property} not in {{{}}}", values.join(", "))
            }
        }
    }
}

/// The nearest value of one field at which the failure is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twin {
    /// The field, as `Quantity` and `Property` print.
    pub field: String,
    /// Its value in the failing case.
    pub fails: String,
    /// The value at which it passes.
    pub passes: String,
    /// Line of the passing case.
    pub case: String,
}

/// How many random cases were tried on one side of a region's border, and which broke the rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probes {
    /// Cases that could be judged.
    pub tested: u32,
    /// Of those, the ones that failed the same way.
    pub failed: u32,
    /// Lines of the cases that contradict the region: passing inside, failing outside.
    pub counter_examples: Vec<String>,
}

/// A conjunction of conditions, and how it did on random cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// All of these hold where the failure was seen.
    pub atoms: Vec<Atom>,
    /// Random cases in it.
    pub inside: Probes,
    /// Random cases just outside it: one condition broken.
    pub outside: Probes,
}

/// What a region's conditions are worth: whether random cases bear them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Enough random cases were tried on both sides, and nearly all agree.
    Supported,
    /// No random case was tried inside.
    Untried,
    /// Fewer random cases were tried than could tell.
    TooFew,
    /// Random cases disagree.
    Contradicted,
}

/// Fewest random cases on a side that tell anything.
const TESTED_MIN: u32 = 8;

impl Region {
    /// True where every condition holds.
    #[must_use]
    pub fn contains(&self, case: &Case) -> bool {
        self.atoms.iter().all(|atom| atom.holds(case))
    }

    /// Whether the conditions may be claimed. Everything but [`Support::Supported`] is a guess: fewer than 8 random
    /// cases inside, or less than 90 % of them failing; where there are conditions, the same for those outside with
    /// more than 25 % failing.
    #[must_use]
    pub fn support(&self) -> Support {
        let (inside, outside) = (&self.inside, &self.outside);
        let bounded = !self.atoms.is_empty();
        let share = |probes: &Probes| u64::from(probes.failed) * 100;
        if inside.tested == 0 {
            Support::Untried
        } else if inside.tested < TESTED_MIN || (bounded && outside.tested < TESTED_MIN) {
            Support::TooFew
        } else if share(inside) < u64::from(inside.tested) * 90
            || (bounded && share(outside) > u64::from(outside.tested) * 25)
        {
            Support::Contradicted
        } else {
            Support::Supported
        }
    }

    /// How many random cases failed on both sides: `63 of 64 inside failed, 0 of 61 outside`.
    #[must_use]
    pub fn counts(&self) -> String {
        let untried = "not tried on random cases";
        let inside = match self.inside.tested {
            0 => format!("inside {untried}"),
            tested => format!("{} of {tested} inside failed", self.inside.failed),
        };
        match (self.inside.tested, self.outside.tested) {
            (0, 0) => untried.to_owned(),
            _ if self.atoms.is_empty() => inside,
            (_, 0) => format!("{inside}, outside {untried}"),
            (_, tested) => format!("{inside}, {} of {tested} outside", self.outside.failed),
        }
    }
}

impl Support {
    /// What stands before the conditions of a guess; `None` where they may be claimed.
    #[must_use]
    pub fn doubt(self) -> Option<&'static str> {
        match self {
            Self::Supported => None,
            Self::Untried => Some("guess"),
            Self::TooFew => Some("guess, too few cases tried"),
            Self::Contradicted => Some("guess, random cases contradict it"),
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.atoms.is_empty() {
            return formatter.write_str("everywhere");
        }
        let atoms: Vec<String> = self.atoms.iter().map(ToString::to_string).collect();
        formatter.write_str(&atoms.join(" and "))
    }
}

/// What one cell of a map showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// The same failure.
    Fails,
    /// A right answer.
    Passes,
    /// Another failure.
    Other,
    /// Refused, invalid or not judged.
    Unjudged,
}

/// Pass and fail over the values of two fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// Field of the columns.
    pub across: Quantity,
    /// Values of the columns.
    pub columns: Vec<i64>,
    /// Field of the rows.
    pub down: Quantity,
    /// Values of the rows.
    pub rows: Vec<i64>,
    /// One list of cells per row.
    pub cells: Vec<Vec<Cell>>,
}

/// Where a failure lies, as far as probing told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The smallest conjunction that fits what was seen.
    pub region: Region,
    /// For fields that matter, the nearest passing value.
    pub twins: Vec<Twin>,
    /// Fields whose value was changed without an effect: any value fails.
    pub any: Vec<String>,
    /// The two fields that matter most, mapped.
    pub map: Option<Map>,
    /// Cases run for it.
    pub calls: u32,
    /// False where the budget ended first.
    pub complete: bool,
}

/// How bad it is that this plan fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It is the first choice of heuristics: whoever asks for nothing special gets it.
    ByDefault,
    /// A heuristic list holds it further down: a search that times every entry may pick it.
    UnderSearch,
    /// Only an explicit choice of the engine gets it.
    ByExplicitChoice,
}

impl Severity {
    /// How a user comes to the plan, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::ByDefault => "by default: whoever asks for nothing special gets it",
            Self::UnderSearch => {
                "the plan stands in the heuristic lists, though not first: a search that times them may choose it"
            }
            Self::ByExplicitChoice => {
                "the plan stands in no heuristic list: only an explicit choice of its engine gets it"
            }
        }
    }
}

/// A plan of the same case that is right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// Engine and knobs.
    pub config: Config,
    /// Its time for one execution over the failing plan's; `None` where that one's time is unknown.
    pub time_ratio: Option<f64>,
    /// Microseconds of one execution.
    pub execute_us: u64,
}

/// How the failing plan is reached and what could be used instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// Ranks of the failing plan for the minimized case.
    pub ranks: Ranks,
    /// Ranks for the case that was first met, where heuristics may rank it otherwise.
    pub original_ranks: Ranks,
    /// What follows from the better of the two.
    pub severity: Severity,
    /// The fastest plan that is right for the same case.
    pub alternative: Option<Alternative>,
    /// Plans of the case that were right, and plans that ran.
    pub right: u32,
    /// See `right`.
    pub ran: u32,
}
