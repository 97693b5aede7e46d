//! `convict scan`: what logs tell of cuDNN, CUDA and the GPU, as text or JSON. Knows how it is written; what is found
//! and what it means is `scan`'s.

use std::io::{self, Read};
use std::path::PathBuf;

use scan::{Relation, Scanner, Symptom};
use serde_json::{Value, json};

use crate::args::Scan;
use crate::failure::{CLEAN, FOUND, Failure, REFUSED};
use crate::screen::{errln, outln};
use crate::side::Side;
use crate::traffic;

/// Most causes, statuses and ranks that are shown of one symptom; JSON has all.
const SHOWN_MAX: usize = 8;

/// A log that could not be opened: its trouble is told as that of one which ends too early.
struct Unopened(Option<io::Error>);

impl Read for Unopened {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Reads the logs, each once, and tells what they show.
pub(crate) fn run(arguments: &Scan) -> Result<u8, Failure> {
    let logs = &arguments.logs;
    if logs.iter().filter(|log| traffic::is_standard_input(log)).count() > 1 {
        return Err(Failure::Usage("standard input (-) is named twice".to_owned()));
    }
    let inputs = || logs.iter().map(PathBuf::as_path);
    let cases = arguments.cases.as_deref().map(|path| Side::claim("--cases", path, inputs())).transpose()?;
    let mut scanner = Scanner::new();
    for log in logs {
        match traffic::opened(log, "log") {
            Ok(reader) => scanner.read(reader),
            Err(error) => scanner.read(Unopened(Some(error))),
        }
    }
    let scan = scanner.finish();
    for (log, file) in logs.iter().zip(&scan.files) {
        if let Some(trouble) = &file.trouble {
            errln!("convict: {}: {trouble}", log.display());
        }
    }
    if arguments.json {
        outln!("{}", as_json(logs, &scan)?);
    } else if scan.files.iter().any(|file| file.bytes > 0 || file.trouble.is_none()) {
        tell(logs, &scan);
    }
    // What was found is told before anything can go wrong with a file.
    if let Some(side) = &cases {
        write(logs, side, &scan.import)?;
    }
    Ok(match (scan.has_symptoms(), scan.is_incomplete()) {
        (true, _) => FOUND,
        (false, true) => REFUSED,
        (false, false) => CLEAN,
    })
}

/// Writes the case lines, as `import` does.
fn write(logs: &[PathBuf], side: &Side, import: &import::Import) -> Result<(), Failure> {
    let path = side.path();
    traffic::complain(import);
    if import.cases.is_empty() {
        errln!(
            "note: no line of cuDNN's own log describes a convolution, so that {} is not written; run the program with \
             CUDNN_LOGLEVEL_DBG=3",
            path.display()
        );
        return Ok(());
    }
    side.put(&traffic::lines(logs, import))?;
    errln!("{} cases in {}", import.cases.len(), path.display());
    Ok(())
}

fn as_json(logs: &[PathBuf], scan: &scan::Scan) -> Result<Value, Failure> {
    let mut value = serde_json::to_value(scan).map_err(|error| Failure::Ours(error.to_string()))?;
    value["verdict"] = json!(scan.verdict());
    for (log, file) in logs.iter().zip(value["files"].as_array_mut().into_iter().flatten()) {
        file["name"] = json!(log.display().to_string());
    }
    value["cases"] = scan
        .import
        .cases
        .iter()
        .map(|found| {
            let (case, engines) = (found.case.to_string(), &found.engines);
            json!({ "case": case, "count": found.count, "file": found.file, "first": found.first, "engines": engines })
        })
        .collect();
    Ok(value)
}

fn tell(logs: &[PathBuf], scan: &scan::Scan) {
    for (log, file) in logs.iter().zip(&scan.files) {
        outln!("{}: {} lines, {} bytes", log.display(), file.lines, file.bytes);
        for note in &file.notes {
            outln!("  note: it {note}");
        }
    }
    if !scan.versions.is_empty() {
        let versions: Vec<String> = scan.versions.iter().map(ToString::to_string).collect();
        outln!("cuDNN of the log: {}", versions.join(", "));
    }
    outln!("{}", scan.verdict());
    for (place, symptom) in scan.symptoms.iter().enumerate() {
        outln!();
        show(place + 1, symptom, logs);
    }
    let import = &scan.import;
    if !import.cases.is_empty() {
        let total = import.cases.iter().fold(0_u64, |sum, found| sum.saturating_add(found.count));
        outln!();
        outln!(
            "{} distinct convolutions ({total} {}) in lines of cuDNN's own log; --cases FILE writes them, then\n    \
             convict hunt --around FILE --time 10m",
            import.cases.len(),
            import.evidence.counted()
        );
    }
}

fn show(number: usize, symptom: &Symptom, logs: &[PathBuf]) {
    let first = &symptom.first;
    outln!("{number}. {} [{}]", symptom.title, symptom.id);
    outln!("   {}", symptom.relation.words());
    let name = |file: usize| match logs.get(file) {
        Some(log) if logs.len() > 1 => format!("{}, ", log.display()),
        Some(_) | None => String::new(),
    };
    let mut place = vec![format!("{}line {}", name(first.file), first.line)];
    place.extend(first.moment.map(|moment| moment.to_string()));
    place.extend(first.rank.map(|rank| format!("rank {rank}")));
    place.extend(first.time.clone());
    outln!("   first   {}", place.join(", "));
    outln!("           {}", first.text);
    let mut counts = vec![format!("{} {}", symptom.count, if symptom.count == 1 { "line" } else { "lines" })];
    if symptom.count > 1 {
        counts.push(format!("the last at {}line {}", name(symptom.last.0), symptom.last.1));
    }
    if symptom.more {
        counts.push(format!("at more than {} moments", symptom.incidents));
    }
    outln!("   when    {}; {}", symptom.when(), counts.join(", "));
    if symptom.ranks.len() > 1 {
        let ranks: Vec<String> = symptom.ranks.keys().take(SHOWN_MAX).map(u32::to_string).collect();
        let more = if symptom.ranks.len() > SHOWN_MAX { ", ..." } else { "" };
        outln!("   ranks   {}{more} ({} of them)", ranks.join(", "), symptom.ranks.len());
    }
    for status in symptom.statuses.iter().take(SHOWN_MAX) {
        outln!("   status  {} ({}), {} times: {}", status.name, status.number, status.count, status.meaning);
    }
    outln!("   means   {}", symptom.meaning);
    if let Some(suspect) = &first.suspect {
        outln!("   suspect {suspect} was executed last before it");
    }
    // What follows from another symptom is mended with it.
    let is_own = matches!(symptom.relation, Relation::Root | Relation::Before | Relation::Later);
    for (place, cause) in symptom.causes.iter().take(if is_own { SHOWN_MAX } else { 0 }).enumerate() {
        outln!("   {} {}. {}", if place == 0 { "causes " } else { "       " }, place + 1, cause.cause);
        outln!("              {}", cause.command);
    }
    if is_own {
        outln!("   sources {}", symptom.sources.join(" "));
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use serde_json::Value;

    use crate::args::Arguments;

    /// The symptom guide, whose commands must be ours where they say so.
    const GUIDE: &str = include_str!("../../../scan/data/guide.json");

    #[test]
    fn every_command_of_ours_in_the_guide_is_one_that_exists_with_its_options() {
        let rows: Vec<Value> = serde_json::from_str(GUIDE).expect("JSON");
        let causes = rows.iter().flat_map(|row| row["causes"].as_array().into_iter().flatten());
        let mut seen = 0;
        for command in causes.filter_map(|cause| cause["command"].as_str()) {
            let words: Vec<&str> = command.split_whitespace().map(|word| word.trim_matches('\'')).collect();
            if words[0] != "convict" {
                continue;
            }
            seen += 1;
            let parsed = Arguments::command().try_get_matches_from(&words);
            assert!(
                parsed.is_ok(),
                "{command}: {}",
                parsed.err().map(|error| error.to_string()).unwrap_or_default()
            );
        }
        assert!(seen > 10, "{seen}");
    }
}
