//! What is wrong with a case, in one line. Knows fields and rules; knows nothing of exit codes.

/// A case that cannot be read or breaks a rule: names the field, its value and the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: '{value}' {rule}")]
pub struct CaseError {
    /// The field or option, as the text form names it.
    pub field: String,
    /// The value found, shortened where it is long.
    pub value: String,
    /// What is expected instead.
    pub rule: String,
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
        Self { field: field.into(), value: shown, rule: rule.into() }
    }
}
