//! cuDNN's own log, of versions 8 and 9: which calls run or plan a convolution. Knows calls and threads; what a call's
//! lines hold is read in `call`.

mod call;
mod entry;

use std::collections::HashMap;
use std::io::{self, BufRead};

use case::Case;

use self::call::{Call, Function};
use self::entry::Entry;
use crate::convolution::Convolution;
use crate::lines::{Lines, find};
use crate::table::{Evidence, Import, Imported, Ledger, Refusals};

/// Most lines of one call: a graph of thousands of operations has fewer.
const ENTRIES_MAX: usize = 50_000;

/// Most bytes that the lines of one call are held in: what bounds the memory of a log whose lines are long.
const CALL_BYTES_MAX: usize = 16 << 20;

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
    /// Place of the case that was executed last, by whichever thread.
    latest: Option<usize>,
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
        } else if open.entries.len() >= ENTRIES_MAX || open.bytes >= CALL_BYTES_MAX {
            self.reader.refuse("a call of too many lines", open.line);
            self.call = None;
        } else if let Some(entry) = Entry::read(body) {
            open.bytes += entry.bytes();
            open.entries.push(entry);
        }
    }

    /// The convolution that was executed last, as far as the lines tell.
    #[must_use]
    pub fn latest(&self) -> Option<&Case> {
        self.reader.levels[Evidence::Executed as usize].ledger.case(self.reader.latest?)
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
                if evidence == Evidence::Executed {
                    self.latest = None;
                }
                return Last::Refused;
            }
        };
        let engines = call.engine().into_iter().collect();
        let found = Imported { case, count: 1, file: 0, first: call.line, fused, engines };
        let place = ledger.add(found, refusals);
        if evidence == Evidence::Executed {
            self.latest = place;
        }
        place.map_or(Last::Refused, Last::Counted)
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

#[cfg(test)]
mod tests {
    use super::{CALL_BYTES_MAX, ENTRIES_MAX, LogReader, THREADS_MAX};

    const HEAD: &[u8] = b"I! CuDNN (v91900 56) function cudnnBackendExecute() called:";

    #[test]
    fn a_call_of_distinct_long_lines_is_held_in_few_bytes_and_refused() {
        let mut reader = LogReader::default();
        reader.line(HEAD, 1);
        let mut most = 0;
        let mut line = b"i!     ".to_vec();
        line.resize(1 << 20, b'k');
        line.extend(b": type=T; val=");
        line.resize(2 << 20, b'v');
        for number in 2..40 {
            line[7] = b'a' + (number % 26) as u8;
            reader.line(&line, number);
            let held = reader.call.as_ref().map_or(0, |call| call.bytes);
            most = most.max(held);
        }
        assert!(most > 0 && most < 1 << 20, "{most} bytes are held of 38 lines of 2 MiB");
        line.truncate(0);
        line.extend([&b"i!     key: type=T; val="[..], &[b'v'; 1500]].concat());
        for number in 40..60_000 {
            reader.line(&line, number);
            most = most.max(reader.call.as_ref().map_or(0, |call| call.bytes));
        }
        assert!(reader.call.is_none() && most <= CALL_BYTES_MAX + 4096, "{most}");
        let import = reader.finish();
        assert_eq!(import.refused[0].reason, "a call of too many lines");
    }

    #[test]
    fn a_call_of_very_many_short_lines_is_refused() {
        let mut reader = LogReader::default();
        reader.line(HEAD, 1);
        for number in 0..=ENTRIES_MAX as u64 {
            reader.line(b"i! a: type=b; val=c", number);
        }
        assert!(reader.call.is_none());
    }

    #[test]
    fn threads_of_long_names_are_remembered_in_few_bytes() {
        let mut reader = LogReader::default();
        let mut name = b"i! Process=1; Thread=".to_vec();
        name.resize(20_000, b'7');
        for thread in 0..2 * THREADS_MAX as u64 {
            reader.line(HEAD, 1);
            reader.line(b"i!     executionPlan: type=CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:", 2);
            name.splice(21..41, format!("{thread:020}").into_bytes());
            reader.line(&name, 3);
        }
        let held: usize = reader.reader.last.keys().map(String::len).sum();
        assert!(reader.reader.last.len() <= THREADS_MAX, "{}", reader.reader.last.len());
        assert!(held > 0 && held <= THREADS_MAX * super::entry::THREAD_MAX, "{held}");
    }

    #[test]
    fn reasons_that_repeat_what_the_log_says_are_cut() {
        let mut reader = LogReader::default();
        let long = "X".repeat(100_000);
        let call = [
            "i!     xDesc: type=cudnnTensorDescriptor_t:".to_owned(),
            format!("i!         dataType: type=cudnnDataType_t; val={long};"),
            "i!     wDesc: type=cudnnFilterDescriptor_t:".to_owned(),
            "i!         dataType: type=cudnnDataType_t; val=CUDNN_DATA_FLOAT (0);".to_owned(),
            "i! Process=1; Thread=1; GPU=0.".to_owned(),
        ];
        reader.line(b"I! CuDNN (v8907) function cudnnConvolutionForward() called:", 1);
        for line in call {
            reader.line(line.as_bytes(), 2);
        }
        let import = reader.finish();
        assert_eq!(import.refused.len(), 1);
        assert!(import.refused[0].reason.len() < 300, "{}", import.refused[0].reason.len());
    }
}
