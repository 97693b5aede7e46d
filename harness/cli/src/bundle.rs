//! Attaches `reports` to findings: writes a bundle, has its program tried, records what came of it. What a bundle holds
//! is `reports`' matter.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use case::{Kind, Ranks, Signature};
use exec::Interrupt;
use reports::{BundleError, Minimization, Verified, draft};

use crate::machine::Machine;
use crate::program::{Programs, Shown};

/// Runs of the program before its bundle says how many of them showed the bug.
const RUNS: u32 = 3;

/// Writes bundles for one machine.
pub(crate) struct Bundler {
    programs: Programs,
    scratch: PathBuf,
    secrets: Vec<String>,
    drafts: AtomicU64,
}

/// What came of a bundle's program.
pub(crate) struct Tried {
    verified: Verified,
    library_log: String,
}

impl Bundler {
    pub(crate) fn new(machine: &Machine) -> Self {
        Self {
            // A bundle is finished also while the hunt is being stopped: it is what the hunt was for.
            programs: Programs::new(machine, Interrupt::default()),
            scratch: machine.scratch().to_owned(),
            secrets: secrets(),
            drafts: AtomicU64::new(0),
        }
    }

    /// Writes the bundle of a finding in place of the one that the folder held; `tried` is what came of its program,
    /// `None` where nobody tried it yet.
    pub(crate) fn write(
        &self,
        folder: &Path,
        finding: &hunt::Finding,
        tried: Option<&Tried>,
    ) -> io::Result<()> {
        let draft = draft::free(folder)?;
        let log = tried.map_or("", |tried| &tried.library_log);
        write(&draft, finding, &self.secrets, log).map_err(io::Error::other)?;
        let record =
            |tried: &Tried| reports::record_verification(&draft, &tried.verified).map_err(io::Error::other);
        let put = tried.map_or(Ok(()), record).and_then(|()| draft::put(&draft, folder));
        if put.is_err() {
            // It is this call's own; an error here would hide the one that led to it.
            let _ = fs::remove_dir_all(&draft);
        }
        put
    }

    /// Builds the program of a finding's bundle in the scratch folder and runs it, once more with the library's log.
    pub(crate) fn try_out(&self, finding: &hunt::Finding) -> io::Result<Tried> {
        let number = self.drafts.fetch_add(1, Ordering::Relaxed);
        let place = self.scratch.join(format!("program-{number}"));
        write(&place, finding, &self.secrets, "").map_err(io::Error::other)?;
        let tried = self.run(&place, finding.fault.sameness.kind);
        let _ = fs::remove_dir_all(&place);
        Ok(tried.unwrap_or_else(|because| Tried {
            verified: Verified::Not { because },
            library_log: String::new(),
        }))
    }

    fn run(&self, place: &Path, kind: Kind) -> Result<Tried, String> {
        let built = self.programs.build(place)?;
        let Shown { reproduced, runs, .. } = self.programs.run(&built, kind, RUNS)?;
        let compiler = built.compiler().to_owned();
        let library_log = self.programs.library_log(&built, kind);
        Ok(Tried { verified: Verified::Runs { reproduced, runs, compiler }, library_log })
    }
}

/// True for a bundle whose program still has to be tried.
pub(crate) fn is_untried(bundle: &reports::Bundle) -> bool {
    bundle.verdict.verification == reports::Verification::Pending
}

fn write(folder: &Path, finding: &hunt::Finding, secrets: &[String], log: &str) -> Result<(), BundleError> {
    let minimization =
        finding.reduction.as_ref().map_or_else(Minimization::default, |reduction| Minimization {
            calls: reduction.predicate_calls,
            one_minimal: reduction.one_minimal,
            swept: reduction.sweep_tried,
            sweep_total: reduction.sweep_listed,
            guarantee: reduction.guarantee.clone(),
            log: reduction.log.clone(),
            seconds: reduction.seconds,
        });
    let candidate = finding.outcome.candidate.as_ref();
    reports::write(
        folder,
        &reports::Finding {
            signature: &Signature::new(&finding.fault.sameness, &finding.case.problem),
            fault: &finding.fault,
            case: &finding.case,
            original: &finding.original,
            environment: &finding.environment,
            outcome: &finding.outcome,
            hits: finding.hits,
            runs: finding.runs,
            ranks: candidate.map_or_else(Ranks::default, |candidate| candidate.ranks),
            minimization: &minimization,
            explanation: finding.explained.as_ref().map(|explained| &explained.explanation),
            reach: finding.explained.as_ref().map(|explained| &explained.reach),
            library_log: log,
            tool_version: env!("CARGO_PKG_VERSION"),
            secrets,
        },
    )
}

/// Words that must not leave this machine: its name and the user's.
fn secrets() -> Vec<String> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let home = std::env::var("HOME").unwrap_or_default();
    let user = Path::new(&home).file_name().and_then(|name| name.to_str()).unwrap_or("").to_owned();
    let named = ["USER", "LOGNAME", "SUDO_USER"].map(|name| std::env::var(name).unwrap_or_default());
    let words = [host.trim().to_owned(), user].into_iter().chain(named);
    words.filter(|word| !word.is_empty() && word != "root").collect()
}
