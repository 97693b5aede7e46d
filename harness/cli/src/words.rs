//! Plain words for what is otherwise numbers: a case, how a worker ended, a long line cut short. Knows language; judges
//! nothing.

use case::{Axis, Case, Exit, HeuristicMode, Operation, Outcome, Problem};

/// Signals that end processes by their own fault, by number on Linux.
const SIGNALS: [(i32, &str); 6] =
    [(4, "SIGILL"), (6, "SIGABRT"), (7, "SIGBUS"), (8, "SIGFPE"), (9, "SIGKILL"), (11, "SIGSEGV")];

/// How a run ended and where, such as `killed after 250 ms in execute`.
pub(crate) fn ended(outcome: &Outcome) -> String {
    format!("{} in {}", how(outcome.exit), outcome.phase.name())
}

/// How a process ended.
pub(crate) fn how(exit: Exit) -> String {
    match exit {
        Exit::Answered => "answered".to_owned(),
        Exit::Exited(code) => format!("the process ended with code {code}"),
        Exit::Signalled(number) => match SIGNALS.iter().find(|(known, _)| *known == number) {
            Some((_, name)) => format!("ended by signal {number} ({name})"),
            None => format!("ended by signal {number}"),
        },
        Exit::TimedOut(limit_ms) | Exit::TooSlow(limit_ms) => format!("killed after {limit_ms} ms"),
    }
}

/// A line up to its first `;`, and no longer than that many characters.
pub(crate) fn shortened(line: &str, most: usize) -> String {
    let gist = line.split(';').next().unwrap_or_default().trim_end();
    if gist.chars().count() <= most {
        return gist.to_owned();
    }
    let kept: String = gist.chars().take(most.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// The problem of a case in one line of plain words, for who wonders whether it was read as it was meant.
pub(crate) fn problem(case: &Case) -> String {
    let mut parts = match case.problem.operation {
        Operation::Fprop => convolution("forward convolution", &case.problem),
        Operation::Dgrad => convolution("gradient of a convolution's input", &case.problem),
        Operation::Wgrad => convolution("gradient of a convolution's weights", &case.problem),
        Operation::MaxPool => pooling("largest element of each window", &case.problem),
        Operation::AvgPool => pooling("mean of each window, padding counted as zeros", &case.problem),
        Operation::MatMul => matrices(&case.problem),
        Operation::RmsNorm => {
            let rows = format!("{} rows of {}", case.problem.n, case.problem.c);
            vec!["root mean square normalization".to_owned(), rows]
        }
    };
    parts.push(plan(case));
    parts.extend(match case.history.len() {
        0 => None,
        1 => Some("after another case in the same process".to_owned()),
        count => Some(format!("after {count} other cases in the same process")),
    });
    parts.join(", ")
}

fn convolution(pass: &str, problem: &Problem) -> Vec<String> {
    let channels = format!("{} to {} channels", problem.c, problem.k);
    let mut parts = vec![pass.to_owned(), format!("batch {}", problem.n), channels];
    if problem.g != 1 {
        parts.push(format!("{} groups", problem.g));
    }
    parts.extend(spatial(problem, "filter"));
    parts
}

fn pooling(what: &str, problem: &Problem) -> Vec<String> {
    let channels = format!("{} channels", problem.c);
    let mut parts = vec![what.to_owned(), format!("batch {}", problem.n), channels];
    parts.extend(spatial(problem, "window"));
    parts
}

fn matrices(problem: &Problem) -> Vec<String> {
    let batch = problem.g.max(1);
    let [m, n, k] = [problem.n, problem.k / batch, problem.c / batch];
    vec![format!("product of {batch} matrices {m}x{k} with matrices {k}x{n}")]
}

/// Input and windows along the axes, what is unusual of them, and the output.
fn spatial(problem: &Problem, window: &str) -> Vec<String> {
    let mut parts = vec![
        format!("input {}", along(problem, |axis| axis.input.to_string())),
        format!("{window} {}", along(problem, |axis| axis.filter.to_string())),
    ];
    parts.extend(unusual(problem, "padding", |axis| match (axis.pad_before, axis.pad_after) {
        (before, after) if before == after => before.to_string(),
        (before, after) => format!("{before} before and {after} after"),
    }));
    parts.extend(unusual(problem, "stride", |axis| axis.stride.to_string()));
    parts.extend(unusual(problem, "dilation", |axis| axis.dilation.to_string()));
    parts.push(format!("output {}", join(&problem.geometry().output_spatial())));
    parts
}

fn along(problem: &Problem, of: impl Fn(&Axis) -> String) -> String {
    problem.axes.iter().map(of).collect::<Vec<_>>().join("x")
}

fn join(extents: &[i64]) -> String {
    extents.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

/// A property of the axes, once where all have the same, nothing where it has no effect.
fn unusual(problem: &Problem, name: &str, of: impl Fn(&Axis) -> String) -> Option<String> {
    let values: Vec<String> = problem.axes.iter().map(of).collect();
    let plain = if name == "padding" { "0" } else { "1" };
    let first = values.first()?;
    if values.iter().any(|value| value != first) {
        return Some(format!("{name} {}", values.join(" by ")));
    }
    (first != plain).then(|| format!("{name} {first}"))
}

fn plan(case: &Case) -> String {
    match &case.options.engine {
        case::EngineChoice::Any => "no plan named".to_owned(),
        case::EngineChoice::Pinned(config) if config.knobs.is_empty() => {
            format!("engine {} with default knobs", config.engine)
        }
        case::EngineChoice::Pinned(config) => format!("engine {} with knobs", config.engine),
        case::EngineChoice::Ranked { mode, rank } => match mode {
            HeuristicMode::A | HeuristicMode::B => format!("plan {rank} of heuristics {}", mode.name()),
            HeuristicMode::Fallback => format!("plan {rank} of the fallback list"),
        },
    }
}

#[cfg(test)]
mod tests {
    use case::Phase;

    use super::*;

    fn outcome(exit: Exit, phase: Phase) -> Outcome {
        Outcome { candidate: None, exit, phase, observation: None, stderr: String::new() }
    }

    #[test]
    fn ends_of_a_worker_are_told_in_words() {
        for (exit, phase, words) in [
            (Exit::TimedOut(250), Phase::Execute, "killed after 250 ms in execute"),
            (Exit::Signalled(6), Phase::Plan, "ended by signal 6 (SIGABRT) in plan"),
            (Exit::Signalled(33), Phase::Plan, "ended by signal 33 in plan"),
            (Exit::Exited(3), Phase::Init, "the process ended with code 3 in init"),
            (Exit::Answered, Phase::Sync, "answered in sync"),
        ] {
            assert_eq!(ended(&outcome(exit, phase)), words);
        }
    }

    #[test]
    fn a_line_is_cut_at_its_first_semicolon_and_at_its_most() {
        assert_eq!(shortened("3 of 4 differ; largest error 7; more", 160), "3 of 4 differ");
        assert_eq!(shortened("3 of 4 differ", 160), "3 of 4 differ");
        let cut = shortened(&"a".repeat(300), 160);
        assert!(cut.chars().count() == 160 && cut.ends_with("a..."), "{cut}");
        assert_eq!(shortened("ab é cd", 6), "ab...");
    }

    #[test]
    fn a_case_is_told_in_plain_words() {
        for (line, words) in [
            (
                "fprop f16 nhwc n8 c64 k128 i56x56 f3x3 p1x1 s2x2",
                "forward convolution, batch 8, 64 to 128 channels, input 56x56, filter 3x3, padding 1, stride 2, \
                 output 28x28, no plan named",
            ),
            (
                "wgrad f32 nchw n1 c4 k4 g2 i5x6 f1x2 p0x0:1 d1x2 engine=7 knobs=2:1",
                "gradient of a convolution's weights, batch 1, 4 to 4 channels, 2 groups, input 5x6, filter 1x2, \
                 padding 0 by 0 before and 1 after, dilation 1 by 2, output 5x5, engine 7 with knobs",
            ),
            (
                "dgrad f32 nchw n1 c1 k1 i4 f1 heur=fallback#2",
                "gradient of a convolution's input, batch 1, 1 to 1 channels, input 4, filter 1, output 4, plan 2 of \
                 the fallback list",
            ),
            (
                "fprop f32 nchw n1 c1 k1 i4 f1 ; dgrad f32 nchw n1 c1 k1 i4 f1",
                "gradient of a convolution's input, batch 1, 1 to 1 channels, input 4, filter 1, output 4, no plan \
                 named, after another case in the same process",
            ),
        ] {
            let case: Case = line.parse().expect("an example is a case");
            assert_eq!(problem(&case), words);
        }
    }
}
