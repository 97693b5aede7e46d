//! cudnn-frontend's graphs as JSON, keyed by names (version 1) or by uid (version 2): alone, one a line, or between the
//! lines of its log. Knows that form; its plain dump of descriptors names no roles and is told apart.

mod graph;

use std::io::{self, BufRead};

use serde_json::Value;

use crate::lines::{Lines, find};
use crate::table::{Evidence, Import, Imported, Ledger, Refusals};

/// Longest text of one graph, bytes.
const GRAPH_MAX: usize = 4 << 20;

/// What the frontend's plain dump is answered with.
const DUMP: &str = "a convolution of cudnn-frontend's plain dump, which names neither tensors' roles nor executions: \
                    log with CUDNN_LOGLEVEL_DBG=3 and CUDNN_LOGDEST_DBG=FILE instead";

/// Reads a file to its end.
pub(crate) fn read<R: BufRead>(lines: &mut Lines<R>) -> io::Result<Import> {
    let mut reader = Reader { ledger: Ledger::default(), refusals: Refusals::default(), open: None };
    while lines.advance()? {
        reader.line(lines.bytes(), lines.number());
        if lines.cut() {
            reader.refusals.add("a line of more than 1 MiB", lines.number());
            reader.open = None;
        }
    }
    if let Some(open) = reader.open.take().filter(Object::is_graph) {
        reader.refusals.add("a graph that is cut off", open.line);
    }
    let evidence = Evidence::Described;
    Ok(Import {
        cases: reader.ledger.sorted(),
        evidence,
        refused: reader.refusals.sorted(),
        notes: Vec::new(),
    })
}

/// A JSON object whose end was not met yet.
struct Object {
    text: Vec<u8>,
    line: u64,
    depth: usize,
    quoted: bool,
    escaped: bool,
}

impl Object {
    fn new(line: u64) -> Self {
        Self { text: Vec::new(), line, depth: 0, quoted: false, escaped: false }
    }

    /// Takes bytes up to the object's end; the value is the rest after it, `None` where it goes on.
    fn take<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        for (place, byte) in bytes.iter().enumerate() {
            self.text.push(*byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.quoted => self.escaped = true,
                b'"' => self.quoted = !self.quoted,
                b'{' if !self.quoted => self.depth += 1,
                b'}' if !self.quoted => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(&bytes[place + 1..]);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// True where it is a brace alone so far, and what follows is no name: somebody's brace, not an object's.
    fn is_refuted_by(&self, line: &[u8]) -> bool {
        let next = line.iter().find(|byte| !byte.is_ascii_whitespace());
        let begun = self.text.iter().filter(|byte| !byte.is_ascii_whitespace()).count() > 1;
        !begun && !matches!(next, Some(b'"' | b'}') | None)
    }

    fn is_graph(&self) -> bool {
        find(&self.text, b"\"nodes\"").is_some()
    }
}

struct Reader {
    ledger: Ledger,
    refusals: Refusals,
    open: Option<Object>,
}

impl Reader {
    fn line(&mut self, line: &[u8], number: u64) {
        if line.starts_with(b"[cudnn_frontend]") {
            if let Some(open) = self.open.take().filter(Object::is_graph) {
                self.refusals.add("a graph that is cut off", open.line);
            }
            if find(line, b"CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR :").is_some() {
                return self.refusals.add(DUMP, number);
            }
        }
        if self.open.as_ref().is_some_and(|open| open.is_refuted_by(line)) {
            self.open = None;
        }
        let mut rest = line;
        loop {
            let mut open = match self.open.take() {
                Some(open) => open,
                None => match beginning(rest) {
                    Some(place) => {
                        rest = &rest[place..];
                        Object::new(number)
                    }
                    None => return,
                },
            };
            match open.take(rest) {
                Some(after) => {
                    self.graph(&open);
                    rest = after;
                }
                None if open.text.len() > GRAPH_MAX => {
                    return self.refusals.add("a graph of more than 4 MiB", open.line);
                }
                None => {
                    // A line's end is a blank within the text.
                    open.text.push(b'\n');
                    self.open = Some(open);
                    return;
                }
            }
        }
    }

    fn graph(&mut self, object: &Object) {
        if !object.is_graph() {
            return;
        }
        let value: Value = match serde_json::from_slice(&object.text) {
            Ok(value) => value,
            Err(_) => return self.refusals.add("a graph that is no sound JSON", object.line),
        };
        let Some(graph) = graph::read(&value) else {
            return self.refusals.add("JSON that is no graph of cudnn-frontend", object.line);
        };
        if graph.convolutions.is_empty() {
            self.refusals.add("a graph without a convolution", object.line);
        }
        for told in graph.convolutions {
            match told.and_then(|convolution| convolution.case()) {
                Ok(case) => {
                    let (first, fused, engines) = (object.line, graph.nodes > 1, Vec::new());
                    self.ledger
                        .add(Imported { case, count: 1, file: 0, first, fused, engines }, &mut self.refusals);
                }
                Err(reason) => self.refusals.add(reason, object.line),
            }
        }
    }
}

/// Where an object may begin: a brace with a name, its own end or the end of the line after it.
fn beginning(line: &[u8]) -> Option<usize> {
    let braces = line.iter().enumerate().filter(|(_, byte)| **byte == b'{').map(|(place, _)| place);
    let mut likely = braces.filter(|place| {
        let next = line[place + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
        matches!(next, Some(b'"' | b'}') | None)
    });
    likely.next()
}
