//! Versions, machine and libraries, with whatever does not fit together marked.

use case::{Environment, MappedFile};

use super::model::{Block, Line, Span};
use super::words;
use crate::facts::Facts;
use crate::planned;
use crate::simulated::driver;

/// Characters of a hash that are shown; `environment.json` has all.
const HASH_SHOWN: usize = 12;

/// The version and GPU that were tried, among those that were not.
pub(super) fn versions(facts: &Facts<'_>) -> Vec<Block> {
    let environment = facts.environment;
    let verdict = facts.verdict;
    let fails = Line::strong("fails").and(Span::Plain(format!(" {} of {}", verdict.hits, verdict.runs)));
    let gpu = planned::device(environment);
    let rows = vec![
        vec![environment.set().into(), gpu.into(), engine(facts).into(), fails],
        vec!["every other version".into(), "the same".into(), "the same".into(), Line::not_checked()],
        vec!["the same".into(), "every other GPU".into(), "the same".into(), Line::not_checked()],
    ];
    vec![Block::table(&["cuDNN", "GPU", "engine", "verdict"], rows)]
}

fn engine(facts: &Facts<'_>) -> String {
    facts.verdict.sameness.engine.map_or_else(|| "before any".to_owned(), |index| index.to_string())
}

fn known(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}

pub(super) fn blocks(facts: &Facts<'_>) -> Vec<Block> {
    let environment = facts.environment;
    let conflict = if environment.conflict.is_empty() {
        "none".into()
    } else {
        Line::alert(environment.conflict.clone())
    };
    let memory = i64::try_from(environment.memory_bytes).unwrap_or(i64::MAX);
    vec![
        Block::facts([
            ("cuDNN", format!("{} ({})", environment.cudnn_text(), environment.set()).into()),
            ("Found", known(&environment.found).into()),
            ("Mixed libraries", conflict),
            ("CUDA runtime of cuDNN", environment.cudart_text().into()),
            ("GPU", planned::device(environment).into()),
            ("GPU memory", words::bytes(memory).into()),
            ("Driver", driver(environment).into()),
            ("CUDA of the driver", environment.driver_cuda_text().into()),
            ("convict", facts.verdict.tool_version.clone().into()),
            ("cudnn-frontend", Line::faint("none: the backend API is called directly")),
            ("Operating system, compiler, container", Line::not_checked()),
        ]),
        Block::Heading("Libraries mapped into the process"),
        files(environment),
    ]
}

fn files(environment: &Environment) -> Block {
    if environment.files.is_empty() {
        return Block::not_checked("no inventory was taken");
    }
    let row = |file: &MappedFile| {
        let hash: String = file.sha256.chars().take(HASH_SHOWN).collect();
        let hash = if hash.is_empty() { Line::not_checked() } else { Line::code(hash) };
        let named = environment.conflict.contains(&file.name) && !file.name.is_empty();
        let name = if named { Line::alert(file.name.clone()) } else { Line::code(file.name.clone()) };
        let version = if file.version.is_empty() { Line::faint("-") } else { file.version.clone().into() };
        vec![name, file.place.clone().into(), version, file.bytes.to_string().into(), hash]
    };
    let rows = environment.files.iter().map(row).collect();
    Block::table(&["file", "place", "version", "bytes", "SHA-256"], rows)
}
