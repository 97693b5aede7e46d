//! The table of one library set and architecture as a page. Knows words and columns; collects nothing.

use case::KnobRange;

use super::{Answer, EngineRow, EngineTable, PassTable};
use crate::page;
use crate::page::model::{Block, Line, Page, Section, Span};
use crate::simulated::BANNER;
use crate::title::Title;

/// What stands where an engine declines.
const NO: &str = "–";

/// The page as Markdown.
#[must_use]
pub fn markdown(table: &EngineTable) -> String {
    page::markdown::render(&page(table))
}

/// The page as one HTML file that loads nothing.
#[must_use]
pub fn html(table: &EngineTable) -> String {
    page::html::render(&page(table))
}

/// `sm_90`, as pages call an architecture.
pub(super) fn architecture(table: &EngineTable) -> String {
    format!("sm_{}", table.architecture)
}

fn page(table: &EngineTable) -> Page {
    let counts: Vec<String> = table.passes.iter().map(count).collect();
    Page {
        title: Title {
            simulated: table.simulated,
            tags: ["engines".to_owned(), table.set.clone(), table.device.clone(), "planned".to_owned()],
            architecture: architecture(table),
            condition: counts.join(", "),
        },
        banner: if table.simulated { BANNER } else { "" },
        lead: "What each engine takes, by global index, asked of the library itself on a machine without this device."
            .to_owned(),
        sections: sections(table),
    }
}

impl PassTable {
    /// How many engines there are, and how many of them took something.
    #[must_use]
    pub fn words(&self) -> String {
        let of = |what: fn(&Answer) -> bool| {
            self.engines.iter().filter(|row| row.answers.iter().any(what)).count()
        };
        let built = of(|answer| matches!(answer, Answer::Built(_)));
        let compile = self.taking().count() - built;
        let left = if compile == 0 { String::new() } else { format!(", and {compile} compile at run time") };
        format!("{} engines; {built} have a plan for a problem{left}", self.engines.len())
    }
}

/// `81 fprop engines`.
fn count(pass: &PassTable) -> String {
    format!("{} {} engines", pass.engines.len(), pass.operation.name())
}

fn sections(table: &EngineTable) -> Vec<Section> {
    let mut sections = vec![Section::new("about", "About", about(table))];
    for pass in &table.passes {
        // Name and heading are the pass's own word.
        sections.push(Section::new(pass.operation.name(), pass.operation.name(), blocks(pass)));
    }
    sections
}

fn about(table: &EngineTable) -> Vec<Block> {
    let assumed = match table.assumed.as_slice() {
        [] => Line::from("nothing"),
        keys => Line::code(keys.join(" ")),
    };
    let mut facts = vec![
        ("Library set", Line::code(table.set.clone())),
        ("Device that was planned for", Line::from(format!("{}, {}", table.device, architecture(table)))),
        ("Assumed of it", assumed),
    ];
    for pass in &table.passes {
        let words = pass.words();
        facts.push((pass.operation.name(), Line::from(words)));
    }
    [vec![Block::facts(facts), Block::Heading("Words in the tables")], legend()].concat()
}

/// What stands in the cells, and what it does not say.
pub(super) fn legend() -> Vec<Block> {
    let legend = [
        ("yes", "a plan was built; no heuristic list names the engine"),
        (
            "A#2",
            "a plan was built, and the engine stands at this rank, from 0, of heuristic list A, B or fallback",
        ),
        (
            "jit",
            "compiles at run time and does not decline before that; its plan was not built (--rtc on builds it)",
        ),
        (NO, "declines"),
    ];
    vec![
        Block::facts(legend),
        Block::text(
            "Without a device an engine that asks the driver may decline what it takes on a GPU, so these are the \
             engines that there are at least. Numbers of engines and ranges of knobs belong to one library set.",
        ),
    ]
}

pub(super) fn blocks(pass: &PassTable) -> Vec<Block> {
    let takes = |row: &EngineRow| {
        row.answers.iter().any(|answer| !matches!(answer, Answer::Refused(_) | Answer::Unknown))
    };
    let shown: Vec<&EngineRow> = pass.engines.iter().filter(|row| takes(row)).collect();
    let mut head = vec!["engine"];
    head.extend(pass.probes.iter().map(|(label, _)| *label));
    let matrix = shown.iter().map(|row| {
        let engine = Line::from(row.engine.to_string());
        std::iter::once(engine).chain(row.answers.iter().map(cell)).collect()
    });
    let properties = shown.iter().map(|row| {
        vec![
            Line::from(row.engine.to_string()),
            names(&row.numerical),
            names(&row.behavior),
            knobs(&row.knobs),
            Line::from(row.workspace_bytes.to_string()),
        ]
    });
    let others: Vec<&EngineRow> = pass.engines.iter().filter(|row| !takes(row)).collect();
    let mut blocks = vec![
        Block::Heading("What each engine takes"),
        Block::table(&head, matrix.collect()),
        Block::Heading("Notes and knobs"),
        Block::table(
            &["engine", "numerical notes", "behaviour notes", "knobs", "largest workspace, bytes"],
            properties.collect(),
        ),
    ];
    if !pass.declined.is_empty() {
        let line = |(place, why): (&usize, &String)| {
            let label = pass.probes.get(*place).map_or("", |(label, _)| *label);
            Line::code(label).and(Span::Plain(format!(": {why}")))
        };
        blocks.push(Block::Heading("Problems that no engine was asked about"));
        blocks.push(Block::List(pass.declined.iter().map(line).collect()));
    }
    if !others.is_empty() {
        let rows = others.iter().map(|row| vec![Line::from(row.engine.to_string()), refusals(row)]).collect();
        let what = format!("{} engines that take none of the problems", others.len());
        blocks.push(Block::Fold(what, vec![Block::table(&["engine", "answers"], rows)]));
    }
    let lines = pass.probes.iter().map(|(label, case)| vec![Line::from(*label), Line::code(case.clone())]);
    blocks.push(Block::Fold(
        "The problems".to_owned(),
        vec![Block::table(&["column", "problem"], lines.collect())],
    ));
    blocks
}

fn cell(answer: &Answer) -> Line {
    match answer {
        Answer::Unknown => Line::faint("unknown"),
        Answer::Refused(_) => Line::faint(NO),
        Answer::Trouble(words) => Line::alert(words.clone()),
        Answer::Built(ranks) if ranks.recommended() => Line::strong(ranks.to_string()),
        Answer::Built(_) => Line::from("yes"),
        Answer::Compiles(ranks) if ranks.recommended() => {
            Line::from("jit ").and(Span::Strong(ranks.to_string()))
        }
        Answer::Compiles(_) => Line::from("jit"),
    }
}

fn names(names: &[String]) -> Line {
    if names.is_empty() { Line::faint("none") } else { Line::code(names.join(" ")) }
}

fn knobs(ranges: &[KnobRange]) -> Line {
    if ranges.is_empty() {
        return Line::faint("none");
    }
    let words: Vec<String> = ranges.iter().map(knob).collect();
    Line::code(words.join(" "))
}

/// `TILE_SIZE:0..23`, and the step where it is not 1.
fn knob(range: &KnobRange) -> String {
    let step = if range.stride == 1 { String::new() } else { format!("/{}", range.stride) };
    format!("{}:{}..{}{step}", range.name(), range.minimum, range.maximum)
}

/// The different answers of an engine that takes nothing.
fn refusals(row: &EngineRow) -> Line {
    let mut seen: Vec<&str> = Vec::new();
    for answer in &row.answers {
        let name = match answer {
            Answer::Refused(name) => name.as_str(),
            Answer::Unknown | Answer::Built(_) | Answer::Compiles(_) | Answer::Trouble(_) => "unknown",
        };
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    Line::code(seen.join(" "))
}
