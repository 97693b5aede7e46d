//! Limits follow floors and percentiles; a watch runs from the last sign of progress.

use std::time::{Duration, Instant};

use case::{Announcement, Phase};

use super::{BUCKETS, Deadlines, Errand, Limit, PhaseTimes, Watch, bucket, bucket_end};

fn announcement(job: u64, sequence: u32) -> Option<Announcement> {
    Some(Announcement { job, ordinal: 0, phase: Phase::Execute, sequence })
}

#[test]
fn buckets_follow_one_another_and_hold_their_durations() {
    for index in 0..BUCKETS {
        let end = bucket_end(index);
        assert_eq!(bucket(end), index);
        if index + 1 < BUCKETS {
            assert_eq!(bucket(end + 1), index + 1);
        }
    }
    assert_eq!(bucket(u64::MAX), BUCKETS - 1);
}

#[test]
fn a_percentile_needs_a_hundred_durations_and_ignores_the_slowest_of_them() {
    let times = PhaseTimes::default();
    for _ in 0..99 {
        times.record(Phase::Plan, 1_000);
    }
    assert_eq!(times.percentile_99(Phase::Plan), None);
    times.record(Phase::Plan, 60_000_000);
    let percentile = times.percentile_99(Phase::Plan).unwrap();
    assert!((1_000..1_250).contains(&percentile.as_micros()), "{percentile:?}");
    assert_eq!(times.percentile_99(Phase::Execute), None, "phases are kept apart");
}

#[test]
fn a_limit_is_the_floor_until_the_run_shows_slower_phases() {
    let (deadlines, times) = (Deadlines::gpu(), PhaseTimes::default());
    assert_eq!(deadlines.limit(Phase::Execute, 0, &times).time, Duration::from_secs(10));
    assert_eq!(deadlines.limit(Phase::Plan, 0, &times).time, Duration::from_secs(70));
    assert_eq!(deadlines.limit(Phase::Load, 0, &times).time, Duration::from_secs(60));
    for _ in 0..200 {
        times.record(Phase::Execute, 1_000_000);
    }
    let limit = deadlines.limit(Phase::Execute, 0, &times).time;
    assert!((20..=25).contains(&limit.as_secs()), "{limit:?}");
}

#[test]
fn reaching_the_limit_of_a_large_problem_proves_no_hang() {
    let (deadlines, times) = (Deadlines::gpu(), PhaseTimes::default());
    // dgrad engine 2 of cuDNN 9.19.0 on f16 nhwc n1 c3 k2 i1297x4096 f1x1 s2x2: 6.4 s for each execution.
    let large = 649 * 2048 * 2 * 3;
    let limit = deadlines.limit(Phase::Sync, large, &times);
    assert_eq!((limit.time.as_secs(), limit.proves_hang), (20, false));
    // A problem of which the slowest engine gets through four executions in a second.
    let limit = deadlines.limit(Phase::Sync, 250_000, &times);
    assert_eq!((limit.time.as_secs(), limit.proves_hang), (11, true));
    for phase in [Phase::Heuristics, Phase::Plan, Phase::Describe] {
        let (with, without) = (deadlines.limit(phase, large, &times), deadlines.limit(phase, 0, &times));
        assert_eq!(with, without, "nothing is executed in {}", phase.name());
        assert!(with.proves_hang);
    }
    assert!(!deadlines.limit(Phase::Execute, u64::MAX, &times).proves_hang, "no overflow");
}

#[test]
fn only_progress_of_the_own_job_restarts_the_clock() {
    let (deadlines, times) = (Deadlines::simulator(), PhaseTimes::default());
    let start = Instant::now();
    let at = |milliseconds| start + Duration::from_millis(milliseconds);
    let mut watch = Watch::new(Errand::Job { id: 7, multiply_adds: 0 }, start);
    watch.look(announcement(7, 1), at(200));
    watch.look(announcement(7, 1), at(400));
    assert_eq!(watch.overdue(&deadlines, &times, at(440)), None);
    assert_eq!(
        watch.overdue(&deadlines, &times, at(460)),
        Some(Limit { time: deadlines.floor, proves_hang: true })
    );
    watch.look(announcement(6, 2), at(460));
    watch.look(None, at(460));
    assert_eq!(
        watch.overdue(&deadlines, &times, at(460)),
        Some(Limit { time: deadlines.floor, proves_hang: true })
    );
    watch.look(announcement(7, 2), at(460));
    assert_eq!(watch.overdue(&deadlines, &times, at(470)), None);
    watch.heard(at(700));
    assert_eq!(watch.overdue(&deadlines, &times, at(900)), None);
}

#[test]
fn a_question_has_one_limit_for_the_whole_answer() {
    let (deadlines, times) = (Deadlines::simulator(), PhaseTimes::default());
    let start = Instant::now();
    let mut watch = Watch::new(Errand::Question, start);
    watch.look(announcement(7, 1), start + Duration::from_secs(59));
    assert_eq!(watch.overdue(&deadlines, &times, start + Duration::from_secs(59)), None);
    assert_eq!(
        watch.overdue(&deadlines, &times, start + Duration::from_secs(61)),
        Some(Limit { time: deadlines.answer, proves_hang: true })
    );
}
