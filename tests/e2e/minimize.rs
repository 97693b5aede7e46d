//! `convict minimize` on every planted fault: the table of `docs/minimizer.md` comes out for any number of workers, and
//! after a kill. Knows that table and the simulator's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use simulator::faults::planted;

use crate::convict::{BINARY, convict, fresh_folder, turn};
use crate::planted::{case_of, minimum};

/// First cell of the table's head.
const HEAD: &str = "| planted fault |";

/// Head and rule.
const HEAD_LINES: usize = 2;

/// Time in which a minimization has asked its first questions.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lines of the log after which a minimization is killed: in the middle of its search.
const LINES_BEFORE_KILL: usize = 25;

/// What convict says where this machine has no time for it, which is no answer: other tests share its cores, and the
/// simulator's deadlines are short.
const STARVED: &str = "a phase of convict's own, did not end within";

/// Runs of a case until one gets its time.
const TRIES: u32 = 3;

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    fault: String,
    start: String,
    minimum: String,
    calls: u64,
    one_minimal: bool,
}

impl Row {
    fn parse(line: &str) -> Self {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [fault, start, minimum, calls, one_minimal] = cells[..] else {
            panic!("a row of five cells: {line}")
        };
        let code = |cell: &str| cell.trim_matches('`').to_owned();
        Self {
            fault: fault.to_owned(),
            start: code(start),
            minimum: code(minimum),
            calls: calls.parse().unwrap_or_else(|error| panic!("{error}: {line}")),
            one_minimal: one_minimal == "yes",
        }
    }

    fn print(&self) -> String {
        let Self { fault, start, minimum, calls, one_minimal } = self;
        let one_minimal = if *one_minimal { "yes" } else { "no" };
        format!("| {fault} | `{start}` | `{minimum}` | {calls} | {one_minimal} |\n")
    }

    /// The same row as that many workers make it.
    fn made_by(&self, workers: u32) -> Self {
        let workers = workers.to_string();
        let arguments = ["minimize", "--simulate", "--json", "--workers", &workers, &self.start];
        let mut run = convict(arguments);
        for _ in 1..TRIES {
            if !run.stderr.contains(STARVED) {
                break;
            }
            run = convict(arguments);
        }
        assert_eq!(run.code, Some(0), "{}: {run:?}", self.fault);
        self.with(&serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}")))
    }

    /// The row with the result that a run printed.
    fn with(&self, report: &Value) -> Self {
        Self {
            minimum: report["case"].as_str().expect("a case").to_owned(),
            calls: report["predicate_calls"].as_u64().expect("a count"),
            one_minimal: report["one_minimal"].as_bool().expect("yes or no"),
            ..self.clone()
        }
    }
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/minimizer.md")
}

/// The text before the rows, the rows, the text after them.
fn table() -> (String, Vec<Row>, String) {
    let text = fs::read_to_string(page()).expect("the page");
    let start = text.find(HEAD).expect("the table of planted faults");
    let begin = start + text[start..].split_inclusive('\n').take(HEAD_LINES).map(str::len).sum::<usize>();
    let length: usize =
        text[begin..].split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    let (before, rest) = text.split_at(begin);
    let (rows, after) = rest.split_at(length);
    (before.to_owned(), rows.lines().map(Row::parse).collect(), after.to_owned())
}

#[test]
fn minimize_reproduces_the_table_of_the_docs() {
    let (before, rows, after) = table();
    let made: Vec<Row> = rows.iter().map(|row| row.made_by(1)).collect();
    if std::env::var_os("BLESS").is_some() {
        let text: String = made.iter().map(Row::print).collect();
        fs::write(page(), format!("{before}{text}{after}")).expect("the page");
    } else {
        let wrong: Vec<String> =
            rows.iter().zip(&made).filter(|(row, made)| row != made).map(|(_, made)| made.print()).collect();
        assert!(wrong.is_empty(), "BLESS=1 accepts what came out:\n{}", wrong.concat());
    }
    let names: Vec<&str> = made.iter().map(|row| row.fault.as_str()).collect();
    let faults = planted();
    assert_eq!(names, faults.iter().map(|fault| fault.fault.name.as_str()).collect::<Vec<_>>());
    for (fault, row) in faults.iter().zip(&made) {
        assert_eq!(case_of(&row.minimum), minimum(fault), "{}", row.fault);
        assert!(row.one_minimal && row.start != row.minimum, "{row:?}");
    }
}

/// Every row with two workers, every third with more than there are cores; a hang, which costs seconds, with neither.
#[test]
fn the_table_is_the_same_for_any_number_of_workers() {
    for (position, row) in table().1.iter().filter(|row| !row.fault.starts_with("hang")).enumerate() {
        for workers in if position % 3 == 0 { &[2, 8][..] } else { &[2] } {
            assert_eq!(row.made_by(*workers), *row, "{workers} workers");
        }
    }
}

/// The log's lines, whole or not.
fn lines(folder: &Path) -> usize {
    fs::read_to_string(folder.join("minimize.jsonl")).map_or(0, |text| text.lines().count())
}

#[test]
fn a_minimization_that_is_killed_ends_as_the_table_says() {
    let place = fresh_folder("minimize-killed");
    let rows = table().1;
    let row = rows.iter().max_by_key(|row| row.calls).expect("a row");
    let out = place.join("out");
    let mut arguments: Vec<String> =
        ["minimize", "--simulate", "--json", row.start.as_str(), "--out"].map(str::to_owned).to_vec();
    arguments.push(out.display().to_string());
    let silent = turn();
    let mut child = Command::new(BINARY)
        .args(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("convict starts");
    let start = Instant::now();
    while lines(&out) < LINES_BEFORE_KILL {
        assert!(start.elapsed() < PATIENCE, "{} lines after {PATIENCE:?}", lines(&out));
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("SIGKILL");
    child.wait().expect("its end");
    drop(silent);
    arguments.push("--resume".to_owned());
    let run = convict(&arguments);
    assert_eq!(run.code, Some(0), "{run:?}");
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    assert_eq!(row.with(&report), *row);
    let recalled = report["recalled_calls"].as_u64().expect("a count");
    assert!(recalled > 0 && recalled < row.calls, "{report}");
    reports::read(&out).expect("a bundle");
}
