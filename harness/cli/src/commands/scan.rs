//! `convict scan`: what logs tell of cuDNN, CUDA and the GPU, as text or JSON. Knows how it is written; what is found
//! and what it means is `scan`'s.

use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use scan::{Relation, Scanner, Symptom, shell_word};
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
        // Standard input can be read once; what commands name has to be read again.
        let name = (!traffic::is_standard_input(log)).then(|| shell_word(log.as_os_str().as_bytes()));
        match traffic::opened(log, "log") {
            Ok(reader) => scanner.read_as(name, reader),
            Err(error) => scanner.read_as(name, Unopened(Some(error))),
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
        let lines = if file.lines == 1 { "line" } else { "lines" };
        outln!("{}: {} {lines}, {} bytes", log.display(), file.lines, file.bytes);
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
    let shown = scan.symptoms.iter().filter(|symptom| is_own(symptom)).flat_map(|symptom| &symptom.causes);
    if shown.flat_map(|cause| &cause.commands).any(|command| command.contains("train.py")) {
        outln!("\ntrain.py stands for the program that wrote the log.");
    }
    let import = &scan.import;
    if !import.cases.is_empty() {
        let total = import.cases.iter().fold(0_u64, |sum, found| sum.saturating_add(found.count));
        outln!();
        outln!(
            "{} distinct convolutions ({total} {}) in lines of cuDNN's own log; --cases FILE writes them, then\n    \
             convict hunt --around FILE --library DIR --time 10m",
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
        let what = if suspect.planned { "was being planned then" } else { "was executed last before it" };
        outln!("   suspect {}, which {what}", suspect.case);
    }
    let is_own = is_own(symptom);
    for (place, cause) in symptom.causes.iter().take(if is_own { SHOWN_MAX } else { 0 }).enumerate() {
        outln!("   {} {}. {}", if place == 0 { "causes " } else { "       " }, place + 1, cause.cause);
        for command in &cause.commands {
            outln!("              {command}");
        }
        if let Some(note) = &cause.note {
            outln!("              ({note})");
        }
    }
    if is_own {
        outln!("   sources {}", symptom.sources.join(" "));
    }
}

/// False for what follows from another symptom, and is mended with it.
fn is_own(symptom: &Symptom) -> bool {
    matches!(symptom.relation, Relation::Root | Relation::Before | Relation::Later)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use serde_json::Value;

    use crate::args::Arguments;

    /// The symptom guide, whose commands must be ours where they say so.
    const GUIDE: &str = include_str!("../../../scan/data/guide.json");

    /// Stand-ins for programs: each complains about a file that was not made for it, ours print their words.
    const PROGRAMS: &str = r#"
needs() { [ -e "$1" ] || echo "MISSING $1"; }
convict() {
    printf '%s\0' convict "$@"; printf '\n'
    verb=$1; shift
    while [ $# -gt 0 ]; do
        case $1 in
            --cases) : > "$2"; shift ;;
            --around) needs "$2"; shift ;;
            --library) [ "$2" = /packages/nvidia/cudnn/lib ] || echo "MISSING library $2"; shift ;;
            --*) shift ;;
            *) [ "$verb" = scan ] && needs "$1" ;;
        esac
        shift
    done
}
python() { case "${2-}" in *nvidia.cudnn*) echo /packages/nvidia/cudnn/lib ;; esac; }
torchrun() { mkdir -p ranks/0; : > ranks/0/stderr.log; }
for name in sudo pip nvidia-smi dcgmi ldconfig compute-sanitizer sacct systemctl py-spy pgrep grep; do
    eval "$name() { :; }"
done
"#;

    /// What a shell makes of the commands of a cause, one line for each of ours.
    fn run(commands: &[String]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("the log"), "").expect("a file");
        let script = format!("USER=me; {PROGRAMS}\n{}", commands.join("\n"));
        let output =
            std::process::Command::new("bash").arg("-c").arg(script).current_dir(folder.path()).output();
        let output = output.expect("bash");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.is_empty(), "{commands:?}: {told}");
        String::from_utf8(output.stdout).expect("text")
    }

    #[test]
    fn every_command_of_the_guide_runs_as_printed_and_ours_exist_with_their_options() {
        let rows: Vec<Value> = serde_json::from_str(GUIDE).expect("JSON");
        let called = "I! CuDNN (v91900 56) function cudnnBackendExecute() called:\n";
        let library = include_str!("../../../scan/tests/logs/no-engine-bf16.log");
        let until = library.find("w!   ").expect("a refusal");
        let mut seen = std::collections::BTreeSet::new();
        for before in ["", "cuDNN version 8907\n", "cuDNN version 7602\n", called, &library[..until]] {
            let examples = rows.iter().filter_map(|row| row["examples"][0].as_str());
            let log = [before].into_iter().chain(examples).collect::<Vec<&str>>().join("\n");
            let mut scanner = scan::Scanner::new();
            scanner.read_as(Some("'the log'".to_owned()), log.as_bytes());
            let found = scanner.finish();
            assert_eq!(found.symptoms.len(), rows.len());
            for cause in found.symptoms.iter().flat_map(|symptom| &symptom.causes) {
                assert!(cause.commands.is_empty() == cause.note.is_some(), "{cause:?}");
                if !seen.insert(cause.commands.clone()) {
                    continue;
                }
                for line in run(&cause.commands).lines() {
                    assert!(!line.starts_with("MISSING"), "{:?}: {line}", cause.commands);
                    // What programs print to be read has no words of ours.
                    if !line.starts_with("convict\0") {
                        continue;
                    }
                    let words: Vec<&str> = line.split_terminator('\0').collect();
                    let parsed = Arguments::command().try_get_matches_from(&words);
                    assert!(parsed.is_ok(), "{words:?}: {:?}", parsed.err().map(|error| error.to_string()));
                }
            }
        }
        assert!(seen.len() > 40, "{}", seen.len());
    }
}
