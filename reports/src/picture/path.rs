//! How a case became small: the size of its tensors over the calls of the minimization. Reads the minimizer's
//! log leniently, since other versions write other lines.

use case::Case;
use serde_json::Value;

use super::svg::{Anchor, Drawing};

/// Size of the drawing.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 180.0;

/// Left, top, right and bottom margin.
const MARGIN: (f64, f64, f64, f64) = (76.0, 14.0, 14.0, 34.0);

/// Characters of a bar in the form without a drawing.
const BAR: f64 = 40.0;

/// A case that became the best.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathStep {
    /// Number of the call; 0 for the original.
    pub(crate) call: u64,
    /// The pass that proposed it.
    pub(crate) pass: String,
    /// The case line.
    pub(crate) case: String,
    /// Bytes of its tensors.
    pub(crate) bytes: i64,
}

/// The cases from the first to the smallest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReductionPath {
    /// The original first.
    pub(crate) steps: Vec<PathStep>,
    /// Calls in the log.
    calls: u64,
}

impl ReductionPath {
    /// The path that a log tells of; `None` where it tells of no step.
    pub(crate) fn of(original: &Case, log: &str) -> Option<Self> {
        let entries: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let step = |entry: &Value| {
            let case = case_of(entry.get("case")?)?;
            Some(PathStep {
                call: entry.get("call")?.as_u64()?,
                pass: entry.get("pass").and_then(Value::as_str).unwrap_or("").to_owned(),
                bytes: case.problem.geometry().total_bytes(),
                case: case.to_string(),
            })
        };
        let accepted = |entry: &&Value| entry.get("accepted").and_then(Value::as_bool) == Some(true);
        let steps: Vec<PathStep> = entries.iter().filter(accepted).filter_map(step).collect();
        if steps.is_empty() {
            return None;
        }
        let first = PathStep {
            call: 0,
            pass: "as it was met".to_owned(),
            case: original.to_string(),
            bytes: original.problem.geometry().total_bytes(),
        };
        let last_call = steps.last().map_or(0, |step| step.call);
        let calls = entries.iter().filter_map(|entry| entry.get("call")?.as_u64()).max().unwrap_or(last_call);
        Some(Self { steps: std::iter::once(first).chain(steps).collect(), calls })
    }

    /// Bytes of the first and of the last case.
    fn ends(&self) -> (i64, i64) {
        let bytes = |step: Option<&PathStep>| step.map_or(0, |step| step.bytes);
        (bytes(self.steps.first()), bytes(self.steps.last()))
    }

    pub(super) fn caption(&self) -> String {
        let (first, last) = self.ends();
        format!(
            "Bytes of x, w and y of each case that was adopted, on a logarithmic scale, over {} calls: {first} at first, \
             {last} at last, {} steps adopted. Cases are ordered by elements and plainness, not by bytes: a wider type \
             that is plainer makes the curve rise.",
            self.calls,
            self.steps.len() - 1
        )
    }

    pub(super) fn text(&self) -> String {
        let logarithms: Vec<f64> = self.steps.iter().map(|step| logarithm(step.bytes)).collect();
        let most = logarithms.iter().copied().fold(1.0, f64::max);
        let widest = self.steps.iter().map(|step| step.bytes.to_string().len()).max().unwrap_or(1);
        let bar = |value: f64| "#".repeat((value / most * BAR).round() as usize);
        let lines: Vec<String> = self
            .steps
            .iter()
            .zip(&logarithms)
            .map(|(step, value)| format!("{:>4}  {:>widest$}  {}", step.call, step.bytes, bar(*value)))
            .collect();
        lines.join("\n")
    }

    pub(super) fn svg(&self) -> String {
        let (left, top, right, bottom) = MARGIN;
        let logarithms: Vec<f64> = self.steps.iter().map(|step| logarithm(step.bytes)).collect();
        let least = logarithms.iter().copied().fold(f64::MAX, f64::min).floor();
        let most = logarithms.iter().copied().fold(0.0, f64::max).ceil().max(least + 1.0);
        let floor = HEIGHT - bottom;
        let x = |call: u64| left + call as f64 / self.calls.max(1) as f64 * (WIDTH - left - right);
        let y = |value: f64| top + (most - value) / (most - least) * (floor - top);
        let mut drawing = Drawing::new(WIDTH, HEIGHT);
        for decade in (least as i32)..=(most as i32) {
            let height = y(f64::from(decade));
            drawing.lines("grid", &[(left, height), (WIDTH - right, height)]);
            drawing.text("label", (left - 8.0, height + 4.0), Anchor::End, &bytes_words(decade));
        }
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (step, value) in self.steps.iter().zip(&logarithms) {
            if let Some((_, before)) = points.last() {
                points.push((x(step.call), *before));
            }
            points.push((x(step.call), y(*value)));
        }
        points.extend(points.last().map(|(_, height)| (x(self.calls), *height)));
        drawing.lines("path", &points);
        for (step, value) in self.steps.iter().zip(&logarithms) {
            drawing.circle("step", (x(step.call), y(*value)), 3.0);
        }
        drawing.text("label", (left, HEIGHT - 10.0), Anchor::Start, "call 0");
        let end = format!("call {}", self.calls);
        drawing.text("label", (WIDTH - right, HEIGHT - 10.0), Anchor::End, &end);
        drawing.finish(&self.caption())
    }
}

/// A case as its JSON form or its line.
fn case_of(value: &Value) -> Option<Case> {
    match value {
        Value::String(line) => line.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            serde_json::from_value(value.clone()).ok()
        }
    }
}

fn logarithm(bytes: i64) -> f64 {
    (bytes.max(1) as f64).log10()
}

/// A power of ten of bytes in short words.
fn bytes_words(decade: i32) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let index = usize::try_from(decade / 3).unwrap_or(0).min(units.len() - 1);
    let rest = decade - 3 * index as i32;
    format!("{} {}", 10_i64.pow(rest.max(0) as u32), units[index])
}
