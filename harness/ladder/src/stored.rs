//! Plans kept in a file and offered to another library: the file's form, and what it means that one is taken. Knows
//! text; opens no file.

use case::{Exit, Training};
use serde::{Deserialize, Serialize};

use crate::judge::Break;
use crate::record::Record;
use crate::trouble::Trouble;

/// The form that this version writes and reads.
const FORM: u32 = 1;

/// What a file of plans holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// The form; 1.
    form: u32,
    /// The library set that made them, such as `9.14.0-full`.
    pub set: String,
    /// The device they were made on.
    pub gpu: String,
    /// The plans.
    pub plans: Vec<StoredPlan>,
}

/// One plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredPlan {
    /// The convolution as a case line, with the plan's engine.
    pub case: String,
    /// The plan as cuDNN's JSON.
    pub json: String,
}

impl Stored {
    /// The plans of a training that kept them.
    #[must_use]
    pub fn of(training: &Training, record: &Record, set: &str, gpu: &str) -> Self {
        let plan = |planned: &case::Planned| {
            let case = training.case_of(planned.call)?.pinned(planned.config.clone());
            Some(StoredPlan { case: case.to_string(), json: planned.json.clone()? })
        };
        let plans = record.planned.iter().filter_map(plan).collect();
        Self { form: FORM, set: set.to_owned(), gpu: gpu.to_owned(), plans }
    }

    /// Adds the plans of another training of the same set.
    pub fn join(&mut self, other: Self) {
        self.plans.extend(other.plans);
    }

    /// As JSON text.
    ///
    /// # Errors
    /// Text that JSON cannot hold, which plans are not.
    pub fn print(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self).map_err(|error| error.to_string())
    }

    /// From JSON text.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub fn read(text: &str) -> Result<Self, String> {
        let stored: Self = serde_json::from_str(text)
            .map_err(|error| format!("{error}; --save-plans writes such a file"))?;
        match stored {
            Self { form, .. } if form != FORM => {
                Err(format!("form {form} is not the {FORM} that is read here"))
            }
            Self { plans, .. } if plans.is_empty() => Err("holds no plan".to_owned()),
            stored => Ok(stored),
        }
    }
}

/// What came of offering.
pub(crate) struct Offers {
    pub(crate) words: String,
    pub(crate) breaks: Vec<Break>,
}

/// A clean refusal is the right answer to each plan of another version.
pub(crate) fn offers(stored: &Stored, record: &Record) -> Offers {
    let case = |number: u32| stored.plans.get(number as usize).map(|plan| plan.case.clone());
    let mut breaks = Vec::new();
    let (mut declined, mut reasons) = (0, Vec::new());
    for (number, refusal) in &record.offered {
        match refusal {
            Some(refusal) => {
                declined += 1;
                if !reasons.contains(&refusal.name) {
                    reasons.push(refusal.name.clone());
                }
            }
            None => breaks.push(Break {
                case: case(*number),
                ..Break::plain(
                    Trouble::StaleTaken,
                    &format!("stored plan {}", number + 1),
                    format!("made by {}, and taken without a word", stored.set),
                )
            }),
        }
    }
    if let Some((number, outcome)) = &record.died {
        let trouble = match outcome.exit {
            Exit::TimedOut(_) | Exit::TooSlow(_) => Trouble::Hang,
            Exit::Answered | Exit::Exited(_) | Exit::Signalled(_) => Trouble::Crash,
        };
        let number = number.unwrap_or(0);
        breaks.insert(
            0,
            Break {
                case: case(number),
                ..Break::plain(
                    trouble,
                    &format!("stored plan {}", number + 1),
                    format!("made by {}: the process ended while it was loaded", stored.set),
                )
            },
        );
    }
    let how = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    let words = format!("of {} plans of {} {declined} were declined{how}", stored.plans.len(), stored.set);
    Offers { words, breaks }
}

#[cfg(test)]
mod tests {
    use case::{Outcome, Phase, Refusal};

    use super::*;

    fn stored() -> Stored {
        let plan = |engine: u32| StoredPlan {
            case: format!("fprop f32 nchw n1 c1 k1 i1 f1 engine={engine}"),
            json: "{}".to_owned(),
        };
        Stored {
            form: FORM,
            set: "9.14.0-full".to_owned(),
            gpu: "a GPU".to_owned(),
            plans: vec![plan(1), plan(2)],
        }
    }

    #[test]
    fn a_file_of_plans_survives_its_text_and_others_are_told_in_one_line() {
        let text = stored().print().expect("text");
        assert_eq!(Stored::read(&text), Ok(stored()));
        for (text, words) in [
            ("", "EOF"),
            ("[1]", "--save-plans"),
            (r#"{"form":7,"set":"","gpu":"","plans":[]}"#, "form 7"),
            (r#"{"form":1,"set":"","gpu":"","plans":[]}"#, "no plan"),
        ] {
            let refused = Stored::read(text).expect_err(text);
            assert!(refused.contains(words) && refused.lines().count() == 1, "{text}: {refused}");
        }
    }

    #[test]
    fn what_declines_is_right_what_takes_or_dies_is_not() {
        let refusal =
            Refusal { phase: Phase::Plan, status: 1002, name: "V".to_owned(), reason: String::new() };
        let mut record = Record::default();
        record.offered = vec![(0, Some(refusal)), (1, None)];
        let offered = offers(&stored(), &record);
        assert_eq!(offered.words, "of 2 plans of 9.14.0-full 1 were declined (V)");
        let [taken] = &offered.breaks[..] else { panic!("{:?}", offered.breaks) };
        assert_eq!(taken.trouble, Trouble::StaleTaken);
        assert!(taken.case.as_deref().is_some_and(|case| case.ends_with("engine=2")));
        let outcome = Outcome {
            candidate: None,
            exit: Exit::Signalled(11),
            phase: Phase::Plan,
            observation: None,
            stderr: String::new(),
        };
        record.offered.truncate(1);
        record.died = Some((Some(1), outcome));
        let offered = offers(&stored(), &record);
        assert_eq!(offered.breaks[0].trouble, Trouble::Crash);
    }
}
