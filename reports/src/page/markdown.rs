//! The page as Markdown. Whatever it says is escaped; only this file's own marks are not.

use std::fmt::Write;

use super::model::{Block, Line, Page, Section, Span, Table};
use crate::escape::{block, code, for_page};

/// The whole text.
pub(crate) fn render(page: &Page) -> String {
    let mut text = format!("# {}\n\n", for_page(&page.title.to_string()));
    // Writing into a String cannot fail.
    if !page.banner.is_empty() {
        let _ = write!(text, "**{}**\n\n", for_page(page.banner));
    }
    let _ = writeln!(text, "{}", for_page(&page.lead));
    let _ = write!(text, "\nContents: {}\n", contents(&page.sections));
    for section in &page.sections {
        let _ = write!(text, "\n## {}\n", section.heading);
        for each in &section.blocks {
            let _ = write!(text, "\n{}\n", rendered(each, 3));
        }
    }
    text
}

fn contents(sections: &[Section]) -> String {
    let link = |section: &Section| {
        let anchor: String = section.heading.to_lowercase().replace(' ', "-");
        format!("[{}](#{anchor})", section.heading)
    };
    sections.iter().map(link).collect::<Vec<String>>().join(", ")
}

fn rendered(block_: &Block, level: usize) -> String {
    match block_ {
        Block::Text(text) => line(text),
        Block::Heading(text) => format!("{} {text}", "#".repeat(level)),
        Block::Facts(facts) => facts_table(facts),
        Block::Table(table) => rows_table(table),
        Block::Code(language, text) => block(language, text),
        Block::Picture(picture) => {
            format!("{}\n\n{}", block("text", &picture.text()), for_page(&picture.caption()))
        }
        Block::List(lines) => {
            lines.iter().map(|each| format!("- {}", line(each))).collect::<Vec<_>>().join("\n")
        }
        Block::Choices(_) => String::new(),
        Block::Fold(what, blocks) | Block::Filed(_, what, blocks) => {
            let inner: Vec<String> = blocks.iter().map(|each| rendered(each, level + 1)).collect();
            format!("{}:\n\n{}", for_page(what), inner.join("\n\n"))
        }
    }
}

fn line(line: &Line) -> String {
    line.0.iter().map(span).collect()
}

/// Escaping trims, and pieces of a line keep their distance.
fn span(span: &Span) -> String {
    let text = span.text();
    let inner = match span {
        // A code span keeps a pipe, which would end a table's cell.
        Span::Code(text) if !text.contains('|') => code(text),
        Span::Strong(text) if !text.trim().is_empty() => format!("**{}**", for_page(text)),
        Span::Alert(text) => format!("**Trouble: {}**", for_page(text)),
        Span::Link(text, file) => format!("[{}](<{}>)", for_page(text), file.replace(['<', '>', '\n'], "_")),
        Span::Faint(_) | Span::Plain(_) | Span::Code(_) | Span::Strong(_) => for_page(text),
    };
    let before = if text.starts_with(' ') { " " } else { "" };
    let after = if text.ends_with(' ') { " " } else { "" };
    format!("{before}{inner}{after}")
}

fn facts_table(facts: &[(String, Line)]) -> String {
    let rows = facts.iter().map(|(name, text)| format!("| {} | {} |", for_page(name), line(text)));
    ["| | |".to_owned(), "|---|---|".to_owned()].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

fn rows_table(table: &Table) -> String {
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let head = row(table.head.iter().map(|name| (*name).to_owned()).collect());
    let rule = format!("|{}", "---|".repeat(table.head.len()));
    let rows = table.rows.iter().map(|cells| row(cells.iter().map(line).collect()));
    [head, rule].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}
