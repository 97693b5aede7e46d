//! Several benches that work on the minimizer's next questions at once. Knows who is busy with what; the
//! answers that count, and their order, are the minimizer's.

use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use case::Case;
use exec::HarnessError;

use super::questions::{Reply, Terms};
use crate::bench::Bench;
use crate::error::HuntError;

/// A case to run, in a new process or not.
type Task = (Case, bool);

/// Which member ran which case, and what it said.
type Report = (usize, Case, Result<Reply, HuntError>);

/// Told of each run as it begins, and as it ends.
pub(super) trait Diary {
    /// A case is about to be run.
    ///
    /// # Errors
    /// Those of whoever records it.
    fn began(&mut self, case: &Case) -> Result<(), HuntError>;

    /// It was answered.
    ///
    /// # Errors
    /// Those of whoever records it.
    fn ended(&mut self, case: &Case, reply: &Reply) -> Result<(), HuntError>;
}

/// Benches at work in threads of their own. Dropped, it lets them finish what they run.
pub(super) struct Team {
    tasks: Vec<Sender<Task>>,
    reports: Receiver<Report>,
    /// What each member runs.
    busy: Vec<Option<Case>>,
    /// Cases that may be asked about next, the likeliest first, each with how many times that will be by then.
    likely: VecDeque<(Case, usize)>,
    /// Replies that nobody asked for yet, by case line.
    ready: HashMap<String, VecDeque<Reply>>,
    /// Runs begun on hints, and those of them that answered a question.
    ahead: u32,
    used: u32,
}

impl Team {
    /// One thread a bench, within the scope.
    pub(super) fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        terms: &Terms,
        benches: Vec<&'scope mut dyn Bench>,
    ) -> Self {
        let (report, reports) = channel();
        let mut tasks = Vec::new();
        for (member, bench) in benches.into_iter().enumerate() {
            let (task, inbox) = channel();
            let (terms, report) = (terms.clone(), report.clone());
            scope.spawn(move || work(member, bench, &terms, (&inbox, &report)));
            tasks.push(task);
        }
        let busy = vec![None; tasks.len()];
        let (likely, ready) = (VecDeque::new(), HashMap::new());
        Self { tasks, reports, busy, likely, ready, ahead: 0, used: 0 }
    }

    pub(super) fn width(&self) -> usize {
        self.tasks.len()
    }

    /// Runs that no question asked for.
    pub(super) fn speculative_runs(&self) -> u32 {
        self.ahead - self.used
    }

    /// What may be asked next; earlier hints that nobody took up are forgotten.
    pub(super) fn expect(&mut self, likely: &[Case]) {
        let times = |upto: usize| likely[..=upto].iter().filter(|case| **case == likely[upto]).count();
        self.likely = (0..likely.len()).map(|index| (likely[index].clone(), times(index))).collect();
    }

    /// The reply to a question: what a member found out ahead, is finding out, or finds out now. Members that
    /// have nothing to do meanwhile take up hints, but for one that the next question may need.
    ///
    /// # Errors
    /// Those of the benches and of the diary.
    pub(super) fn ask(
        &mut self,
        case: &Case,
        afresh: bool,
        diary: &mut dyn Diary,
    ) -> Result<Reply, HuntError> {
        let ahead = !afresh && self.known(case) > 0;
        let mut waiting = !ahead;
        loop {
            if waiting && let Some(member) = self.idle() {
                self.begin(member, case.clone(), afresh, diary)?;
                waiting = false;
            }
            if !waiting {
                self.take_up_hints(case, diary)?;
                if let Some(reply) = self.take(case) {
                    self.used += u32::from(ahead);
                    return Ok(reply);
                }
            }
            self.hear(diary)?;
        }
    }

    fn take_up_hints(&mut self, asked: &Case, diary: &mut dyn Diary) -> Result<(), HuntError> {
        let runs = self.busy.iter().flatten().any(|busy| busy == asked);
        let room = self.busy.len() - usize::from(!runs);
        while self.busy.iter().flatten().count() < room
            && let Some(member) = self.idle()
            && let Some((likely, times)) = self.likely.pop_front()
        {
            // One of the runs of the case in question is for the question itself.
            if self.known(&likely) < times + usize::from(likely == *asked) {
                self.ahead += 1;
                self.begin(member, likely, false, diary)?;
            }
        }
        Ok(())
    }

    /// A member without work.
    fn idle(&self) -> Option<usize> {
        self.busy.iter().position(Option::is_none)
    }

    /// Runs of a case that are ready or under way.
    fn known(&self, case: &Case) -> usize {
        let ready = self.ready.get(&case.to_string()).map_or(0, VecDeque::len);
        ready + self.busy.iter().flatten().filter(|busy| *busy == case).count()
    }

    fn begin(
        &mut self,
        member: usize,
        case: Case,
        afresh: bool,
        diary: &mut dyn Diary,
    ) -> Result<(), HuntError> {
        diary.began(&case)?;
        self.busy[member] = Some(case.clone());
        self.tasks[member].send((case, afresh)).map_err(|_| lost())
    }

    fn hear(&mut self, diary: &mut dyn Diary) -> Result<(), HuntError> {
        let (member, case, reply) = self.reports.recv().map_err(|_| lost())?;
        self.busy[member] = None;
        let reply = reply?;
        diary.ended(&case, &reply)?;
        self.ready.entry(case.to_string()).or_default().push_back(reply);
        Ok(())
    }

    fn take(&mut self, case: &Case) -> Option<Reply> {
        self.ready.get_mut(&case.to_string()).and_then(VecDeque::pop_front)
    }
}

fn lost() -> HuntError {
    HuntError::Harness(HarnessError::Broken { message: "a thread of the minimization ended".to_owned() })
}

/// A member's work: one case after the other until there are no more. A worker process ends with the thread that
/// started it, so none is left behind for the bench's next user.
fn work(
    member: usize,
    bench: &mut dyn Bench,
    terms: &Terms,
    (inbox, report): (&Receiver<Task>, &Sender<Report>),
) {
    bench.fresh();
    for (case, afresh) in inbox {
        let reply = terms.put(bench, &case, afresh);
        if report.send((member, case, reply)).is_err() {
            break;
        }
    }
    bench.fresh();
}
