//! Days as `YYYY-MM-DD`. Knows the calendar by a library; knows the clock only where it is asked for today.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Date(jiff::civil::Date);

impl Date {
    /// Today, in UTC, so that a review falls due everywhere at once.
    #[must_use]
    pub fn today() -> Self {
        Self(jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now()).date())
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let day = text.parse::<jiff::civil::Date>().ok().map(Self);
        // The library reads other spellings of a day too; one is enough here.
        day.filter(|day| day.to_string() == text)
            .ok_or_else(|| format!("'{}' is no day as YYYY-MM-DD", text.escape_debug()))
    }
}

impl TryFrom<String> for Date {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Date> for String {
    fn from(date: Date) -> Self {
        date.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_one_spelling_and_must_exist() {
        let day = |text: &str| text.parse::<Date>();
        assert!(day("2026-02-28").expect("a day") < day("2026-03-01").expect("a day"));
        for text in ["2026-02-30", "2026-2-3", "20260203", "2026-02-03T00:00", "tomorrow", ""] {
            assert!(day(text).is_err_and(|error| error.contains("YYYY-MM-DD")), "{text}");
        }
        assert!(Date::today() > day("2026-01-01").expect("a day"));
    }
}
