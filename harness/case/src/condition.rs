//! Conditions on a case: quantities and properties that a problem has, and what may be said of one. Data and
//! arithmetic; knows nothing of how a condition was found.

use std::fmt;

use serde::{Deserialize, Serialize};

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
    /// Rows of the matrices x and y: m.
    MatrixRows,
    /// Columns of the matrices w and y: n.
    MatrixColumns,
    /// Products that an output of matrices sums: k.
    MatrixProducts,
    /// Matrices in a batch: b.
    MatrixBatch,
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
            Self::N | Self::MatrixRows => problem.n,
            Self::C => problem.c,
            Self::K => problem.k,
            Self::Groups | Self::MatrixBatch => problem.g,
            Self::GroupC | Self::MatrixProducts => problem.c / groups,
            Self::GroupK | Self::MatrixColumns => problem.k / groups,
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
            | Self::MatrixRows
            | Self::MatrixColumns
            | Self::MatrixProducts
            | Self::MatrixBatch
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
            Self::Layout(role) => problem.layouts.tensors()[role.index()].word(problem.operation).to_owned(),
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
            Self::N | Self::MatrixColumns => formatter.write_str("n"),
            Self::C => formatter.write_str("c"),
            Self::K | Self::MatrixProducts => formatter.write_str("k"),
            Self::MatrixRows => formatter.write_str("m"),
            Self::MatrixBatch => formatter.write_str("b"),
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
