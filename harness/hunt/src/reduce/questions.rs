//! One question of the minimizer put to one bench. Knows how a case is asked about and what its answer means
//! for one finding; keeps no count.

use case::{Case, Expect, Matrix, Sameness, Selection};
use minimizer::Answer;

use crate::bench::Bench;
use crate::confirm::repeats_needed;
use crate::error::HuntError;
use crate::event::{Finding, Suspect, provisional};
use crate::examine::{Repetition, config_of, job, leaves_traces, repeat};

/// What one run said.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) answer: Answer,
    /// Another failure that it met.
    pub(crate) sibling: Option<Suspect>,
}

/// What a case has to show to fail like the finding.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    sameness: Sameness,
    selection: Selection,
    /// True where the failure is that a rule was broken and nobody said so: a case that keeps to the rules is
    /// right to be accepted.
    broken: bool,
    /// Fewest repeats that are asked about. Fewer would show a failure that comes and goes by luck only.
    repeats: u32,
}

impl Terms {
    pub(crate) fn of(finding: &Finding) -> Self {
        Self {
            sameness: finding.fault.sameness.clone(),
            selection: finding.selection,
            broken: breaks_a_rule(&finding.case),
            repeats: repeats_needed(&finding.fault).min(finding.case.options.repeat),
        }
    }

    /// The answer, where none needs a run.
    pub(crate) fn foregone(&self, case: &Case) -> Option<Answer> {
        if case.problem.operation != self.sameness.operation {
            return Some(Answer::Invalid("the pass is part of what a failure is".to_owned()));
        }
        if self.broken && !breaks_a_rule(case) {
            return Some(Answer::Invalid("there is nothing to refuse in it".to_owned()));
        }
        let few = case.options.repeat < self.repeats;
        few.then(|| Answer::Invalid("with fewer repeats it shows by luck only".to_owned()))
    }

    /// Runs the case, in a new process where that is asked for.
    ///
    /// # Errors
    /// Those of the bench.
    pub(crate) fn put<B: Bench + ?Sized>(
        &self,
        bench: &mut B,
        case: &Case,
        afresh: bool,
    ) -> Result<Reply, HuntError> {
        if afresh {
            bench.fresh();
        }
        let job = job(case, self.selection, Matrix::Standard);
        let alone = |answer| Reply { answer, sibling: None };
        Ok(match repeat(bench, &job, &self.sameness)? {
            Repetition::Same(_) => {
                if leaves_traces(self.sameness.kind) {
                    bench.fresh();
                }
                alone(Answer::Same)
            }
            Repetition::Other(other) => {
                let (fault, outcome) = *other;
                let slug = provisional(&fault.sameness, case);
                if leaves_traces(fault.sameness.kind) {
                    bench.fresh();
                }
                let sibling = Suspect {
                    provisional: slug.clone(),
                    case: case.clone(),
                    selection: self.selection,
                    config: config_of(&outcome).cloned(),
                    fault,
                    history: Vec::new(),
                };
                Reply { answer: Answer::Other(slug), sibling: Some(sibling) }
            }
            Repetition::Passed => alone(Answer::Pass),
            Repetition::Unjudged(_) => alone(Answer::Invalid("nothing was judged".to_owned())),
        })
    }
}

/// True where a refusal is expected and due: with the expectation taken away our own rules refuse the case
/// too.
fn breaks_a_rule(case: &Case) -> bool {
    if case.options.expect != Expect::Refuse {
        return false;
    }
    let mut plain = case.clone();
    plain.options.expect = Expect::Right;
    let due: Vec<i64> = plain.problem.axes.iter().map(case::Axis::output).collect();
    // An output size that was wrong on purpose may have become the right one.
    plain.problem.declared_output = plain.problem.declared_output.filter(|declared| *declared != due);
    plain.validate().is_err()
}
