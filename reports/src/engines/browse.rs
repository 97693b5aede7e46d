//! Every table on one page, of which a reader picks library sets, architectures and passes. Knows no columns; collects
//! nothing.

use case::Operation;

use super::EngineTable;
use super::index::{different, title};
use super::page::{architecture, blocks, legend};
use crate::page;
use crate::page::model::{Block, Page, Section};
use crate::simulated::BANNER;

/// The page as one HTML file that loads nothing and runs nothing.
#[must_use]
pub fn html(tables: &[EngineTable]) -> String {
    page::html::render(&page(tables))
}

fn page(tables: &[EngineTable]) -> Page {
    let simulated = tables.iter().any(|table| table.simulated);
    let sets = different(tables.iter().map(|table| table.set.clone()));
    let architectures = different(tables.iter().map(architecture));
    let passes = different(operations(tables).map(|operation| operation.name().to_owned()));
    let place = |names: &[String], name: &str| names.iter().position(|one| one == name).unwrap_or_default();
    let mut filed = Vec::new();
    for table in tables {
        for pass in &table.passes {
            let name = pass.operation.name();
            let options = vec![
                place(&sets, &table.set),
                place(&architectures, &architecture(table)),
                place(&passes, name),
            ];
            let what = format!(
                "{name}, {} on {} ({}): {}",
                table.set,
                architecture(table),
                table.device,
                pass.words()
            );
            filed.push(Block::Filed(options, what, blocks(pass)));
        }
    }
    let groups = vec![("Library set", sets), ("Architecture", architectures), ("Pass", passes)];
    Page {
        title: title(tables),
        banner: if simulated { BANNER } else { "" },
        lead: "Every engine of these library sets and architectures: what it takes, its notes and its knobs. Untick \
               what is not wanted."
            .to_owned(),
        sections: vec![
            Section::new("tables", "Tables", [vec![Block::Choices(groups)], filed].concat()),
            Section::new("words", "Words in the tables", legend()),
        ],
    }
}

fn operations(tables: &[EngineTable]) -> impl Iterator<Item = Operation> {
    tables.iter().flat_map(|table| table.passes.iter().map(|pass| pass.operation))
}
