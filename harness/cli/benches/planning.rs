//! How many problems a hunt for plans gets through: the real library without a GPU, run-time compilation off and on.
//! Needs the wheels in the cache (`convict sets --fetch wheel:9.19.0.56 --plans-only`); says so where they are not.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use criterion::{Criterion, Throughput};
use wheels::{Cache, Name, Wheel};

/// The set that is measured.
const SET: &str = "9.19.0.56";

/// Option of run-time compilation, and problems of one measurement.
const HUNTS: [(&str, u64); 2] = [("off", 400), ("on", 30)];

#[expect(clippy::print_stderr, reason = "a bench without what it measures says so to who started it")]
fn main() {
    let Some(libraries) = libraries() else {
        eprintln!(
            "SKIPPED: wheel:{SET} and its compiler are not in the cache; convict sets --fetch gets them"
        );
        return;
    };
    let mut criterion =
        Criterion::default().sample_size(10).measurement_time(Duration::from_secs(1)).configure_from_args();
    let mut group = criterion.benchmark_group("hunt --plan-only");
    for (rtc, problems) in HUNTS {
        group.throughput(Throughput::Elements(problems));
        group.bench_function(format!("--rtc {rtc}"), |bencher| {
            bencher.iter(|| hunt(&libraries, rtc, problems))
        });
    }
    group.finish();
}

/// Options that name cuDNN and its compiler, where the cache has both.
fn libraries() -> Option<Vec<(&'static str, PathBuf)>> {
    let cache = Cache::usual(|name| std::env::var_os(name)).ok()?;
    let wheel = wheels::find(&Name::parse(SET).ok()?, 13).ok()?;
    let companions = wheels::companions(wheel, true).into_iter().map(|wheel| ("--companion", wheel));
    let all: Vec<(&str, &Wheel)> = std::iter::once(("--library", wheel)).chain(companions).collect();
    let whole = all.iter().all(|(_, wheel)| cache.holds(wheel));
    whole.then(|| all.into_iter().map(|(option, wheel)| (option, cache.libraries(wheel))).collect())
}

/// One hunt on two workers, of problems that are always the same.
fn hunt(libraries: &[(&str, PathBuf)], rtc: &str, problems: u64) {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-planning");
    let _ = std::fs::remove_dir_all(&out);
    let mut command = Command::new(env!("CARGO_BIN_EXE_convict"));
    command.args([
        "hunt",
        "--plan-only",
        "--arch",
        "sm_90",
        "--workers",
        "2",
        "--seed",
        "11",
        "--rtc",
        rtc,
        "--cases",
    ]);
    command.arg(problems.to_string()).arg("--out").arg(&out);
    for (option, folder) in libraries {
        command.arg(option).arg(folder);
    }
    // It may find what is known; anything above 1 is no measurement.
    let ended = command.stdout(Stdio::null()).status();
    assert!(ended.as_ref().is_ok_and(|ended| matches!(ended.code(), Some(0 | 1))), "{ended:?}");
}
