//! cuDNN's own log, of versions 8 and 9: which calls run or plan a convolution. Knows calls and threads; what a call's
//! lines hold is read in `call`.

mod call;
mod entry;
mod told;

use std::collections::HashMap;
use std::io::{self, BufRead};

use case::Case;

use self::call::Function;
use self::entry::Entry;
use self::told::{Remembered, Told};
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
    /// The case that was described or planned last, where nothing was executed since.
    planned: Option<(Evidence, usize)>,
}

/// A call while its lines come.
struct Open {
    function: Function,
    line: u64,
    count: usize,
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
    remembered: Remembered,
    call: Option<Open>,
    /// Lines of the call, without what their ends say of time and thread.
    lines: Vec<u8>,
}

impl LogReader {
    /// Takes the next line, without its end, and its number from 1. Lines of others are passed over.
    pub fn line(&mut self, line: &[u8], number: u64) {
        match part(line) {
            Part::Body(body) => self.body(body),
            Part::Head(head) => {
                self.take(None);
                self.call = Function::of(head).map(|function| Open { function, line: number, count: 0 });
            }
            Part::Other => {}
        }
    }

    fn body(&mut self, body: &[u8]) {
        let Some(open) = &mut self.call else { return };
        if let Some(thread) = entry::thread(body) {
            self.take(Some(thread));
        } else if open.count >= ENTRIES_MAX || self.lines.len() >= CALL_BYTES_MAX {
            self.reader.refuse("a call of too many lines", open.line);
            self.call = None;
            self.lines = Vec::new();
        } else if !body.starts_with(b" Time: ") {
            open.count += 1;
            if body.len() < entry::LINE_MAX {
                self.lines.extend_from_slice(body);
            } else if let Some(entry) = Entry::read(body) {
                self.lines.extend_from_slice(entry.line().as_bytes());
            }
            self.lines.push(b'\n');
        }
    }

    fn take(&mut self, thread: Option<&str>) {
        if let Some(open) = self.call.take() {
            let told = self.remembered.told(open.function, &self.lines);
            self.reader.take(open, &told, thread.unwrap_or_default());
        }
        self.lines.clear();
    }

    /// The convolution that was executed last, as far as the lines tell.
    #[must_use]
    pub fn latest(&self) -> Option<&Case> {
        self.reader.levels[Evidence::Executed as usize].ledger.case(self.reader.latest?)
    }

    /// The convolution that was described or planned last, where nothing was executed since: that which is planned now.
    #[must_use]
    pub fn planned(&self) -> Option<&Case> {
        let (evidence, place) = self.reader.planned?;
        self.reader.levels[evidence as usize].ledger.case(place)
    }

    /// What the lines gave.
    #[must_use]
    pub fn finish(mut self) -> Import {
        self.take(None);
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
    fn take(&mut self, open: Open, told: &Told, thread: &str) {
        match open.function {
            Function::Execute => self.execute(open.line, told, thread),
            Function::ExecuteInternal => self.execute_internal(open.line, told, thread),
            Function::Legacy(_) | Function::LegacyFused => {
                self.planned = None;
                let last = self.count(open.line, told);
                self.remember(thread, last);
            }
            Function::Finalize => {
                // What cannot be a case is planned all the same, and what was planned before it is no more.
                if told.evidence.is_some() {
                    self.planned = None;
                }
                let last = self.count(open.line, told);
                if let (Some(evidence), Last::Counted(place)) = (told.evidence, last) {
                    self.planned = Some((evidence, place));
                }
            }
        }
    }

    fn execute(&mut self, line: u64, told: &Told, thread: &str) {
        if told.evidence.is_none() {
            return;
        }
        self.planned = None;
        if told.operations == 0 {
            return self.remember(thread, Last::Unseen(line));
        }
        if told.cases.is_empty() {
            self.refuse("a graph without a convolution", line);
        }
        let last = self.count(line, told);
        self.remember(thread, last);
    }

    /// What the library itself runs for an execution, in words of the older descriptors. It counts only where the call
    /// before it did not show what it runs; else it tells the engine that a call of the older interface came to.
    fn execute_internal(&mut self, line: u64, told: &Told, thread: &str) {
        let last = match self.last.remove(thread) {
            Some(Last::Unseen(_)) => self.count(line, told),
            Some(Last::Counted(place)) => {
                if let Some(engine) = told.engine {
                    self.levels[Evidence::Executed as usize].ledger.note(place, engine);
                }
                Last::Counted(place)
            }
            Some(Last::Refused) | None => Last::Refused,
        };
        self.remember(thread, last);
    }

    /// Counts what a call tells; the value is what became of its last convolution.
    fn count(&mut self, line: u64, told: &Told) -> Last {
        let mut last = Last::Refused;
        let Some(evidence) = told.evidence else { return last };
        let Level { ledger, refusals } = &mut self.levels[evidence as usize];
        for case in &told.cases {
            let place = match case {
                Ok(case) => {
                    let engines = told.engine.into_iter().collect();
                    let found = Imported {
                        case: case.clone(),
                        count: 1,
                        file: 0,
                        first: line,
                        fused: told.is_fused,
                        engines,
                    };
                    ledger.add(found, refusals)
                }
                Err(reason) => {
                    refusals.add(reason.as_str(), line);
                    None
                }
            };
            if evidence == Evidence::Executed {
                self.latest = place;
            }
            last = place.map_or(Last::Refused, Last::Counted);
        }
        last
    }

    fn refuse(&mut self, reason: &str, line: u64) {
        self.levels[Evidence::Executed as usize].refusals.add(reason, line);
    }

    fn remember(&mut self, thread: &str, last: Last) {
        if self.last.len() >= THREADS_MAX {
            self.last.clear();
        }
        let earlier = match self.last.get_mut(thread) {
            Some(held) => Some(std::mem::replace(held, last)),
            None => self.last.insert(thread.to_owned(), last),
        };
        if let Some(Last::Unseen(line)) = earlier {
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
            most = most.max(reader.lines.capacity());
        }
        assert!(most > 0 && most < 1 << 20, "{most} bytes are held of 38 lines of 2 MiB");
        line.truncate(0);
        line.extend([&b"i!     key: type=T; val="[..], &[b'v'; 1500]].concat());
        for number in 40..60_000 {
            reader.line(&line, number);
            most = most.max(reader.lines.len());
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
