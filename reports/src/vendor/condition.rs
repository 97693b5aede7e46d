//! A region's conditions as expressions of C++ and Python. Knows both languages' spelling; decides nothing.

use case::{Atom, Case, Property, Quantity, Role};

use crate::vendor::python::literal;

/// A language that guards are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// C++17.
    Cpp,
    /// Python 3.
    Python,
}

/// The four types of a case as conditions.
pub(super) fn types(case: &Case) -> Vec<Atom> {
    let properties = Role::ALL.map(Property::DType).into_iter().chain([Property::Compute]);
    properties.map(|property| Atom::OneOf(property, vec![property.of(case)])).collect()
}

/// One condition as an expression. A condition on an axis that a convolution lacks is false.
pub(super) fn expression(atom: &Atom, language: Language) -> String {
    let (quantity, test) = match atom {
        Atom::Equal(quantity, value) => (quantity, format!("{} == {value}", spell(quantity, language))),
        Atom::Differs(quantity, value) => (quantity, format!("{} != {value}", spell(quantity, language))),
        Atom::AtMost(quantity, most) => (quantity, format!("{} <= {most}", spell(quantity, language))),
        Atom::AtLeast(quantity, least) => (quantity, format!("{} >= {least}", spell(quantity, language))),
        Atom::Residue(quantity, modulus, rest) => {
            (quantity, residue(quantity, (*modulus, "==", *rest), language))
        }
        Atom::NotResidue(quantity, modulus, rest) => {
            (quantity, residue(quantity, (*modulus, "!=", *rest), language))
        }
        Atom::OneOf(property, values) => return one_of(*property, values, language),
        Atom::NoneOf(property, values) => {
            let listed = one_of(*property, values, language);
            return match language {
                Language::Cpp => format!("!({listed})"),
                Language::Python => format!("not ({listed})"),
            };
        }
    };
    let and = match language {
        Language::Cpp => "&&",
        Language::Python => "and",
    };
    match innermost_missing(quantity) {
        0 => test,
        needed => format!("(c.axes >= {needed} {and} {test})"),
    }
}

fn residue(quantity: &Quantity, (modulus, sign, rest): (i64, &str, i64), language: Language) -> String {
    if modulus == 0 {
        // Nothing divides by 0, so the condition holds nowhere.
        return match language {
            Language::Cpp => "false".to_owned(),
            Language::Python => "False".to_owned(),
        };
    }
    let value = spell(quantity, language);
    match language {
        Language::Cpp => format!("residue({value}, {modulus}) {sign} {rest}"),
        // Python's own sign rule follows the modulus.
        Language::Python => format!("{value} % {} {sign} {rest}", modulus.unsigned_abs()),
    }
}

/// Both scales at once, as `Property::Scales` spells them.
fn scales(values: &[String], language: Language) -> String {
    let (and, or, nothing) = match language {
        Language::Cpp => ("&&", "||", "false"),
        Language::Python => ("and", "or", "False"),
    };
    let test = |value: &String| -> Option<String> {
        let (alpha, beta) = value.strip_prefix("alpha=")?.split_once(" beta=")?;
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let (alpha, beta) = (number(alpha)?, number(beta)?);
        Some(format!("(c.alpha == {alpha:e} {and} c.beta == {beta:e})"))
    };
    // A scale that is no number fits none.
    let tests: Vec<String> = values.iter().filter_map(test).collect();
    if tests.is_empty() { nothing.to_owned() } else { format!("({})", tests.join(&format!(" {or} "))) }
}

fn one_of(property: Property, values: &[String], language: Language) -> String {
    let left = match property {
        Property::DType(role) => format!("c.dtype_{}", role.name()),
        Property::Compute => "c.compute".to_owned(),
        Property::Layout(role) => format!("c.layout_{}", role.name()),
        Property::Alpha => "c.alpha".to_owned(),
        Property::Beta => "c.beta".to_owned(),
        Property::Scales => return scales(values, language),
    };
    let number = matches!(property, Property::Alpha | Property::Beta);
    // A scale that is no number fits none.
    let values: Vec<String> = values
        .iter()
        .filter_map(|value| match number {
            true => {
                value.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| format!("{value:e}"))
            }
            false => Some(literal(&crate::escape::for_program(value))),
        })
        .collect();
    match (language, values.is_empty()) {
        (Language::Cpp, true) => "false".to_owned(),
        (Language::Cpp, false) => {
            let tests: Vec<String> = values.iter().map(|value| format!("{left} == {value}")).collect();
            format!("({})", tests.join(" || "))
        }
        (Language::Python, _) => format!("{left} in [{}]", values.join(", ")),
    }
}

/// Axes that a convolution needs for a quantity to mean something; 0 where every convolution has it.
fn innermost_missing(quantity: &Quantity) -> usize {
    match quantity {
        Quantity::Input(inner)
        | Quantity::Output(inner)
        | Quantity::Filter(inner)
        | Quantity::PadBefore(inner)
        | Quantity::PadAfter(inner)
        | Quantity::Stride(inner)
        | Quantity::Dilation(inner)
        | Quantity::PadDifference(inner) => inner.saturating_add(1),
        Quantity::Product(factors) => factors.iter().map(innermost_missing).max().unwrap_or(0),
        Quantity::Difference(first, _, second) => innermost_missing(first).max(innermost_missing(second)),
        Quantity::Remainder(of, _) => innermost_missing(of),
        // Every convolution has an axis to take the end of.
        Quantity::Largest(_) | Quantity::Smallest(_) => 1,
        Quantity::N
        | Quantity::C
        | Quantity::K
        | Quantity::Groups
        | Quantity::GroupC
        | Quantity::GroupK
        | Quantity::MatrixRows
        | Quantity::MatrixColumns
        | Quantity::MatrixProducts
        | Quantity::MatrixBatch
        | Quantity::Rank
        | Quantity::Elements(_)
        | Quantity::Bytes(_)
        | Quantity::Outputs
        | Quantity::MultiplyAdds
        | Quantity::WorkspaceAlignment => 0,
    }
}

/// The largest or smallest of an expression over all axes.
fn over_axes(end: &str, of: &Quantity, language: Language) -> String {
    let each: Vec<String> = (0..3).map(|inner| spell(&of.on_axis(inner), language)).collect();
    match language {
        Language::Cpp => format!("{end}_over_axes(c, {{{}}})", each.join(", ")),
        // What lies beyond the last axis is not looked at.
        Language::Python => {
            let each: Vec<String> = each.iter().map(|each| format!("lambda: {each}")).collect();
            format!("{end}([value() for value in [{}][: c.axes]])", each.join(", "))
        }
    }
}

/// A quantity as an expression. Arrays of axes begin with the innermost one.
fn spell(quantity: &Quantity, language: Language) -> String {
    match quantity {
        Quantity::Largest(of) => over_axes("max", of, language),
        Quantity::Smallest(of) => over_axes("min", of, language),
        // No guard is about matrices; these are where a convolution has what stands for them.
        Quantity::N | Quantity::MatrixRows => "c.n".to_owned(),
        Quantity::C => "c.c".to_owned(),
        Quantity::K => "c.k".to_owned(),
        Quantity::Groups | Quantity::MatrixBatch => "c.groups".to_owned(),
        Quantity::GroupC | Quantity::MatrixProducts => "per_group(c.c, c.groups)".to_owned(),
        Quantity::GroupK | Quantity::MatrixColumns => "per_group(c.k, c.groups)".to_owned(),
        Quantity::Rank => "c.axes".to_owned(),
        Quantity::Input(inner) => format!("c.input[{inner}]"),
        Quantity::Output(inner) => format!("output(c, {inner})"),
        Quantity::Filter(inner) => format!("c.filter[{inner}]"),
        Quantity::PadBefore(inner) => format!("c.pad_before[{inner}]"),
        Quantity::PadAfter(inner) => format!("c.pad_after[{inner}]"),
        Quantity::Stride(inner) => format!("c.stride[{inner}]"),
        Quantity::Dilation(inner) => format!("c.dilation[{inner}]"),
        Quantity::PadDifference(inner) => format!("(c.pad_after[{inner}] - c.pad_before[{inner}])"),
        Quantity::Elements(role) => format!("elements(c, '{}')", role.name()),
        Quantity::Bytes(role) => format!("bytes_of(c, '{}')", role.name()),
        Quantity::WorkspaceAlignment => "c.workspace_alignment".to_owned(),
        Quantity::Outputs => "per_group(elements(c, 'y'), c.k)".to_owned(),
        Quantity::MultiplyAdds => match language {
            Language::Cpp => "product({per_group(elements(c, 'y'), c.k), elements(c, 'w')})".to_owned(),
            Language::Python => "product([per_group(elements(c, 'y'), c.k), elements(c, 'w')])".to_owned(),
        },
        Quantity::Difference(first, times, second) => {
            format!("({} - {times} * {})", spell(first, language), spell(second, language))
        }
        Quantity::Remainder(of, modulus) => match language {
            Language::Cpp => format!("residue({}, {modulus})", spell(of, language)),
            Language::Python => format!("({} % {modulus})", spell(of, language)),
        },
        Quantity::Product(factors) => {
            let spelled: Vec<String> = factors.iter().map(|factor| spell(factor, language)).collect();
            match language {
                Language::Cpp => format!("product({{{}}})", spelled.join(", ")),
                Language::Python => format!("product([{}])", spelled.join(", ")),
            }
        }
    }
}
