//! What the page says, apart from how it looks: sections of blocks of plain text. Two renderers read it, so
//! that Markdown and HTML cannot drift apart. Escapes nothing.

use crate::picture::Picture;
use crate::title::Title;

/// The whole page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Page {
    /// The line that names the finding.
    pub(crate) title: Title,
    /// A warning above everything; empty where there is none.
    pub(crate) banner: &'static str,
    /// One sentence: what was seen.
    pub(crate) lead: String,
    /// In the order in which a triager reads.
    pub(crate) sections: Vec<Section>,
}

/// A part of the page with a heading.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Section {
    /// Name for links within the page: lower-case letters and hyphens.
    pub(crate) id: &'static str,
    /// The heading.
    pub(crate) heading: &'static str,
    /// What it says.
    pub(crate) blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block {
    /// A paragraph.
    Text(Line),
    /// A heading within the section.
    Heading(&'static str),
    /// Names with what there is to say to each.
    Facts(Vec<(String, Line)>),
    /// A table; every row has as many cells as the head.
    Table(Table),
    /// Text as it is, with a language for those who colour it.
    Code(&'static str, String),
    /// A picture, drawn or in characters.
    Picture(Picture),
    /// Points.
    List(Vec<Line>),
    /// Something long that most readers pass over, under a line that says what it is.
    Fold(String, Vec<Block>),
    /// What a reader may pick, a row a group: its name and its options, all picked at first. On paper nothing.
    Choices(Vec<(&'static str, Vec<String>)>),
    /// A fold that is there only while its option is picked in every group, given by number in their order.
    Filed(Vec<usize>, String, Vec<Block>),
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    /// Names of the columns.
    pub(crate) head: Vec<&'static str>,
    /// The rows.
    pub(crate) rows: Vec<Vec<Line>>,
}

/// A line of text in pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Line(pub(crate) Vec<Span>);

/// A piece of a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Span {
    /// As it is.
    Plain(String),
    /// Words of a machine: names, values, lines of cases.
    Code(String),
    /// Of little weight: a default, a thing that was not checked.
    Faint(String),
    /// Of much weight.
    Strong(String),
    /// A trouble.
    Alert(String),
    /// Words that lead to a file beside the page, whose name is of letters, digits, dots, hyphens and underscores.
    Link(String, String),
}

impl Span {
    /// Its text.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Plain(text)
            | Self::Code(text)
            | Self::Faint(text)
            | Self::Strong(text)
            | Self::Alert(text)
            | Self::Link(text, _) => text,
        }
    }
}

impl Line {
    pub(crate) fn code(text: impl Into<String>) -> Self {
        Self(vec![Span::Code(text.into())])
    }

    pub(crate) fn faint(text: impl Into<String>) -> Self {
        Self(vec![Span::Faint(text.into())])
    }

    pub(crate) fn strong(text: impl Into<String>) -> Self {
        Self(vec![Span::Strong(text.into())])
    }

    pub(crate) fn alert(text: impl Into<String>) -> Self {
        Self(vec![Span::Alert(text.into())])
    }

    /// What stands where nobody has looked.
    pub(crate) fn not_checked() -> Self {
        Self::faint("not checked")
    }

    /// The line with one more piece.
    pub(crate) fn and(mut self, span: Span) -> Self {
        self.0.push(span);
        self
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self(vec![Span::Plain(text)])
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl Section {
    pub(crate) fn new(id: &'static str, heading: &'static str, blocks: Vec<Block>) -> Self {
        Self { id, heading, blocks }
    }
}

impl Block {
    pub(crate) fn text(line: impl Into<Line>) -> Self {
        Self::Text(line.into())
    }

    /// Names with plain words.
    pub(crate) fn facts<L: Into<Line>>(facts: impl IntoIterator<Item = (&'static str, L)>) -> Self {
        Self::Facts(facts.into_iter().map(|(name, line)| (name.to_owned(), line.into())).collect())
    }

    pub(crate) fn table(head: &[&'static str], rows: Vec<Vec<Line>>) -> Self {
        Self::Table(Table { head: head.to_vec(), rows })
    }

    /// The section's only words where nobody has looked.
    pub(crate) fn not_checked(what: &str) -> Self {
        let line = Line::faint("Not checked");
        Self::Text(line.and(Span::Plain(format!(": {what}"))))
    }
}
