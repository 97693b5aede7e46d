//! The cases before the one that is judged: each is planned and executed in this process and left at that. Knows
//! how they run; measures and judges none of them.

use case::{Announcement, Case, Ended, Job, Phase, Selection};
use gpu::{CallError, Graph};

use crate::session::Session;
use crate::survey::{Desk, Lists, Visitor, ended};

/// Runs the history of a job, oldest first. A case that the library declines is passed over: declining is an act
/// too.
///
/// # Errors
/// Why the judged case can't be run after it.
pub(crate) fn run(session: &Session, desk: &Desk<'_>, job: &Job) -> Result<(), String> {
    for (number, case) in (1..).zip(&job.case.history) {
        desk.board.turn_to(job.id, Announcement::HISTORY);
        desk.board.announce(Phase::Describe);
        let seen = precede(session, desk, job, case)
            .unwrap_or_else(|error| Some(ended(&error, session.library.version())));
        match seen {
            Some(Ended::Device { name, sticky: true, .. }) => {
                return Err(format!("case {number} of the history lost the device: {name}"));
            }
            Some(Ended::Skipped(reason)) => return Err(format!("case {number} of the history: {reason}")),
            Some(Ended::Device { .. } | Ended::Completed | Ended::Described | Ended::Status(_)) | None => {}
        }
    }
    Ok(())
}

/// Runs one case; `None` where the library recommends nothing for it.
fn precede(session: &Session, desk: &Desk<'_>, job: &Job, case: &Case) -> Result<Option<Ended>, CallError> {
    let alone = Job { alone: job.alone, ..Job::new(job.id, case.clone(), Selection::Single) };
    let graph = Graph::new(&session.library, &session.target, case)?;
    desk.board.announce(Phase::Heuristics);
    let candidates = match Lists::ask(&graph, session.library.version())?.candidates(&alone, &graph) {
        Ok(candidates) => candidates,
        Err(reason) => return Ok(Some(Ended::Skipped(reason))),
    };
    let recipes = oracle::preceding(case);
    let mut visitor = Visitor::new(session, (desk.board, desk.gate), &alone, &graph, recipes);
    Ok(candidates.first().map(|candidate| visitor.visit(candidate).ended))
}
