//! Which of the vendor's forms hold a finding, and what is known of running them. Knows reasons; renders nothing.

use crate::finding::Finding;
use crate::vendor::{
    DOCKERFILE, ERRATA, FRONTEND, FUZZER, GRAPH, GUARD_CPP, GUARD_PYTHON, TORCH, fuzzer, graph, guards,
    python,
};

/// Why no Python program was run.
const NO_PYTHON: &str = "not run: a bundle is written without starting Python";

/// What the graph is and what was done with it.
const GRAPH_WRITTEN: &str = "graph JSON 2.0, in the form that cudnn-frontend 1.32.0 writes; not read back: a bundle is \
                             written without starting Python";

/// The same for a case that needs others before it.
const GRAPH_OF_THE_LAST: &str = "graph JSON 2.0 of the last convolution only: the ones that have to run before it are in \
                                 no graph; not read back: a bundle is written without starting Python";

/// File and what is to be said of it: whether it holds the case, and why it was not run where it was not.
pub(crate) fn forms(finding: &Finding<'_>) -> Vec<(&'static str, String)> {
    let held = |obstacle: Option<String>, else_: &str| match obstacle {
        Some(reason) => format!("not expressible: {reason}"),
        None => else_.to_owned(),
    };
    let guard = || guards::obstacle(finding.fault.sameness.operation);
    let rule = match finding.fault.sameness.engine {
        Some(_) => "not loaded: a bundle is written without starting a framework",
        None => "no rule: the failure comes before any engine is chosen",
    };
    vec![
        (
            GRAPH,
            held(
                graph::obstacle(finding.case),
                if finding.case.history.is_empty() { GRAPH_WRITTEN } else { GRAPH_OF_THE_LAST },
            ),
        ),
        (FUZZER, held(fuzzer::obstacle(finding), "not run: it needs a clone of cudnn-frontend, and PyTorch")),
        (FRONTEND, held(python::frontend_obstacle(finding), NO_PYTHON)),
        (TORCH, held(python::torch_obstacle(finding), NO_PYTHON)),
        (DOCKERFILE, "not built: a bundle is written without building images".to_owned()),
        (ERRATA, held(guard(), rule)),
        (GUARD_CPP, held(guard(), "not built: it is for a framework's source")),
        (GUARD_PYTHON, held(guard(), "not run: it is for a framework's program")),
    ]
}
