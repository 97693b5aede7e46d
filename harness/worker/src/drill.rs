//! Special errands of a job: a training run, or plans that were stored elsewhere. Knows what is asked; how a training
//! goes is told elsewhere.

use case::{Drill, Ended, Job, Phase, Reply, Shown};
use gpu::{CallError, Graph, Plan};

use crate::session::Session;
use crate::survey::{After, Desk, ended};
use crate::train;

/// Goes on the errand and reports what it shows.
pub(crate) fn run(session: &Session, desk: &mut Desk<'_>, job: &Job) -> std::io::Result<After> {
    match job.drill.as_deref() {
        Some(Drill::Train(training)) => train::run(session, desk, (job.id, training)),
        Some(Drill::Offer(texts)) => offer(session, desk, (job, texts)),
        None => Ok(After::GoOn),
    }
}

/// Offers each text as a plan; what is taken is dropped again unused.
fn offer(session: &Session, desk: &mut Desk<'_>, (job, texts): (&Job, &[String])) -> std::io::Result<After> {
    desk.board.turn_to(job.id, 0);
    desk.board.announce(Phase::Describe);
    // Nothing is executed, so that any graph will do.
    let graph = match Graph::new(&session.library, &session.target, &job.case) {
        Ok(graph) => graph,
        Err(error) => {
            let shown = Box::new(Shown::Offered { number: 0, refusal: declined(session, &error) });
            (desk.send)(Reply::Drilled { job: job.id, shown })?;
            return Ok(After::GoOn);
        }
    };
    for (number, text) in (0_u32..).zip(texts) {
        desk.board.turn_to(job.id, number);
        desk.board.announce(Phase::Plan);
        let error = Plan::from_json(&graph, text).err();
        let refusal = error.and_then(|error| declined(session, &error));
        let shown = Box::new(Shown::Offered { number, refusal });
        (desk.send)(Reply::Drilled { job: job.id, shown })?;
    }
    Ok(After::GoOn)
}

fn declined(session: &Session, error: &CallError) -> Option<case::Refusal> {
    match ended(error, session.library.version()) {
        Ended::Status(refusal) => Some(refusal),
        Ended::Device { phase, code, name, .. } => {
            Some(case::Refusal { phase, status: code, name, reason: "CUDA's error".to_owned() })
        }
        Ended::Completed | Ended::Described | Ended::Skipped(_) => None,
    }
}
