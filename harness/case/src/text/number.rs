//! Reads the numbers of a case line: integers, extents, paddings, bytes. Says what to write where one is none; knows no
//! rule that takes more than one field.

use std::str::FromStr;

use crate::error::CaseError;

/// How a field with one integer is written, for a user who wrote something else.
fn example(field: &str) -> &str {
    match field {
        "b" => "b4",
        "m" => "m64",
        "n" => "n8",
        "c" => "c64",
        "k" => "k128",
        "g" => "g2",
        "i" => "i56x56",
        "f" => "f3x3",
        "p" => "p1x1",
        "s" => "s2x2",
        "d" => "d2x2",
        "y" => "y=28x28",
        "engine" => "engine=0",
        "knobs" => "knobs=2:1,13:0",
        "heur" => "heur=A#0",
        "ws" => "ws=exact@256",
        "wsfill" => "wsfill=rand:1",
        "fill" => "fill=int2:1",
        "keep" => "keep=x:17,w:0-3",
        "repeat" => "repeat=10",
        other => other,
    }
}

/// What is wrong with a text that is no integer.
fn no_integer(field: &str, text: &str) -> CaseError {
    let as_in = example(field);
    if text.is_empty() {
        return CaseError::bare(field, format!("a number is missing; write it as in {as_in}"));
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.chars().all(|character| character.is_ascii_digit()) && !digits.is_empty() {
        return CaseError::new(field, text, "is a number out of range");
    }
    CaseError::new(field, text, format!("is no whole number; write digits alone, as in {as_in}"))
}

/// Reads an integer in its plain form: a leading plus sign would print back differently.
pub(super) fn read_integer<T: FromStr>(field: &str, text: &str) -> Result<T, CaseError> {
    let plain = (!text.starts_with('+')).then(|| text.parse().ok()).flatten();
    plain.ok_or_else(|| no_integer(field, text))
}

/// Reads what stands for each axis, with the whole text in the complaint where a part is no number.
fn read_axes<T>(
    field: &str,
    text: &str,
    read: impl Fn(&str) -> Result<T, CaseError>,
) -> Result<Vec<T>, CaseError> {
    let parts: Vec<&str> = text.split('x').collect();
    parts
        .iter()
        .map(|part| {
            read(part).map_err(|error| {
                let shape = parts.len() > 1 && part.is_empty();
                if !text.is_empty() && (shape || part.contains([',', '*', ';', 'X', '(', ')', '[', ']'])) {
                    let rule =
                        format!("is no list of numbers; axes are joined by x, as in {}", example(field));
                    CaseError::new(field, text, rule)
                } else {
                    error
                }
            })
        })
        .collect()
}

/// Reads one number for each axis.
pub(super) fn read_extents(field: &str, text: &str) -> Result<Vec<i64>, CaseError> {
    read_axes(field, text, |part| read_integer(field, part))
}

/// Reads the padding of each axis, before and after.
pub(super) fn read_pads(text: &str) -> Result<Vec<(i64, i64)>, CaseError> {
    read_axes("p", text, |part| match part.split_once(':') {
        Some((before, after)) => Ok((read_integer("p", before)?, read_integer("p", after)?)),
        None => read_integer("p", part).map(|both| (both, both)),
    })
}

/// Binary units of bytes with their powers of two, largest first.
pub(super) const BYTE_UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];

/// What stands before the binary unit at a text's end, and the unit's power of two; 0 where there is none.
#[must_use]
pub fn split_byte_unit(text: &str) -> (&str, u32) {
    let split = |(unit, shift): (&str, u32)| text.strip_suffix(unit).map(|digits| (digits, shift));
    BYTE_UNITS.into_iter().find_map(split).unwrap_or((text, 0))
}

/// Reads bytes with an optional binary unit.
pub(super) fn read_bytes(field: &str, text: &str) -> Result<i64, CaseError> {
    let (digits, shift) = split_byte_unit(text);
    let count: i64 = read_integer(field, digits).map_err(|error| {
        let rule = "is no number of bytes; write digits, alone or with KiB, MiB or GiB, as in max:32MiB";
        if digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty() {
            error
        } else {
            CaseError::new(field, text, rule)
        }
    })?;
    count
        .checked_mul(1 << shift)
        .ok_or_else(|| CaseError::new(field, text, "does not fit in 63 bits of bytes"))
}
