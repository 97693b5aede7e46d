//! cudnn-frontend's graphs as JSON, keyed by names (version 1) or by uid (version 2): alone, one a line, or between the
//! lines of its log, whose plain dump of descriptors is read in `dump`. Knows where a graph begins and ends.

mod dump;
mod graph;

use std::io::{self, BufRead};

use case::Case;
use serde_json::Value;

use self::dump::{Dump, Dumped};
use crate::lines::{Lines, find};
use crate::table::{Evidence, Import, Imported, Ledger, Refusals};

/// Longest text of one graph, bytes.
const GRAPH_MAX: usize = 4 << 20;

/// Reads a file to its end.
pub(crate) fn read<R: BufRead>(lines: &mut Lines<R>) -> io::Result<Import> {
    let mut reader = Reader::default();
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

#[derive(Default)]
struct Reader {
    ledger: Ledger,
    refusals: Refusals,
    open: Option<Object>,
    dump: Dump,
    /// Place of the last case that the dump gave, until its plan is named.
    planned: Option<usize>,
}

impl Reader {
    fn line(&mut self, line: &[u8], number: u64) {
        let begins = line.starts_with(b"[cudnn_frontend]");
        if begins && let Some(open) = self.open.take().filter(Object::is_graph) {
            self.refusals.add("a graph that is cut off", open.line);
        }
        if self.open.is_none() {
            self.dumped(&String::from_utf8_lossy(line), number);
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

    /// A line of the plain dump.
    fn dumped(&mut self, line: &str, number: u64) {
        match self.dump.take(line) {
            Some(Dumped::Graph(told)) => self.planned = self.count(told.map(|case| *case), number, false),
            Some(Dumped::Plan(engine)) => {
                if let Some(place) = self.planned.take() {
                    self.ledger.note(place, engine);
                }
            }
            None => {}
        }
    }

    fn count(&mut self, told: Result<Case, String>, first: u64, fused: bool) -> Option<usize> {
        match told {
            Ok(case) => {
                let found = Imported { case, count: 1, file: 0, first, fused, engines: Vec::new() };
                self.ledger.add(found, &mut self.refusals)
            }
            Err(reason) => {
                self.refusals.add(reason, first);
                None
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
            self.count(told.and_then(|convolution| convolution.case()), object.line, graph.nodes > 1);
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
