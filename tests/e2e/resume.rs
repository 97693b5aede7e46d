//! A hunt whose supervisor is killed at arbitrary moments: what is left, and how it goes on. Knows the journal and the
//! folder of findings.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hunt::{EVENTS_FILE, Entry, HuntEvent, Journal, Summary};

use crate::convict::{BINARY, Run, convict, fresh_folder, processes_with, turn};

/// Kills of one hunt.
const KILLS: u32 = 10;

/// A supervisor is killed at a random moment within this time after its start.
const MOMENTS: Duration = Duration::from_millis(2_500);

/// Time in which the kernel has ended every worker of a supervisor that is dead.
const PATIENCE: Duration = Duration::from_secs(5);

/// Problems that the hunt has in the end.
const PROBLEMS: &str = "400";

/// A hunt's folder, and a folder for its temporary files whose name every worker's command line repeats.
struct Scene {
    out: PathBuf,
    temporary: PathBuf,
}

impl Scene {
    fn new(name: &str) -> Self {
        let folder = fresh_folder(name);
        let temporary = folder.join("temporary");
        fs::create_dir(&temporary).expect("a folder");
        Self { out: folder.join("out"), temporary }
    }

    fn arguments(&self) -> Vec<String> {
        let out = self.out.display();
        let line = format!("hunt --simulate --workers 2 --seed 5 --cases {PROBLEMS} --out {out}");
        // A kill may come before there is anything to resume.
        let resume = self.out.join(EVENTS_FILE).exists().then_some("--resume");
        line.split(' ').chain(resume).map(str::to_owned).collect()
    }

    fn start(&self) -> Child {
        Command::new(BINARY)
            .args(self.arguments())
            .env("TMPDIR", &self.temporary)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("convict starts")
    }

    fn events(&self) -> Vec<Entry> {
        let text = fs::read_to_string(self.out.join(EVENTS_FILE)).unwrap_or_default();
        // A kill may cut the last line short; every other one is whole.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        whole.lines().map(read).collect()
    }

    fn assert_no_worker_lives(&self) {
        let marker = self.temporary.display().to_string();
        // A compiler that was building a program ends by itself, in its own time.
        let is_convict = |pid: &u32| {
            fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|program| program == Path::new(BINARY))
        };
        let workers = || processes_with(&marker).into_iter().filter(is_convict).collect::<Vec<u32>>();
        let start = Instant::now();
        while !workers().is_empty() {
            assert!(start.elapsed() < PATIENCE, "workers outlived their supervisor: {:?}", workers());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Every bundle that has its final name is whole.
    fn assert_findings_are_readable(&self) {
        for folder in bundles(&self.out) {
            reports::read(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        }
    }
}

fn bundles(out: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(out.join("findings")) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_draft = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with('.')
    };
    paths.filter(|path| !is_draft(path)).collect()
}

/// Moments that differ from run to run; a failure prints them.
fn moments() -> Vec<Duration> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut state = now.as_nanos() as u64 | 1;
    let mut next = || {
        // Marsaglia's xorshift, 64 bits.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let most = MOMENTS.as_millis() as u64;
    (0..KILLS).map(|_| Duration::from_millis(next() % most)).collect()
}

fn finished(events: &[Entry]) -> BTreeSet<u64> {
    let number = |entry: &Entry| {
        if let HuntEvent::ProblemDone { index, .. } = &entry.event { Some(*index) } else { None }
    };
    events.iter().filter_map(number).collect()
}

#[test]
fn a_hunt_killed_ten_times_loses_nothing_and_repeats_nothing() {
    let scene = Scene::new("resume-killed");
    let moments = moments();
    for moment in &moments {
        let turn = turn();
        let mut supervisor = scene.start();
        std::thread::sleep(*moment);
        supervisor.kill().expect("SIGKILL");
        supervisor.wait().expect("the supervisor's end");
        drop(turn);
        scene.assert_no_worker_lives();
        scene.assert_findings_are_readable();
    }
    let before = scene.events();
    let run = convict(scene.arguments());
    assert_eq!(run.code, Some(1), "{moments:?} {run:?}");
    assert_nothing_is_repeated(&scene.events());
    assert_all_is_there(&scene, &before, &run);
    scene.assert_no_worker_lives();
    scene.assert_findings_are_readable();
    let left: Vec<_> = names(&scene.temporary).into_iter().filter(|name| name.len() == 14).collect();
    // Each start removes what the killed ones before it left; the last run has its temporary files elsewhere.
    assert!(left.len() <= 1, "scratch folders of the dead: {left:?}");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

/// A problem that was finished is never started again, and a failure that was settled is never followed again.
fn assert_nothing_is_repeated(events: &[Entry]) {
    let mut done = BTreeSet::new();
    let mut settled = BTreeSet::new();
    for entry in events {
        if let HuntEvent::ProblemDone { index, .. } = &entry.event {
            assert!(done.insert(*index), "{index} is done twice");
        }
        if let HuntEvent::ProblemStarted { index, .. } = &entry.event {
            assert!(!done.contains(index), "{index} is started again after it was done");
        }
        if let HuntEvent::Found(finding) = &entry.event {
            assert!(settled.insert(finding.provisional.clone()), "{} is found twice", finding.provisional);
        }
        if let HuntEvent::Confirming { provisional, .. } = &entry.event {
            assert!(!settled.contains(provisional), "{provisional} is confirmed again");
        }
    }
}

fn assert_all_is_there(scene: &Scene, before: &[Entry], run: &Run) {
    let events = scene.events();
    let wanted: u64 = PROBLEMS.parse().expect("a number");
    assert_eq!(finished(&events), (0..wanted).collect(), "{run:?}");
    assert!(finished(before).is_subset(&finished(&events)));
    let text = fs::read_to_string(scene.out.join("summary.json")).expect("summary.json");
    let summary: Summary = serde_json::from_str(&text).expect("a summary");
    assert_eq!(summary.problems, wanted);
    for entry in before {
        if let HuntEvent::Found(finding) = &entry.event {
            let kept = summary.findings.iter().find(|kept| kept.signature == finding.signature);
            assert!(
                kept.is_some_and(|kept| kept.case == finding.case.to_string()),
                "{} is lost",
                finding.signature
            );
        }
    }
    for finding in &summary.findings {
        let bundle = finding.bundle.as_ref().unwrap_or_else(|| panic!("{}: no bundle", finding.signature));
        assert!(scene.out.join(bundle).is_dir(), "{bundle}");
    }
    let ledger = Journal::read(&scene.out).expect("the journal");
    assert_eq!(ledger.summary().findings.len(), summary.findings.len());
}

#[test]
fn a_polite_end_keeps_the_findings_and_says_how_to_go_on() {
    let scene = Scene::new("resume-polite");
    let _turn = turn();
    let child = Command::new(BINARY)
        .args(scene.arguments())
        .env("TMPDIR", &scene.temporary)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("convict starts");
    std::thread::sleep(MOMENTS);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("SIGINT");
    let run: Run = child.wait_with_output().expect("its end").into();
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    assert!(run.stdout.contains("interrupted; go on with --resume"), "{run:?}");
    scene.assert_no_worker_lives();
    scene.assert_findings_are_readable();
    let text = fs::read_to_string(scene.out.join("summary.json")).expect("summary.json");
    let summary: Summary = serde_json::from_str(&text).expect("a summary");
    assert!(summary.interrupted);
}

/// A hunt of a few problems, in its folder.
fn small_hunt(out: &Path, more: &[&str]) -> Run {
    let line = "hunt --simulate --workers 2 --seed 5 --cases 60 --out";
    let out = out.display().to_string();
    convict(line.split(' ').chain([out.as_str()]).chain(more.iter().copied()))
}

/// Writes files, each into a folder that is made for it.
fn plant(place: &Path, names: &[&str]) {
    for name in names {
        let path = place.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, "precious").expect("written");
    }
}

#[test]
fn a_resume_removes_only_what_convict_made_and_follows_no_link() {
    let folder = fresh_folder("resume-foreign");
    let (out, elsewhere) = (folder.join("out"), folder.join("elsewhere"));
    assert_eq!(small_hunt(&out, &[]).code, Some(1));
    let findings = out.join("findings");
    let bundle = bundles(&out).pop().expect("a finding");
    let mine = [".DS_Store", ".hidden/notes", "mine.new/notes", "mine/notes"];
    plant(&findings, &mine);
    plant(&bundle, &["notes"]);
    plant(&findings, &[".x.draft-1-0/half"]);
    plant(&out, &[".summary.json.draft-1-0"]);
    fs::remove_file(bundle.join("case.json")).expect("a bundle that must be written anew");
    let run = small_hunt(&out, &["--resume"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(mine.iter().all(|name| findings.join(name).exists()), "{:?}", names(&findings));
    assert!(bundle.join("notes").exists() && bundle.join("case.json").exists());
    assert!(!findings.join(".x.draft-1-0").exists() && !out.join(".summary.json.draft-1-0").exists());

    let name = bundle.file_name().expect("a name").to_string_lossy().into_owned();
    for (place, named) in
        [(&findings, "findings"), (&bundle, &name), (&out.join("summary.json"), "summary.json")]
    {
        fs::rename(place, &elsewhere).expect("moved");
        std::os::unix::fs::symlink(&elsewhere, place).expect("linked");
        let run = small_hunt(&out, &["--resume"]);
        assert!(run.code == Some(2) && run.stderr.contains(&format!("{named}: is no ")), "{run:?}");
        assert!(place.is_symlink());
        fs::remove_file(place).expect("removed");
        fs::rename(&elsewhere, place).expect("moved back");
    }
    assert!(mine.iter().all(|name| findings.join(name).exists()), "{:?}", names(&findings));
    reports::read(&bundle).expect("the bundle is as it was");
}

#[test]
fn a_place_that_cannot_be_a_hunts_folder_is_refused_and_left_as_it_is() {
    let folder = fresh_folder("resume-misplaced");
    plant(&folder, &["file", "full/notes"]);
    std::os::unix::fs::symlink("nowhere", folder.join("dangling")).expect("linked");
    for (name, why) in [
        ("file", "is a file"),
        ("dangling", "is a link that leads nowhere"),
        ("full", "is not empty and holds no hunt; name another folder"),
        ("file/out", "Not a directory"),
    ] {
        let run = small_hunt(&folder.join(name), &[]);
        let says = run.stderr.contains(&format!("{name}: {why}"));
        assert!(run.code == Some(2) && says && run.stderr.contains("--out "), "{run:?}");
    }
    assert_eq!(names(&folder.join("full")), ["notes"]);
    assert_eq!(fs::read_to_string(folder.join("file")).expect("the file"), "precious");
    assert!(!folder.join("nowhere").exists());
}
