//! Which characters may stand in text that is shown in one line. Knows characters; knows no terminal and no page.

use std::borrow::Cow;

/// True for what does not show as itself: control characters, marks that turn the direction of text, and other ones
/// without a width. Each could make a line read as another one, or end it.
/// Source: the general categories Cc, Zl and Zp, and the format characters that Unicode's report 36 warns of.
#[must_use]
pub fn is_wild(character: char) -> bool {
    let is_mark = matches!(
        character,
        '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    );
    character.is_control() || is_mark
}

/// The text with every such character spelled out.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    spelled(text, is_wild)
}

/// The text with the characters spelled out that are meant.
#[must_use]
pub fn spelled(text: &str, is_meant: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_meant) {
        return Cow::Borrowed(text);
    }
    let spell = |character: char| match is_meant(character) {
        true => character.escape_default().to_string(),
        false => character.to_string(),
    };
    Cow::Owned(text.chars().map(spell).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_end_or_turn_a_line_is_spelled_out() {
        assert_eq!(one_line("fprop é 漢"), "fprop é 漢");
        assert_eq!(one_line("a\n::error::b\u{1b}[2J"), "a\\n::error::b\\u{1b}[2J");
        assert_eq!(one_line("a\nb\u{1b}[2Jc\u{9b}"), "a\\nb\\u{1b}[2Jc\\u{9b}");
        assert_eq!(one_line("a\u{202e}b\u{2028}c\u{feff}d\u{9b}"), "a\\u{202e}b\\u{2028}c\\u{feff}d\\u{9b}");
    }
}
