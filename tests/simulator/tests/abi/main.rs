//! The built libraries, opened from a folder with the real names and called through raw pointers, each run in a
//! process of its own: planted faults at their smallest case, no fault without a script, and what else ends a process.

#![allow(unsafe_code, reason = "functions of opened libraries are called through raw pointers")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod library;
mod trial;

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use abi::cudnn::{Attribute as A, AttributeType as T, DescriptorType as D};
use case::Kind;
use library::Libraries;
use simulator::faults::planted;

/// Tells a child what to do, and where the libraries are.
const SCENARIO: &str = "CONVICT_ABI_SCENARIO";
const FOLDER: &str = "CONVICT_ABI_FOLDER";

/// The libraries under their real names, made once for all tests of this process.
fn folder() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let executable = std::env::current_exe().unwrap();
        let target = executable.parent().and_then(Path::parent).unwrap();
        let made = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("simulator");
        simulator::folder(target, &made).unwrap();
        made
    })
}

struct Ended {
    output: String,
    signal: Option<i32>,
    hung: bool,
}

/// Runs a scenario in a process of its own, for at most five seconds.
fn child(scenario: &str, variables: &[(&str, &str)]) -> Ended {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_child_does_what_it_is_told", "--nocapture"]);
    command.env(SCENARIO, scenario).env(FOLDER, folder()).env("LD_LIBRARY_PATH", folder());
    command.env_remove(simulator::faults::VARIABLE).env_remove("CUDA_VISIBLE_DEVICES");
    command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.spawn().unwrap();
    let start = Instant::now();
    let patience =
        if scenario.contains("engine=2") { Duration::from_millis(700) } else { Duration::from_secs(5) };
    while process.try_wait().unwrap().is_none() && start.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    let hung = process.try_wait().unwrap().is_none();
    if hung {
        process.kill().unwrap();
    }
    let output = process.wait_with_output().unwrap();
    let signal = output.status.signal();
    Ended { output: String::from_utf8_lossy(&output.stdout).into_owned(), signal, hung }
}

/// Not a test by itself: what `child` runs.
#[test]
fn a_child_does_what_it_is_told() {
    let Ok(scenario) = std::env::var(SCENARIO) else { return };
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let text = match scenario.as_str() {
        "unknown type" => unknown_type(&folder),
        "plan json" => plan_json(&folder),
        "no device" => no_device(&folder),
        "version" => Libraries::start(&folder).version().to_string(),
        "stray kernel" => stray_kernel(&folder),
        "other kernels" => other_kernels(&folder),
        line => format!("{:?}", trial::run(&folder, &line.parse().unwrap())),
    };
    // The harness captures what a test prints, except through the file itself.
    std::io::Write::write_all(&mut std::io::stdout(), format!("\nseen: {text}\n").as_bytes()).unwrap();
}

#[test]
fn each_planted_fault_shows_at_its_smallest_case_as_its_table_says() {
    for planted in planted() {
        let Ended { output, signal, hung } = child(planted.minimum, &[]);
        let line = planted.minimum;
        let has = |text: &str| assert!(output.contains(text), "{line}: {text} not in {output}");
        assert_eq!(hung, planted.kind == Kind::Hang, "{line}: {output}");
        match planted.kind {
            Kind::Hang => continue,
            Kind::Crash => {
                let expected = if planted.cause == "sigsegv" { 11 } else { 6 };
                assert_eq!(signal, Some(expected), "{line}: {output}");
                continue;
            }
            Kind::Wrong => assert!(!output.contains("wrong: 0"), "{line}: {output}"),
            Kind::Oob => has(&format!("touched: [\"{}\"]", planted.cause)),
            Kind::Input => has("input: true"),
            Kind::Nondet => has("differs: true"),
            Kind::Device if planted.cause == "misaligned_address" => has("waited: 716"),
            Kind::Device => has("waited: 700"),
            Kind::Status if planted.phase == case::Phase::Plan => has("refused: Some((\"plan\", 3000))"),
            Kind::Status => has("refused: Some((\"execute\", 5000))"),
            Kind::Inexact | Kind::Accepted | Kind::Workspace | Kind::Reload => {
                panic!("{line}: no such fault is planted")
            }
        }
        assert_eq!(signal, None, "{line}");
        has("seen: Seen");
    }
}

#[test]
fn without_faults_the_same_cases_are_right() {
    for planted in planted() {
        let Ended { output, .. } = child(planted.minimum, &[(simulator::faults::VARIABLE, "none")]);
        let clean =
            "seen: Seen { refused: None, waited: 0, wrong: 0, touched: [], input: false, differs: false }";
        assert!(output.contains(clean), "{}: {output}", planted.minimum);
    }
}

#[test]
fn a_script_decides_what_goes_wrong() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let script =
        r#"[{"name": "x", "when": ["n = 2"], "what": {"crash": {"site": "execute", "by": {"exit": 9}}}}]"#;
    std::fs::write(file.path(), script).unwrap();
    let variables = [(simulator::faults::VARIABLE, file.path().to_str().unwrap())];
    let Ended { output, .. } = child("fprop f32 nchw n2 c1 k1 i1 f1", &variables);
    assert!(!output.contains("seen:"), "{output}");
    let Ended { output, .. } = child("fprop f32 nchw n1 c1 k1 i1 f1", &variables);
    assert!(output.contains("wrong: 0"), "{output}");
}

#[test]
fn a_script_decides_which_version_the_library_claims_and_whose_plans_it_takes() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), r#"{"version": "9.15.1"}"#).unwrap();
    let variables = [(simulator::faults::VARIABLE, file.path().to_str().unwrap())];
    let Ended { output, .. } = child("version", &variables);
    assert!(output.contains("seen: 91501"), "{output}");
    let Ended { output, .. } = child("plan json", &variables);
    assert!(output.contains("seen: same 131 Err((\"plan\", 1002))"), "{output}");
    let Ended { output, .. } = child("version", &[(simulator::faults::VARIABLE, "none")]);
    assert!(output.contains("seen: 91900"), "{output}");
}

#[test]
fn the_libraries_have_the_names_that_programs_link() {
    for (file, name) in [("libcuda.so", "libcuda.so.1"), ("libcudnn.so.9", "libcudnn.so.9")] {
        let bytes = std::fs::read(folder().join(file)).unwrap();
        let terminated = [name.as_bytes(), &[0]].concat();
        assert!(bytes.windows(terminated.len()).any(|window| window == terminated), "{file}");
    }
}

#[test]
fn both_names_of_the_driver_are_one_file() {
    use std::os::unix::fs::MetadataExt;
    let inode = |name: &str| std::fs::metadata(folder().join(name)).unwrap().ino();
    assert_eq!(inode("libcuda.so"), inode("libcuda.so.1"));
    assert_ne!(inode("libcuda.so"), inode("libcudnn.so.9"));
}

#[test]
fn an_unknown_element_type_kills_the_process_as_the_real_library_does() {
    assert_eq!(child("unknown type", &[]).signal, Some(4));
}

fn unknown_type(folder: &Path) -> String {
    let libraries = Libraries::start(folder);
    let tensor = libraries.descriptor(D::TENSOR);
    tensor.set(A::TENSOR_DATA_TYPE, T::DATA_TYPE, &[99_i32]).unwrap();
    for (name, value) in [(A::TENSOR_DIMENSIONS, [1, 1, 1]), (A::TENSOR_STRIDES, [1, 1, 1])] {
        tensor.longs(name, &value);
    }
    tensor.longs(A::TENSOR_UNIQUE_ID, &[1]);
    tensor.longs(A::TENSOR_ALIGNMENT, &[16]);
    format!("{:?}", tensor.finalize("tensor"))
}

#[test]
fn a_plan_survives_its_json_and_another_version_is_refused() {
    let Ended { output, signal, .. } = child("plan json", &[]);
    assert!(
        output.contains(r#"seen: same 131 Err(("plan", 1002)) Err(("plan", 3000)) Err(("plan", 2000))"#),
        "{output}"
    );
    assert_eq!(signal, Some(11), "a plan's JSON without a device kills the process");
}

fn plan_json(folder: &Path) -> String {
    let libraries = Libraries::start(folder);
    let case = "fprop f32 nchw n2 c2 k2 i4x4 f3x3 engine=10".parse().unwrap();
    let plan = trial::plan(&libraries, &case).unwrap();
    let length = plan.get::<u8>(A::PLAN_JSON, T::CHAR, 0).unwrap().len();
    let text = plan.get::<u8>(A::PLAN_JSON, T::CHAR, length).unwrap();
    let load = |text: &[u8], targeted: bool| {
        let plan = libraries.descriptor(D::EXECUTION_PLAN);
        if targeted {
            plan.set(A::PLAN_HANDLE, T::HANDLE, &[libraries.handle]).unwrap();
        }
        plan.set(A::PLAN_JSON, T::CHAR, text).unwrap();
        plan.finalize("plan").map(|()| plan)
    };
    let again = load(&text, true).ok().unwrap();
    let same = again.get::<u8>(A::PLAN_JSON, T::CHAR, length).unwrap() == text;
    let workspace = again.get::<i64>(A::PLAN_WORKSPACE_SIZE, T::INT64, 1).unwrap()[0];
    let changed = |from: &str, to: &str| {
        let text = String::from_utf8(text.clone()).unwrap().replace(from, to);
        load(text.as_bytes(), true).err().map_or(Ok(()), Err)
    };
    let refusals = [
        changed(&libraries.version().to_string(), "91200"),
        changed("\"engineId\":10", "\"engineId\":4"),
        changed("operationGraph", "operationgraph"),
    ];
    let [version, engine, malformed] = refusals;
    // The engine takes half types alone, so the status says more than that it is refused.
    let engine = engine.map_err(|(call, status)| (call, status / 1000 * 1000));
    let seen = format!(
        "seen: {} {workspace} {version:?} {engine:?} {malformed:?}\n",
        if same { "same" } else { "other" }
    );
    std::io::Write::write_all(&mut std::io::stdout(), seen.as_bytes()).unwrap();
    std::io::Write::flush(&mut std::io::stdout()).unwrap();
    let _ = load(&text, false);
    "alive".to_owned()
}

#[test]
fn without_a_device_neither_driver_nor_handle_starts() {
    let Ended { output, .. } = child("no device", &[("CONVICT_SIM_NO_DEVICE", "1")]);
    assert!(output.contains("seen: init 100, handle 1001"), "{output}");
}

fn no_device(folder: &Path) -> String {
    let (init, handle) = library::try_start(folder);
    format!("init {init}, handle {handle}")
}

#[test]
fn kernels_of_another_build_are_refused() {
    let Ended { output, .. } = child("other kernels", &[]);
    assert!(output.contains("seen: own true, other Some(222)"), "{output}");
}

fn other_kernels(folder: &Path) -> String {
    let libraries = Libraries::start(folder);
    let own = libraries.load(kernel::PTX).is_ok();
    let other = libraries.load(&format!("{}// changed since", kernel::PTX)).err().map(|error| error.0);
    format!("own {own}, other {other:?}")
}

#[test]
fn a_kernel_that_strays_loses_the_context() {
    let Ended { output, .. } = child("stray kernel", &[]);
    assert!(output.contains("seen: launch 0, wait 700, set 700"), "{output}");
}

fn stray_kernel(folder: &Path) -> String {
    let libraries = Libraries::start(folder);
    let address = libraries.allocate(64);
    let view = kernel::TensorView {
        pointer: address,
        dtype: 0,
        extent: [1, 1, 1, 1, 17],
        stride: [17, 17, 17, 17, 1],
        reserved: 0,
    };
    let fill = kernel::FillParams { view, ..kernel::FillParams::default() };
    let launched = libraries.launch(kernel::Kernel::Fill, bytemuck::bytes_of(&fill)).0;
    let waited = libraries.synchronize().0;
    let set = libraries.set_bytes(address, 0, 1).0;
    format!("launch {launched}, wait {waited}, set {set}")
}
