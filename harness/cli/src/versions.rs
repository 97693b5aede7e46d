//! A case along a row of cuDNN versions: which sets to try, what a run on one showed, when it is good or bad. Knows one
//! search; which version is next is `bisect`'s matter.

mod log;
mod print;
mod row;
mod trial;

use bisect::{Answer, Report, Search, Standing, Tally, clean_needed};

pub(crate) use log::{Log, Terms};
pub(crate) use print::{print, print_json};
pub(crate) use row::{Entry, Row, rows};
pub(crate) use trial::{Question, Showing, Shown, is_pinned};

use crate::args::Bisect;
use crate::failure::Failure;
use crate::screen::errln;

/// What became of one version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fate {
    /// Its runs.
    pub(crate) tally: Tally,
    /// What failed, or why nothing can be said.
    pub(crate) detail: String,
}

/// What a search over one row came to.
pub(crate) struct Found {
    /// Full or JIT.
    pub(crate) configuration: String,
    /// The failure that was looked for.
    pub(crate) kind: Option<String>,
    /// Names of the versions, oldest first.
    pub(crate) labels: Vec<String>,
    /// What became of each.
    pub(crate) fates: Vec<Fate>,
    /// Its answer, where it was tried.
    pub(crate) answers: Vec<Option<Answer>>,
    /// Where it fails.
    pub(crate) report: Report,
}

/// One search at work.
struct Work<'a> {
    arguments: &'a Bisect,
    question: Question,
    log: Option<&'a Log>,
    row: Row,
    search: Search,
    fates: Vec<Fate>,
}

/// Searches one row to its end.
pub(crate) fn search(
    arguments: &Bisect,
    question: Question,
    log: Option<&Log>,
    row: Row,
) -> Result<Found, Failure> {
    let count = row.entries.len();
    let search = Search::new(count, arguments.runs_max);
    let mut work = Work { arguments, question, log, row, search, fates: vec![Fate::default(); count] };
    while let Some(position) = work.unsure().or_else(|| work.search.next()) {
        let answer = work.visit(position)?;
        work.search.learn(position, answer);
        work.tell(position, answer);
    }
    Ok(Found {
        configuration: work.row.configuration,
        kind: work.question.kind,
        labels: work.row.entries.iter().map(|entry| entry.label.clone()).collect(),
        answers: (0..count).map(|position| work.search.answer(position)).collect(),
        fates: work.fates,
        report: work.search.report(),
    })
}

impl Work<'_> {
    /// Clean runs that make a version good, by the rate of all bad ones so far.
    fn clean_needed(&self) -> u32 {
        let is_bad = |position: &usize| self.search.answer(*position) == Some(Answer::Bad);
        let bad = (0..self.fates.len()).filter(is_bad).map(|position| self.fates[position].tally);
        clean_needed(self.arguments.runs, bad.fold(Tally::default(), Tally::and))
    }

    /// A version that was called good before it was known how seldom the failure shows.
    fn unsure(&self) -> Option<usize> {
        let needed = self.clean_needed();
        let is_unsure = |position: &usize| {
            self.search.answer(*position) == Some(Answer::Good) && self.fates[*position].tally.runs < needed
        };
        (0..self.fates.len()).find(is_unsure)
    }

    /// Runs the case on one version until it is good, bad or neither.
    fn visit(&mut self, position: usize) -> Result<Answer, Failure> {
        let mut set = None;
        loop {
            let tally = self.fates[position].tally;
            if let Standing::Settled(answer) = tally.standing(self.clean_needed()) {
                if answer == Answer::Skip {
                    let detail = format!("failed once in {} runs: not confirmed", tally.runs);
                    self.fates[position].detail = detail;
                }
                return Ok(answer);
            }
            let shown = match self.recorded(position, tally.runs) {
                Some(shown) => shown,
                None => {
                    match trial::run(&mut set, &self.row.entries[position], &self.question, self.arguments)? {
                        Ok(shown) => {
                            self.record(position, &shown)?;
                            shown
                        }
                        Err(why) => {
                            self.fates[position].detail = why;
                            return Ok(Answer::Skip);
                        }
                    }
                }
            };
            match self.question.read(&shown) {
                Showing::Failed { kind, summary } => {
                    self.question.kind.get_or_insert(kind);
                    self.fates[position].detail = summary;
                    self.fates[position].tally = tally.with(true);
                }
                Showing::Clean => self.fates[position].tally = tally.with(false),
                Showing::Neither(why) => {
                    self.fates[position].detail = why;
                    return Ok(Answer::Skip);
                }
            }
        }
    }

    fn recorded(&self, position: usize, run: u32) -> Option<Shown> {
        self.log.and_then(|log| log.recorded(&self.row.entries[position].name, run))
    }

    fn record(&self, position: usize, shown: &Shown) -> Result<(), Failure> {
        self.log.map_or(Ok(()), |log| log.write(&self.row.entries[position].name, shown))
    }

    fn tell(&self, position: usize, answer: Answer) {
        let fate = &self.fates[position];
        let words = print::words(Some(answer), fate);
        errln!("{} {}: {words}", self.row.entries[position].label, self.row.configuration);
    }
}
