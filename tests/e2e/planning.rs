//! Planning without a GPU by the real library, and whether the simulator declines what the real one declines. Knows
//! folders of NVIDIA's libraries; where there are none it says so and has nothing to test.

use std::path::PathBuf;
use std::sync::OnceLock;

use ::wheels::{Cache, Name};
use case::{Ended, Observation, Outcome, Phase};

use crate::convict::{Run, convict, root, wheels};

/// Device properties of an H200 as cuDNN's JSON.
const PROPERTIES: &str = "tests/e2e/data/h200.json";

/// Case lines with the answer that both libraries give to the problem as a whole.
const CONFORMANCE: &str = include_str!("data/conformance.txt");

/// The run-time-compiled engines of one cuDNN, which are the smallest wheel.
const WHEEL: &str = "wheel:9.19.0.56-jit-cu13";

/// Folders of cuDNN and NVRTC: named by variables, or those of a wheel and its companion.
fn libraries() -> Option<&'static (PathBuf, PathBuf)> {
    static FOUND: OnceLock<Option<(PathBuf, PathBuf)>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
            named("CONVICT_TEST_CUDNN").zip(named("CONVICT_TEST_NVRTC")).or_else(fetched)
        })
        .as_ref()
}

fn fetched() -> Option<(PathBuf, PathBuf)> {
    let cache = Cache::within(&wheels(&[WHEEL])?);
    let name = Name::parse(WHEEL.trim_start_matches("wheel:")).expect("a name");
    let wheel = ::wheels::find(&name, 13).expect("a published wheel");
    let compiler = ::wheels::companions(wheel, true).into_iter().next().expect("its compiler");
    Some((cache.libraries(wheel), cache.libraries(compiler)))
}

/// Plans a case with the real library for the device of `PROPERTIES`.
fn plan_really(libraries: &(PathBuf, PathBuf), case: &str, more: &[&str]) -> Run {
    let properties = root().join(PROPERTIES);
    let (cudnn, nvrtc) = libraries;
    let folders = [&properties, cudnn, nvrtc].map(|path| path.display().to_string());
    let [properties, cudnn, nvrtc] = folders.each_ref().map(String::as_str);
    let fixed = ["engines", case, "--properties", properties, "--library", cudnn, "--companion", nvrtc];
    convict(fixed.iter().chain(more))
}

/// The outcomes that `engines --json` printed.
fn outcomes(run: &Run) -> Vec<Outcome> {
    assert_eq!(run.code, Some(0), "{run:?}");
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    run.stdout.lines().map(read).collect()
}

fn observations(run: &Run) -> Vec<Observation> {
    outcomes(run).into_iter().map(|outcome| outcome.observation.expect("an answer")).collect()
}

/// How a problem as a whole was answered: `accepted`, or phase and status.
fn answer(observations: &[Observation]) -> String {
    match observations {
        [Observation { candidate: None, ended: Ended::Status(refusal), .. }] => {
            format!("{} {}", refusal.phase.name(), refusal.name)
        }
        _ => "accepted".to_owned(),
    }
}

/// A line of the list: case and answer.
fn conformance() -> Vec<(&'static str, &'static str)> {
    let lines = CONFORMANCE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(" -> ").unwrap_or_else(|| panic!("no answer: {line}"))).collect()
}

#[test]
fn the_simulator_answers_whole_problems_as_the_list_says() {
    for (case, expected) in conformance() {
        let run = convict(["engines", case, "--simulate", "--faults", "none", "--json"]);
        assert_eq!(answer(&observations(&run)), expected, "{case}");
    }
}

#[test]
fn the_real_library_answers_whole_problems_as_the_list_says() {
    let Some(libraries) = libraries() else { return };
    for (case, expected) in conformance() {
        let run = plan_really(libraries, case, &["--json"]);
        assert_eq!(answer(&observations(&run)), expected, "{case}");
    }
}

#[test]
fn the_real_library_builds_plans_for_a_device_that_is_not_there() {
    let Some(libraries) = libraries() else { return };
    for (case, compiled_least) in PLANNED {
        let seen = observations(&plan_really(libraries, case, &["--json"]));
        let built: Vec<&Observation> = seen.iter().filter(|seen| seen.ended == Ended::Described).collect();
        let compiled = built.iter().filter(|plan| plan.notes.compiles_at_run_time()).count();
        assert!(compiled >= compiled_least, "{case}: {compiled} of {} plans are compiled", built.len());
        let ranks = |plan: &&&Observation| plan.candidate.as_ref().is_some_and(|plan| plan.ranks.a.is_some());
        assert!(built.iter().filter(ranks).count() > 0, "{case}: no plan of heuristics A");
        for plan in &built {
            assert!(plan.workspace_bytes >= 0 && plan.executions.is_empty(), "{case}: {plan:?}");
        }
        for refused in seen.iter().filter(|seen| seen.ended != Ended::Described) {
            let Ended::Status(refusal) = &refused.ended else { panic!("{case}: {refused:?}") };
            assert_eq!(refusal.phase, Phase::Plan, "{case}: {refusal:?}");
            assert!(refusal.name.starts_with("NOT_SUPPORTED"), "{case}: {refusal:?}");
        }
    }
}

/// Problems, and how many run-time-compiled plans each has at least: engines by index, and what heuristics add.
const PLANNED: [(&str, usize); 3] = [
    ("fprop f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1", 4),
    ("dgrad bf16 nhwc n2 c16 k32 i14x14 f3x3 p1x1", 2),
    ("wgrad f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1", 2),
];

#[test]
fn planning_tells_which_library_and_configuration_was_used() {
    let Some(libraries) = libraries() else { return };
    let run = plan_really(libraries, "fprop f16 nhwc n1 c8 k8 i4x4 f1x1", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.starts_with("cuDNN 9.19.0 (9.19.0-jit), "), "{run:?}");
    assert!(!run.stdout.contains("SIMULATOR"), "{run:?}");
}

#[test]
fn without_the_compiler_nothing_is_planned_and_one_line_says_so() {
    let Some((cudnn, _)) = libraries() else { return };
    // A folder of copies has no sibling wheels to look into.
    let folder = crate::convict::fresh_folder("planning-alone");
    for entry in std::fs::read_dir(cudnn).expect("the library's folder") {
        let file = entry.expect("an entry").path();
        std::fs::copy(&file, folder.join(file.file_name().expect("a name"))).expect("a copy");
    }
    if ["/usr/local/cuda", "/usr/local/cuda-13"].iter().any(|path| PathBuf::from(path).exists()) {
        return;
    }
    let (properties, folder) = (root().join(PROPERTIES), folder.display().to_string());
    let properties = properties.display().to_string();
    let case = "fprop f16 nhwc n1 c8 k8 i4x4 f1x1";
    let run = convict(["engines", case, "--properties", &properties, "--library", &folder]);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
}
