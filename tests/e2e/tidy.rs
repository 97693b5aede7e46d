//! House rules that no compiler checks: sizes, headers, words, and that documents name what exists. Knows files as
//! text; runs nothing but `convict --help`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::convict::{convict, root};

/// Most lines of a source file.
const LINES_MAX: usize = 500;

/// Longest line of a source file, characters; text between quotes cannot always be broken.
const COLUMNS_MAX: usize = 120;

/// Endings of source files that people write.
const SOURCES: [&str; 8] = ["rs", "cu", "cuh", "cpp", "c", "py", "sh", "toml"];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 5] = ["util", "utils", "helpers", "common", "manager"];

/// Documents whose paths must exist.
const DOCUMENTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "corpus/README.md"];

/// Folders at the root: a path that begins with one is ours.
const ROOMS: [&str; 7] = ["harness", "minimizer", "reports", "corpus", "tests", "docs", ".ci"];

/// Every file that people write, relative to the root.
fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = ROOMS.iter().map(PathBuf::from).collect();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root().join(&folder)) else { continue };
        for entry in entries {
            let entry = entry.expect("an entry");
            let path = folder.join(entry.file_name());
            if entry.file_type().expect("a type").is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    let top = ["Cargo.toml", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    files.extend(top.map(PathBuf::from));
    files
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or("")
}

/// Files that a program wrote: kept for comparison, or as evidence.
fn is_written_by_a_program(path: &Path) -> bool {
    let golden = path.components().any(|part| part.as_os_str() == "golden") && ending(path) != "py";
    golden || path.starts_with("reports/tests/golden") || path.starts_with("corpus/regressions")
}

/// Source files with their text.
fn sources() -> Vec<(PathBuf, String)> {
    let is_source = |path: &PathBuf| SOURCES.contains(&ending(path)) && !is_written_by_a_program(path);
    files().into_iter().filter(is_source).map(|path| (path.clone(), text(&path))).collect()
}

fn text(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn no_source_file_is_too_long_or_too_wide() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if lines > LINES_MAX {
            complaints.push(format!("{}: {lines} lines", path.display()));
        }
        for (number, line) in text.lines().enumerate() {
            if line.chars().count() > COLUMNS_MAX && !line.contains('"') {
                complaints.push(format!(
                    "{}:{}: {} columns",
                    path.display(),
                    number + 1,
                    line.chars().count()
                ));
            }
        }
    }
    none(complaints);
}

#[test]
fn every_source_file_opens_by_saying_what_it_knows() {
    let opens_well = |path: &Path, text: &str| match ending(path) {
        "rs" => text.starts_with("//! "),
        "cu" | "cuh" | "cpp" | "c" => text.starts_with("// "),
        "py" => text.starts_with("#!") || text.starts_with("\"\"\""),
        "sh" => text.starts_with("#!") && text.lines().nth(1).is_some_and(|line| line.starts_with("# ")),
        _ => true,
    };
    none(
        sources()
            .into_iter()
            .filter(|(path, text)| !opens_well(path, text))
            .map(|(path, _)| path.display().to_string())
            .collect(),
    );
}

#[test]
fn nothing_is_left_unfinished_switched_off_or_named_after_nothing() {
    // Spelled in halves, so that this file does not complain of itself.
    let banned = [
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("dbg", "!("),
        concat!("#[ig", "nore"),
        concat!("FIX", "ME"),
        concat!("XX", "X "),
        concat!("/wo", "rk/"),
    ];
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
        if EMPTY_NAMES.contains(&stem) {
            complaints.push(format!("{}: the name says nothing", path.display()));
        }
        for word in banned {
            if text.contains(word) {
                complaints.push(format!("{}: {word}", path.display()));
            }
        }
    }
    none(complaints);
}

/// Paths of ours that a document names in backticks or links to.
fn named_paths(document: &str) -> Vec<String> {
    let code = document.split('`').skip(1).step_by(2).filter(|code| {
        let first = code.split('/').next().unwrap_or("");
        code.contains('/') && ROOMS.contains(&first) && !code.contains([' ', '*', '\n', '<', '{'])
    });
    let links = document.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(link, _)| link));
    let local = links.filter(|link| !link.contains("://") && !link.starts_with('#'));
    code.chain(local).map(str::to_owned).collect()
}

#[test]
fn every_path_that_a_document_names_exists() {
    let mut complaints = Vec::new();
    for document in DOCUMENTS {
        let beside = Path::new(document).parent().unwrap_or(Path::new(""));
        let paths = named_paths(&text(Path::new(document)));
        assert!(!paths.is_empty(), "{document} names no path: is it still read rightly?");
        for path in paths {
            if !root().join(&path).exists() && !root().join(beside).join(&path).exists() {
                complaints.push(format!("{document}: {path}"));
            }
        }
    }
    none(complaints);
}

#[test]
fn the_readme_tells_of_every_command_and_exit_code_that_the_help_tells_of() {
    let readme = text(Path::new("README.md"));
    let help = convict(["--help"]).stdout;
    let commands =
        help.split("Commands:").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("commands");
    for command in commands.lines().filter_map(|line| line.split_whitespace().next()) {
        assert!(command == "help" || readme.contains(&format!("convict {command}")), "{command}");
    }
    let codes = help.split("Exit codes:").nth(1).expect("exit codes");
    let code = |part: &str| part.split_whitespace().next().and_then(|word| word.parse::<u8>().ok());
    let codes: Vec<u8> = codes.lines().filter_map(code).collect();
    assert!(codes.len() >= 5, "{codes:?}");
    for code in codes {
        assert!(readme.contains(&format!("\n| {code} | ")), "exit code {code}");
    }
}

#[test]
fn ci_runs_the_tests_as_the_readme_says() {
    let readme = text(Path::new("README.md"));
    let command = readme.lines().find(|line| line.starts_with("cargo test")).expect("the test command");
    assert!(text(Path::new(".ci/run")).lines().any(|line| line.trim() == command), "{command}");
}

#[test]
fn every_bundle_of_the_corpus_is_whole() {
    let Ok(entries) = fs::read_dir(root().join("corpus/regressions")) else { return };
    for entry in entries {
        let folder = entry.expect("an entry").path();
        if folder.is_dir() {
            reports::read(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        }
    }
}
