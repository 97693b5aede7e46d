//! Reads logs once, each line once, and remembers symptoms. Knows how the parts work together; each of them knows its
//! own part.

use std::io::Read;
use std::rc::Rc;

use import::{Import, LogReader};
use memchr::memmem::Finder;

use crate::change::Changes;
use crate::command::Setting;
use crate::diagnosis::relate;
use crate::guide::{Group, Stage, When};
use crate::lines::{LINE_MAX, Line, Lines};
use crate::moment::{Clock, Reader, rank_at};
use crate::report::{FileRead, Scan, Symptom};
use crate::shape::{Known, Shapes};
use crate::sieve::Sieve;
use crate::status::Versions;
use crate::tally::{Occurrence, Suspect, Tally};
use crate::text::{decoded, plain, shown};

/// A scan of one log or several.
pub struct Scanner {
    sieve: Sieve,
    shapes: Shapes,
    /// Begin of every status.
    status: Finder<'static>,
    reader: Reader,
    changes: Changes,
    tallies: Vec<Option<Tally>>,
    versions: Versions,
    imports: Vec<Import>,
    files: Vec<FileRead>,
    /// Names of the files as a shell takes them.
    words: Vec<Option<String>>,
}

impl Default for Scanner {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner {
    /// A scan of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        let sieve = Sieve::new();
        Self {
            tallies: sieve.rows.iter().map(|_| None).collect(),
            shapes: Shapes::new(sieve.rows.iter().flat_map(crate::guide::Row::texts)),
            status: Finder::new(b"CUDNN_STATUS_"),
            sieve,
            reader: Reader::new(),
            changes: Changes::new(),
            versions: Versions::default(),
            imports: Vec::new(),
            files: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Reads a log that commands cannot name, such as standard input; else as `read_as`.
    pub fn read(&mut self, reader: impl Read) {
        self.read_as(None, reader);
    }

    /// Reads a log to its end, or to where its reader fails, which is told within the result. Memory does not grow with
    /// the log, nor with its lines. The name is put into commands as it is: see [`crate::shell_word`].
    pub fn read_as(&mut self, name: Option<String>, reader: impl Read) {
        self.words.push(name);
        let (source, mut read) = match decoded(reader) {
            Ok(decoded) => (decoded.reader, FileRead { notes: decoded.notes, ..FileRead::default() }),
            Err(error) => {
                let trouble = Some(error.to_string());
                // One import a file: cases are told by the number of theirs.
                self.imports.push(LogReader::default().finish());
                return self.files.push(FileRead { trouble, ..FileRead::default() });
            }
        };
        let mut lines = Lines::new(source);
        let (mut library, mut clock) = (LogReader::default(), Clock::default());
        while lines.advance() {
            let line = lines.line();
            read.lines = line.number;
            if self.is_plain_call(&line) {
                library.line(line.bytes, line.number);
            } else if self.sieve.may_hold(line.bytes) {
                self.look(&line, &mut library, &mut clock);
            }
        }
        if lines.pieces() > 0 {
            let kilobytes = LINE_MAX >> 10;
            read.notes.push(format!("has lines of more than {kilobytes} KiB, which were searched in pieces"));
        }
        read.bytes = lines.bytes();
        read.trouble = lines.trouble().map(|error| error.to_string());
        self.imports.push(library.finish());
        self.files.push(read);
    }

    /// True for a line of cuDNN's own log that tells of a call and of nothing else: most lines, where they are there.
    fn is_plain_call(&self, line: &Line<'_>) -> bool {
        let begins = line.bytes.starts_with(b"i! ") || line.bytes.starts_with(b"I! CuDNN (v");
        begins && line.repeated == 0 && self.versions.is_known() && self.status.find(line.bytes).is_none()
    }

    fn look(&mut self, line: &Line<'_>, library: &mut LogReader, clock: &mut Clock) {
        // What the piece before has shown is not counted again.
        let repeated = plain(&line.bytes[..line.repeated]);
        let is_known = line.repeated > 0 && self.sieve.look(&repeated).row.is_some();
        let plain = plain(if is_known { &line.bytes[line.repeated..] } else { line.bytes });
        let known = self.known(&plain);
        let found = &known.found;
        if found.library && line.repeated == 0 {
            library.line(&plain, line.number);
        }
        // Every call of cuDNN's own log names the version.
        if known.is_versioned
            && !(found.library && self.versions.is_known())
            && let Some(version) = self.sieve.statuses.version(&plain)
        {
            self.versions.add(version);
        }
        let Some(place) = found.row else { return };
        let rank = known.rank.as_ref().and_then(|rank| rank_at(&plain, rank));
        let wants = self.tallies[place].as_ref().is_none_or(Tally::wants_moments);
        let stamp = if wants { clock.at(&self.reader, line, rank, known.has_moment) } else { None };
        let file = self.files.len();
        let tally = match &mut self.tallies[place] {
            Some(tally) => tally,
            empty @ None => {
                let moment = stamp.map(|stamp| stamp.moment);
                let change = self.changes.before(line, &self.reader, moment);
                let time = self.reader.time(&plain).or_else(|| self.reader.time_before(line));
                let suspect = suspect(library, self.sieve.rows[place].stage);
                let (line, offset, text) = (line.number, line.offset, shown(&plain, found.at));
                let first = Occurrence { file, line, offset, text, rank, moment, time, suspect };
                empty.insert(Tally::new(first, change))
            }
        };
        tally.add(file, (line.number, line.start), rank, stamp);
        if let Some(status) = &found.status {
            tally.add_status(&status.name);
        }
    }

    /// What a line holds, as its shape tells where that is known.
    fn known(&mut self, plain: &[u8]) -> Rc<Known> {
        if let Some(known) = self.shapes.known(plain) {
            return known;
        }
        let found = self.sieve.look(plain);
        let statuses = &self.sieve.statuses;
        let is_its_own = found.cudnn && statuses.is_numbered(plain, found.status.as_ref());
        let known = Rc::new(Known {
            is_versioned: found.cudnn && statuses.is_versioned(plain),
            rank: self.reader.rank_place(plain),
            has_moment: self.reader.moment(plain).is_some(),
            found,
        });
        if !is_its_own {
            self.shapes.remember(&known);
        }
        known
    }

    /// What was found.
    #[must_use]
    pub fn finish(self) -> Scan {
        let Self { sieve, tallies, versions, imports, files, words, .. } = self;
        let version = versions.usual();
        let with_cases = imports.iter().zip(words).filter(|(import, _)| !import.cases.is_empty());
        let logs: Vec<String> = with_cases.filter_map(|(_, word)| word).collect();
        let setting = Setting { version, log: (!logs.is_empty()).then(|| logs.join(" ")) };
        let mut symptoms = Vec::new();
        for (row, tally) in sieve.rows.iter().zip(tallies) {
            let Some(tally) = tally else { continue };
            let shows_steps = row.group != Group::Hardware && !row.id.starts_with("xid-");
            let (pattern, period) = tally.pattern(shows_steps);
            let (incidents, more) = tally.incidents();
            let mut symptom = Symptom::of(row, tally.first);
            symptom.last = (tally.last_file, tally.last_line);
            (symptom.count, symptom.incidents, symptom.more) = (tally.count, incidents, more);
            (symptom.pattern, symptom.period) = (pattern, period);
            symptom.change = tally.change.filter(|_| pattern == When::Change);
            symptom.ranks = tally.ranks;
            let named =
                tally.statuses.iter().map(|(name, count)| sieve.statuses.explain(name, *count, version));
            symptom.statuses = named.collect();
            symptom.advise(&setting);
            symptoms.push(symptom);
        }
        relate(&mut symptoms);
        Scan { symptoms, files, versions: versions.all(), import: Import::merged(imports) }
    }
}

/// The convolution that the library was about, by the stage at which a symptom shows itself.
fn suspect(library: &LogReader, stage: Stage) -> Option<Suspect> {
    let told = |case: &case::Case, planned| Suspect { case: case.to_string(), planned };
    let planned = library.planned().filter(|_| stage != Stage::Executed).map(|case| told(case, true));
    let executed = || library.latest().filter(|_| stage != Stage::Planned).map(|case| told(case, false));
    planned.or_else(executed)
}
