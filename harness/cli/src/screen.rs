//! Standard output and error as text that may come from anywhere wants them: no control character reaches a terminal,
//! and an output that is gone or full ends no hunt. Knows bytes; knows no command.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::sync::OnceLock;

/// Why standard output took no more; the first reason counts.
static TROUBLE: OnceLock<io::Error> = OnceLock::new();

/// Prints a line on standard output.
macro_rules! outln {
    () => { $crate::screen::line(format_args!("")) };
    ($($words:tt)*) => { $crate::screen::line(format_args!($($words)*)) };
}

/// Prints a line on standard error.
macro_rules! errln {
    ($($words:tt)*) => { $crate::screen::complaint(format_args!($($words)*)) };
}

pub(crate) use {errln, outln};

/// What the macro of that name prints.
pub(crate) fn line(words: fmt::Arguments<'_>) {
    if TROUBLE.get().is_some() {
        return;
    }
    let text = words.to_string();
    let mut out = io::stdout().lock();
    let done = writeln!(out, "{}", tame(&text)).and_then(|()| out.flush());
    if let Err(error) = done {
        let _ = TROUBLE.set(error);
    }
}

/// What the macro of that name prints. Nobody is left to tell where that fails.
pub(crate) fn complaint(words: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{}", tame(&words.to_string()));
}

/// Why standard output is incomplete. A reader that went away wanted no more, which is no trouble.
pub(crate) fn trouble() -> Option<&'static io::Error> {
    TROUBLE.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
}

/// The text with every character spelled out that does not show as itself, line ends and tabs apart: it could move the
/// cursor or set the terminal.
pub(crate) fn tame(text: &str) -> Cow<'_, str> {
    case::spelled(text, |character| case::is_wild(character) && !matches!(character, '\n' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::tame;

    #[test]
    fn no_control_character_but_line_ends_and_tabs_is_left() {
        assert_eq!(tame("a\tb\nc"), "a\tb\nc");
        assert_eq!(tame("\x1b[31mred\x1b]0;t\x07\r\u{9b}"), "\\u{1b}[31mred\\u{1b}]0;t\\u{7}\\r\\u{9b}");
    }
}
