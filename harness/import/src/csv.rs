//! Tables of shapes, separated by commas, semicolons or tabs. Knows columns and how they make a case line; the line's
//! rules are the case's.

use std::io::BufRead;

use case::Case;

use crate::ImportError;
use crate::convolution::{dtype, shortened};
use crate::lines::Lines;
use crate::table::{Evidence, Import, Imported, Ledger, Refusals};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Operation,
    Types,
    Layouts,
    /// A letter of the case line with one number.
    Number(char),
    /// A letter of the case line with a number for each axis.
    Axes(char),
    /// One axis of such a letter, from the outermost: depth, height, width.
    Axis(char, usize),
    Count,
}

/// Names of columns, in any case and order, with what they hold.
pub const COLUMNS: &str = "\
  op                     fprop, dgrad, wgrad, maxpool, avgpool, matmul or rmsnorm (default fprop)
  n c k g                batch, input channels, output channels (both in total), groups (default 1)
  b m                    of matmul, beside n columns and k: products (default 1), rows; rmsnorm has n rows of length c
  i f p s d              input, filter, padding, stride, dilation: 56x56, or one number for all axes of i
  in_d in_h in_w, filter_d filter_h filter_w, pad_d pad_h pad_w, stride_d stride_h stride_w, dil_d dil_h dil_w
                         the same, one axis a column
  dtype layout           as on a case line (default f32, nchw, of matmul row); also float32, half, bfloat16,
                         channels_last
  count                  how often it is run (default 1)";

fn column(name: &str) -> Option<Column> {
    let name = name.trim().to_ascii_lowercase();
    match name.as_str() {
        "op" | "operation" | "pass" => return Some(Column::Operation),
        "dtype" | "type" => return Some(Column::Types),
        "layout" => return Some(Column::Layouts),
        "count" | "times" => return Some(Column::Count),
        "b" => return Some(Column::Number('b')),
        "m" => return Some(Column::Number('m')),
        "n" | "batch" => return Some(Column::Number('n')),
        "c" | "in_channels" => return Some(Column::Number('c')),
        "k" | "out_channels" => return Some(Column::Number('k')),
        "g" | "groups" => return Some(Column::Number('g')),
        _ => {}
    }
    let letters = [
        ('i', ["i", "in", "input"]),
        ('f', ["f", "filter", "kernel"]),
        ('p', ["p", "pad", "padding"]),
        ('s', ["s", "stride", "strides"]),
        ('d', ["d", "dil", "dilation"]),
    ];
    let letter =
        |word: &str| letters.iter().find(|(_, names)| names.contains(&word)).map(|(letter, _)| *letter);
    if let Some(letter) = letter(&name) {
        return Some(Column::Axes(letter));
    }
    let (word, axis) = name.rsplit_once('_')?;
    let axis = ["d", "h", "w"].iter().position(|known| *known == axis)?;
    letter(word).map(|letter| Column::Axis(letter, axis))
}

/// True for a line that names at least three known columns.
pub(crate) fn is_header(line: &str) -> bool {
    cells(line, separator(line)).iter().filter(|name| column(name).is_some()).count() >= 3
}

/// What separates the cells of a table, by its header: spreadsheets write semicolons where the comma is the decimal
/// point, and tabs into a clipboard.
fn separator(header: &str) -> char {
    let known =
        |separator: &char| cells(header, *separator).iter().filter(|name| column(name).is_some()).count();
    [';', '\t']
        .into_iter()
        .filter(|separator| known(separator) > known(&','))
        .max_by_key(known)
        .unwrap_or(',')
}

/// The cells of a line, without blanks, which no value has; one between quotes may hold separators.
fn cells(line: &str, separator: char) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            _ if character == separator && !quoted => cells.push(String::new()),
            _ => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(character);
                }
            }
        }
    }
    cells.iter().map(|cell| cell.split_whitespace().collect()).collect()
}

/// Reads a table to its end.
pub(crate) fn read<R: BufRead>(lines: &mut Lines<R>) -> Result<Import, ImportError> {
    let (mut ledger, mut refusals) = (Ledger::default(), Refusals::default());
    let mut header: Option<(Vec<Option<Column>>, char)> = None;
    let mut notes = Vec::new();
    while lines.advance()? {
        let text = lines.text();
        // A tab at an end separates an empty cell.
        let line = text.trim_start_matches('\u{feff}').trim_matches([' ', '\r']);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((columns, separator)) = &header else {
            let separator = separator(line);
            header = Some((read_header(&cells(line, separator), &mut notes)?, separator));
            continue;
        };
        let cells = cells(line, *separator);
        if cells.len() != columns.len() {
            refusals.add(format!("a row without {} cells", columns.len()), lines.number());
            continue;
        }
        match row(columns, &cells) {
            Ok((case, count)) => {
                let first = lines.number();
                let found = Imported { case, count, file: 0, first, fused: false, engines: Vec::new() };
                ledger.add(found, &mut refusals);
            }
            Err(reason) => refusals.add(reason, lines.number()),
        }
    }
    Ok(Import { cases: ledger.sorted(), evidence: Evidence::Executed, refused: refusals.sorted(), notes })
}

fn read_header(cells: &[String], notes: &mut Vec<String>) -> Result<Vec<Option<Column>>, ImportError> {
    let columns: Vec<Option<Column>> = cells.iter().map(|name| column(name)).collect();
    let unknown: Vec<String> = cells
        .iter()
        .zip(&columns)
        .filter(|(_, column)| column.is_none())
        .map(|(name, _)| shortened(name))
        .collect();
    if columns.iter().flatten().next().is_none() {
        let why =
            "has no header with known columns, such as op,n,c,k,i,f,p,s; `convict import --help` lists them";
        return Err(ImportError::Form(why.to_owned()));
    }
    for (place, column) in columns.iter().enumerate() {
        if column.is_some() && columns[..place].contains(column) {
            let name = shortened(&cells[place]);
            return Err(ImportError::Form(format!("names the column {name} twice; keep one of them")));
        }
    }
    if !unknown.is_empty() {
        notes.push(format!("columns that are not known and were passed over: {}", unknown.join(", ")));
    }
    Ok(columns)
}

/// A row as a case line, so that the line's own rules judge it.
fn row(columns: &[Option<Column>], cells: &[String]) -> Result<(Case, u64), String> {
    let filled = || columns.iter().zip(cells).filter(|(_, cell)| !cell.is_empty());
    let cell =
        |wanted: Column| filled().find(|(column, _)| **column == Some(wanted)).map(|(_, cell)| cell.as_str());
    let count = match cell(Column::Count) {
        Some(text) => {
            text.parse().ok().filter(|count| *count > 0).ok_or("a count that is no number above 0")?
        }
        None => 1,
    };
    let axes = |letter: char| -> Option<Vec<String>> {
        if let Some(text) = cell(Column::Axes(letter)) {
            return Some(text.to_ascii_lowercase().split('x').map(str::to_owned).collect());
        }
        let parts: Vec<String> =
            (0..3).filter_map(|axis| cell(Column::Axis(letter, axis)).map(str::to_owned)).collect();
        (!parts.is_empty()).then_some(parts)
    };
    let rank =
        ['i', 'f', 'p', 's', 'd'].into_iter().filter_map(axes).map(|axes| axes.len()).max().unwrap_or(0);
    let operation = cell(Column::Operation).unwrap_or("fprop").to_ascii_lowercase();
    let types = types(cell(Column::Types).unwrap_or("f32"))?;
    // What a case line may leave out is left out.
    let plain = if ["fprop", "dgrad", "wgrad"].contains(&operation.as_str()) { "nchw" } else { "" };
    let layouts = cell(Column::Layouts).unwrap_or(plain).to_ascii_lowercase();
    let layouts = layouts.replace("channels_last", "nhwc").replace("channels_first", "nchw");
    let mut words = vec![operation, types, layouts];
    for letter in ['b', 'm', 'n', 'c', 'k', 'g'] {
        words.extend(cell(Column::Number(letter)).map(|number| format!("{letter}{number}")));
    }
    for letter in ['i', 'f', 'p', 's', 'd'] {
        let Some(axes) = axes(letter) else { continue };
        let all = if axes.len() == 1 { vec![axes[0].clone(); rank.min(3)] } else { axes };
        words.push(format!("{letter}{}", all.join("x")));
    }
    let case: Case = words.join(" ").parse().map_err(|error| format!("a row that is no case: {error}"))?;
    Ok((case, count))
}

/// Types of a case line, each by any of its names.
fn types(cell: &str) -> Result<String, String> {
    let (tensors, compute) =
        cell.split_once('/').map_or((cell, None), |(tensors, compute)| (tensors, Some(compute)));
    let names: Result<Vec<&str>, String> =
        tensors.split(',').map(|name| dtype(name).map(case::DType::name)).collect();
    let names = names?.join(",");
    match compute {
        Some(compute) => Ok(format!("{names}/{}", dtype(compute)?.name())),
        None => Ok(names),
    }
}
