//! Work-arounds: a rule for cudnn-frontend's errata file, and guards for C++ and Python. Knows what the rule's form can
//! say and tells what it cannot.

use std::fmt::Write;

use case::{Atom, LibraryConfiguration, Operation, Region, Support};
use minijinja::{Environment, context};
use serde_json::{Value, json};

use crate::claim;
use crate::escape::{code, for_page, for_program};
use crate::finding::Finding;
use crate::title::title;
use crate::vendor::condition::{Language, expression, types};
use crate::vendor::python::{config, literal};

/// Number of the errata file's form.
const ERRATA_VERSION: u32 = 1;

/// The rule as a file for `CUDNN_ERRATA_JSON_FILE`; without an engine to block it has no rule.
pub(super) fn errata(finding: &Finding<'_>) -> String {
    let rules: Vec<Value> = rule(finding).into_iter().collect();
    format!("{:#}\n", json!({ "version": ERRATA_VERSION, "rules": rules }))
}

fn rule(finding: &Finding<'_>) -> Option<Value> {
    let sameness = &finding.fault.sameness;
    let engine = sameness.engine?;
    let mut rule = json!({
        "rule_id": finding.signature.as_str(),
        "operation": tag(sameness.operation)?,
        "engine": engine,
        "cudnn_version_start": finding.environment.cudnn,
        "cudnn_version_end": finding.environment.cudnn.saturating_add(1),
    });
    let knobs = config(finding).map_or(&[][..], |config| &config.knobs);
    if !knobs.is_empty() {
        // Parts of a plan's tag are searched for as text; the underscore keeps k2 from being found in k12.
        rule["knob"] = knobs.iter().map(|knob| format!("_k{}={}", knob.knob, knob.value)).collect();
    }
    Some(rule)
}

/// The pass as plan tags of cudnn-frontend begin; the form's rules are about convolutions.
pub(super) fn tag(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::Fprop => Some("ConvFwd"),
        Operation::Dgrad => Some("ConvBwdData"),
        Operation::Wgrad => Some("ConvBwdFilter"),
        Operation::MaxPool | Operation::AvgPool | Operation::MatMul | Operation::RmsNorm => None,
    }
}

/// The region, where random cases bear it out.
fn supported<'a>(finding: &Finding<'a>) -> Option<&'a Region> {
    let region = &finding.explanation?.region;
    (region.support() == Support::Supported).then_some(region)
}

/// The conditions that guards test. A guess would let failures through, so that it gives way to the whole pass for the
/// four types.
fn atoms(finding: &Finding<'_>) -> Vec<Atom> {
    supported(finding).map_or_else(|| types(finding.case), |region| region.atoms.clone())
}

/// Where the conditions come from, one line.
fn origin(finding: &Finding<'_>) -> String {
    let dtypes = finding.case.problem.dtypes;
    let whole = || {
        let [x, w, y] = dtypes.tensors().map(case::DType::name);
        format!("the whole pass is blocked for x {x}, w {w}, y {y}, compute {}", dtypes.compute.name())
    };
    for_program(&match (supported(finding), finding.explanation) {
        (Some(region), _) => claim::region(region),
        (None, Some(explanation)) => format!("{}; {}", whole(), claim::region(&explanation.region)),
        (None, None) => format!("{}; nobody has looked for the region", whole()),
    })
}

/// The guard for C++.
///
/// # Errors
/// A template that does not render: our own trouble.
pub(super) fn cpp(finding: &Finding<'_>) -> Result<String, minijinja::Error> {
    render(finding, Language::Cpp, include_str!("../../templates/vendor/guard.hpp"))
}

/// The guard for Python.
///
/// # Errors
/// A template that does not render: our own trouble.
pub(super) fn python(finding: &Finding<'_>) -> Result<String, minijinja::Error> {
    render(finding, Language::Python, include_str!("../../templates/vendor/guard.py"))
}

/// Why guards, which know convolutions, cannot hold a finding.
pub(super) fn obstacle(operation: Operation) -> Option<String> {
    let name = operation.name();
    tag(operation)
        .is_none()
        .then(|| format!("guards are written for convolutions only, and the case is {name}"))
}

fn render(finding: &Finding<'_>, language: Language, template: &str) -> Result<String, minijinja::Error> {
    if let Some(reason) = obstacle(finding.fault.sameness.operation) {
        let comment = match language {
            Language::Cpp => "//",
            Language::Python => "#",
        };
        return Ok(format!("{comment} Not expressible: {reason}.\n"));
    }
    let mut environment = Environment::new();
    // The output is a program; text from outside is a literal or one plain line.
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.add_template("guard", template)?;
    let engine = finding.fault.sameness.engine;
    let conditions: Vec<String> = atoms(finding).iter().map(|atom| expression(atom, language)).collect();
    let text = environment.get_template("guard")?.render(context! {
        title => for_program(&title(finding)),
        origin => origin(finding),
        engine => engine.map(|engine| format!(" than {engine}")).unwrap_or_default(),
        version => finding.environment.cudnn,
        operation => literal(finding.fault.sameness.operation.name()),
        conditions,
    })?;
    Ok(text + "\n")
}

/// What the guards do and what they cannot.
pub(super) fn readme(finding: &Finding<'_>) -> String {
    let mut text = format!("# Guards for {}\n\n", for_page(&title(finding)));
    // Writing into a String cannot fail.
    if let Some(reason) = obstacle(finding.fault.sameness.operation) {
        let _ = writeln!(text, "There are none: not expressible, since {reason}.");
        return text;
    }
    let _ = write!(text, "Conditions: {}\n\n", for_page(&origin(finding)));
    if !finding.case.history.is_empty() {
        text.push_str(
            "The failure needs other convolutions before it in the same process, which no guard can see: the guards act \
             whether those ran or not.\n\n",
        );
    }
    text.push_str("## `errata.json`\n\n");
    let tag = tag(finding.fault.sameness.operation);
    match finding.fault.sameness.engine.zip(tag) {
        Some((engine, tag)) => {
            let plans = format!("{tag}_eng{engine}");
            let _ = write!(text, "{}\n\n", rule_words(finding, &plans));
            for line in limits(finding, engine) {
                let _ = writeln!(text, "- {line}");
            }
        }
        None => text.push_str(
            "Has no rule: the failure comes before any engine is chosen, and the form blocks engines only.\n",
        ),
    }
    text.push_str("\n## `guard.hpp` and `guard.py`\n\n");
    text.push_str(
        "`avoid()` is true for this pass, for the cuDNN version that was seen, and where every condition holds. \
         They know neither engine nor knobs: they tell where to take another engine, not which.\n\n",
    );
    if supported(finding).is_none() {
        text.push_str(
            "Where the failure ends is a guess or unknown, so that the only conditions are the four types: the whole \
             pass is blocked for them, which is too much rather than too little.\n\n",
        );
    }
    text.push_str(
        "Not run when this was written: a bundle is written without starting a framework, so no rule was loaded.\n",
    );
    text
}

fn rule_words(finding: &Finding<'_>, plans: &str) -> String {
    format!(
        "```sh\nCUDNN_ERRATA_JSON_FILE=errata.json python train.py\n```\n\nFrameworks that read this variable \
         (PyTorch, XLA, TensorFlow) then pass over plans whose tag begins with {}{}.",
        code(plans),
        match config(finding).map_or(&[][..], |config| &config.knobs) {
            [] => String::new(),
            _ => " and holds every entry of `knob`".to_owned(),
        }
    )
}

/// What the rule cannot say and what it blocks beyond the failure.
fn limits(finding: &Finding<'_>, engine: i64) -> Vec<String> {
    let explained = supported(finding).is_some();
    let mut limits = vec![
        format!(
            "It blocks engine {engine} for **every** shape of this pass, {}. The form knows no ranges, residues, \
             products, types, strides, dilations, layouts or GPUs.",
            if explained { "although only the conditions above were seen to fail" } else { "as the guards do for its types" }
        ),
        "Its shape keys (`input_shape`, `filter_shape`) are left out: they compare for equality only, for two \
         axes only, and PyTorch asks without the graph, so that it would block every shape all the same."
            .to_owned(),
        "The version range is compared with the cuDNN that the framework was **compiled** with, not with the one \
         that is loaded."
            .to_owned(),
        "Engine numbers belong to one version: do not widen the range without a check.".to_owned(),
    ];
    if config(finding).is_some_and(|config| config.knobs.is_empty()) {
        limits.push("The case runs the engine with default knobs; the rule blocks it with any.".to_owned());
    } else {
        limits.push(
            "Knobs are found as text within the tag: `_k2=1` is found in `_k2=10` too, which blocks more."
                .to_owned(),
        );
    }
    if finding.environment.configuration == Some(LibraryConfiguration::GraphJitOnly) {
        limits.push(
            "Seen with run-time-compiled engines only, which have a numbering of their own: use it with that \
             configuration alone."
                .to_owned(),
        );
    }
    limits
}
