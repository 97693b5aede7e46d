//! The text of an issue in the order of cudnn-frontend's bug template; the same text serves the developer forum. Knows
//! the template's headings; claims nothing that was not seen.

use std::fmt::Write;

use case::{Ended, Exit};

use crate::claim::{self, Way};
use crate::escape::{block, capital, code, for_page};
use crate::finding::Finding;
use crate::planned;
use crate::simulated::{self, driver, is_simulated};
use crate::title::{kind_words, title};
use crate::vendor::forms::forms;
use crate::vendor::novelty::{Novelty, Standing};

/// Most characters that the tracker takes, less some room for what a person adds.
pub(super) const CHARACTERS_MAX: usize = 65_000;

/// Lines of the library's log in the text.
const LOG_LINES_MAX: usize = 25;

/// Longest line of the log in the text, characters.
const LOG_LINE_CHARACTERS_MAX: usize = 400;

/// Most mismatches in the text.
const MISMATCHES_MAX: usize = 8;

/// The file's text: the title line, then the fields.
pub(super) fn render(finding: &Finding<'_>, novelty: &Novelty) -> String {
    let fields = [
        ("Before submitting", checks(finding, novelty)),
        ("Affected area", "Not sure (below the frontend: an engine of the cuDNN backend)".to_owned()),
        ("Description", description(finding)),
        ("Steps to reproduce", steps(finding)),
        ("Expected behavior", expected(finding)),
        ("Actual behavior", actual(finding)),
        ("Environment (where applicable)", environment(finding)),
        ("Last known working version", "Not known: no other version was tried.".to_owned()),
        ("Relevant logs", log(finding)),
    ];
    let mut text = format!("# [Bug]: {}\n", for_page(&title(finding)));
    if is_simulated(finding.environment) {
        // Writing into a String cannot fail.
        let _ = write!(text, "\n**{}**\n", for_page(simulated::ISSUE));
    }
    for (heading, body) in fields {
        // Writing into a String cannot fail.
        let _ = write!(text, "\n### {heading}\n\n{}\n", body.trim_end());
    }
    short(text)
}

/// Cut to what the tracker takes. Every part is bounded, so that this only meets inputs that nothing sane makes.
fn short(text: String) -> String {
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

fn checks(finding: &Finding<'_>, novelty: &Novelty) -> String {
    let mut text = format!(
        "- [ ] I searched existing issues and did not find a duplicate. (Compared by a program with {} public \
         reports: {}.)\n",
        novelty.compared,
        match novelty.standing {
            Standing::Known => "one tells of the same",
            Standing::Similar => "some are close",
            Standing::New => "none is close",
        }
    );
    for matched in &novelty.matches {
        let _ = writeln!(
            text,
            "  - {}: {} ({})",
            for_page(&matched.source),
            for_page(&matched.title),
            for_page(&matched.rule)
        );
    }
    let tick = if finding.minimization.one_minimal { "x" } else { " " };
    let _ = writeln!(text, "- [{tick}] I reduced the problem to the smallest reproducer I can provide.");
    text
}

fn description(finding: &Finding<'_>) -> String {
    let (fault, way) = (finding.fault, Way::of(finding));
    let mut text = format!(
        "{}: {}\n\nIt fails in {} of {} runs, each in a fresh process. Reached: {}. {}.",
        capital(kind_words(fault.sameness.kind)),
        for_page(&fault.summary),
        finding.hits,
        finding.runs,
        way.words(),
        capital(&way.severity_words()),
    );
    if let Some(explanation) = finding.explanation {
        let _ = write!(text, "\n\nWhere it fails: {}.", for_page(&claim::region(&explanation.region)));
        for twin in &explanation.twins {
            let _ = write!(
                text,
                "\n- passes with {} = {} in place of {}",
                for_page(&twin.field),
                for_page(&twin.passes),
                for_page(&twin.fails)
            );
        }
    }
    if let Some(alternative) = finding.reach.and_then(|reach| reach.alternative.as_ref()) {
        let _ = write!(text, "\n\nEngine {} is right for the same case.", alternative.config.engine);
    }
    text
}

fn steps(finding: &Finding<'_>) -> String {
    let mut text = format!(
        "1. Unpack the attached bundle.\n2. Run {} in it: it builds {} (plain C++17, no toolkit, no headers, no \
         framework) and runs it. Exit 1: the bug is present.\n\nThe case, one line:\n\n{}\n\nOther forms in the \
         bundle:\n\n| file | state |\n|---|---|\n",
        code("./run.sh /folder/of/libcudnn"),
        code("repro.cpp"),
        block("", &finding.case.to_string())
    );
    for (file, state) in forms(finding) {
        let _ = writeln!(text, "| {} | {} |", code(file), for_page(&state));
    }
    text
}

fn expected(finding: &Finding<'_>) -> String {
    match finding.telling_execution() {
        Some(execution) if !execution.excerpt.is_empty() => {
            "The values of a convolution in double precision, within the rounding of its types; the first wrong \
             elements are below."
                .to_owned()
        }
        Some(_) | None => "A right result, or a refusal with a status that says so.".to_owned(),
    }
}

fn actual(finding: &Finding<'_>) -> String {
    let mut text = format!("{}\n", for_page(&finding.fault.summary));
    if let Some(execution) = finding.telling_execution() {
        let rows =
            execution.excerpt.iter().take(MISMATCHES_MAX).map(|(position, got, expected)| {
                format!("position {position}: got {got}, expected {expected}")
            });
        let rows: Vec<String> = rows.collect();
        if !rows.is_empty() {
            let _ = write!(text, "\n{}\n", block("", &rows.join("\n")));
        }
    }
    let said = match finding.outcome.observation.as_ref().map(|observation| &observation.ended) {
        Some(Ended::Status(refusal)) => format!("cuDNN said {}: {}", refusal.name, refusal.reason),
        Some(Ended::Device { name, code, .. }) => format!("CUDA said {name} ({code})"),
        Some(Ended::Completed | Ended::Described | Ended::Skipped(_)) | None => match finding.outcome.exit {
            Exit::Signalled(signal) => format!("the process was ended by signal {signal}"),
            Exit::TimedOut(limit_ms) | Exit::TooSlow(limit_ms) => format!("no end within {limit_ms} ms"),
            Exit::Exited(code) => format!("the process ended with code {code}"),
            Exit::Answered => "every call reported success".to_owned(),
        },
    };
    let _ = writeln!(text, "\nPhase {}; {}.", finding.fault.sameness.phase.name(), for_page(&said));
    text
}

fn environment(finding: &Finding<'_>) -> String {
    let environment = finding.environment;
    let lines = [
        "cuDNN Frontend Version: none (the backend was called directly)".to_owned(),
        format!("cuDNN Backend Version: {} ({})", environment.cudnn_text(), environment.set()),
        format!("CUDA Toolkit/Runtime Version: {}", environment.cudart_text()),
        if environment.plans_only {
            format!("GPU: {}", planned::device(environment))
        } else {
            format!("GPU: {} (SM{})", environment.gpu, environment.compute_capability)
        },
        format!("CUDA driver: {} (CUDA {})", driver(environment), environment.driver_cuda_text()),
        "OS, compiler: not recorded; the library files with their hashes are in environment.json".to_owned(),
        "Python, framework: none".to_owned(),
        format!(
            "Mixed libraries: {}",
            if environment.conflict.is_empty() { "no" } else { &environment.conflict }
        ),
    ];
    lines.map(|line| for_page(&line)).join("\n\n")
}

fn log(finding: &Finding<'_>) -> String {
    let text =
        if finding.library_log.trim().is_empty() { &finding.outcome.stderr } else { finding.library_log };
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return "None was kept.".to_owned();
    }
    let told = telling(&lines).into_iter().map(|line| line.chars().take(LOG_LINE_CHARACTERS_MAX).collect());
    block("shell", &told.collect::<Vec<String>>().join("\n"))
}

/// What a line of the log begins with where a record begins.
const RECORD: &str = "CuDNN (v";

/// Lines of a record in the text.
const RECORD_LINES_MAX: usize = 10;

/// Of a log of calls the line that names the engine, and the beginnings of the last two records of an execution: the
/// call and its status. Of any other text the last lines.
fn telling<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let starts: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].contains(RECORD)).collect();
    let executes = |at: &&usize| lines[**at].contains("cudnnBackendExecute");
    let last: Vec<usize> = starts.iter().filter(executes).copied().collect();
    if last.is_empty() {
        return lines[lines.len().saturating_sub(LOG_LINES_MAX)..].to_vec();
    }
    let chosen = |line: &&str| line.contains("engine_id:") && !line.contains("val=-1;");
    let engine = lines.iter().rev().copied().find(chosen);
    let mut told: Vec<&str> = engine.into_iter().collect();
    for start in &last[last.len().saturating_sub(2)..] {
        let end = starts.iter().find(|other| *other > start).copied().unwrap_or(lines.len());
        let record = lines[*start..end].iter().filter(|line| !line.trim().is_empty());
        told.extend(record.take(RECORD_LINES_MAX));
    }
    told
}
