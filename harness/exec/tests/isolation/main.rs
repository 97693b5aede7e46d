//! Every way in which a worker can end, and what the slot makes of it. The worker is this binary itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene fails")]

mod fake;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use case::{Exit, Job, Outcome, Phase, Selection, WorkerOptions};
use exec::{Deadlines, HarnessError, Interrupt, JobEvent, PhaseTimes, Slot, SpawnOptions, Tally};

/// A slot whose workers follow a script.
struct Scene {
    slot: Slot,
    interrupt: Interrupt,
    _gate: tempfile::TempDir,
}

/// What a job showed.
struct Shown {
    lists: usize,
    outcomes: Vec<Outcome>,
    result: Result<Tally, HarnessError>,
}

fn arguments(test: &str, script: &str) -> Vec<OsString> {
    let script = format!("script={script}");
    ["--exact", test, "--nocapture", "--", &script].iter().map(OsString::from).collect()
}

impl Scene {
    fn new(script: &str) -> Self {
        Self::with(script, |_| {})
    }

    fn with(script: &str, adjust: impl FnOnce(&mut SpawnOptions)) -> Self {
        let gate = tempfile::tempdir().unwrap();
        let mut options = SpawnOptions {
            program: std::env::current_exe().unwrap(),
            arguments: arguments("fake::serves_as_the_worker_of_the_other_tests", script),
            worker: WorkerOptions {
                library: None,
                companions: Vec::new(),
                driver: None,
                device: 0,
                memory_share: 1.0,
                guard_bytes: 0,
                simulated: true,
                board: PathBuf::new(),
                gate: gate.path().to_path_buf(),
                properties: None,
                assumed: Vec::new(),
                compiled_max: None,
                second_stack: None,
                pressure: None,
            },
            simulator: None,
            faults: None,
            retire_after: SpawnOptions::RETIRE_AFTER,
            deadlines: Deadlines {
                floor: Duration::from_millis(250),
                start: Duration::from_secs(10),
                compile: Duration::ZERO,
                slowest: 50_000_000,
                size_max: Duration::ZERO,
                answer: Duration::from_secs(10),
                poll: Duration::from_millis(10),
            },
        };
        adjust(&mut options);
        let interrupt = Interrupt::default();
        let slot = Slot::new(options, Arc::new(PhaseTimes::default()), interrupt.clone());
        Self { slot, interrupt, _gate: gate }
    }

    fn run(&mut self, selection: Selection) -> Shown {
        let mut shown = Shown { lists: 0, outcomes: Vec::new(), result: Err(HarnessError::Interrupted) };
        let mut sink = |event| match event {
            JobEvent::Process(_) | JobEvent::Drilled(_) | JobEvent::Place(_) => {}
            JobEvent::Candidates(_) => shown.lists += 1,
            JobEvent::Outcome(outcome) => shown.outcomes.push(outcome),
        };
        shown.result = self.slot.run(&job(selection), &mut sink);
        shown
    }

    fn survey(&mut self) -> Shown {
        self.run(Selection::All)
    }
}

impl Shown {
    /// Engines of the outcomes in order; -1 where there was none.
    fn engines(&self) -> Vec<i64> {
        let engine = |outcome: &Outcome| outcome.candidate.as_ref().map_or(-1, |seen| seen.config.engine);
        self.outcomes.iter().map(engine).collect()
    }

    /// Outcomes of workers that did not answer, as engine, exit and phase.
    fn abnormal(&self) -> Vec<(i64, Exit, Phase)> {
        let ends = self.engines().into_iter().zip(&self.outcomes);
        ends.filter(|(_, outcome)| outcome.exit != Exit::Answered)
            .map(|(engine, outcome)| (engine, outcome.exit, outcome.phase))
            .collect()
    }

    fn tally(&self) -> Tally {
        *self.result.as_ref().unwrap()
    }
}

fn job(selection: Selection) -> Job {
    Job::new(77, "dgrad f16 nhwc n2 c8 k8 i9x9 f3x3".parse().unwrap(), selection)
}

/// True while a process exists and is no zombie.
fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .and_then(|rest| rest.trim_start().chars().next())
        .is_some_and(|state| state != 'Z')
}

/// Waits up to two seconds.
fn soon(condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn a_survey_lists_its_candidates_once_and_visits_each() {
    let mut scene = Scene::new("");
    let shown = scene.survey();
    assert_eq!((shown.lists, shown.engines()), (1, vec![0, 1, 2, 3, 4]));
    assert_eq!(shown.tally(), Tally { outcomes: 5, deaths: 0, foreign_us: 2, busy_us: 3, spawned: 1 });
    let first = scene.slot.pid();
    assert_eq!(scene.survey().tally().spawned, 0);
    assert_eq!(scene.slot.pid(), first, "a sound worker is kept");
}

#[test]
fn a_segfault_in_plan_is_blamed_on_its_candidate_and_the_rest_runs_without_repeating_any() {
    let shown = Scene::new("segv@2").survey();
    assert_eq!((shown.lists, shown.engines()), (1, vec![0, 1, 2, 3, 4]));
    assert_eq!(shown.abnormal(), [(2, Exit::Signalled(11), Phase::Plan)]);
    assert_eq!((shown.tally().deaths, shown.tally().spawned), (1, 2));
}

#[test]
fn an_abort_while_executing_is_told_with_what_the_library_printed() {
    let shown = Scene::new("print@1:execute,abort@1:execute").survey();
    assert_eq!(shown.abnormal(), [(1, Exit::Signalled(6), Phase::Execute)]);
    assert!(shown.outcomes[1].stderr.contains("library: out of ideas"), "{}", shown.outcomes[1].stderr);
    assert!(shown.outcomes[0].stderr.is_empty() && shown.outcomes[1].observation.is_none());
}

#[test]
fn several_deaths_in_one_survey_are_each_blamed_once() {
    let shown = Scene::new("exit@0,abort@1,abort@4").survey();
    assert_eq!(shown.engines(), [0, 1, 2, 3, 4]);
    let expected = [(0, Exit::Exited(3)), (1, Exit::Signalled(6)), (4, Exit::Signalled(6))];
    assert_eq!(shown.abnormal(), expected.map(|(engine, exit)| (engine, exit, Phase::Plan)));
    assert_eq!(shown.tally().spawned, 3, "nothing was left to visit after the last death");
}

#[test]
fn a_hang_in_plan_is_killed_at_its_deadline_and_the_rest_still_runs() {
    let shown = Scene::new("hang@3").survey();
    assert_eq!(shown.engines(), [0, 1, 2, 3, 4]);
    assert_eq!(shown.abnormal(), [(3, Exit::TimedOut(250), Phase::Plan)]);
}

#[test]
fn phases_that_each_stay_within_the_deadline_may_exceed_it_together() {
    let shown = Scene::new("slow@1,slow@1:execute,slow@2").survey();
    assert_eq!(shown.abnormal(), []);
    assert_eq!(shown.tally().deaths, 0);
}

#[test]
fn a_death_in_heuristics_ends_the_job_and_names_no_candidate() {
    let shown = Scene::new("segv@heuristics").survey();
    assert_eq!(shown.lists, 0);
    assert_eq!(shown.abnormal(), [(-1, Exit::Signalled(11), Phase::Heuristics)]);
    assert_eq!(shown.tally().outcomes, 1);
}

#[test]
fn a_death_in_teardown_is_told_after_every_visit() {
    let shown = Scene::new("abort@teardown").survey();
    assert_eq!(shown.engines(), [0, 1, 2, 3, 4, -1]);
    assert_eq!(shown.abnormal(), [(-1, Exit::Signalled(6), Phase::Teardown)]);
}

#[test]
fn a_single_case_that_kills_its_worker_is_not_tried_again() {
    let shown = Scene::new("abort@0").run(Selection::Single);
    assert_eq!(shown.abnormal(), [(0, Exit::Signalled(6), Phase::Plan)]);
    assert_eq!(shown.tally(), Tally { outcomes: 1, deaths: 1, spawned: 1, ..Tally::default() });
}

#[test]
fn a_worker_that_dies_between_jobs_is_replaced_and_blamed_on_nobody() {
    let mut scene = Scene::new("exit@idle");
    assert_eq!(scene.survey().abnormal(), []);
    assert!(soon(|| scene.slot.pid().is_some_and(|pid| !lives(pid))));
    assert!(!scene.slot.is_live());
    let shown = scene.survey();
    assert_eq!((shown.abnormal(), shown.engines()), (vec![], vec![0, 1, 2, 3, 4]));
    assert_eq!((shown.tally().deaths, shown.tally().spawned), (1, 1));
}

#[test]
fn a_device_error_is_an_answer_after_which_the_worker_is_replaced() {
    let mut scene = Scene::new("device@1");
    let shown = scene.survey();
    assert_eq!((shown.engines(), shown.abnormal()), (vec![0, 1, 2, 3, 4], vec![]));
    assert_eq!(shown.outcomes[1].phase, Phase::Sync);
    assert_eq!((shown.tally().deaths, shown.tally().spawned), (0, 2));
}

#[test]
fn a_flood_on_stderr_harms_nothing() {
    let shown = Scene::new("flood@1,print@1,abort@1").survey();
    assert_eq!(shown.abnormal(), [(1, Exit::Signalled(6), Phase::Plan)]);
    let kept = &shown.outcomes[1].stderr;
    assert!(kept.len() <= 16 << 10 && kept.contains("library: out of ideas"), "{} bytes", kept.len());
}

#[test]
fn bytes_that_are_no_answer_are_our_own_trouble() {
    for fault in ["garbage", "oversize", "stray"] {
        let mut scene = Scene::new(&format!("{fault}@2"));
        let shown = scene.survey();
        assert_eq!(shown.engines(), [0, 1], "{fault}");
        assert!(matches!(shown.result, Err(HarnessError::Frame(_))), "{fault}: {:?}", shown.result);
        assert!(!scene.slot.is_live(), "{fault}");
    }
}

#[test]
fn a_worker_that_is_never_ready_is_killed_and_told_of() {
    let mut scene = Scene::with("print@start,hang@start", |options| {
        options.deadlines.start = Duration::from_secs(1);
    });
    let error = scene.slot.environment().unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, HarnessError::Broken { .. }) && !error.machine(), "{text}");
    assert!(
        text.contains("1000 ms") && text.contains("phase load") && text.contains("out of ideas"),
        "{text}"
    );
}

#[test]
fn a_worker_that_says_why_it_cannot_work_is_quoted() {
    let mut scene = Scene::new("unusable@start");
    let error = scene.slot.environment().unwrap_err();
    assert!(error.machine() && error.to_string() == "no device", "{error}");
}

#[test]
fn what_a_worker_says_before_it_ends_between_jobs_is_not_lost() {
    let mut scene = Scene::new("unusable@idle,exit@idle");
    assert_eq!(scene.survey().engines(), [0, 1, 2, 3, 4]);
    assert!(soon(|| scene.slot.pid().is_some_and(|pid| !lives(pid))));
    let shown = scene.survey();
    assert!(matches!(shown.result, Err(HarnessError::Unusable { .. })), "{:?}", shown.result);
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let mut scene = Scene::with("", |options| options.program = PathBuf::from("/nowhere/convict"));
    let error = scene.slot.environment().unwrap_err();
    assert!(error.to_string().contains("/nowhere/convict"), "{error}");
}

#[test]
fn the_board_has_no_name_any_more_once_its_worker_is_ready() {
    let mut scene = Scene::with("", |options| options.simulator = Some(PathBuf::from("/simulator")));
    let environment = scene.slot.environment().unwrap();
    assert!(environment.found.contains("convict-board-") && !Path::new(&environment.found).exists());
    assert_eq!(environment.gpu, "/simulator", "the simulator is the worker's search path");
}

#[test]
fn a_known_good_case_that_fails_twice_puts_the_slot_in_quarantine() {
    let mut scene = Scene::new("abort@2,wrong@probe");
    let shown = scene.survey();
    assert_eq!(shown.engines(), [0, 1, 2]);
    assert!(matches!(shown.result, Err(HarnessError::Unhealthy { .. })), "{:?}", shown.result);
    let again = scene.survey();
    assert!(matches!(again.result, Err(HarnessError::Unhealthy { .. })) && again.outcomes.is_empty());
}

#[test]
fn a_known_good_case_may_pass_at_the_second_try() {
    let shown = Scene::new("abort@2,wrong-once@probe").survey();
    assert_eq!(shown.engines(), [0, 1, 2, 3, 4]);
    assert_eq!(shown.tally().spawned, 3);
}

#[test]
fn a_fresh_slot_and_a_spent_worker_give_a_new_process() {
    let mut scene = Scene::with("", |options| options.retire_after = 2);
    assert_eq!(scene.survey().tally().spawned, 1);
    scene.slot.fresh();
    assert!(!scene.slot.is_live());
    assert_eq!(scene.survey().tally().spawned, 1);
    assert_eq!(scene.survey().tally().spawned, 0);
    assert!(!scene.slot.is_live(), "two jobs were all that this worker may do");
}

#[test]
fn questions_are_answered_and_a_death_over_one_is_our_own_trouble() {
    let mut scene = Scene::new("");
    assert!(scene.slot.inventory().is_ok());
    assert_eq!(scene.slot.self_test().unwrap()[0].0, "guard");
    let error = Scene::new("exit@inventory").slot.inventory().unwrap_err();
    assert!(error.to_string().contains("exited with code 3"), "{error}");
}

#[test]
fn an_interrupt_ends_a_job_soon_and_leaves_no_worker() {
    let mut scene = Scene::with("hang@1", |options| options.deadlines.floor = Duration::from_secs(60));
    scene.slot.environment().unwrap();
    let (pid, interrupt) = (scene.slot.pid().unwrap(), scene.interrupt.clone());
    let setter = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        interrupt.set();
    });
    let start = Instant::now();
    let shown = scene.survey();
    assert!(matches!(shown.result, Err(HarnessError::Interrupted)), "{:?}", shown.result);
    assert!(start.elapsed() < Duration::from_secs(1) && !lives(pid));
    setter.join().unwrap();
}

#[test]
fn a_job_that_stalls_past_its_limit_is_out_of_time_and_the_next_one_runs() {
    let mut scene = Scene::with("hang@1", |options| options.deadlines.floor = Duration::from_secs(60));
    scene.slot.environment().unwrap();
    let (pid, start) = (scene.slot.pid().unwrap(), Instant::now());
    scene.slot.limit(Some(start + Duration::from_millis(100)));
    let shown = scene.survey();
    assert!(matches!(shown.result, Err(HarnessError::OutOfTime)), "{:?}", shown.result);
    assert!(shown.abnormal().is_empty(), "nothing is blamed for it: {:?}", shown.outcomes);
    assert!(start.elapsed() < Duration::from_secs(1) && !lives(pid));
    scene.slot.limit(None);
    // The first engine alone, which does not hang.
    let shown = scene.run(Selection::Single);
    assert_eq!((shown.engines(), shown.tally().deaths), (vec![0], 0));
}

#[test]
fn a_dropped_slot_leaves_no_process() {
    let mut scene = Scene::new("");
    scene.slot.environment().unwrap();
    let pid = scene.slot.pid().unwrap();
    assert!(lives(pid));
    drop(scene);
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "it is reaped, not only dead");
}

/// Not a test by itself: the supervisor that the next test kills.
#[test]
fn serves_as_the_supervisor_that_is_killed() {
    let Some(file) = std::env::var_os("CONVICT_TEST_SUPERVISOR") else { return };
    let mut scene = Scene::with("hang@0", |options| options.deadlines.floor = Duration::from_secs(60));
    scene.slot.environment().unwrap();
    let pid = scene.slot.pid().unwrap().to_string();
    // The list comes right before the hang, in which the worker cannot notice its socket's end.
    let mut sink = |_| {
        let partial = Path::new(&file).with_extension("partial");
        std::fs::write(&partial, &pid).unwrap();
        std::fs::rename(&partial, &file).unwrap();
    };
    scene.slot.run(&job(Selection::All), &mut sink).unwrap();
}

#[test]
fn a_killed_supervisor_takes_its_worker_along() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let mut supervisor = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "serves_as_the_supervisor_that_is_killed"])
        .env("CONVICT_TEST_SUPERVISOR", &file)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    assert!(soon(|| file.exists()));
    let pid: u32 = std::fs::read_to_string(&file).unwrap().parse().unwrap();
    assert!(lives(pid));
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    assert!(soon(|| !lives(pid)), "worker {pid} outlived its supervisor");
}
