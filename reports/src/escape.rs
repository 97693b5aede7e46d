//! Makes text from outside harmless where it is shown. Knows C++ comments, Markdown and HTML; keeps what can
//! be read.

/// One line that can stand in a C++ comment or string literal: printable ASCII without quotes, backslashes
/// and question marks (which begin trigraphs); anything else becomes a dot.
pub(crate) fn for_program(text: &str) -> String {
    let harmless = |character: char| match character {
        '"' | '\\' | '?' => '.',
        ' '..='~' => character,
        _ => '.',
    };
    text.chars().map(harmless).collect::<String>().trim().to_owned()
}

/// Text for an HTML or SVG element or a quoted attribute: nothing in it can begin or end a tag. Control
/// characters other than line ends and tabs become replacement marks.
pub(crate) fn for_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(character),
            // Marks that turn the direction of text could make a line read as another one.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => escaped.push('\u{fffd}'),
            _ if character.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Characters that can begin something anywhere in a line of Markdown, and that a backslash makes plain.
const ANYWHERE: &str = "\\`*_[]|~$";

/// Characters that begin something at the start of a line.
const AT_START: &str = "#-+=";

/// One line of plain Markdown text, also within a table: no markup, HTML, link or mention can come of it.
pub(crate) fn for_page(text: &str) -> String {
    let line: String = text.chars().map(|each| if each.is_control() { ' ' } else { each }).collect();
    let line = line.trim();
    let mut escaped = String::with_capacity(line.len());
    for (position, character) in line.char_indices() {
        let (before, from) = line.split_at(position);
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '@' => escaped.push_str("&#64;"),
            _ => {
                if ANYWHERE.contains(character) || begins(before, from) {
                    escaped.push('\\');
                }
                escaped.push(character);
            }
        }
    }
    escaped
}

/// True where the first character of `from` begins something because of what surrounds it: a heading, list or
/// rule at the start of a line, or an address that pages turn into a link.
fn begins(before: &str, from: &str) -> bool {
    // What is asked for at every character looks at a few of them alone: a value may have megabytes.
    let ends_number = [". ", ") "].iter().any(|end| from.starts_with(end));
    let last = before.len().checked_sub(3).and_then(|start| before.get(start..));
    (before.is_empty() && from.starts_with(|first| AT_START.contains(first)))
        || (ends_number && !before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit()))
        || from.starts_with("://")
        || (from.starts_with('.') && last.is_some_and(|last| last.eq_ignore_ascii_case("www")))
}

/// The text with a capital letter in front.
pub(crate) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// A code span of one line. Only for text of ours: a pipe would end a table's cell.
pub(crate) fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    let one_line: String = text.chars().map(|each| if each.is_control() { ' ' } else { each }).collect();
    if one_line.contains('`') {
        format!("{fence} {one_line} {fence}")
    } else {
        format!("{fence}{one_line}{fence}")
    }
}

/// A block of code that nothing in the text can end early.
pub(crate) fn block(language: &str, text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    let keep = |character: &char| !character.is_control() || *character == '\n' || *character == '\t';
    let lines: String = text.chars().filter(keep).collect();
    format!("{fence}{language}\n{}\n{fence}", lines.trim_end_matches('\n'))
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_any_sort_becomes_text() {
        for (text, expected) in [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("a | b\n| c", "a \\| b \\| c"),
            ("`x` **y** &lt; @all", "\\`x\\` \\*\\*y\\*\\* &amp;lt; &#64;all"),
            ("![z](http://u) www.v", "!\\[z\\](http\\://u) www\\.v"),
            ("WwW.v éw.v", "WwW\\.v éw.v"),
            ("# title\r\n\u{1b}[31m", "\\# title   \\[31m"),
            ("12. item", "12\\. item"),
            ("engine 2.5, -3 = #4", "engine 2.5, -3 = #4"),
            ("9.19.0-full", "9.19.0-full"),
        ] {
            assert_eq!(for_page(text), expected);
        }
    }

    #[test]
    fn nothing_in_html_begins_or_ends_a_tag_or_an_attribute() {
        assert_eq!(
            for_html("<script>alert('1')</script> & \"x\"\u{0}\n"),
            "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;\u{fffd}\n"
        );
    }

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!(block("", "a\n```\nb\n"), "````\na\n```\nb\n````");
        assert_eq!(block("text", "plain"), "```text\nplain\n```");
        assert_eq!(code("n2 c16"), "`n2 c16`");
        assert_eq!(code("a`b\nc"), "`` a`b c ``");
    }

    #[test]
    fn a_program_gets_one_line_that_ends_no_comment_and_no_literal() {
        assert_eq!(for_program("H200 \"x\" \\\n*/ ??/ \u{e9}"), "H200 .x. ..*/ ../ .");
    }
}
