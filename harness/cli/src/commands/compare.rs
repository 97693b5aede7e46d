//! `convict compare`: two library sets on the same problems, one verdict.

use std::path::{Path, PathBuf};
use std::time::Instant;

use case::{Case, Selection};
use corpus::{Contrast, Corpus, Difference, engine_free};
use gate::{Allowed, Problem};
use hunt::{Around, Generator, Limits, Source};

use crate::args::{Compare, EngineSet};
use crate::commands::hunt::cores;
use crate::failure::{CLEAN, FOUND, Failure, UNJUDGED};
use crate::screen::{errln, outln};
use crate::sets::{Set, require_two};
use crate::side::Side;
use crate::traffic;

/// Share of a worker's memory that generated tensors may take, as in a hunt.
const TENSOR_SHARE: f64 = 0.25;

/// Most multiply-adds that are executed: a GPU takes seconds for more on its slowest engines, a CPU for less.
const WORK: i64 = 20_000_000_000;

/// The same on the simulator.
const WORK_SIMULATED: i64 = 20_000_000;

/// Where a corpus lies if nobody says so.
const CORPUS: &str = "corpus";

/// Runs the comparison.
pub(crate) fn run(arguments: &Compare) -> Result<u8, Failure> {
    let start = Instant::now();
    let holds_something =
        |out: &&Path| out.exists() && !out.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    if let Some(out) = arguments.out.as_deref().filter(holds_something) {
        return Err(Failure::Usage(format!("--out {}: is there already; name a new folder", out.display())));
    }
    let junit = arguments.junit.as_deref().map(|path| Side::claim("--junit", path, [])).transpose()?;
    let out = arguments.out.as_deref().map(make).transpose()?;
    let listed = listed(arguments)?;
    let named = |name: &str| Set::named(name, &arguments.machine, &arguments.devices.device, None);
    let (baseline, candidate) = (named(&arguments.baseline)?, named(&arguments.candidate)?);
    require_two(&baseline, &candidate)?;
    let machines = [baseline.machine(), candidate.machine()];
    let pairs = arguments
        .workers
        .map_or_else(cores, |workers| workers as usize)
        .div_ceil(2)
        .max(machines[0].devices());
    // Both sets' workers share the memory of a device.
    let slots = machines.map(|machine| {
        let mut slots = machine.slots(pairs * 2);
        slots.truncate(pairs);
        slots
    });
    let [mut ours, mut theirs] = slots;
    let described = [described(machines[0], &mut ours)?, described(machines[1], &mut theirs)?];
    let simulated = machines[0].simulated();
    let (memory, architecture) = {
        let environment = ours[0].environment()?;
        (environment.memory_bytes, format!("sm_{}", environment.compute_capability))
    };
    let sets = [ours[0].environment()?.set(), theirs[0].environment()?.set()];
    let source = source(arguments, simulated, memory / (2 * pairs as u64))?;
    let stream = |number: u64| {
        let case =
            arguments.cases.is_none_or(|most| number < most).then(|| source.problem(number)).flatten()?;
        Some(Problem { case: plain(&case), source: format!("problem {number} of the hunt") })
    };
    let allowed =
        Allowed { until: start.checked_add(arguments.time), interrupt: machines[0].interrupt().clone() };
    let asked = asked(arguments, &listed, &stream, simulated, allowed);
    if !arguments.json {
        outln!("baseline   {}", described[0]);
        outln!("candidate  {}", described[1]);
    }
    let each = |difference: &Difference| {
        if !arguments.json {
            outln!("{:<20} {}  {}", difference.change.name(), difference.repeat, difference.words);
        }
    };
    let shown = gate::compare(&asked, ours.into_iter().zip(theirs).collect(), &each);
    let [one, other] = described;
    let contrast = Contrast { baseline: one, candidate: other, sets, architecture, ..shown };
    // What was found is told before anything can go wrong with a file.
    if arguments.json {
        outln!("{}", json(&contrast)?);
    } else {
        outln!("{}", contrast.verdict());
    }
    let written = write((junit.as_ref(), out), &contrast, simulated);
    let stopped = if machines[0].interrupt().is_set() { Err(Failure::Interrupted) } else { Ok(()) };
    match (code(&contrast), written.and(stopped)) {
        (FOUND, Err(failure)) => {
            errln!("convict: {failure}");
            Ok(FOUND)
        }
        (code, ended) => ended.map(|()| code),
    }
}

/// What is better now, or only different, is no reason to stay.
fn code(contrast: &Contrast) -> u8 {
    match () {
        () if contrast.has_regressions() => FOUND,
        () if contrast.problems == contrast.unjudged || contrast.is_cut_short() => UNJUDGED,
        () => CLEAN,
    }
}

fn asked<'a>(
    arguments: &Compare,
    listed: &'a [Problem],
    stream: &'a (dyn Fn(u64) -> Option<Problem> + Sync),
    simulated: bool,
    allowed: Allowed,
) -> gate::Compare<'a> {
    gate::Compare {
        listed,
        stream,
        selection: match arguments.engines {
            EngineSet::All => Selection::All,
            EngineSet::Heuristics => Selection::Heuristics,
        },
        multiply_adds_max: if simulated { WORK_SIMULATED } else { WORK },
        // The simulator's times are those of this CPU.
        timed: !simulated,
        allowed,
    }
}

/// What is tested, once it can be trusted.
fn described(machine: &crate::machine::Machine, slots: &mut [exec::Slot]) -> Result<String, Failure> {
    let Some(first) = slots.first_mut() else { return Err(Failure::Ours("no worker".to_owned())) };
    let described = machine.describe(first.environment()?);
    match gate::preflight(first)? {
        None => Ok(described),
        Some(why) => Err(Failure::Elsewhere(format!("preflight: {why} ({described})"))),
    }
}

/// Problems of the corpus, each once.
fn listed(arguments: &Compare) -> Result<Vec<Problem>, Failure> {
    let default = PathBuf::from(CORPUS);
    let paths = match arguments.paths.as_slice() {
        [] if default.is_dir() => vec![default],
        paths => paths.to_vec(),
    };
    let corpus = Corpus::read(&paths);
    for trouble in &corpus.troubles {
        errln!("convict: {trouble}");
    }
    if corpus.listed.is_empty() && !corpus.troubles.is_empty() {
        return Err(Failure::Usage("nothing of the corpus can be read".to_owned()));
    }
    let problem = |listed: &corpus::Listed| {
        let case: Case = listed.entry.engine_free_case.parse().ok()?;
        Some(Problem { case: plain(&case), source: listed.id.clone() })
    };
    Ok(corpus.listed.iter().filter_map(problem).collect())
}

/// The problem itself, with the contents that every check uses; scales and refusals are part of it.
fn plain(case: &Case) -> Case {
    let free = engine_free(case);
    let mut plain = Case::new(free.problem.clone());
    (plain.options.alpha, plain.options.beta) = (free.options.alpha, free.options.beta);
    plain.options.expect = free.options.expect;
    plain
}

fn source(arguments: &Compare, simulated: bool, memory_bytes: u64) -> Result<Source, Failure> {
    #[expect(clippy::cast_possible_truncation, reason = "a share of a byte count")]
    let limits = || {
        if simulated {
            Limits::simulator()
        } else {
            Limits::device((memory_bytes as f64 * TENSOR_SHARE) as i64)
        }
    };
    Ok(match &arguments.around {
        Some(file) => Source::Around(Around::new(arguments.seed, limits(), traffic::weighted(file)?)),
        None => Source::Generated(Generator::new(arguments.seed, limits())),
    })
}

fn json(contrast: &Contrast) -> Result<String, Failure> {
    serde_json::to_string(contrast).map_err(|error| Failure::Ours(error.to_string()))
}

/// The folder of the pages, empty.
fn make(out: &Path) -> Result<&Path, Failure> {
    std::fs::create_dir_all(out)
        .map_err(|error| Failure::Usage(format!("--out {}: {error}", out.display())))?;
    Ok(out)
}

fn write(
    (junit, out): (Option<&Side>, Option<&Path>),
    contrast: &Contrast,
    simulated: bool,
) -> Result<(), Failure> {
    let text = reports::compare::junit(contrast).map_err(Failure::Ours)?;
    if let Some(junit) = junit {
        junit.put(&text)?;
    }
    let Some(out) = out else { return Ok(()) };
    let put = |name: &str, text: &str| {
        let path = out.join(name);
        reports::draft::write_whole(&path, text.as_bytes())
            .map_err(|error| Failure::file("--out", &path, &error))
    };
    put("compare.md", &reports::compare::markdown(contrast, simulated))?;
    put("compare.html", &reports::compare::html(contrast, simulated))?;
    put("compare.json", &json(contrast)?)?;
    put("junit.xml", &text)
}
