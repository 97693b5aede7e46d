//! What is wrong with a case, in one line. Knows fields and rules; knows nothing of exit codes.

use std::fmt;

/// A case that cannot be read or breaks a rule: names the field, its value and the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CaseError {
    /// The field or option, as the text form names it.
    pub field: String,
    /// The value found, shortened where it is long; absent where the rule is about no value.
    pub value: Option<String>,
    /// The rest of the sentence, whose subject is the value, or the field where there is none: the rule, and what to
    /// write instead.
    pub rule: String,
}

impl fmt::Display for CaseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(formatter, "{}: '{value}' {}", self.field, self.rule),
            None => write!(formatter, "{}: {}", self.field, self.rule),
        }
    }
}

impl CaseError {
    /// Longest value repeated in a message, in characters.
    const VALUE_CHARS_MAX: usize = 60;

    /// A new error; control characters of the value are escaped and long values shortened.
    pub fn new(field: impl Into<String>, value: impl ToString, rule: impl Into<String>) -> Self {
        let whole = value.to_string();
        let mut shown: String =
            whole.chars().take(Self::VALUE_CHARS_MAX).flat_map(char::escape_debug).collect();
        if whole.chars().count() > Self::VALUE_CHARS_MAX {
            shown.push_str("...");
        }
        Self { field: field.into(), value: Some(shown), rule: rule.into() }
    }

    /// A new error about the field itself, such as one that is missing.
    pub fn bare(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { field: field.into(), value: None, rule: rule.into() }
    }

    /// The same error, told of the case with that number, from 1, among those before the one that is judged.
    #[must_use]
    pub(crate) fn in_history(self, number: usize) -> Self {
        Self { field: format!("case {number} of the history, {}", self.field), ..self }
    }
}
