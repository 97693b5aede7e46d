//! What users really run, read from foreign files: cuDNN's log, cudnn-frontend's graphs, ONNX models, tables of shapes.
//! Knows forms of text and bytes through a reader; opens no file, prints nothing, runs nothing.

mod convolution;
mod csv;
mod frontend;
mod lines;
mod list;
mod log;
mod onnx;
mod table;

use std::io::{self, BufRead, BufReader, Cursor, Read};

use crate::lines::{Lines, find};

pub use csv::COLUMNS;
pub use log::LogReader;
pub use table::{Evidence, Import, Imported, Refused};

/// Bytes at the beginning of a file by which its form is told.
const HEAD_BYTES: u64 = 64 << 10;

/// Bytes read at once.
const BUFFER_BYTES: usize = 256 << 10;

/// The forms that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// cuDNN's log at level 3.
    Log,
    /// cudnn-frontend's graphs as JSON, alone or within its log.
    Frontend,
    /// An ONNX model.
    Onnx,
    /// A table of shapes, separated by commas, semicolons or tabs, with a header.
    Csv,
    /// Case lines, as an import writes them.
    Cases,
}

/// Why a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The reader failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is none of the forms, or not the one that was named.
    #[error("{0}")]
    Form(String),
}

/// Reads a file in that form, or in the one that its beginning shows. Text is streamed; a model is held, but not twice.
/// Symbolic batches of a model become `batch`.
///
/// # Errors
/// Where the reader fails, or where the file as a whole is not what can be read. What is wrong with a part of it is
/// told within the result.
pub fn import(mut reader: impl Read, format: Option<Format>, batch: i64) -> Result<Import, ImportError> {
    let mut head = Vec::new();
    reader.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    let format = match format {
        Some(format) => format,
        None => detect(&head)?,
    };
    let whole = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(reader));
    read(whole, format, batch)
}

fn read(mut reader: impl BufRead, format: Format, batch: i64) -> Result<Import, ImportError> {
    match format {
        Format::Log => Ok(log::read(&mut Lines::new(reader))?),
        Format::Frontend => Ok(frontend::read(&mut Lines::new(reader))?),
        Format::Csv => csv::read(&mut Lines::new(reader)),
        Format::Cases => Ok(list::read(&mut Lines::new(reader))?),
        Format::Onnx => onnx::read(&mut reader, batch),
    }
}

/// The form that a file's beginning shows. Text that shows none may be a program's output with a log somewhere in it.
fn detect(head: &[u8]) -> Result<Format, ImportError> {
    let shows = |text: &[u8]| find(head, text).is_some();
    if onnx::is_likely(head) {
        return Ok(Format::Onnx);
    }
    if head.contains(&0) {
        let why = "is binary, but no ONNX model; a log, a graph as JSON, a CSV table or case lines are text";
        return Err(ImportError::Form(why.to_owned()));
    }
    if shows(b"! CuDNN (v") || shows(b"! cuDNN (v") {
        return Ok(Format::Log);
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if shows(b"[cudnn_frontend]") || text.starts_with('{') || text.starts_with('[') || shows(b"\"nodes\"") {
        return Ok(Format::Frontend);
    }
    let first =
        text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).unwrap_or_default();
    if list::is_case_line(first) {
        return Ok(Format::Cases);
    }
    if csv::is_header(first) && first.contains('\r') {
        let why = "ends its lines with a carriage return alone; convert it, with mac2unix or tr '\\r' '\\n'";
        return Err(ImportError::Form(why.to_owned()));
    }
    Ok(if csv::is_header(first) { Format::Csv } else { Format::Log })
}
