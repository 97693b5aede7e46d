//! `convict replay`: reads a corpus, runs it on one library set, tells how each entry stands.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use case::Selection;
use corpus::{Corpus, Date, Listed, Record, Revision, SetFacts, Shard, State};
use gate::{Allowed, Asking, Ended};
use reports::replay::Replayed;
use serde::Serialize;

use crate::args::{Plans, Replay};
use crate::commands::hunt::cores;
use crate::failure::{CLEAN, FOUND, Failure, REFUSED, UNJUDGED};
use crate::machine::Machine;
use crate::screen::{errln, outln};

/// Most multiply-adds that the simulator, a CPU, is asked for. A GPU has no limit.
const WORK_SIMULATED: i64 = 20_000_000;

/// Entries named for each reason why some were not run.
const NAMED: usize = 3;

/// Where a corpus lies if nobody says so.
const CORPUS: &str = "corpus";

/// Runs the replay.
pub(crate) fn run(arguments: &Replay) -> Result<u8, Failure> {
    let start = Instant::now();
    let (listed, mut warnings, broken) = read(arguments)?;
    if arguments.list {
        for listed in &listed {
            outln!("{}", listed.id);
        }
        errln!("convict: {} entries", listed.len());
        return Ok(if broken { REFUSED } else { CLEAN });
    }
    let machine = Machine::new(&arguments.machine, &arguments.devices.device, None)?;
    let workers =
        arguments.workers.map_or_else(|| cores().max(machine.devices()), |workers| workers as usize);
    machine.require_workers(workers)?;
    machine.prepare()?;
    let mut slots = machine.slots(workers);
    let described = preflight(&machine, &mut slots)?;
    let set = SetFacts::of(slots[0].environment()?, machine.simulated()).map_err(Failure::Ours)?;
    if !arguments.json {
        outln!("{described}");
    }
    warnings.extend(overdue(&listed, &set));
    for warning in &warnings {
        errln!("convict: {warning}");
    }
    let asked = gate::Replay {
        listed: &listed,
        set: &set,
        asking: asking(arguments, machine.simulated()),
        allowed: Allowed {
            until: arguments.time.and_then(|time| start.checked_add(time)),
            interrupt: machine.interrupt().clone(),
        },
    };
    let each = |record: &Record| {
        // What was not run is summed up at the end: most of it for one reason.
        if !arguments.json && !matches!(record.state, State::Pass | State::Skipped) {
            outln!("{:<12} {}  {}", record.state.name(), record.id, record.why);
        }
    };
    let Ended { records, interrupted } = gate::replay(&asked, slots, || machine.slot(), &each);
    let replayed = Replayed {
        described: &described,
        strict: arguments.strict,
        seconds: start.elapsed().as_secs_f64(),
        records: &records,
        warnings: &warnings,
    };
    let revisions = revise(arguments, &set, &listed, &records)?;
    write(arguments, &replayed)?;
    tell(arguments, &set, &replayed, &revisions)?;
    if interrupted {
        return Err(Failure::Interrupted);
    }
    code(&replayed, broken)
}

/// The entries of this run, what is wrong with the corpus, and whether that is more than a warning.
fn read(arguments: &Replay) -> Result<(Vec<Listed>, Vec<String>, bool), Failure> {
    let default = [PathBuf::from(CORPUS)];
    let paths: &[PathBuf] = if arguments.paths.is_empty() { &default } else { &arguments.paths };
    let shard = shard(arguments)?;
    let Corpus { mut listed, troubles } = Corpus::read(paths);
    let troubles: Vec<String> = troubles.iter().map(ToString::to_string).collect();
    if listed.is_empty() {
        let why = troubles.join("\nconvict: ");
        return Err(Failure::Usage(if why.is_empty() { "no entries".to_owned() } else { why }));
    }
    let words = &arguments.r#match;
    let matches = |listed: &Listed| {
        words.is_empty()
            || words.iter().any(|word| listed.id.contains(word) || listed.entry.case.contains(word))
    };
    listed.retain(matches);
    if listed.is_empty() {
        return Err(Failure::Usage(format!(
            "--match {}: no entry has that in its name or case",
            words.join(" ")
        )));
    }
    // Parts are taken of what matches, so that they are even.
    let mut position = 0;
    listed.retain(|_| {
        position += 1;
        shard.takes(position - 1)
    });
    let broken = !troubles.is_empty();
    Ok((listed, troubles, broken))
}

fn shard(arguments: &Replay) -> Result<Shard, Failure> {
    if let Some(shard) = arguments.shard {
        return Ok(shard);
    }
    let variable = |name: &str| std::env::var(name).ok();
    let found = Shard::from_variables(variable).map_err(|error| Failure::Usage(error.to_string()))?;
    let Some((shard, name)) = found else { return Ok(Shard::WHOLE) };
    // Bazel wants to see that a test heeds its shards.
    if let Some(file) = std::env::var_os("TEST_SHARD_STATUS_FILE") {
        std::fs::write(&file, "")
            .map_err(|error| Failure::file("TEST_SHARD_STATUS_FILE", Path::new(&file), &error))?;
    }
    if !shard.is_whole() {
        errln!("convict: part {shard} of the entries, by {name}");
    }
    Ok(shard)
}

/// What is being tested; a machine that cannot run the simplest case is none of the corpus's business.
fn preflight(machine: &Machine, slots: &mut [exec::Slot]) -> Result<String, Failure> {
    let Some(first) = slots.first_mut() else { return Err(Failure::Ours("no worker".to_owned())) };
    let described = machine.describe(first.environment()?);
    match gate::preflight(first)? {
        None => Ok(described),
        Some(why) => Err(Failure::Elsewhere(format!("preflight: {why} ({described})"))),
    }
}

fn asking(arguments: &Replay, simulated: bool) -> Asking {
    Asking {
        engines: match arguments.engines {
            Plans::Own => Selection::Single,
            Plans::Heuristics => Selection::Heuristics,
            Plans::All => Selection::All,
        },
        multiply_adds_max: if simulated { WORK_SIMULATED } else { 0 },
        time: arguments.case_time,
        looking_for_one: false,
    }
}

fn overdue(listed: &[Listed], set: &SetFacts) -> Vec<String> {
    let today = Date::today();
    let due = |listed: &Listed| {
        let mut due = listed.entry.overdue(today).filter(|one| one.applies(set));
        due.next().and_then(|one| one.review_by).map(|day| format!("{}: review was due by {day}", listed.id))
    };
    listed.iter().filter_map(due).collect()
}

/// Edits that unexpected right results ask for, by entry; made where that is wanted.
fn revise(
    arguments: &Replay,
    set: &SetFacts,
    listed: &[Listed],
    records: &[Record],
) -> Result<BTreeMap<String, String>, Failure> {
    let mut revisions = BTreeMap::new();
    for (listed, record) in listed.iter().zip(records) {
        if record.state != State::Xpass {
            continue;
        }
        let Some(revision) = Revision::close(&listed.entry, set) else { continue };
        if arguments.update {
            match listed.bundle() {
                Some(bundle) => reports::record_entry(bundle, &revision.entry)
                    .map_err(|error| Failure::Ours(format!("{}: {error}", bundle.display())))?,
                None => listed.replace(&revision.entry).map_err(|error| Failure::Ours(error.to_string()))?,
            }
        }
        revisions.insert(listed.path.display().to_string(), revision.words);
    }
    Ok(revisions)
}

fn write(arguments: &Replay, replayed: &Replayed<'_>) -> Result<(), Failure> {
    if let Some(path) = &arguments.junit {
        let text = reports::replay::junit(replayed).map_err(Failure::Ours)?;
        std::fs::write(path, text).map_err(|error| Failure::file("--junit", path, &error))?;
    }
    let on_github = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    if arguments.github || on_github {
        for line in reports::replay::annotations(replayed) {
            // The runner reads commands from both outputs; JSON stays alone on the one.
            if arguments.json { errln!("{line}") } else { outln!("{line}") }
        }
        if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").map(PathBuf::from) {
            let page = reports::replay::summary(replayed);
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(&path)
                .and_then(|mut file| file.write_all(page.as_bytes()))
                .map_err(|error| Failure::file("GITHUB_STEP_SUMMARY", &path, &error))?;
        }
    }
    Ok(())
}

/// What `--json` prints.
#[derive(Serialize)]
struct Told<'run> {
    set: &'run str,
    described: &'run str,
    seconds: f64,
    counts: BTreeMap<&'static str, usize>,
    warnings: &'run [String],
    edits: &'run BTreeMap<String, String>,
    records: &'run [Record],
}

fn tell(
    arguments: &Replay,
    set: &SetFacts,
    replayed: &Replayed<'_>,
    edits: &BTreeMap<String, String>,
) -> Result<(), Failure> {
    if arguments.json {
        let result = Told {
            set: &set.name,
            described: replayed.described,
            seconds: replayed.seconds,
            counts: replayed.counts().into_iter().map(|(state, count)| (state.name(), count)).collect(),
            warnings: replayed.warnings,
            edits,
            records: replayed.records,
        };
        outln!("{}", serde_json::to_string(&result).map_err(|error| Failure::Ours(error.to_string()))?);
        return Ok(());
    }
    let (what, done) = if arguments.update { ("edited", "") } else { ("edit", " (--update makes it)") };
    for (file, words) in edits {
        outln!("{what}         {file}: {words}{done}");
    }
    for line in skipped(replayed.records) {
        outln!("{line}");
    }
    outln!("{}", replayed.line());
    let regressions = replayed.regressions().count();
    outln!(
        "{}",
        if regressions == 0 { "no regression".to_owned() } else { format!("{regressions} regressions") }
    );
    Ok(())
}

/// One line for each reason why entries were not run.
fn skipped(records: &[Record]) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.state == State::Skipped) {
        reasons.entry(&record.why).or_default().push(&record.id);
    }
    let line = |(why, ids): (&str, Vec<&str>)| {
        let shown = ids[..ids.len().min(NAMED)].join(", ");
        let more = ids.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more (--json names all)") } else { String::new() };
        format!("{:<12} {shown}{more}  {why}", State::Skipped.name())
    };
    reasons.into_iter().map(line).collect()
}

/// A regression speaks louder than anything that could not be run.
fn code(replayed: &Replayed<'_>, broken: bool) -> Result<u8, Failure> {
    if replayed.regressions().next().is_some() {
        return Ok(FOUND);
    }
    if broken {
        return Ok(REFUSED);
    }
    if let Some(lost) = replayed.lost().next() {
        let count = replayed.lost().count();
        return Err(Failure::Elsewhere(format!(
            "{count} entries could not be run, {} first: {}",
            lost.id, lost.why
        )));
    }
    let judged = replayed.records.iter().any(|record| record.state.is_judged());
    Ok(if judged || replayed.records.is_empty() { CLEAN } else { UNJUDGED })
}
