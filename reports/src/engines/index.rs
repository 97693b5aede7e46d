//! The page that leads to several tables and sets them beside each other. Knows names of files; collects nothing.

use case::Operation;

use super::page::architecture;
use super::{Answer, EngineTable, PassTable};
use crate::page;
use crate::page::model::{Block, Line, Page, Section, Span};
use crate::simulated::BANNER;
use crate::title::Title;

/// Name of the page that holds every table, without its ending.
pub const BROWSE: &str = "browse";

/// The page as Markdown, with links to the tables' pages in Markdown.
#[must_use]
pub fn markdown(tables: &[EngineTable]) -> String {
    page::markdown::render(&page(tables, "md"))
}

/// The page as one HTML file, with links to the tables' pages in HTML.
#[must_use]
pub fn html(tables: &[EngineTable]) -> String {
    page::html::render(&page(tables, "html"))
}

fn page(tables: &[EngineTable], ending: &str) -> Page {
    let simulated = tables.iter().any(|table| table.simulated);
    Page {
        title: title(tables),
        banner: if simulated { BANNER } else { "" },
        lead:
            "Engines of cuDNN's convolutions, as the library itself tells of them on a machine without a GPU."
                .to_owned(),
        sections: sections(tables, ending),
    }
}

/// The line above pages about several tables.
pub(super) fn title(tables: &[EngineTable]) -> Title {
    let simulated = tables.iter().any(|table| table.simulated);
    let sets = different(tables.iter().map(|table| table.set.clone()));
    Title {
        simulated,
        tags: [
            "engines".to_owned(),
            sets.join(" "),
            format!("{} tables", tables.len()),
            "planned".to_owned(),
        ],
        architecture: different(tables.iter().map(architecture)).join(" "),
        condition: "by library set and architecture".to_owned(),
    }
}

pub(super) fn different(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

fn sections(tables: &[EngineTable], ending: &str) -> Vec<Section> {
    let together = Line(vec![
        Span::Link("All tables on one page".to_owned(), format!("{BROWSE}.html")),
        Span::Plain(", of which library sets, architectures and passes can be picked.".to_owned()),
    ]);
    let mut sections =
        vec![Section::new("tables", "Tables", vec![list(tables, ending), Block::text(together)])];
    for operation in Operation::CONVOLUTIONS {
        let passes: Vec<(&EngineTable, &PassTable)> = tables
            .iter()
            .filter_map(|table| Some((table, table.passes.iter().find(|pass| pass.operation == operation)?)))
            .collect();
        if !passes.is_empty() {
            sections.push(Section::new(operation.name(), operation.name(), vec![
                Block::text("Engines with a plan for each problem; those that compile at run time count where their plans \
                             were built."),
                counts(&passes),
            ]));
        }
    }
    sections
}

fn list(tables: &[EngineTable], ending: &str) -> Block {
    let row = |table: &EngineTable| {
        let file = format!("{}.{ending}", table.name());
        let mut cells = vec![
            Line(vec![Span::Link(table.set.clone(), file)]),
            Line::from(architecture(table)),
            Line::from(table.device.clone()),
        ];
        cells.extend(Operation::CONVOLUTIONS.map(|operation| {
            let pass = table.passes.iter().find(|pass| pass.operation == operation);
            pass.map_or_else(Line::default, |pass| Line::from(pass.words()))
        }));
        cells
    };
    let [fprop, dgrad, wgrad] = Operation::CONVOLUTIONS.map(Operation::name);
    Block::table(
        &["library set", "architecture", "planned for", fprop, dgrad, wgrad],
        tables.iter().map(row).collect(),
    )
}

/// How many engines have a plan for each problem, a row a table; engines whose plans were not built are left out.
fn counts(passes: &[(&EngineTable, &PassTable)]) -> Block {
    let mut head = vec!["library set", "architecture"];
    head.extend(passes[0].1.probes.iter().map(|(label, _)| *label));
    let row = |(table, pass): &(&EngineTable, &PassTable)| {
        let taken = (0..pass.probes.len()).map(|place| {
            let takes =
                pass.engines.iter().filter(|row| matches!(row.answers.get(place), Some(Answer::Built(_))));
            Line::from(takes.count().to_string())
        });
        [Line::code(table.set.clone()), Line::from(architecture(table))].into_iter().chain(taken).collect()
    };
    Block::table(&head, passes.iter().map(row).collect())
}
