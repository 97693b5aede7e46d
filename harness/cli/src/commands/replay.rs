//! `convict replay`: reads a corpus, runs it on one library set, tells how each entry stands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use case::Selection;
use corpus::{Corpus, Date, Listed, Record, Revision, SetFacts, Shard, State};
use gate::{Allowed, Asking, Ended};
use reports::replay::Replayed;
use serde::Serialize;

use crate::args::{Plans, Replay, Switch};
use crate::commands::hunt::cores;
use crate::failure::{CLEAN, FOUND, Failure, REFUSED, UNJUDGED};
use crate::machine::Machine;
use crate::planning::planned;
use crate::screen::{errln, outln};
use crate::side::Side;

/// Most multiply-adds that the simulator, a CPU, is asked for. A GPU has no limit.
const WORK_SIMULATED: i64 = 20_000_000;

/// Entries named for each reason why some were not run.
const NAMED: usize = 3;

/// Where a corpus lies if nobody says so.
const CORPUS: &str = "corpus";

/// Runs the replay.
pub(crate) fn run(arguments: &Replay) -> Result<u8, Failure> {
    let start = Instant::now();
    let (listed, troubles) = read(arguments)?;
    for trouble in &troubles {
        errln!("convict: {trouble}");
    }
    if arguments.list {
        for listed in &listed {
            outln!("{}", listed.id);
        }
        let entries = if listed.len() == 1 { "entry" } else { "entries" };
        errln!("convict: {} {entries}", listed.len());
        return Ok(if troubles.is_empty() { CLEAN } else { REFUSED });
    }
    let sides = Sides::claim(arguments, &listed)?;
    let planned = planned(&arguments.plans, arguments.machine.simulate.is_some(), Switch::All)?;
    let machine = Machine::of(&arguments.machine, &arguments.devices.device, planned.as_ref())?;
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
    let warnings = overdue(&listed, &set);
    for warning in &warnings {
        errln!("convict: {warning}");
    }
    let asked = gate::Replay {
        listed: &listed,
        set: &set,
        asking: asking(arguments, &machine),
        allowed: Allowed {
            until: arguments.time.and_then(|time| start.checked_add(time)),
            interrupt: machine.interrupt().clone(),
        },
        plans_only: machine.plans_only(),
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
        troubles: &troubles,
        warnings: &warnings,
    };
    // What was found is told before anything can go wrong with a file.
    let (revisions, unrevised) = revise(arguments, &set, &listed, &records);
    tell(arguments, &set, &replayed, (&revisions, interrupted))?;
    let unwritten = sides.write(&replayed).err().into_iter().chain(unrevised);
    let stopped = interrupted.then_some(Failure::Interrupted);
    code(&replayed, unwritten.chain(stopped))
}

/// The entries of this run, and what of the corpus cannot be read.
fn read(arguments: &Replay) -> Result<(Vec<Listed>, Vec<String>), Failure> {
    let default = [PathBuf::from(CORPUS)];
    let paths: &[PathBuf] = if arguments.paths.is_empty() { &default } else { &arguments.paths };
    let shard = shard(arguments)?;
    let Corpus { mut listed, troubles } = Corpus::read(paths);
    let troubles: Vec<String> = troubles.iter().map(ToString::to_string).collect();
    if listed.is_empty() {
        return Err(Failure::Usage(match troubles.as_slice() {
            [] => "no entries".to_owned(),
            [only] => only.clone(),
            [first, others @ ..] => format!("{first}; and {} more that cannot be read", others.len()),
        }));
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
    Ok((listed, troubles))
}

fn shard(arguments: &Replay) -> Result<Shard, Failure> {
    if let Some(shard) = arguments.shard {
        return Ok(shard);
    }
    // What is no text is no number either, and is told like one that is none.
    let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let found = Shard::from_variables(variable).map_err(|error| Failure::Usage(error.to_string()))?;
    let Some((shard, name)) = found else { return Ok(Shard::WHOLE) };
    // Bazel wants to see that a test heeds its shards.
    if let Some(file) = std::env::var_os("TEST_SHARD_STATUS_FILE") {
        std::fs::write(&file, "").map_err(|error| {
            Failure::Usage(format!("TEST_SHARD_STATUS_FILE {}: {error}", Path::new(&file).display()))
        })?;
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
    if machine.plans_only() {
        return Ok(described);
    }
    match gate::preflight(first)? {
        None => Ok(described),
        Some(why) => Err(Failure::Elsewhere(format!("preflight: {why} ({described})"))),
    }
}

fn asking(arguments: &Replay, machine: &Machine) -> Asking {
    let executes_slowly = machine.simulated() && !machine.plans_only();
    Asking {
        engines: match arguments.engines {
            Plans::Own => Selection::Single,
            Plans::Heuristics => Selection::Heuristics,
            Plans::All => Selection::All,
        },
        multiply_adds_max: if executes_slowly { WORK_SIMULATED } else { 0 },
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

/// Edits that unexpected right results ask for, by entry; made where that is wanted, and told once they are made.
fn revise(
    arguments: &Replay,
    set: &SetFacts,
    listed: &[Listed],
    records: &[Record],
) -> (BTreeMap<String, String>, Vec<Failure>) {
    let (mut revisions, mut failures) = (BTreeMap::new(), Vec::new());
    for (listed, record) in listed.iter().zip(records) {
        if record.state != State::Xpass {
            continue;
        }
        let Some(revision) = Revision::close(&listed.entry, set) else { continue };
        let made = match (arguments.update, listed.bundle()) {
            (false, _) => Ok(()),
            (true, Some(bundle)) => reports::record_entry(bundle, &revision.entry)
                .map_err(|error| Failure::Ours(format!("{}: {error}", bundle.display()))),
            (true, None) => listed.replace(&revision.entry).map_err(|error| Failure::Ours(error.to_string())),
        };
        match made {
            Ok(()) => {
                revisions.insert(listed.path.display().to_string(), revision.words);
            }
            Err(failure) => failures.push(failure),
        }
    }
    (revisions, failures)
}

/// Files that a pipeline reads.
struct Sides {
    junit: Option<Side>,
    /// True where GitHub's runner reads the output.
    github: bool,
    summary: Option<Side>,
    /// True where standard output is JSON alone.
    json: bool,
}

impl Sides {
    fn claim(arguments: &Replay, listed: &[Listed]) -> Result<Self, Failure> {
        let claim = |name, path: &Path| Side::claim(name, path, listed.iter().map(|one| one.path.as_path()));
        let github =
            arguments.github || std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| github && !path.is_empty());
        Ok(Self {
            junit: arguments.junit.as_deref().map(|path| claim("--junit", path)).transpose()?,
            github,
            summary: summary.map(|path| claim("GITHUB_STEP_SUMMARY", Path::new(&path))).transpose()?,
            json: arguments.json,
        })
    }

    fn write(&self, replayed: &Replayed<'_>) -> Result<(), Failure> {
        if self.github {
            for line in reports::replay::annotations(replayed) {
                // The runner reads commands from both outputs; JSON stays alone on the one.
                if self.json { errln!("{line}") } else { outln!("{line}") }
            }
        }
        if let Some(junit) = &self.junit {
            junit.put(&reports::replay::junit(replayed).map_err(Failure::Ours)?)?;
        }
        match &self.summary {
            Some(summary) => summary.append(&reports::replay::summary(replayed)),
            None => Ok(()),
        }
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Told<'run> {
    set: &'run str,
    described: &'run str,
    seconds: f64,
    counts: BTreeMap<&'static str, usize>,
    unreadable: &'run [String],
    warnings: &'run [String],
    edits: &'run BTreeMap<String, String>,
    records: &'run [Record],
}

fn tell(
    arguments: &Replay,
    set: &SetFacts,
    replayed: &Replayed<'_>,
    (edits, interrupted): (&BTreeMap<String, String>, bool),
) -> Result<(), Failure> {
    if arguments.json {
        let result = Told {
            set: &set.name,
            described: replayed.described,
            seconds: replayed.seconds,
            counts: replayed.counts().into_iter().map(|(state, count)| (state.name(), count)).collect(),
            unreadable: replayed.troubles,
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
    let verdict = replayed.verdict();
    outln!("{}", if interrupted { format!("interrupted; so far: {verdict}") } else { verdict });
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

/// A regression speaks louder than anything that could not be run, read or written.
fn code(replayed: &Replayed<'_>, failures: impl Iterator<Item = Failure>) -> Result<u8, Failure> {
    let mut failures: Vec<Failure> = failures.collect();
    let regressed = replayed.regressions().next().is_some();
    let last = if regressed { None } else { failures.pop() };
    for failure in failures {
        errln!("convict: {failure}");
    }
    if let Some(failure) = last {
        return Err(failure);
    }
    if regressed {
        return Ok(FOUND);
    }
    if !replayed.troubles.is_empty() {
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
