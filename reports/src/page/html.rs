//! The page as one HTML file: style within, no script, nothing loaded. Whatever it says is escaped; only this
//! file's own marks are not.

use std::fmt::Write;

use super::model::{Block, Line, Page, Section, Span, Table};
use crate::escape::for_html;
use crate::picture::{Picture, STYLE};
use crate::simulated::TAG;
use crate::title::Title;

/// Style sheet of the page.
const PAGE_STYLE: &str = include_str!("../../templates/report.css");

/// Style of what can be picked: it stands with the boxes, so that pages without any stay what they are.
const CHOICES_STYLE: &str = "\
.choices { margin: 0 0 1rem; padding: .5rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
.choices { background: var(--card); }
.choices legend { padding: 0 .4rem; color: var(--quiet); font-size: .875rem; }
.choices label { display: inline-block; margin-right: 1rem; white-space: nowrap; }
@media print { .choices { display: none; } }
";

/// Characters of plain text from which a cell of a table may break into lines.
const SENTENCE_CHARS: usize = 40;

/// Forbids what the page does not need: even a mistake in escaping could load and run nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// The whole file.
pub(crate) fn render(page: &Page) -> String {
    let mut body = String::new();
    for section in &page.sections {
        body.push_str(&rendered_section(section));
    }
    let (title, lead) = (for_html(&page.title.to_string()), for_html(&page.lead));
    let banner = match page.banner {
        "" => String::new(),
        text => format!("<p class=\"banner\" role=\"note\">{}</p>\n", for_html(text)),
    };
    let (heading, contents) = (heading(&page.title), contents(&page.sections));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n{PAGE_STYLE}{STYLE}</style>\n</head>\n\
         <body>\n<header>\n{banner}{heading}\n<p class=\"lead\">{lead}</p>\n</header>\n<div class=\"columns\">\n{contents}\n\
         <main>\n{body}</main>\n</div>\n</body>\n</html>\n"
    )
}

/// The title with its parts told apart; its text is the line that names the finding.
fn heading(title: &Title) -> String {
    let simulated = title.simulated.then_some(("tag kind", TAG));
    let own = ["tag", "tag", "tag kind", "tag"].into_iter().zip(title.tags.iter().map(String::as_str));
    let tags: Vec<String> = simulated
        .into_iter()
        .chain(own)
        .map(|(class, tag)| format!("<span class=\"{class}\"><i>[</i>{}<i>]</i></span>", for_html(tag)))
        .collect();
    format!(
        "<h1><span class=\"tags\">{} <span class=\"on\">on {}<i>:</i></span></span> <code>{}</code></h1>",
        tags.join(" "),
        for_html(&title.architecture),
        for_html(&title.condition)
    )
}

fn contents(sections: &[Section]) -> String {
    let links: Vec<String> = sections
        .iter()
        .map(|section| format!("<li><a href=\"#{}\">{}</a></li>", section.id, for_html(section.heading)))
        .collect();
    format!("<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n{}\n</ol>\n</nav>", links.join("\n"))
}

fn rendered_section(section: &Section) -> String {
    let Section { id, heading, blocks } = section;
    let inner: String = blocks.iter().map(|block| rendered(block, 3)).collect();
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n<h2 id=\"{id}-heading\">{}</h2>\n{inner}</section>\n",
        for_html(heading)
    )
}

fn rendered(block: &Block, level: usize) -> String {
    match block {
        Block::Text(text) => format!("<p>{}</p>\n", line(text)),
        Block::Heading(text) => format!("<h{level}>{}</h{level}>\n", for_html(text)),
        Block::Facts(facts) => facts_list(facts),
        Block::Table(table) => rows_table(table),
        // A single line wraps: whoever copies it gets it whole all the same.
        Block::Code(_, text) => {
            let class = if text.contains('\n') { "" } else { " class=\"line\"" };
            format!("<pre{class} tabindex=\"0\"><code>{}</code></pre>\n", for_html(text))
        }
        Block::Picture(picture) => figure(picture),
        Block::List(lines) => {
            let items: String = lines.iter().map(|each| format!("<li>{}</li>", line(each))).collect();
            format!("<ul>{items}</ul>\n")
        }
        Block::Fold(what, blocks) => {
            let inner: String = blocks.iter().map(|block| rendered(block, level + 1)).collect();
            format!("<details><summary>{}</summary>\n{inner}</details>\n", for_html(what))
        }
        Block::Choices(groups) => {
            groups.iter().enumerate().map(|(place, group)| choices(place, group)).collect()
        }
        Block::Filed(options, what, blocks) => {
            let inner: String = blocks.iter().map(|block| rendered(block, level + 1)).collect();
            let classes: Vec<String> =
                options.iter().enumerate().map(|(group, option)| format!("of-{group}-{option}")).collect();
            format!(
                "<details class=\"{}\"><summary>{}</summary>\n{inner}</details>\n",
                classes.join(" "),
                for_html(what)
            )
        }
    }
}

/// A box to tick for each option, and the rules that hide what is filed under one that is not ticked: no script is
/// needed for that.
fn choices(group: usize, (name, options): &(&'static str, Vec<String>)) -> String {
    let (mut boxes, mut rules) = (String::new(), String::from(if group == 0 { CHOICES_STYLE } else { "" }));
    for (option, text) in options.iter().enumerate() {
        let id = format!("pick-{group}-{option}");
        // Writing into a String cannot fail.
        let _ =
            write!(boxes, "<label><input type=\"checkbox\" id=\"{id}\" checked> {}</label> ", for_html(text));
        let _ = writeln!(rules, "main:has(#{id}:not(:checked)) .of-{group}-{option} {{ display: none; }}");
    }
    format!(
        "<fieldset class=\"choices\"><legend>{}</legend>{boxes}</fieldset>\n<style>\n{rules}</style>\n",
        for_html(name)
    )
}

fn figure(picture: &Picture) -> String {
    format!(
        "<figure><div class=\"scroll\">{}</div><figcaption>{}</figcaption></figure>\n",
        picture.svg(),
        for_html(&picture.caption())
    )
}

fn line(line: &Line) -> String {
    line.0.iter().map(span).collect()
}

fn span(span: &Span) -> String {
    let text = for_html(span.text());
    match span {
        Span::Plain(_) => text,
        Span::Code(_) => format!("<code>{text}</code>"),
        Span::Faint(_) => format!("<span class=\"faint\">{text}</span>"),
        Span::Strong(_) => format!("<strong>{text}</strong>"),
        Span::Alert(_) => format!("<strong class=\"alert\">Trouble: {text}</strong>"),
        Span::Link(_, file) => format!("<a href=\"{}\">{text}</a>", for_html(file)),
    }
}

fn facts_list(facts: &[(String, Line)]) -> String {
    let mut list = String::from("<dl>\n");
    for (name, text) in facts {
        // Writing into a String cannot fail.
        let _ = writeln!(list, "<div><dt>{}</dt><dd>{}</dd></div>", for_html(name), line(text));
    }
    list + "</dl>\n"
}

/// Sentences may break, other cells keep to one line.
fn table_cell(cell: &Line) -> String {
    let sentence = |span: &Span| matches!(span, Span::Plain(text) if text.chars().count() > SENTENCE_CHARS);
    let class = if cell.0.iter().any(sentence) { " class=\"wide\"" } else { "" };
    format!("<td{class}>{}</td>", line(cell))
}

fn rows_table(table: &Table) -> String {
    let head: String =
        table.head.iter().map(|name| format!("<th scope=\"col\">{}</th>", for_html(name))).collect();
    let mut rows = String::new();
    for cells in &table.rows {
        let cells: String = cells.iter().map(table_cell).collect();
        // Writing into a String cannot fail.
        let _ = writeln!(rows, "<tr>{cells}</tr>");
    }
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table></div>\n"
    )
}
