//! The folder of a hunt as a consumer of its events: the journal, the summary, one folder per confirmed finding.
//! Knows files; what a bundle holds is `reports`' matter.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hunt::{Entry, FINDINGS_FOLDER as FINDINGS, HuntEvent, Journal, JournalError, Ledger, Summary, Terms};
use reports::draft;

use crate::args::Hunt;
use crate::bundle::{Bundler, is_untried};
use crate::failure::Failure;
use crate::machine::Machine;
use crate::tryout::Tryout;

/// How often the summary of a running hunt is written anew.
const SUMMARY_EVERY: Duration = Duration::from_secs(2);

/// Slots for which one thread tries programs out.
const SLOTS_PER_TRYOUT: usize = 8;

/// Name of the summary within the hunt's folder.
const SUMMARY: &str = "summary.json";

/// An open hunt folder.
pub(crate) struct Out {
    folder: PathBuf,
    journal: Journal,
    bundler: Arc<Bundler>,
    tryout: Tryout,
    state: Mutex<State>,
}

struct State {
    ledger: Ledger,
    /// Bundle folder of each finding, by signature, relative to the hunt's folder.
    bundles: HashMap<String, String>,
    written: Instant,
}

impl Out {
    /// Opens the folder; with `--resume` the ledger is what the earlier run left.
    pub(crate) fn open(
        arguments: &Hunt,
        terms: &Terms,
        (machine, workers): (&Machine, usize),
    ) -> Result<(Self, Ledger), Failure> {
        let folder = arguments.out.clone();
        check_place(&folder)?;
        let (journal, ledger) =
            Journal::open(&folder, terms, arguments.resume).map_err(|error| match &error {
                JournalError::Io { source, .. } if is_misplaced(source.kind()) => {
                    Failure::Usage(format!("--out {error}"))
                }
                JournalError::Io { .. } => Failure::Ours(error.to_string()),
                JournalError::Occupied { .. } => Failure::Usage(format!(
                    "--out {error}; go on with it by --resume, or name another folder"
                )),
                JournalError::Missing { .. } => Failure::Usage(format!("--resume: {error}")),
                JournalError::Busy { .. }
                | JournalError::Differs { .. }
                | JournalError::Strangers { .. }
                | JournalError::Strange { .. }
                | JournalError::Unreadable { .. } => Failure::Usage(format!("--out {error}")),
            })?;
        let findings = folder.join(FINDINGS);
        match fs::create_dir(&findings) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Failure::file("--out", &findings, &error));
            }
            Ok(()) | Err(_) => {}
        }
        check_findings(&findings, &ledger)?;
        remove_drafts(&folder).map_err(|error| Failure::file("--out", &folder, &error))?;
        let state = State { ledger: ledger.clone(), bundles: HashMap::new(), written: Instant::now() };
        let bundler = Arc::new(Bundler::new(machine));
        let tryout = Tryout::start(&bundler, workers.div_ceil(SLOTS_PER_TRYOUT), machine.interrupt());
        let out = Self { folder, journal, bundler, tryout, state: Mutex::new(state) };
        out.catch_up(&findings).map_err(|error| Failure::file("--out", &findings, &error))?;
        Ok((out, ledger))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is whole before the lock is let go, so a panic elsewhere leaves it sound.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the bundles to where the journal stands, since an event is on disk before its bundle: a kill between the
    /// two leaves a folder missing, unfinished or left over.
    fn catch_up(&self, findings: &Path) -> io::Result<()> {
        let (found, confirmed) = {
            let ledger = &self.state().ledger;
            let confirmed = ledger.confirmed().filter(|finding| !is_found(ledger, &finding.provisional));
            (ledger.found().cloned().collect::<Vec<_>>(), confirmed.cloned().collect::<Vec<_>>())
        };
        let found = found.iter().map(|finding| (&finding.signature, finding, true));
        let confirmed = confirmed.iter().map(|finding| (&finding.provisional, finding, false));
        let wanted: Vec<_> = found.chain(confirmed).collect();
        for name in names(findings)? {
            let place = findings.join(&name);
            let unwanted = wanted.iter().all(|(slug, ..)| **slug != name);
            if unwanted && is_folder(&place) && self.is_leftover(&place, &name) {
                draft::discard(&place)?;
            }
        }
        for (slug, finding, settled) in wanted {
            let present = reports::read(&findings.join(slug)).ok();
            let present = present.filter(|bundle| bundle.case == finding.case);
            match &present {
                Some(bundle) => {
                    self.state().bundles.insert(slug.clone(), format!("{FINDINGS}/{slug}"));
                    if settled && is_untried(bundle) {
                        self.tryout.take_up(&findings.join(slug), finding);
                    }
                }
                None => self.write_bundle(slug, finding, settled)?,
            }
        }
        Ok(())
    }

    /// True for a draft of this program's making, and for the bundle that a finding had before it was minimized.
    fn is_leftover(&self, place: &Path, name: &str) -> bool {
        let settled = || self.state().ledger.settled().any(|slug| slug == name);
        // The journal may come from anywhere, and a folder is not a bundle because it is named in there.
        draft::is_draft(name) || settled() && reports::read(place).is_ok()
    }

    /// Records an event, and what follows from it: a bundle, a summary. An error means a full or lost disk, and
    /// ends the hunt.
    pub(crate) fn take(&self, entry: &Entry) -> io::Result<()> {
        self.journal.record(entry)?;
        self.state().ledger.apply(entry);
        match &entry.event {
            // What will turn out to be a known finding must not take that one's place.
            HuntEvent::Confirmed(finding) if self.is_settled(&finding.provisional) => {}
            HuntEvent::Confirmed(finding) => self.write_bundle(&finding.provisional, finding, false)?,
            HuntEvent::Found(finding) => {
                self.write_bundle(&finding.signature, finding, true)?;
                if finding.provisional != finding.signature {
                    self.forget(&finding.provisional)?;
                }
            }
            HuntEvent::Explained(finding) => self.write_bundle(&finding.signature, finding, true)?,
            HuntEvent::Merged { provisional, .. } => self.forget(provisional)?,
            HuntEvent::Finished { .. } | HuntEvent::Interrupted => return self.write_summary(true),
            HuntEvent::Started { .. }
            | HuntEvent::ProblemStarted { .. }
            | HuntEvent::Checked(_)
            | HuntEvent::ProblemDone { .. }
            | HuntEvent::FaultSeen(_)
            | HuntEvent::Confirming { .. }
            | HuntEvent::Asking { .. }
            | HuntEvent::Dropped { .. }
            | HuntEvent::Minimizing { .. }
            | HuntEvent::Explaining { .. }
            | HuntEvent::SlotLost { .. } => {}
        }
        self.write_summary(false)
    }

    /// The folder of a finding, once it has one.
    pub(crate) fn bundle_of(&self, signature: &str) -> Option<PathBuf> {
        self.state().bundles.get(signature).map(|relative| self.folder.join(relative))
    }

    /// Waits until the program of every finding was tried; tells again and again how many were, of how many.
    pub(crate) fn finish(&self, tell: &dyn Fn(usize, usize)) -> io::Result<()> {
        self.tryout.finish(tell)
    }

    /// Writes a bundle; the program of a settled finding is tried out after that.
    fn write_bundle(&self, slug: &str, finding: &hunt::Finding, settled: bool) -> io::Result<()> {
        let relative = format!("{FINDINGS}/{slug}");
        let folder = self.folder.join(&relative);
        if settled {
            self.tryout.put(&folder, finding)?;
        } else {
            self.bundler.write(&folder, finding, None)?;
        }
        self.state().bundles.insert(slug.to_owned(), relative);
        Ok(())
    }

    /// True where a finding has that signature for good.
    fn is_settled(&self, slug: &str) -> bool {
        is_found(&self.state().ledger, slug)
    }

    /// Removes what was written before minimization, unless a settled finding goes by the same name.
    fn forget(&self, slug: &str) -> io::Result<()> {
        if self.is_settled(slug) {
            return Ok(());
        }
        let Some(relative) = self.state().bundles.remove(slug) else { return Ok(()) };
        draft::discard(&self.folder.join(relative))
    }

    fn write_summary(&self, now: bool) -> io::Result<()> {
        let summary = {
            let mut state = self.state();
            if !now && state.written.elapsed() < SUMMARY_EVERY {
                return Ok(());
            }
            state.written = Instant::now();
            state.ledger.summary()
        };
        let text = serde_json::to_vec_pretty(&self.with_bundles(summary))?;
        draft::write_whole(&self.folder.join(SUMMARY), &text)
    }

    /// The same summary with the folder of each bundle filled in.
    pub(crate) fn with_bundles(&self, mut summary: Summary) -> Summary {
        let state = self.state();
        for finding in &mut summary.findings {
            finding.bundle = state.bundles.get(&finding.signature).cloned();
        }
        summary
    }
}

fn is_found(ledger: &Ledger, slug: &str) -> bool {
    ledger.found().any(|finding| finding.signature == slug)
}

/// Names of what an earlier run of the same hunt left.
fn names(findings: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(findings)?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
}

/// True for a real folder, not for a link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Refuses a place that can't be a hunt's folder, before anything in it is touched.
fn check_place(folder: &Path) -> Result<(), Failure> {
    let refuse = |path: &Path, why: &str| Err(Failure::Usage(format!("--out {}: {why}", path.display())));
    match fs::metadata(folder) {
        Ok(found) if found.is_file() => return refuse(folder, "is a file"),
        Ok(found) if !found.is_dir() => return refuse(folder, "is no folder"),
        Err(_) if folder.is_symlink() => return refuse(folder, "is a link that leads nowhere"),
        Ok(_) | Err(_) => {}
    }
    // A link in the place of one of these would lead out of the hunt's folder.
    let (findings, summary) = (folder.join(FINDINGS), folder.join(SUMMARY));
    match (fs::symlink_metadata(&findings), fs::symlink_metadata(&summary)) {
        (Ok(found), _) if !found.is_dir() => refuse(&findings, "is no folder, but a link or a file"),
        (_, Ok(found)) if !found.is_file() => refuse(&summary, "is no plain file"),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => Ok(()),
    }
}

/// The same for each folder that a finding of the journal has.
fn check_findings(findings: &Path, ledger: &Ledger) -> Result<(), Failure> {
    let settled = ledger.found().map(|finding| &finding.signature);
    for slug in settled.chain(ledger.confirmed().map(|finding| &finding.provisional)) {
        let place = findings.join(slug);
        if fs::symlink_metadata(&place).is_ok_and(|found| !found.is_dir()) {
            let message = format!("--out {}: is no folder, but a link or a file", place.display());
            return Err(Failure::Usage(message));
        }
    }
    Ok(())
}

/// Removes what a killed run left of a summary that it was writing.
fn remove_drafts(folder: &Path) -> io::Result<()> {
    for name in names(folder)? {
        let path = folder.join(&name);
        let of_summary = draft::is_draft(&name) && name.starts_with(&format!(".{SUMMARY}."));
        if of_summary && fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// True for troubles that come of the place that was named.
fn is_misplaced(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::AlreadyExists
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::NotFound
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
    )
}
