//! A copy of a finding in which nothing names a person or a machine. Everything that is written comes from
//! here.

use case::{Ended, Environment, Fault, Outcome};

use crate::finding::{Finding, Minimization};
use crate::redact::Redactor;

/// Most bytes of the library's log that are kept, from its end.
const LOG_BYTES_MAX: usize = 1 << 20;

/// Owns the redacted parts of a finding.
pub(crate) struct Clean {
    fault: Fault,
    environment: Environment,
    outcome: Outcome,
    minimization: Minimization,
    library_log: String,
}

impl Clean {
    pub(crate) fn of(finding: &Finding<'_>) -> Self {
        let redactor = Redactor::new(finding.secrets);
        let mut fault = finding.fault.clone();
        fault.summary = redactor.text(&fault.summary);
        let mut minimization = finding.minimization.clone();
        minimization.guarantee = redactor.text(&minimization.guarantee);
        for line in &mut minimization.log {
            *line = redactor.text(line).replace('\n', " ");
        }
        Self {
            fault,
            environment: environment(finding.environment, &redactor),
            outcome: outcome(finding.outcome, &redactor),
            minimization,
            library_log: redactor.text(end_of(finding.library_log)),
        }
    }

    /// The finding with its redacted parts in place.
    pub(crate) fn finding<'a>(&'a self, finding: &Finding<'a>) -> Finding<'a> {
        Finding {
            fault: &self.fault,
            environment: &self.environment,
            outcome: &self.outcome,
            minimization: &self.minimization,
            library_log: &self.library_log,
            secrets: &[],
            ..*finding
        }
    }
}

/// The last lines of a log, whole ones.
fn end_of(log: &str) -> &str {
    let Some(surplus) = log.len().checked_sub(LOG_BYTES_MAX) else { return log };
    let start = log.as_bytes()[surplus..].iter().position(|byte| *byte == b'\n');
    start.and_then(|start| log.get(surplus + start + 1..)).unwrap_or("")
}

fn environment(environment: &Environment, redactor: &Redactor) -> Environment {
    let mut clean = environment.clone();
    let texts = [
        &mut clean.gpu,
        &mut clean.driver,
        &mut clean.found,
        &mut clean.conflict,
        &mut clean.device_properties,
    ];
    for text in texts {
        *text = redactor.text(text);
    }
    for key in &mut clean.assumed {
        *key = redactor.text(key);
    }
    for file in &mut clean.files {
        file.name = redactor.text(&file.name);
        file.place = redactor.text(&file.place);
        file.version = redactor.text(&file.version);
    }
    clean
}

fn outcome(outcome: &Outcome, redactor: &Redactor) -> Outcome {
    let mut clean = outcome.clone();
    clean.stderr = redactor.text(&clean.stderr);
    if let Some(observation) = &mut clean.observation {
        match &mut observation.ended {
            Ended::Status(refusal) => {
                refusal.name = redactor.text(&refusal.name);
                refusal.reason = redactor.text(&refusal.reason);
            }
            Ended::Device { name, .. } => *name = redactor.text(name),
            Ended::Skipped(reason) => *reason = redactor.text(reason),
            Ended::Completed | Ended::Described => {}
        }
    }
    clean
}
