//! `convict bisect`: the versions in which a case fails. Assembles rows, log and searches; runs nothing itself.

use case::Case;

use crate::args::Bisect;
use crate::failure::{CLEAN, Failure, UNJUDGED};
use crate::machine::catch_signals;
use crate::screen::{errln, outln};
use crate::versions::{self, Found, Log, Question, Row, Terms};

/// Form of the log.
const FORM: u32 = 1;

/// Searches every row and prints what was found.
pub(crate) fn run(arguments: &Bisect) -> Result<u8, Failure> {
    let case: Case = arguments.case.parse()?;
    crate::sets::refuse_other_names(&arguments.machine)?;
    if arguments.machine.simulate.is_some() && arguments.sets.is_none() {
        return Err(Failure::Usage(
            "--simulate needs --sets: a folder of simulated sets, each a folder with faults.json".to_owned(),
        ));
    }
    catch_signals()?;
    if versions::is_pinned(&case) {
        let set = case.options.set.as_deref().unwrap_or("none");
        errln!(
            "the case pins an engine of library set {set}; on every other set all engines of its problem count"
        );
    }
    let rows = versions::rows(arguments)?;
    let terms = terms(arguments, &case, &rows);
    let log = arguments.out.as_ref().map(|folder| Log::open(folder, &terms, arguments.resume)).transpose()?;
    let question = Question {
        case: case.clone(),
        plans: arguments.engines,
        plans_only: arguments.properties.is_some(),
        kind: arguments.kind.clone(),
    };
    let search = |row| versions::search(arguments, question.clone(), log.as_ref(), row);
    let found = rows.into_iter().map(search).collect::<Result<Vec<Found>, Failure>>()?;
    if arguments.json {
        versions::print_json(&case.to_string(), &found);
    } else {
        if arguments.machine.simulate.is_some() {
            outln!("SIMULATOR, no GPU");
        }
        outln!("{case}");
        found.iter().for_each(versions::print);
    }
    let is_answered = found.iter().any(|found| !found.report.judged_nothing());
    Ok(if is_answered { CLEAN } else { UNJUDGED })
}

/// What a log is bound to. The limits of a search are not: it may go on with others.
fn terms(arguments: &Bisect, case: &Case, rows: &[Row]) -> Terms {
    let kind = arguments.kind.as_deref().unwrap_or("any");
    let plans = format!("{:?}", arguments.engines).to_lowercase();
    let place = arguments
        .properties
        .as_ref()
        .map_or_else(|| "a device".to_owned(), |file| file.display().to_string());
    let sets = rows.iter().flat_map(|row| &row.entries).map(|entry| entry.name.clone());
    Terms {
        bisect: FORM,
        case: case.to_string(),
        options: format!("--engines {plans}, --kind {kind}, for {place}"),
        sets: sets.collect(),
    }
}
