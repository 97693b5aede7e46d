//! `convict verify`: whether a bundle is whole, and what of it still holds on this machine. Names every trouble of the
//! files before anything is run; what is run is the case and the program that follow from the bundle's data.

use std::path::Path;

use case::Environment;
use reports::Bundle;
use serde_json::{Map, Value, json};

use crate::args::Verify;
use crate::failure::{CLEAN, Failure, REFUSED, UNJUDGED};
use crate::machine::Machine;
use crate::planning::of_bundle;
use crate::program::Programs;
use crate::screen::{errln, outln};

mod again;
mod standing;

use again::{CaseRuns, ProgramRuns};
use standing::{Standing, Whole};

/// Says what was found line by line, or all of it at the end as JSON.
struct Teller {
    json: bool,
    object: Map<String, Value>,
}

impl Teller {
    /// A line under a name that also names it in the JSON form.
    fn tell(&mut self, name: &str, words: &str, value: Value) {
        if !self.json {
            outln!("{name:<11}{words}");
        }
        self.object.insert(name.to_owned(), value);
    }

    fn note(&mut self, name: &str, value: Value) {
        self.object.insert(name.to_owned(), value);
    }

    fn end(self) {
        if self.json {
            outln!("{}", Value::Object(self.object));
        }
    }
}

/// Checks the files, then runs what can be run.
pub(crate) fn run(arguments: &Verify) -> Result<u8, Failure> {
    let folder = &arguments.bundle;
    let mut teller = Teller { json: arguments.json, object: Map::new() };
    let troubles: Vec<String> = reports::verify(folder).iter().map(ToString::to_string).collect();
    teller.note("whole", json!(troubles.is_empty()));
    teller.note("troubles", json!(troubles));
    for trouble in &troubles {
        errln!("convict: {}: {trouble}", folder.display());
    }
    if !troubles.is_empty() {
        teller.end();
        return Ok(REFUSED);
    }
    let bundle = reports::read(folder).map_err(|error| Failure::Usage(error.to_string()))?;
    if !arguments.json {
        outln!("{}", bundle.verdict.title);
    }
    teller.note("title", json!(bundle.verdict.title));
    teller.note("signature", json!(bundle.verdict.signature));
    let (files, form) = (bundle.hashes.len(), bundle.verdict.format);
    teller.tell(
        "files",
        &format!("whole: {files} files, form {form}"),
        json!({ "number": files, "form": form }),
    );
    if arguments.files_only {
        teller.end();
        return Ok(CLEAN);
    }
    let ended = rerun(arguments, &bundle, &mut teller).map_err(not_rerun);
    if let Err(failure) = &ended {
        teller.note("not_run", json!(failure.to_string()));
    }
    teller.end();
    ended
}

/// The user may have wanted no more than the files.
fn not_rerun(failure: Failure) -> Failure {
    match failure {
        Failure::Machine(why) => {
            Failure::Machine(format!("{why}; nothing was run again (--files-only checks the files alone)"))
        }
        Failure::Usage(_)
        | Failure::Ours(_)
        | Failure::Elsewhere(_)
        | Failure::Interrupted
        | Failure::Unjudged(_) => failure,
    }
}

fn rerun(arguments: &Verify, bundle: &Bundle, teller: &mut Teller) -> Result<u8, Failure> {
    if let (Some(why), false) = (other_world(arguments, bundle), arguments.any_set) {
        teller.tell("verdict", &format!("nothing could be judged: {why}"), json!("nothing could be judged"));
        return Ok(UNJUDGED);
    }
    let planned = of_bundle(&bundle.environment)?;
    let machine = Machine::of(&arguments.machine, &arguments.device.device, planned.as_ref())?;
    machine.prepare()?;
    let mut slot = machine.slot();
    let environment = slot.environment()?.clone();
    let described = machine.describe(&environment);
    teller.tell("machine", &described, json!(described));
    let sets = Sets::of(bundle, &environment);
    let judged = !sets.forbid() || arguments.any_set;
    if device(&environment) != device(&bundle.environment) {
        let (there, here) = (device(&bundle.environment), device(&environment));
        let value = json!({ "bundle": there, "here": here });
        teller.tell("device", &format!("the bundle's is {there}, this is {here}"), value);
    }
    teller.tell("libraries", &sets.words(judged), sets.json());
    let whole = if judged {
        let case = CaseRuns::make(&mut slot, bundle, arguments.runs)?;
        teller.tell("case", &case.words(), case.json());
        let programs = Programs::new(&machine, machine.interrupt().clone());
        let scratch = machine.scratch();
        let program = run_program(arguments, bundle, &programs, scratch)?;
        if machine.interrupt().is_set() {
            return Err(Failure::Interrupted);
        }
        teller.tell("program", &program.words(), program.json());
        Whole::of(case.standing(bundle), program.standing(bundle))
    } else {
        Whole::of(Standing::Unjudged, Standing::Unjudged)
    };
    teller.tell("verdict", whole.words(), json!(whole.words()));
    Ok(whole.code())
}

/// What is found on the simulator says nothing of a library, and the other way round: both may call themselves by the
/// same version.
fn other_world(arguments: &Verify, bundle: &Bundle) -> Option<&'static str> {
    match (reports::is_simulated(&bundle.environment), arguments.machine.simulate.is_some()) {
        (true, false) => Some("the bundle was made on the simulator; --simulate runs it there again"),
        (false, true) => Some("the bundle was made on a GPU, and --simulate asks for none"),
        (true, true) | (false, false) => None,
    }
}

fn device(environment: &Environment) -> String {
    format!("{} sm_{}", environment.gpu, environment.compute_capability)
}

/// The bundle's library set and this machine's.
struct Sets {
    bundle: String,
    here: String,
    /// The engine whose number belongs to the bundle's set.
    engine: Option<i64>,
    /// The set that the case names.
    named: Option<String>,
}

impl Sets {
    fn of(bundle: &Bundle, environment: &Environment) -> Self {
        Self {
            bundle: bundle.environment.set(),
            here: environment.set(),
            engine: bundle.verdict.sameness.engine,
            named: bundle.case.options.set.clone(),
        }
    }

    /// True where the case's numbers mean nothing here.
    fn forbid(&self) -> bool {
        self.named.as_ref().is_some_and(|named| *named != self.here)
    }

    fn words(&self, judged: bool) -> String {
        let Self { bundle, here, .. } = self;
        if bundle == here && !self.forbid() {
            return format!("{here}, as the bundle's");
        }
        let engine =
            self.engine.map_or_else(|| "an engine's number".to_owned(), |engine| format!("engine {engine}"));
        let why = match (self.forbid(), judged) {
            (false, _) => "the case names no set, so that it is run all the same".to_owned(),
            (true, true) => format!("{engine} may mean another engine here; it is run because of --any-set"),
            (true, false) => format!("{engine} means another engine here (--any-set runs it all the same)"),
        };
        format!("the bundle's are {bundle}, these are {here}: {why}")
    }

    fn json(&self) -> Value {
        json!({ "bundle": self.bundle, "here": self.here, "same": self.bundle == self.here && !self.forbid() })
    }
}

fn run_program(
    arguments: &Verify,
    bundle: &Bundle,
    programs: &Programs,
    scratch: &Path,
) -> Result<ProgramRuns, Failure> {
    let ours = reports::program(bundle).map_err(|error| Failure::Ours(error.to_string()))?;
    let foreign = ours != bundle.program_text;
    if foreign && !arguments.run_program {
        return Ok(ProgramRuns::left_alone());
    }
    // What was checked is what is run: nobody can have changed it since.
    let place = scratch.join("program");
    let source = place.join(reports::PROGRAM);
    std::fs::create_dir(&place)
        .and_then(|()| std::fs::write(&source, &bundle.program_text))
        .map_err(|error| Failure::file("program", &source, &error))?;
    Ok(ProgramRuns::make(programs, &place, bundle.verdict.sameness.kind, arguments.runs, foreign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_set_forbids_only_a_case_that_names_one() {
        let sets = |named: Option<&str>, here: &str| Sets {
            bundle: "9.19.0-full".to_owned(),
            here: here.to_owned(),
            engine: Some(31),
            named: named.map(str::to_owned),
        };
        let pinned = sets(Some("9.19.0-full"), "9.14.0-full");
        assert!(pinned.forbid());
        let words = pinned.words(false);
        assert!(
            words.contains("9.19.0-full, these are 9.14.0-full: engine 31 means another engine here"),
            "{words}"
        );
        assert!(pinned.words(true).contains("because of --any-set"));
        let open = sets(None, "9.14.0-full");
        assert!(!open.forbid() && open.words(true).contains("run all the same"));
        let same = sets(Some("9.19.0-full"), "9.19.0-full");
        assert!(!same.forbid() && same.words(true) == "9.19.0-full, as the bundle's");
    }
}
