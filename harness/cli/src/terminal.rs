//! What a person sees while a hunt runs: a live line on a terminal, plain lines otherwise. Knows text; keeps no
//! state of the hunt but counts.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hunt::{Entry, HuntEvent, Ledger};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::out::Out;
use crate::screen::{outln, tame};
use crate::words::shortened;

/// How often the plain form tells how far it is.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Most characters of what a failure shows that a `seen` line repeats; the bundle has all of it.
const SEEN_CHARS: usize = 160;

/// How often the live line turns its spinner although nothing happens.
const TURN_EVERY: Duration = Duration::from_millis(200);

/// Reasons for refusals that fit on the live line.
const REASONS_SHOWN: usize = 3;

/// Prints events.
pub(crate) struct Terminal {
    bar: ProgressBar,
    live: bool,
    quiet: bool,
    state: Mutex<State>,
}

struct State {
    ledger: Ledger,
    /// When the plain form last told how far it is.
    told: Instant,
    /// What is done after the hunt itself, and how far that is; empty while hunting.
    afterwards: String,
    /// True once it was said that programs are being tried.
    trying: bool,
}

impl Terminal {
    /// A live line where standard error is a terminal; nothing but results where `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let live = std::io::stderr().is_terminal() && !quiet;
        let target = if live { ProgressDrawTarget::stderr_with_hz(5) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style);
        }
        if live {
            bar.enable_steady_tick(TURN_EVERY);
        }
        let (ledger, told) = (Ledger::default(), Instant::now());
        let state = State { ledger, told, afterwards: String::new(), trying: false };
        Self { bar, live, quiet, state: Mutex::new(state) }
    }

    /// A line that stays.
    pub(crate) fn say(&self, line: &str) {
        if self.quiet {
            return;
        }
        if self.live { self.bar.println(tame(line)) } else { outln!("{line}") }
    }

    /// Shows an event where it is worth a line, and how far the hunt is.
    pub(crate) fn take(&self, entry: &Entry, out: &Out) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ledger.apply(entry);
        match &entry.event {
            HuntEvent::FaultSeen(suspect) => {
                let seen = shortened(&suspect.fault.summary, SEEN_CHARS);
                self.say(&format!("seen       {}: {seen}", suspect.provisional));
            }
            HuntEvent::Confirmed(finding) => self.say(&format!(
                "confirmed  {} ({} of {} runs); minimizing",
                finding.provisional, finding.hits, finding.runs
            )),
            HuntEvent::Dropped { provisional, hits, runs, .. } => {
                self.say(&format!("flaky      {provisional} ({hits} of {runs} runs)"));
            }
            HuntEvent::Merged { provisional, into } => {
                self.say(&format!("merged     {provisional} into {into}"))
            }
            HuntEvent::Found(finding) => {
                let folder = out.bundle_of(&finding.signature);
                self.say(&format!("found      {}, tier {}", finding.signature, finding.tier.name()));
                self.say(&format!("           {}", finding.case));
                if let Some(folder) = folder {
                    self.say(&format!("           {}", folder.display()));
                }
            }
            HuntEvent::Explaining { number, of, .. } => {
                if state.afterwards.is_empty() {
                    self.say(&format!(
                        "the hunt is over; looking into {of} findings: where each fails, and its program"
                    ));
                }
                state.afterwards = format!("looking into finding {number} of {of}");
            }
            HuntEvent::Explained(finding) => {
                if let Some(explained) = &finding.explained {
                    let region = &explained.explanation.region;
                    self.say(&format!("explained  {}: fails where {region}", finding.signature));
                }
            }
            HuntEvent::SlotLost { slot, message } => self.say(&format!("lost       slot {slot}: {message}")),
            HuntEvent::Interrupted => self.say("stopping; findings so far are kept"),
            HuntEvent::Started { .. }
            | HuntEvent::ProblemStarted { .. }
            | HuntEvent::Checked(_)
            | HuntEvent::ProblemDone { .. }
            | HuntEvent::Confirming { .. }
            | HuntEvent::Asking { .. }
            | HuntEvent::Minimizing { .. }
            | HuntEvent::Finished { .. } => {}
        }
        self.show(&mut state);
    }

    /// Shows that programs of findings are still being tried: so many of so many were.
    pub(crate) fn trying(&self, done: usize, of: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.trying {
            state.trying = true;
            self.say(&format!("trying out {of} programs that are left"));
        }
        state.afterwards = format!("trying out programs: {done} of {of} done");
        self.show(&mut state);
    }

    /// How far it is, on the live line or now and then as a line.
    fn show(&self, state: &mut State) {
        let now = if state.afterwards.is_empty() { line(&state.ledger) } else { state.afterwards.clone() };
        if self.live {
            self.bar.set_message(now);
            self.bar.tick();
        } else if state.told.elapsed() >= PLAIN_EVERY {
            state.told = Instant::now();
            self.say(&now);
        }
    }

    /// Ends the live line.
    pub(crate) fn close(&self) {
        self.bar.finish_and_clear();
    }
}

/// Rate, coverage as problems by engines with refusals by reason, findings.
fn line(ledger: &Ledger) -> String {
    let progress = ledger.progress();
    format!(
        "{:.0} s  {:.1} checks/s  {} problems x {} engines, {}  {} suspects  {} findings",
        progress.seconds,
        progress.checks_per_second,
        progress.problems,
        progress.engines,
        refusals(&progress.refusals),
        progress.suspects,
        progress.findings
    )
}

fn refusals(counts: &BTreeMap<String, u64>) -> String {
    let mut sorted: Vec<(&String, &u64)> = counts.iter().collect();
    sorted.sort_by(|one, other| other.1.cmp(one.1));
    let total: u64 = counts.values().sum();
    let shown: Vec<String> =
        sorted.iter().take(REASONS_SHOWN).map(|(reason, count)| format!("{reason} {count}")).collect();
    if shown.is_empty() {
        "none refused".to_owned()
    } else {
        format!("{total} refused ({})", shown.join(", "))
    }
}
