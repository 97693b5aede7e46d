//! Hunts without a GPU: over what is planted in the simulator's plans, and over real libraries where they can be had.
//! Knows the simulator's table of faults and folders of NVIDIA's libraries; knows nothing of how a hunt works.

use std::fs;
use std::path::{Path, PathBuf};

use hunt::{FoundSummary, Summary};
use simulator::faults::planted_in_plans;

use crate::convict::{BINARY, Run, convict, convict_in, fresh_folder, root, wheels};
use crate::planted::{case_of, minimum};

fn summary(folder: &Path, run: &Run) -> Summary {
    let text = fs::read_to_string(folder.join("summary.json"))
        .unwrap_or_else(|error| panic!("summary.json: {error}; {run:?}"));
    serde_json::from_str(&text).expect("a summary")
}

/// A hunt for plans on the simulator.
fn simulated(name: &str, more: &[&str]) -> (PathBuf, Run) {
    let folder = fresh_folder(name);
    let out = folder.display().to_string();
    let fixed = ["hunt", "--plan-only", "--simulate", "--arch", "sm_90", "--workers", "2", "--out", &out];
    let run = convict(fixed.iter().chain(more));
    (folder, run)
}

#[test]
fn every_fault_planted_in_plans_is_found_at_its_known_minimum_and_proved_by_its_program() {
    let (folder, run) = simulated("plan-only", &["--cases", "1500"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.starts_with("SIMULATOR, no GPU: "), "{run:?}");
    let summary = summary(&folder, &run);
    let mut missed = Vec::new();
    for fault in planted_in_plans() {
        let signature = fault.signature().expect("the table is sound");
        let name = &fault.fault.name;
        match summary.findings.iter().find(|finding| finding.signature == signature.as_str()) {
            None => missed.push(format!("{name}: no finding {signature}")),
            Some(finding) if case_of(&finding.case) != minimum(&fault) => {
                missed.push(format!("{name}: '{}' instead of '{}'", finding.case, fault.minimum));
            }
            Some(finding) => missed.extend(untold(&folder, finding).map(|what| format!("{name}: {what}"))),
        }
    }
    assert!(missed.is_empty(), "{missed:#?}\nfound: {:#?}", summary.findings);
}

/// What the bundle of a finding lacks.
fn untold(folder: &Path, finding: &FoundSummary) -> Option<String> {
    let bundle = folder.join(finding.bundle.as_ref().expect("a bundle"));
    let verdict = fs::read_to_string(bundle.join("verdict.json")).expect("a verdict");
    let verdict: serde_json::Value = serde_json::from_str(&verdict).expect("JSON");
    let program = fs::read_to_string(bundle.join("repro.cpp")).expect("a program");
    if !program.contains("\\\"deviceName\\\"") {
        return Some("its program names no device".to_owned());
    }
    let runs = &verdict["verification"]["runs"];
    (runs["reproduced"] != 3).then(|| format!("its program: {}", verdict["verification"]))
}

/// Device profiles' architectures that CUDA 13 still knows.
const ARCHITECTURES: [&str; 7] = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];

/// The run-time-compiled engines of two versions: the older with a compiler beside it, the newer with one inside.
const JIT: [&str; 2] = ["wheel:9.19.0.56-jit-cu13", "wheel:9.27.0.42-jit-cu13"];

/// Every engine of one version.
const FULL: &str = "wheel:9.19.0.56-cu13";

/// What cuDNN 9.19.0 does wrong while it plans, known since before convict looked.
const KNOWN: &str = "dgrad-e25-status-plan-internal_error-i8-nchw";

/// Folders of a wheel's libraries and of the compiler in a cache.
fn folders(cache: &Path, wheel: &str) -> Vec<String> {
    let variables = [("CONVICT_CACHE", cache.as_os_str())];
    let run = convict_in(&variables, ["sets", "--fetch", wheel, "--plans-only", "--json"]);
    let line = |text: &str| -> serde_json::Value { serde_json::from_str(text).expect("JSON") };
    let mut words = Vec::new();
    for (option, text) in ["--library", "--companion"].iter().zip(run.stdout.lines()) {
        let folder = line(text)["libraries"].as_str().unwrap_or_else(|| panic!("{run:?}")).to_owned();
        words.extend([(*option).to_owned(), folder]);
    }
    words
}

/// A hunt for plans on a wheel.
fn really(name: &str, cache: &Path, wheel: &str, more: &[&str]) -> (PathBuf, Run) {
    let folder = fresh_folder(name);
    let out = folder.display().to_string();
    let fixed = ["hunt", "--plan-only", "--arch", "sm_90", "--workers", "2", "--out", &out];
    let libraries = folders(cache, wheel);
    let run =
        convict(fixed.into_iter().chain(libraries.iter().map(String::as_str)).chain(more.iter().copied()));
    (folder, run)
}

#[test]
fn the_real_run_time_compiled_engines_of_two_versions_plan_without_a_finding() {
    let Some(cache) = wheels(&JIT) else { return };
    for (wheel, version) in JIT.into_iter().zip(["9.19.0", "9.27.0"]) {
        let (folder, run) = really("plan-only-jit", &cache, wheel, &["--rtc", "on", "--cases", "8"]);
        assert_eq!(run.code, Some(0), "{wheel}: {run:?}");
        assert!(run.stdout.starts_with(&format!("cuDNN {version} ({version}-jit), no device, ")), "{run:?}");
        let summary = summary(&folder, &run);
        assert!(summary.findings.is_empty() && summary.run_time_compiled > 0, "{wheel}: {summary:?}");
        assert!(summary.problems == 8 && summary.precompiled == 0, "{wheel}: {summary:?}");
    }
}

#[test]
fn the_real_full_set_shows_what_is_known_of_it_and_nothing_else() {
    let Some(cache) = wheels(&[FULL]) else { return };
    let (folder, run) = really("plan-only-full", &cache, FULL, &["--cases", "250"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let summary = summary(&folder, &run);
    let [found] = summary.findings.as_slice() else { panic!("{:#?}", summary.findings) };
    assert_eq!((found.signature.as_str(), found.hits), (KNOWN, found.runs), "{found:?}");
    assert_eq!(found.tier, case::Tier::B, "no list recommends it");
    assert_eq!(untold(&folder, found), None);
    assert!(summary.flaky.is_empty() && summary.precompiled > 2_000 && summary.engines > 60, "{summary:?}");
    // What the corpus holds is the same case, and a bundle carries all that is needed to plan it again.
    let kept =
        fs::read_to_string(root().join(format!("corpus/regressions/9.19.0-{KNOWN}/case.txt"))).expect("kept");
    assert_eq!(kept.trim(), found.case);
    let environment = folder.join(found.bundle.as_ref().expect("a bundle")).join("environment.json");
    let environment = environment.display().to_string();
    let libraries = folders(&cache, FULL);
    let check = |case: &str| {
        let fixed = ["check", case, "--plan-only", "--device-json", &environment];
        convict(fixed.into_iter().chain(libraries.iter().map(String::as_str)))
    };
    let again = check(&found.case);
    assert!(again.code == Some(1) && again.stdout.contains("INTERNAL_ERROR"), "{again:?}");
    // As it was reported, and the same in two axes, which the engine declines as it should.
    let told = check("dgrad i8 nhwc n2 c8 k8 i8x8x8 f3x3x3 p1x1x1 s2x2x2 engine=25");
    assert!(told.code == Some(1) && told.stdout.contains("INTERNAL_ERROR"), "{told:?}");
    let flat = check("dgrad i8 nhwc n2 c8 k8 i8x8 f3x3 p1x1 s2x2 engine=25");
    assert!(flat.code == Some(77) && flat.stdout.contains("NOT_SUPPORTED"), "{flat:?}");
}

#[test]
fn every_architecture_of_the_profiles_has_a_table_of_engines() {
    let Some(cache) = wheels(&[FULL]) else { return };
    let folder = fresh_folder("engine-tables");
    let out = folder.display().to_string();
    let arches = ARCHITECTURES.into_iter().flat_map(|arch| ["--arch", arch]);
    let variables = [("CONVICT_CACHE", cache.as_os_str())];
    let run = convict_in(&variables, ["engines", "--set", FULL, "--out", &out].into_iter().chain(arches));
    assert_eq!(run.code, Some(0), "{run:?}");
    let index = fs::read_to_string(folder.join("index.html")).expect("an index");
    for arch in ARCHITECTURES {
        let name = format!("engines-9.19.0-full-{arch}");
        assert!(index.contains(&format!("<a href=\"{name}.html\">")), "{index}");
        let text = fs::read_to_string(folder.join(format!("{name}.json"))).expect("a table");
        let table: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let passes = table["passes"].as_array().expect("passes");
        let counts: Vec<usize> =
            passes.iter().map(|pass| pass["engines"].as_array().map_or(0, Vec::len)).collect();
        assert_eq!(counts, [81, 85, 75], "{arch}");
        for pass in passes {
            let built = pass["engines"].to_string().matches("{\"built\":").count();
            assert!(built > 20, "{arch}: {built} plans of {}", pass["operation"]);
        }
        // The engines that may differ from run to run are known by number.
        let varying = |pass: usize| -> Vec<i64> {
            let rows = passes[pass]["engines"].as_array().expect("rows");
            let varies = |row: &&serde_json::Value| row["numerical"].to_string().contains("NONDETERMINISTIC");
            rows.iter().filter(varies).filter_map(|row| row["engine"].as_i64()).collect()
        };
        assert_eq!((varying(0), varying(1), varying(2)), (vec![], vec![25], vec![20]), "{arch}");
    }
}

#[test]
fn nothing_is_fetched_where_nothing_stands_in_for_a_driver() {
    let folder = fresh_folder("engine-tables-alone");
    let (alone, cache) = (folder.join("convict"), folder.join("cache"));
    if fs::hard_link(BINARY, &alone).is_err() {
        fs::copy(BINARY, &alone).expect("a copy");
    }
    let run = std::process::Command::new(&alone)
        .args(["engines", "--set", "wheel:9.19", "--arch", "sm_90"])
        .env("CONVICT_CACHE", &cache)
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(3), "{run:?}");
    assert!(said.contains("no simulator beside") && said.lines().count() == 1, "{said}");
    assert!(!cache.exists(), "nothing was fetched");
}

#[test]
fn hunts_for_plans_of_other_operations_build_what_compiles_and_count_what_nobody_judged() {
    let (folder, run) = simulated(
        "plan-only-others",
        &["--faults", "none", "--operations", "maxpool,avgpool,matmul,rmsnorm", "--cases", "80"],
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    let found = summary(&folder, &run);
    assert!(found.run_time_compiled > 0 && found.precompiled > 100, "{found:?}");
    // The simulator takes no integers but in convolutions.
    assert!(found.problems_unjudged > 0 && found.problems_unjudged < 40, "{found:?}");
    let words = format!("no plan of {} of the 80 problems was judged", found.problems_unjudged);
    assert!(run.stdout.contains(&words), "{words}: {run:?}");
    let (folder, off) = simulated(
        "plan-only-others-off",
        &["--faults", "none", "--operations", "maxpool", "--rtc", "off", "--cases", "20"],
    );
    assert_eq!(summary(&folder, &off).run_time_compiled, 0, "{off:?}");
    let refused = convict(["show", "matmul i8 nchwc4 m1 n4 k4"]);
    assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{refused:?}");
}

#[test]
fn tables_of_the_simulator_say_what_they_are() {
    let folder = fresh_folder("engine-tables-simulated");
    let out = folder.display().to_string();
    let run = convict(["engines", "--simulate", "--faults", "none", "--arch", "h200", "--out", &out]);
    assert_eq!(run.code, Some(0), "{run:?}");
    for file in [
        "browse.html",
        "index.html",
        "index.md",
        "engines-9.19.0-full-sm_90.html",
        "engines-9.19.0-full-sm_90.md",
    ] {
        let text =
            fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}; {run:?}"));
        assert!(text.contains("SIMULATED"), "{file}: {text}");
    }
}

#[test]
fn a_device_that_cannot_be_planned_for_is_told_in_one_line() {
    let folder = fresh_folder("plan-only-devices");
    let file = folder.join("device.json");
    fs::write(&file, "{\"deviceVer\": 900, \"deviceName\": \"\u{1b}[31m\", \"warpSize\": 32")
        .expect("written");
    let (broken, out) = (file.display().to_string(), folder.join("out").display().to_string());
    let case = "fprop f32 nchw n1 c1 k1 i1 f1";
    for (arguments, words) in [
        (
            &["hunt", "--plan-only", "--cases", "1", "--out", &out][..],
            "--plan-only needs a device to plan for",
        ),
        (&["hunt", "--arch", "sm_90", "--cases", "1", "--out", &out], "--arch needs --plan-only"),
        (&["check", case, "--rtc", "off"], "--rtc needs --plan-only"),
        (
            &["check", case, "--plan-only", "--arch", "sm_61"],
            "'sm_61' is no architecture or device that convict has a profile of",
        ),
        (&["check", case, "--plan-only", "--device-json", &broken], "is no device JSON: control character"),
        (&["check", case, "--plan-only", "--device-json", &out], "name a readable file"),
        (&["engines"], "a table of engines needs a device to plan for"),
        (&["engines", case, "--arch", "sm_80", "--arch", "sm_90"], "one --arch at a time"),
    ] {
        let run = convict(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(words) && run.stderr.lines().count() == 1, "{words}: {run:?}");
        assert!(!run.stderr.contains('\u{1b}'), "{run:?}");
    }
    assert!(!Path::new(&out).exists(), "nothing was begun");
}

#[test]
fn plans_that_compile_are_left_out_taken_by_turns_or_all_taken() {
    let compiled = |rtc: &str| {
        let (folder, run) =
            simulated(&format!("plan-only-rtc-{rtc}"), &["--faults", "none", "--rtc", rtc, "--cases", "30"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        summary(&folder, &run).run_time_compiled
    };
    let [off, on, all] = ["off", "on", "all"].map(compiled);
    assert!(off == 0 && on > 10 && on <= 30 && all > 2 * on, "{off} {on} {all}");
}
