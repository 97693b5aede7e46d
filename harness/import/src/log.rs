//! cuDNN's own log, of versions 8 and 9: which calls run or plan a convolution. Knows calls and threads; what a call's
//! lines hold is read in `call`.

mod call;
mod entry;

use std::collections::HashMap;
use std::io::{self, BufRead};

use self::call::{Call, Function};
use self::entry::Entry;
use crate::convolution::Convolution;
use crate::lines::{Lines, find};
use crate::table::{Evidence, Import, Imported, Ledger, Refusals};

/// Most lines of one call: a graph of thousands of operations has fewer.
const ENTRIES_MAX: usize = 50_000;

/// Most threads whose last execution is remembered.
const THREADS_MAX: usize = 10_000;

/// Bytes at the head of a line in which the log's own beginning is looked for, after what a launcher put before it.
const PREFIX_MAX: usize = 200;

/// What a log gave so far, for one sort of evidence.
#[derive(Default)]
struct Level {
    ledger: Ledger,
    refusals: Refusals,
}

/// The last execution of a thread.
enum Last {
    /// Counted, at that place.
    Counted(usize),
    /// Its graph was not shown; the library's own line for it may follow.
    Unseen(u64),
    /// Not imported, for a reason that is noted.
    Refused,
}

#[derive(Default)]
struct Reader {
    levels: [Level; 3],
    last: HashMap<String, Last>,
}

/// Reads a log to its end.
pub(crate) fn read<R: BufRead>(lines: &mut Lines<R>) -> io::Result<Import> {
    let mut reader = LogReader::default();
    while lines.advance()? {
        reader.line(lines.bytes(), lines.number());
    }
    Ok(reader.finish())
}

/// Reads a log line by line, for who comes across its lines within another text.
#[derive(Default)]
pub struct LogReader {
    reader: Reader,
    call: Option<Call>,
}

impl LogReader {
    /// Takes the next line, without its end, and its number from 1. Lines of others are passed over.
    pub fn line(&mut self, line: &[u8], number: u64) {
        match part(line) {
            Part::Body(body) => self.body(body),
            Part::Head(head) => {
                self.reader.take(self.call.take());
                self.call = Function::of(head).map(|function| Call::new(function, number));
            }
            Part::Other => {}
        }
    }

    fn body(&mut self, body: &[u8]) {
        let Some(open) = &mut self.call else { return };
        if let Some(thread) = entry::thread(body) {
            open.thread = thread;
            self.reader.take(self.call.take());
        } else if open.entries.len() >= ENTRIES_MAX {
            self.reader.refuse("a call of too many lines", open.line);
            self.call = None;
        } else if let Some(entry) = Entry::read(body) {
            open.entries.push(entry);
        }
    }

    /// What the lines gave.
    #[must_use]
    pub fn finish(mut self) -> Import {
        self.reader.take(self.call);
        self.reader.finish()
    }
}

/// A line of the log by its first letters.
enum Part<'a> {
    /// The beginning of an entry.
    Head(&'a [u8]),
    /// A line within one.
    Body(&'a [u8]),
    /// A warning's, an error's or somebody else's.
    Other,
}

fn part(line: &[u8]) -> Part<'_> {
    if let Some(body) = line.strip_prefix(b"i!") {
        return Part::Body(body);
    }
    let head = &line[..line.len().min(PREFIX_MAX)];
    let begins = |text: &[u8]| find(head, text);
    if let Some(place) = begins(b"! CuDNN (v").or_else(|| begins(b"! cuDNN (v")) {
        return Part::Head(&line[place.saturating_sub(1)..]);
    }
    match begins(b"i!  ").or_else(|| begins(b"i! Process=")) {
        Some(place) => Part::Body(&line[place + 2..]),
        None => Part::Other,
    }
}

impl Reader {
    fn take(&mut self, call: Option<Call>) {
        let Some(call) = call else { return };
        match call.function {
            Function::Execute => self.execute(&call),
            Function::ExecuteInternal => self.execute_internal(&call),
            Function::Legacy(_) | Function::LegacyFused => {
                let last = self.count(
                    Evidence::Executed,
                    call.legacy(),
                    &call,
                    call.function == Function::LegacyFused,
                );
                self.remember(&call.thread, last);
            }
            Function::Finalize => self.finalize(&call),
        }
    }

    fn execute(&mut self, call: &Call) {
        if !call.names("executionPlan") {
            return;
        }
        let graph = call.graph();
        if graph.operations == 0 {
            return self.remember(&call.thread, Last::Unseen(call.line));
        }
        let mut last = Last::Refused;
        if graph.convolutions.is_empty() {
            self.refuse("a graph without a convolution", call.line);
        }
        for convolution in graph.convolutions {
            last = self.count(Evidence::Executed, convolution, call, graph.operations > 1);
        }
        self.remember(&call.thread, last);
    }

    /// What the library itself runs for an execution, in words of the older descriptors. It counts only where the call
    /// before it did not show what it runs; else it tells the engine that a call of the older interface came to.
    fn execute_internal(&mut self, call: &Call) {
        let last = match self.last.remove(&call.thread) {
            Some(Last::Unseen(_)) => {
                self.count(Evidence::Executed, call.internal(), call, call.is_fused_internal())
            }
            Some(Last::Counted(place)) => {
                if let Some(engine) = call.engine() {
                    self.levels[Evidence::Executed as usize].ledger.note(place, engine);
                }
                Last::Counted(place)
            }
            Some(Last::Refused) | None => Last::Refused,
        };
        self.remember(&call.thread, last);
    }

    fn finalize(&mut self, call: &Call) {
        let evidence = match call.entries.first().map(|entry| entry.kind.as_str()) {
            Some("CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR") => Evidence::Planned,
            Some("CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR") => Evidence::Described,
            Some(_) | None => return,
        };
        let graph = call.graph();
        for convolution in graph.convolutions {
            self.count(evidence, convolution, call, graph.operations > 1);
        }
    }

    fn count(
        &mut self,
        evidence: Evidence,
        told: Result<Convolution, String>,
        call: &Call,
        fused: bool,
    ) -> Last {
        let Level { ledger, refusals } = &mut self.levels[evidence as usize];
        let case = match told.and_then(|convolution| convolution.case()) {
            Ok(case) => case,
            Err(reason) => {
                refusals.add(reason, call.line);
                return Last::Refused;
            }
        };
        let engines = call.engine().into_iter().collect();
        let found = Imported { case, count: 1, file: 0, first: call.line, fused, engines };
        ledger.add(found, refusals).map_or(Last::Refused, Last::Counted)
    }

    fn refuse(&mut self, reason: &str, line: u64) {
        self.levels[Evidence::Executed as usize].refusals.add(reason, line);
    }

    fn remember(&mut self, thread: &str, last: Last) {
        if self.last.len() >= THREADS_MAX {
            self.last.clear();
        }
        if let Some(Last::Unseen(line)) = self.last.insert(thread.to_owned(), last) {
            self.refuse(UNSEEN, line);
        }
    }

    fn finish(mut self) -> Import {
        for last in std::mem::take(&mut self.last).into_values() {
            if let Last::Unseen(line) = last {
                self.refuse(UNSEEN, line);
            }
        }
        let evidence = [Evidence::Executed, Evidence::Planned, Evidence::Described]
            .into_iter()
            .find(|evidence| !self.levels[*evidence as usize].ledger.is_empty())
            .unwrap_or(Evidence::Executed);
        let mut notes = Vec::new();
        if evidence != Evidence::Executed {
            notes.push(format!(
                "the log shows no execution of a convolution; the counts are of {}",
                evidence.counted()
            ));
        }
        let level = std::mem::take(&mut self.levels[evidence as usize]);
        Import { cases: level.ledger.sorted(), evidence, refused: level.refusals.sorted(), notes }
    }
}

/// Why an execution was not imported that only names a plan.
const UNSEEN: &str = "an execution whose log does not show its graph";
