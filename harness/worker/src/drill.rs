//! Special errands of a job: a training run, or plans that were stored elsewhere. Knows what is asked; how a training
//! goes is told elsewhere.

use case::{Drill, Ended, Job, Phase, Reply, Shown};
use gpu::{CallError, Plan};

use crate::session::Session;
use crate::survey::{After, Desk, ended};
use crate::train;

/// Goes on the errand and reports what it shows.
pub(crate) fn run(session: &Session, desk: &mut Desk<'_>, job: &Job) -> std::io::Result<After> {
    match job.drill.as_deref() {
        Some(Drill::Train(training)) => train::run(session, desk, (job.id, training)),
        Some(Drill::Offer(texts)) => offer(session, desk, (job.id, texts)),
        None => Ok(After::GoOn),
    }
}

/// Offers each text as a plan; what is taken is dropped again unused.
fn offer(session: &Session, desk: &mut Desk<'_>, (job, texts): (u64, &[String])) -> std::io::Result<After> {
    for (number, text) in (0_u32..).zip(texts) {
        desk.board.turn_to(job, number);
        desk.board.announce(Phase::Plan);
        let error = Plan::from_json(&session.library, &session.target, text).err();
        let refusal = error.and_then(|error| declined(session, &error));
        let shown = Box::new(Shown::Offered { number, refusal });
        (desk.send)(Reply::Drilled { job, shown })?;
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
