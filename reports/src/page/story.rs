//! How a user meets it, what was logged, how it became small, and what to do about it.

use super::model::{Block, Line, Span};
use super::verdict::others;
use super::words;
use crate::claim::Way;
use crate::facts::Facts;
use crate::files::{LIBRARY_LOG, REGRESSION, STDERR};
use crate::picture::{PathStep, Picture, ReductionPath};
use crate::vendor::{GUARD_README, Match, Novelty, Standing};
use crate::verdict::VendorForm;

/// Log lines shown.
const LOG_LINES_MAX: usize = 30;

/// Most characters of a log line that are shown.
const LOG_LINE_CHARS_MAX: usize = 240;

/// Steps of the minimization shown.
const STEPS_MAX: usize = 40;

/// How a user meets it.
pub(super) fn impact(facts: &Facts<'_>) -> Vec<Block> {
    let verdict = facts.verdict;
    let ranks =
        |ranks: Option<case::Ranks>| ranks.map_or_else(Line::not_checked, |ranks| ranks.to_string().into());
    let (way, reach) = (Way::read(verdict), verdict.reach.as_ref());
    vec![Block::facts([
        ("Met as", Line::code(facts.original.to_string())),
        ("Lists that hold the plan, minimized", way.ranks().to_string().into()),
        ("Lists that hold the plan, as met", ranks(reach.map(|reach| reach.original_ranks))),
        ("Severity", way.severity_words().into()),
        ("Framework that reaches it", Line::not_checked()),
        ("How often it was seen", Line::not_checked()),
    ])]
}

/// The end of the library's log and of what was written on stderr.
pub(super) fn logs(facts: &Facts<'_>) -> Vec<Block> {
    let logs = [(LIBRARY_LOG, facts.library_log), (STDERR, facts.stderr)];
    logs.into_iter().flat_map(|(name, text)| log(name, text)).collect()
}

fn log(name: &str, text: &str) -> Vec<Block> {
    let name = Span::Code(name.to_owned());
    if text.trim().is_empty() {
        let line = Line(vec![name, Span::Plain(": ".to_owned()), Span::Faint("empty".to_owned())]);
        return vec![Block::Text(line)];
    }
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.len().saturating_sub(LOG_LINES_MAX);
    let head = format!("Last {} of {} lines of ", lines.len() - start, lines.len());
    let shown: Vec<String> = lines[start..].iter().map(|line| shortened(line)).collect();
    vec![
        Block::Text(Line(vec![Span::Plain(head), name, Span::Plain(":".to_owned())])),
        Block::Code("text", shown.join("\n")),
    ]
}

fn shortened(line: &str) -> String {
    let mut short: String = line.chars().take(LOG_LINE_CHARS_MAX).collect();
    if short.len() < line.len() {
        short.push_str(" [...]");
    }
    short
}

/// What is claimed of the case, and the way to it.
pub(super) fn minimization(facts: &Facts<'_>) -> Vec<Block> {
    let record = &facts.verdict.minimization;
    if record.guarantee.is_empty() {
        return vec![Block::text("Not minimized.")];
    }
    let one_minimal = if record.one_minimal { Line::strong("yes") } else { Line::faint("not shown") };
    let mut blocks = vec![
        Block::text(record.guarantee.clone()),
        Block::facts([
            ("1-minimal", one_minimal),
            (
                "Closing sweep",
                format!("{} of {} listed edits tried", record.swept, record.sweep_total).into(),
            ),
            ("Runs needed", record.calls.to_string().into()),
            ("Seconds", format!("{:.1}", record.seconds).into()),
        ]),
    ];
    match ReductionPath::of(facts.original, facts.minimize_log) {
        Some(path) => blocks.extend(way(path)),
        None => blocks.push(Block::text("No smaller case was adopted on the way.")),
    }
    blocks
}

fn way(path: ReductionPath) -> Vec<Block> {
    let row = |step: &PathStep| {
        vec![
            step.call.to_string().into(),
            step.pass.clone().into(),
            step.bytes.to_string().into(),
            Line::code(step.case.clone()),
        ]
    };
    let hidden = path.steps.len().saturating_sub(STEPS_MAX);
    // The first case and the last ones say most.
    let shown = path.steps.iter().take(1).chain(path.steps.iter().skip(1 + hidden));
    let rows: Vec<Vec<Line>> = shown.map(row).collect();
    let left_out = if hidden > 0 { format!("; {hidden} early ones left out") } else { String::new() };
    let what = format!("{} steps from the first case to the smallest{left_out}", path.steps.len() - 1);
    let table = Block::table(&["call", "pass", "bytes", "case"], rows);
    vec![Block::Picture(Picture::Path(path)), Block::Fold(what, vec![table])]
}

/// Reports by others.
pub(super) fn related(facts: &Facts<'_>) -> Vec<Block> {
    let Some(novelty) = facts.novelty else {
        return vec![Block::not_checked("public reports of the same failure")];
    };
    let Novelty { standing, compared, provenance, .. } = novelty;
    let others = others(facts, novelty);
    let standing = match standing {
        Standing::Known if others.len() < novelty.matches.len() => {
            Line::strong("kept").and(Span::Plain(": this is an entry of the corpus".to_owned()))
        }
        Standing::Known => {
            Line::strong("known").and(Span::Plain(": a report tells of the same failure".to_owned()))
        }
        Standing::Similar => {
            Line::strong("similar").and(Span::Plain(": reports tell of something close".to_owned()))
        }
        Standing::New => Line::strong("new").and(Span::Plain(": no report comes close".to_owned())),
    };
    let mut blocks = vec![Block::facts([
        ("Standing", standing),
        ("Compared with", format!("{compared} reports").into()),
        ("From", provenance.as_str().into()),
    ])];
    if !others.is_empty() {
        let rows = others.into_iter().map(report).collect();
        blocks.push(Block::table(&["report", "what it tells", "what agrees and what differs"], rows));
    }
    blocks
}

fn report(report: &Match) -> Vec<Line> {
    if let Some(name) = report.kept() {
        let place = Line::from("kept in the corpus as ").and(Span::Code(name.to_owned()));
        return vec![place, report.title.as_str().into(), report.rule.as_str().into()];
    }
    let place =
        if report.url.is_empty() { Line::faint("no address") } else { Line::code(report.url.clone()) };
    let source = Span::Plain(format!(" {}", report.source));
    vec![place.and(source), report.title.as_str().into(), report.rule.as_str().into()]
}

/// What a user can do today, and what guards against its return.
pub(super) fn workaround(facts: &Facts<'_>) -> Vec<Block> {
    let other = facts.verdict.reach.as_ref().and_then(|reach| reach.alternative.as_ref());
    let plan = other.map_or_else(Line::not_checked, |other| words::configuration(&other.config).into());
    let mut blocks = vec![Block::facts([
        ("Another plan that is right", plan),
        ("What the guards do and can't", Line::code(GUARD_README)),
        ("Regression entry", Line::code(REGRESSION)),
    ])];
    let forms = &facts.verdict.forms;
    if !forms.is_empty() {
        let row = |form: &VendorForm| vec![Line::code(form.file.clone()), form.state.as_str().into()];
        blocks.push(Block::Heading("Forms for vendors and frameworks"));
        blocks.push(Block::table(&["file", "state"], forms.iter().map(row).collect()));
    }
    blocks
}
