//! The search as a plain value: it has a next question, and learns from the answer. Knows how many answers
//! decide about a case; asks nobody, so that whoever drives it may look ahead on a copy.
//!
//! A failure that shows in every run of the original is followed answer by answer. One that comes and goes is
//! followed by rates: a first miss turns a proposal away, a first hit sends it through the gauntlet.

use case::Case;

use crate::amplifiers::amplifiers;
use crate::control::control;
use crate::edits;
use crate::ledger::Ledger;
use crate::minimized::{MinimizeError, Stop};
use crate::query::{Answer, Settings};
use crate::rate::{KEPT, Passage, RATE_MIN, Rate, dry_misses, passage};
use crate::strategy::{Proposal, SWEEP, Strategy};

/// Name of the runs of the original in logs.
pub(crate) const ORIGINAL: &str = "original";
/// Cases in a row that may stay unanswered before the machine counts as lost.
const UNANSWERED_MAX: u32 = 3;
/// Runs that measure the rate of a failure that comes and goes.
const MEASURED: u32 = 20;
/// Runs that an amplifier gets to show that it gains.
const AMPLIFIED: u32 = 20;
/// A failure that shows this often needs no amplifier.
const OFTEN: f64 = 0.9;
/// What the loudest form has to gain, as a factor of the rate; else it was picked by luck.
const GAIN: f64 = 1.3;
/// Answers between two checks that the best case still fails.
const WATCH_EVERY: u32 = 50;
/// Part of the misses that settle an edit after which a pass turns it away.
const PASSES_SHARE: u32 = 2;
/// Hits that a candidate needs at first; each loss of the best case demands one more.
const HITS_FIRST: u32 = 3;

/// What a question is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Does the original fail, and how often?
    Original,
    /// Does a louder form of it fail more often?
    Amplifier,
    /// How often does the loudest form fail? The runs that picked it would flatter it.
    Loudest,
    /// Does a smaller case fail as well?
    Proposal,
    /// Does the best case still fail?
    Watch,
    /// How often does the best case fail?
    Measure,
    /// Does the predicate say no to what cannot fail the pinned way?
    Control,
}

/// A case that is being asked about.
#[derive(Clone, Debug)]
struct Trial {
    purpose: Purpose,
    pass: &'static str,
    case: Case,
    rate: Rate,
    /// Misses in a row that turn it away while it has no hit.
    misses_max: u32,
    /// Times in a row that the machine was in trouble over it.
    troubles: u32,
}

/// How failures are followed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// One answer decides.
    Steady,
    /// Rates decide, against the lower bound of what the start of the search showed.
    Flaky { anchor: f64, share: f64, hits_min: u32 },
}

impl Mode {
    /// By the rate that was seen.
    fn followed(rate: Rate) -> Self {
        Self::Flaky { anchor: rate.interval().0, share: rate.share(), hits_min: HITS_FIRST }
    }
}

#[derive(Clone, Debug)]
enum Phase {
    Opening,
    Amplifying {
        left: Vec<Case>,
        best: Box<(Case, Rate)>,
    },
    Searching,
    /// The passes have nothing more to propose.
    Closing,
    Done(End),
}

/// How a search ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    Stopped(Stop),
    Refused(MinimizeError),
}

/// What an answer led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Learned {
    /// The case is the new best one.
    pub(crate) accepted: bool,
}

/// Where a search stands.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    strategy: Strategy,
    mode: Mode,
    phase: Phase,
    trial: Option<Trial>,
    ledger: Ledger,
    /// The original, then each case adopted after it.
    history: Vec<Case>,
    confirm_runs: u32,
    /// Runs of the best case since it became that.
    rate: Rate,
    answers_since_watch: u32,
    unanswered_in_a_row: u32,
    amplified: bool,
    /// True where the predicate was told apart from one that accepts anything.
    controlled: bool,
    backtracks: u32,
}

impl Search {
    pub(crate) fn new(original: &Case, settings: &Settings) -> Self {
        Self {
            strategy: Strategy::new(original),
            mode: Mode::Steady,
            phase: Phase::Opening,
            trial: None,
            ledger: Ledger::default(),
            history: vec![original.clone()],
            confirm_runs: settings.confirm_runs.max(1),
            rate: settings.seen,
            answers_since_watch: 0,
            unanswered_in_a_row: 0,
            amplified: false,
            controlled: false,
            backtracks: 0,
        }
    }

    /// The next question, by the pass that puts it; `None` at the end. Stays the same until it is answered.
    pub(crate) fn question(&mut self) -> Option<(&'static str, &Case)> {
        while self.trial.is_none() {
            match &self.phase {
                Phase::Opening => self.open(),
                Phase::Amplifying { .. } => self.amplify(),
                Phase::Searching => self.search(),
                Phase::Closing => self.close(),
                Phase::Done(_) => return None,
            }
        }
        self.trial.as_ref().map(|trial| (trial.pass, &trial.case))
    }

    /// Takes note of the answer to the present question.
    pub(crate) fn learn(&mut self, answer: &Answer) -> Learned {
        let Some(mut trial) = self.trial.take() else { return Learned { accepted: false } };
        self.answers_since_watch += 1;
        if let Answer::Infra(reason) = answer {
            trial.troubles += 1;
            // Trouble of the machine says nothing about a case: it is asked once more.
            if trial.troubles < 2 {
                self.trial = Some(trial)
            } else {
                self.unanswered(&trial, reason)
            }
            return Learned { accepted: false };
        }
        (trial.troubles, self.unanswered_in_a_row) = (0, 0);
        trial.rate.count(*answer == Answer::Same);
        let accepted = match trial.purpose {
            Purpose::Original => self.learn_original(trial, answer),
            Purpose::Amplifier => self.learn_amplifier(trial),
            Purpose::Loudest => self.learn_loudest(trial),
            Purpose::Proposal => self.learn_proposal(trial, answer),
            Purpose::Watch | Purpose::Measure => self.learn_incumbent(trial),
            Purpose::Control => self.learn_control(answer),
        };
        Learned { accepted }
    }

    fn ask(&mut self, purpose: Purpose, pass: &'static str, case: Case, misses_max: u32) {
        self.trial = Some(Trial { purpose, pass, case, rate: Rate::default(), misses_max, troubles: 0 });
    }

    fn end(&mut self, end: End) {
        self.phase = Phase::Done(end);
    }

    fn unanswered(&mut self, trial: &Trial, reason: &str) {
        self.unanswered_in_a_row += 1;
        self.ledger.unanswered(&trial.case);
        match trial.purpose {
            Purpose::Original => self.end(End::Refused(MinimizeError::Infra(reason.to_owned()))),
            _ if self.unanswered_in_a_row >= UNANSWERED_MAX => {
                self.end(End::Stopped(Stop::Lost(reason.to_owned())));
            }
            Purpose::Proposal => self.strategy.decide(None),
            // Nothing is lost with these but a check.
            Purpose::Amplifier | Purpose::Loudest => {}
            Purpose::Watch | Purpose::Measure => self.answers_since_watch = 0,
            Purpose::Control => self.controlled = true,
        }
    }

    /// The original's first runs, or on to the search where enough of them were seen before.
    fn open(&mut self) {
        if self.rate.runs < self.confirm_runs || self.opening_misses_ask_for_more() {
            let (case, rate) = (self.strategy.current().clone(), self.rate);
            self.ask(Purpose::Original, ORIGINAL, case, 0);
            self.trial = self.trial.take().map(|trial| Trial { rate, ..trial });
        } else {
            self.opened();
        }
    }

    fn opening_misses_ask_for_more(&self) -> bool {
        self.rate.hits > 0 && self.rate.misses() > 0 && self.rate.runs < MEASURED
    }

    fn learn_original(&mut self, trial: Trial, answer: &Answer) -> bool {
        self.rate = trial.rate;
        self.ledger.adopted(&trial.case);
        if self.rate.hits == 0 && self.rate.runs >= self.confirm_runs {
            let error = match answer {
                Answer::Other(signature) => MinimizeError::Other(signature.clone()),
                Answer::Invalid(reason) => MinimizeError::Invalid(reason.clone()),
                Answer::Same | Answer::Pass | Answer::Infra(_) => MinimizeError::Passes,
            };
            self.end(End::Refused(error));
        }
        false
    }

    fn opened(&mut self) {
        self.phase = Phase::Searching;
        self.answers_since_watch = 0;
        if self.rate.misses() == 0 {
            return;
        }
        let original = self.strategy.current().clone();
        let left = if self.rate.share() < OFTEN { amplifiers(&original) } else { Vec::new() };
        self.phase = Phase::Amplifying { left, best: Box::new((original, self.rate)) };
    }

    fn amplify(&mut self) {
        let Phase::Amplifying { left, best } = &mut self.phase else { return };
        if best.1.share() < OFTEN && !left.is_empty() {
            let louder = left.remove(0);
            self.ask(Purpose::Amplifier, "amplifier", louder, AMPLIFIED);
            return;
        }
        let (case, rate) = (**best).clone();
        if case != *self.strategy.current() && !self.amplified {
            self.ask(Purpose::Loudest, "amplifier", case, MEASURED);
            return;
        }
        self.mode = Mode::followed(rate);
        self.rate = rate;
        if self.amplified {
            self.history.push(case.clone());
            self.strategy = Strategy::new(&case);
        }
        self.ledger.adopted(self.strategy.current());
        self.phase = Phase::Searching;
        self.answers_since_watch = 0;
        if rate.share() < RATE_MIN {
            self.end(End::Stopped(Stop::TooRare));
        }
    }

    fn learn_amplifier(&mut self, trial: Trial) -> bool {
        let Phase::Amplifying { best, .. } = &mut self.phase else { return false };
        let left = AMPLIFIED - trial.rate.runs;
        let hits_max = Rate { hits: trial.rate.hits + left, runs: AMPLIFIED };
        if hits_max.interval().0 <= best.1.share() {
            return false;
        }
        if left > 0 {
            self.trial = Some(trial);
        } else {
            **best = (trial.case, trial.rate);
        }
        false
    }

    fn learn_loudest(&mut self, trial: Trial) -> bool {
        if trial.rate.runs < trial.misses_max {
            self.trial = Some(trial);
            return false;
        }
        let gains = trial.rate.share() > GAIN * self.rate.share();
        let original = (self.strategy.current().clone(), self.rate);
        let best = Box::new(if gains { (trial.case, trial.rate) } else { original });
        self.amplified = gains;
        self.phase = Phase::Amplifying { left: Vec::new(), best };
        false
    }

    fn search(&mut self) {
        if self.answers_since_watch >= WATCH_EVERY && self.history.len() > 1 {
            self.watch();
            return;
        }
        let dry = self.dry();
        let ledger = &mut self.ledger;
        match self.strategy.propose(&mut |case, sweeping| ledger.settled(case, sweeping, dry)) {
            None => self.phase = Phase::Closing,
            Some(Proposal { pass, case }) => {
                let misses_max = match (dry, pass) {
                    (Some(dry), SWEEP) => dry.saturating_sub(self.ledger.misses(&case)),
                    (Some(dry), _) => dry.div_ceil(PASSES_SHARE),
                    (None, _) => 1,
                };
                self.ask(Purpose::Proposal, pass, case, misses_max);
            }
        }
    }

    /// Misses that show an edit to lose the failure; `None` where one answer does.
    fn dry(&self) -> Option<u32> {
        match self.mode {
            Mode::Steady => None,
            Mode::Flaky { share, .. } => Some(dry_misses(KEPT * share)),
        }
    }

    fn learn_proposal(&mut self, trial: Trial, answer: &Answer) -> bool {
        let through = match self.mode {
            Mode::Steady if *answer == Answer::Same => Passage::Through,
            Mode::Steady => Passage::Failed,
            Mode::Flaky { .. } if trial.rate.hits == 0 => {
                // What cannot be judged now cannot be judged later either.
                let over = trial.rate.runs >= trial.misses_max || matches!(answer, Answer::Invalid(_));
                if over { Passage::Failed } else { Passage::Undecided }
            }
            Mode::Flaky { anchor, hits_min, .. } => passage(trial.rate, anchor, hits_min),
        };
        match through {
            Passage::Undecided => self.trial = Some(trial),
            Passage::Failed => {
                self.ledger.rejected(&trial.case, trial.rate, answer);
                self.strategy.decide(None);
            }
            Passage::Through => {
                self.ledger.adopted(&trial.case);
                self.history.push(trial.case.clone());
                self.rate = trial.rate;
                self.strategy.decide(Some(trial.case));
                return true;
            }
        }
        false
    }

    fn watch(&mut self) {
        let misses_max = self.dry().unwrap_or(1);
        self.ask(Purpose::Watch, "watch", self.strategy.current().clone(), misses_max);
    }

    /// Last checks: the result's rate, and a predicate that can say no.
    fn close(&mut self) {
        let current = self.strategy.current().clone();
        let doubtful = !self.controlled && self.ledger.never_refused();
        if let Some(control) = control(&current).filter(|_| doubtful) {
            self.ask(Purpose::Control, "control", control, 1);
        } else if self.answers_since_watch > 0 && self.history.len() > 1 {
            self.ask(Purpose::Measure, "result", current, 1);
        } else {
            self.end(End::Stopped(Stop::Fixpoint));
        }
    }

    fn learn_incumbent(&mut self, mut trial: Trial) -> bool {
        let over = match (self.mode, trial.purpose) {
            (Mode::Steady, _) if trial.rate.misses() == 0 => true,
            // It comes and goes after all: from here on by rates.
            (Mode::Steady, _) => {
                trial.purpose = Purpose::Measure;
                trial.rate.runs >= MEASURED
            }
            (Mode::Flaky { .. }, Purpose::Watch) => {
                trial.rate.hits > 0 || trial.rate.misses() >= trial.misses_max
            }
            (Mode::Flaky { .. }, _) => trial.rate.runs >= MEASURED,
        };
        if !over {
            self.trial = Some(trial);
            return false;
        }
        self.answers_since_watch = 0;
        if trial.rate.hits == 0 {
            self.backtrack();
            return false;
        }
        if self.mode == Mode::Steady && trial.rate.misses() > 0 {
            self.mode = Mode::followed(trial.rate);
            self.phase = Phase::Searching;
            self.strategy.restart(self.strategy.current().clone());
        }
        self.rate = match (self.mode, trial.purpose) {
            // The gauntlet ends on a good streak: only runs after it count where the rate itself is told.
            (Mode::Flaky { .. }, Purpose::Measure) => trial.rate,
            _ => Rate { hits: self.rate.hits + trial.rate.hits, runs: self.rate.runs + trial.rate.runs },
        };
        false
    }

    /// Back to the case before the best one, which does not fail any more; what is taken next has to show more.
    fn backtrack(&mut self) {
        self.backtracks += 1;
        self.history.pop();
        let Some(before) = self.history.last().cloned() else {
            return self.end(End::Stopped(Stop::Vanished));
        };
        self.mode = match self.mode {
            Mode::Steady => Mode::Flaky { anchor: RATE_MIN, share: RATE_MIN, hits_min: HITS_FIRST },
            Mode::Flaky { anchor, share, hits_min } => Mode::Flaky { anchor, share, hits_min: hits_min + 1 },
        };
        self.strategy.restart(before);
        self.rate = Rate::default();
        self.phase = Phase::Searching;
        self.watch();
    }

    fn learn_control(&mut self, answer: &Answer) -> bool {
        self.controlled = true;
        if *answer == Answer::Same {
            let current = self.strategy.current().to_string();
            self.end(End::Refused(MinimizeError::AcceptsAnything(current)));
        }
        false
    }

    /// The best case so far, how often it failed, and what the ledger says about its listed edits.
    pub(crate) fn standing(&self) -> Standing<'_> {
        let edits = edits::list(self.strategy.current());
        let dry = self.dry();
        Standing {
            case: self.strategy.current(),
            rate: self.rate,
            swept: edits.iter().filter(|edit| self.ledger.swept(&edit.case, dry)).count(),
            sweep_total: edits.len(),
            cached: self.ledger.recalled(),
            never_refused: self.ledger.never_refused() && self.history.len() > 1,
            followed: match self.mode {
                Mode::Steady => None,
                Mode::Flaky { anchor, share, .. } => Some((anchor, KEPT * share)),
            },
            dry,
            amplified: self.amplified,
            backtracks: self.backtracks,
        }
    }

    /// How it ended, once there is no further question.
    pub(crate) fn ended(&self) -> Option<&End> {
        match &self.phase {
            Phase::Done(end) => Some(end),
            Phase::Opening | Phase::Amplifying { .. } | Phase::Searching | Phase::Closing => None,
        }
    }
}

/// What can be told about a search at any moment.
pub(crate) struct Standing<'a> {
    pub(crate) case: &'a Case,
    pub(crate) rate: Rate,
    pub(crate) swept: usize,
    pub(crate) sweep_total: usize,
    pub(crate) cached: u32,
    pub(crate) never_refused: bool,
    /// The rate that the search followed, as lower bound and share, where the failure comes and goes.
    pub(crate) followed: Option<(f64, f64)>,
    pub(crate) dry: Option<u32>,
    pub(crate) amplified: bool,
    pub(crate) backtracks: u32,
}
