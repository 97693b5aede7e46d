//! The file on disk: what is written comes back, and a folder belongs to one hunt at a time.

use std::io::Write;
use std::sync::Mutex;

use case::Selection;
use exec::Interrupt;

use super::{EVENTS_FILE, FINDINGS_FOLDER, Journal, JournalError};
use crate::bench::script::{How, Script, World, planted};
use crate::campaign::{HuntOptions, hunt};
use crate::event::{Entry, HuntEvent, Terms};
use crate::generator::{Generator, Limits};
use crate::ledger::Ledger;
use crate::source::Source;

fn options() -> HuntOptions {
    let source = Source::Generated(Generator::new(1, Limits::simulator()));
    HuntOptions { problems_max: Some(60), ..HuntOptions::new(source) }
}

fn terms() -> Terms {
    options().source.terms(Selection::All)
}

/// Hunts into a journal and returns the entries that went through it.
fn hunt_into(journal: &Journal, ledger: Ledger) -> Vec<Entry> {
    let world = World::new(vec![
        planted(Some(1), How::Wrong, |case| case.problem.c > 4),
        planted(Some(0), How::Device, |case| case.problem.n > 6),
    ]);
    let entries: Mutex<Vec<Entry>> = Mutex::default();
    let sink = |entry: &Entry| {
        entries.lock().unwrap().push(entry.clone());
        journal.record(entry)
    };
    let scripts = vec![Script::new(&world)];
    hunt(&options(), scripts, ledger, &Interrupt::default(), &sink).unwrap();
    entries.into_inner().unwrap()
}

fn fold(entries: &[Entry]) -> Ledger {
    let mut ledger = Ledger::default();
    entries.iter().for_each(|entry| ledger.apply(entry));
    ledger
}

#[test]
fn a_journal_gives_back_every_event_and_the_same_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, empty) = Journal::open(folder.path(), &terms(), false).unwrap();
    assert_eq!(empty, Ledger::default());
    let entries = hunt_into(&journal, empty);
    drop(journal);
    let text = std::fs::read_to_string(folder.path().join(EVENTS_FILE)).unwrap();
    let read: Vec<Entry> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, entries);
    assert_eq!(Journal::read(folder.path()).unwrap(), fold(&entries));
    let (_journal, resumed) = Journal::open(folder.path(), &terms(), true).unwrap();
    assert_eq!(resumed, fold(&entries));
    assert!(resumed.found().count() >= 4);
}

#[test]
fn a_hunt_killed_at_any_event_resumes_to_the_same_findings() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, empty) = Journal::open(folder.path(), &terms(), false).unwrap();
    let whole = fold(&hunt_into(&journal, empty)).summary();
    drop(journal);
    let path = folder.path().join(EVENTS_FILE);
    let text = std::fs::read_to_string(&path).unwrap();
    for share in [1, 3, 5, 7, 9] {
        // The cut falls inside a line nearly always: half a line is what a kill leaves.
        std::fs::write(&path, &text.as_bytes()[..text.len() * share / 10]).unwrap();
        let (journal, ledger) = Journal::open(folder.path(), &terms(), true).unwrap();
        let finished: Vec<u64> = (0..60).filter(|index| ledger.is_finished(*index)).collect();
        let entries = hunt_into(&journal, ledger);
        let repeats = |entry: &Entry| {
            let done = |index| finished.contains(&index);
            matches!(entry.event, HuntEvent::ProblemStarted { index, .. } if done(index))
        };
        assert!(!entries.iter().any(repeats));
        let resumed = Journal::read(folder.path()).unwrap().summary();
        assert_eq!(resumed.problems, 60);
        let signatures = |summary: &crate::Summary| -> Vec<String> {
            summary.findings.iter().map(|finding| finding.signature.clone()).collect()
        };
        assert_eq!(signatures(&resumed), signatures(&whole));
    }
}

#[test]
fn a_folder_in_use_is_refused_and_free_again_when_the_hunt_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = Journal::open(folder.path(), &terms(), false).unwrap();
    for resume in [true, false] {
        hunt_into(&journal, Ledger::default());
        let error = Journal::open(folder.path(), &terms(), resume).unwrap_err();
        assert!(matches!(error, JournalError::Busy { .. }), "{error}");
    }
    drop(journal);
    assert!(Journal::open(folder.path(), &terms(), true).is_ok());
}

#[test]
fn a_folder_with_another_hunt_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, empty) = Journal::open(folder.path(), &terms(), false).unwrap();
    hunt_into(&journal, empty);
    drop(journal);
    let error = Journal::open(folder.path(), &terms(), false).unwrap_err();
    assert!(matches!(error, JournalError::Occupied { .. }));
    assert!(error.to_string().contains("seed 1"), "{error}");
    let other = Source::Generated(Generator::new(2, Limits::simulator())).terms(Selection::All);
    let error = Journal::open(folder.path(), &other, true).unwrap_err();
    assert!(matches!(error, JournalError::Differs { .. }));
    let message = error.to_string();
    assert!(message.contains("seed 1") && message.contains("seed 2"), "{message}");
}

#[test]
fn a_line_that_is_no_event_is_named_by_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = Journal::open(folder.path(), &terms(), false).unwrap();
    journal.record(&Entry { seconds: 0.0, event: HuntEvent::Interrupted }).unwrap();
    drop(journal);
    let path = folder.path().join(EVENTS_FILE);
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"seconds\":1.0,\"event\":\"unheard_of\"}\n{\"seconds\":").unwrap();
    let error = Journal::read(folder.path()).unwrap_err();
    assert!(matches!(error, JournalError::Unreadable { line: 2, .. }), "{error}");
}

#[test]
fn half_a_line_is_cut_off_however_long_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(EVENTS_FILE);
    let (journal, _) = Journal::open(folder.path(), &terms(), false).unwrap();
    hunt_into(&journal, Ledger::default());
    drop(journal);
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{whole}{{\"seconds\":\"{}", "1".repeat(9000))).unwrap();
    let (journal, _) = Journal::open(folder.path(), &terms(), true).unwrap();
    journal.record(&Entry { seconds: 2.0, event: HuntEvent::Interrupted }).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("{whole}{{\"seconds\":2.0,\"event\":\"interrupted\"}}\n"));
}

#[test]
fn where_no_hunt_began_there_is_nothing_to_resume_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("out");
    let error = Journal::open(&missing, &terms(), true).unwrap_err();
    assert_eq!(error.to_string(), format!("nothing to resume in {}", missing.display()));
    assert!(!missing.exists());
    assert!(matches!(Journal::open(folder.path(), &terms(), true), Err(JournalError::Missing { .. })));
    // A hunt that was killed before its first event did begin.
    std::fs::write(folder.path().join(EVENTS_FILE), "").unwrap();
    assert!(Journal::open(folder.path(), &terms(), true).is_ok());
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let error = Journal::open(&file.join("out"), &terms(), false).unwrap_err();
    assert!(error.to_string().contains("file"), "{error}");
}

#[test]
fn a_name_that_leads_out_of_the_folder_is_refused_with_its_line() {
    for name in ["../../victim", "/etc", ".hidden", "a/b", "", "\u{1b}[31m"] {
        let folder = tempfile::tempdir().unwrap();
        let (journal, ledger) = Journal::open(folder.path(), &terms(), false).unwrap();
        let entries = hunt_into(&journal, ledger);
        drop(journal);
        let named = entries.iter().find_map(|entry| {
            if let HuntEvent::Found(finding) = &entry.event { Some(finding.signature.clone()) } else { None }
        });
        let path = folder.path().join(EVENTS_FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        let from = format!("\"signature\":\"{}\"", named.unwrap());
        let to = format!("\"signature\":{}", serde_json::Value::from(name));
        let forged = text.replace(&from, &to);
        std::fs::write(&path, &forged).unwrap();
        let error = Journal::open(folder.path(), &terms(), true).unwrap_err();
        assert!(matches!(error, JournalError::Unreadable { .. }), "{error}");
        assert!(error.to_string().contains("is no name of a finding"), "{error}");
        assert!(!error.to_string().contains('\u{1b}'));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), forged, "nothing is changed");
    }
}

#[test]
fn a_folder_with_other_files_takes_no_new_hunt_and_loses_nothing() {
    for (name, text) in [("other.txt", "precious"), (EVENTS_FILE, "no newline"), ("summary.json", "{}")] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        let error = Journal::open(folder.path(), &terms(), false).unwrap_err();
        assert!(matches!(error, JournalError::Strangers { .. }), "{name}: {error}");
        assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), text);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{name}: nothing is made beside it");
    }
    // Nor does a resume take up what holds no whole event.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(EVENTS_FILE), "no newline").unwrap();
    assert!(matches!(Journal::open(folder.path(), &terms(), true), Err(JournalError::Strangers { .. })));
    assert_eq!(std::fs::read_to_string(folder.path().join(EVENTS_FILE)).unwrap(), "no newline");
    // What a hunt leaves that was killed at once is no stranger.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(EVENTS_FILE), "").unwrap();
    std::fs::write(folder.path().join("lock"), "").unwrap();
    std::fs::create_dir(folder.path().join(FINDINGS_FOLDER)).unwrap();
    assert!(Journal::open(folder.path(), &terms(), false).is_ok());
}

#[test]
fn links_pipes_and_folders_in_place_of_its_files_are_refused() {
    for name in [EVENTS_FILE, "lock"] {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let victim = elsewhere.path().join("victim");
        // There is something to resume.
        std::fs::write(folder.path().join(EVENTS_FILE), "").unwrap();
        let _ = std::fs::remove_file(folder.path().join(name));
        std::fs::write(&victim, "precious").unwrap();
        std::fs::write(folder.path().join(EVENTS_FILE), "").unwrap();
        let _ = std::fs::remove_file(folder.path().join(name));
        std::os::unix::fs::symlink(&victim, folder.path().join(name)).unwrap();
        let error = Journal::open(folder.path(), &terms(), true).unwrap_err();
        assert!(matches!(error, JournalError::Strange { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        std::fs::remove_file(folder.path().join(name)).unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(folder.path().join(name)).status().unwrap();
        assert!(pipe.success());
        for resume in [true, false] {
            let error = Journal::open(folder.path(), &terms(), resume).unwrap_err();
            assert!(matches!(error, JournalError::Strange { .. }), "{error}");
        }
        std::fs::remove_file(folder.path().join(name)).unwrap();
        std::fs::create_dir(folder.path().join(name)).unwrap();
        assert!(matches!(Journal::open(folder.path(), &terms(), true), Err(JournalError::Strange { .. })));
    }
}

#[test]
fn a_cause_that_leads_out_of_the_folder_is_refused_too() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, ledger) = Journal::open(folder.path(), &terms(), false).unwrap();
    hunt_into(&journal, ledger);
    drop(journal);
    let path = folder.path().join(EVENTS_FILE);
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("\"cause\":\"").unwrap();
    std::fs::write(&path, format!("{before}\"cause\":\"../../{rest}")).unwrap();
    let error = Journal::open(folder.path(), &terms(), true).unwrap_err();
    assert!(matches!(error, JournalError::Unreadable { .. }), "{error}");
}
