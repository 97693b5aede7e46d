//! What a process really maps, from its memory map and from what a Python answered that was started for it. Knows those
//! texts; starts nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::family::{self, Family};
use crate::version::Version;

/// How sure it is that a program uses those files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// Its memory map says so.
    Mapped,
    /// The loader's order says so; the program was not run.
    Resolved,
}

/// A library of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mapped {
    /// Its file, as the kernel names it.
    pub path: PathBuf,
    /// Its family.
    pub family: Family,
    /// Which library of the family.
    pub part: String,
    /// True where the file was removed or replaced since.
    pub deleted: bool,
    /// By which way the loader finds it, where that was followed.
    pub way: Option<String>,
}

/// A program and its libraries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    /// What it is, in words.
    pub name: String,
    /// Its number, where it runs.
    pub pid: Option<u32>,
    /// How that is known.
    pub seen: Seen,
    /// What it was asked to load, step by step, and how that went.
    pub steps: Vec<Step>,
    /// Its libraries of interest, by path.
    pub files: Vec<Mapped>,
    /// What its cuDNN says its version is.
    pub cudnn: Option<Version>,
    /// Engines that its cuDNN counts for one small convolution, where it was asked.
    pub engines: Option<u64>,
}

/// One step of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What was done.
    pub what: String,
    /// Whether that worked.
    pub done: bool,
    /// Details, or why it did not.
    pub words: String,
}

/// The libraries of interest in the text of a memory map, each once.
#[must_use]
pub fn mapped(maps: &str) -> Vec<Mapped> {
    let mut files: BTreeMap<PathBuf, Mapped> = BTreeMap::new();
    for line in maps.lines() {
        // Five fields without blanks in them stand before the path, which may hold blanks.
        let Some(start) = line.find('/') else { continue };
        let (path, deleted) = match line[start..].strip_suffix(" (deleted)") {
            Some(path) => (path, true),
            None => (&line[start..], false),
        };
        let path = unescaped(path);
        let name = path.file_name().and_then(|name| name.to_str()).and_then(family::read);
        if let Some(name) = name {
            let file =
                Mapped { path: path.clone(), family: name.family, part: name.part, deleted, way: None };
            files.insert(path, file);
        }
    }
    files.into_values().collect()
}

/// The kernel writes a line end in a path as `\012`.
fn unescaped(path: &str) -> PathBuf {
    PathBuf::from(path.replace("\\012", "\n"))
}

/// What a Python answered: where it looks, and what it maps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Python {
    /// Its executable, as it says.
    pub executable: String,
    /// Its version.
    pub version: String,
    /// Folders that it imports from.
    pub folders: Vec<PathBuf>,
    /// Why it did not answer to its end.
    pub trouble: Option<String>,
}

/// Reads the lines that the probe wrote; what can't be read is passed over, since the process may have died in the
/// middle of one.
#[must_use]
pub fn answers(text: &str) -> (Python, Program) {
    let mut python = Python::default();
    let mut program = Program {
        name: "python".to_owned(),
        pid: None,
        seen: Seen::Mapped,
        steps: Vec::new(),
        files: Vec::new(),
        cudnn: None,
        engines: None,
    };
    for answer in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let word = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
        let list = |name: &str| {
            let values = answer[name].as_array().into_iter().flatten();
            values.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        match answer["step"].as_str().unwrap_or_default() {
            "places" => {
                python.executable = word("executable");
                python.version = word("version");
                python.folders = list("folders").into_iter().map(PathBuf::from).collect();
            }
            "opened" | "loaded" | "maps" => program.files = mapped(&list("maps").join("\n")),
            step => {
                let number = |name: &str| answer[name].as_u64();
                program.cudnn = number("cudnn").and_then(Version::of_cudnn).or(program.cudnn);
                program.engines = number("engines").or(program.engines);
                program.steps.push(step_of(step, &answer));
            }
        }
    }
    (python, program)
}

fn step_of(step: &str, answer: &Value) -> Step {
    let facts = answer.as_object().into_iter().flatten();
    let facts = facts.filter(|(name, _)| !["step", "done", "why"].contains(&name.as_str()));
    let facts: Vec<String> = facts.map(|(name, value)| format!("{name} {}", plain(value))).collect();
    let why = answer["why"].as_str().map(str::to_owned);
    Step {
        what: step.to_owned(),
        done: answer["done"].as_bool().unwrap_or(true),
        words: why.unwrap_or_else(|| facts.join(", ")),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Program {
    /// Its files of one family.
    pub fn of(&self, family: Family) -> impl Iterator<Item = &Mapped> {
        self.files.iter().filter(move |file| file.family == family)
    }

    /// The folders of its files of cuDNN, each once.
    #[must_use]
    pub fn cudnn_folders(&self) -> Vec<&Path> {
        let mut folders: Vec<&Path> = self.of(Family::Cudnn).filter_map(|file| file.path.parent()).collect();
        folders.sort_unstable();
        folders.dedup();
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_map_gives_each_library_of_interest_once_and_tells_of_removed_ones() {
        let maps = "7f0-7f1 r-xp 00000000 00:2a 1 /a b/libcudnn.so.9\n7f1-7f2 r--p 0 00:2a 1 /a b/libcudnn.so.9\n\
                    7f2-7f3 r-xp 0 00:2a 2 /c/libcudnn_graph.so.9 (deleted)\n7f3-7f4 rw-p 0 00:00 0 [heap]\n\
                    7f4-7f5 r-xp 0 00:2a 3 /lib/libc.so.6\nnonsense\n";
        let told: Vec<_> = mapped(maps)
            .into_iter()
            .map(|file| (file.path.display().to_string(), file.part, file.deleted))
            .collect();
        let expected = [("/a b/libcudnn.so.9", "shim", false), ("/c/libcudnn_graph.so.9", "graph", true)];
        assert_eq!(told, expected.map(|(path, part, deleted)| (path.to_owned(), part.to_owned(), deleted)));
    }

    #[test]
    fn the_answers_of_a_python_that_died_are_read_as_far_as_they_go() {
        let text = "{\"step\": \"places\", \"executable\": \"/p\", \"version\": \"3.11\", \"folders\": [\"/s\"]}\n\
                    {\"step\": \"import\", \"done\": false, \"why\": \"ImportError: no\"}\n\
                    {\"step\": \"opened\", \"maps\": [\"7-8 r-xp 0 0:0 1 /l/libcudnn.so.9\"]}\n\
                    {\"step\": \"parts\", \"done\": true, \"cudnn\": 91900, \"checks\": {\"ops\": 0}}\n{\"step\": \"eng";
        let (python, program) = answers(text);
        assert_eq!((python.executable.as_str(), python.folders.len()), ("/p", 1));
        assert_eq!(program.cudnn, Version::parse("9.19.0"));
        assert_eq!((program.files.len(), program.engines, program.steps.len()), (1, None, 2));
        assert_eq!(program.steps[0].words, "ImportError: no");
    }
}
