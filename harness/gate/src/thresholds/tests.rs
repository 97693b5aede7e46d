//! Thresholds against machines, and files that say nothing clear.

use case::{Environment, LibraryConfiguration};
use proptest::prelude::*;

use super::*;

fn machine() -> Environment {
    Environment {
        gpu: "NVIDIA H200".to_owned(),
        compute_capability: 90,
        memory_bytes: 140 << 30,
        memory_free_bytes: 138 << 30,
        driver: "580.159.04".to_owned(),
        driver_cuda: 13_000,
        cudnn: 91_900,
        configuration: Some(LibraryConfiguration::Full),
        ..Environment::default()
    }
}

fn unmet(text: &str, machine: &Environment) -> Vec<String> {
    let thresholds = parse("t.toml", text).unwrap_or_else(|error| panic!("{text}: {error}"));
    thresholds.unmet(machine).into_iter().map(|unmet| unmet.words).collect()
}

#[test]
fn a_machine_meets_what_it_reaches_and_a_newest_version_takes_in_what_it_begins() {
    let text = "min-driver = \"580.65\"\nmin-cuda = \"13\"\nmin-cudnn = \"9.10\"\nmax-cudnn = \"9.19\"\n\
                min-capability = \"9.0\"\nmin-free-memory = \"138GiB\"\nallow-set = [\"9.20-full\", \"9.19.0-full\"]\n";
    assert_eq!(unmet(text, &machine()), Vec::<String>::new());
    let patched = Environment { cudnn: 91_901, ..machine() };
    assert_eq!(unmet("max-cudnn = \"9.19\"", &patched), Vec::<String>::new());
    assert_eq!(unmet("", &machine()), Vec::<String>::new());
}

#[test]
fn each_unmet_threshold_is_told_with_what_was_found_and_who_asked() {
    for (line, words) in [
        ("min-driver = \"590\"", "driver 580.159.04 is older than 590 (t.toml line 2)"),
        ("min-cuda = \"13.1\"", "the driver serves CUDA 13.0, which is older than 13.1 (t.toml line 2)"),
        ("min-cudnn = \"9.20\"", "cuDNN 9.19.0 is older than 9.20 (t.toml line 2)"),
        ("max-cudnn = \"9.9\"", "cuDNN 9.19.0 is newer than 9.9 (t.toml line 2)"),
        ("min-capability = \"10.0\"", "compute capability 9.0 is below 10.0 (t.toml line 2)"),
        ("min-free-memory = \"139GiB\"", "free memory 138 GiB is below 139 GiB (t.toml line 2)"),
        ("allow-set = \"9.19-jit\"", "library set 9.19.0-full is none of 9.19-jit (t.toml line 2)"),
    ] {
        assert_eq!(unmet(&format!("# as agreed\n{line}\n"), &machine()), [words]);
    }
    let silent = Environment { driver: String::new(), ..machine() };
    assert!(unmet("min-driver = \"1\"", &silent)[0].contains("does not tell its release"));
}

#[test]
fn a_tenth_of_the_memory_must_be_free_unless_someone_says_otherwise() {
    let full = Environment { memory_free_bytes: (3 << 30) + (100 << 20), ..machine() };
    let words = unmet("", &full);
    assert!(words[0].starts_with("free memory 3 GiB is below a tenth of 140 GiB"), "{words:?}");
    assert_eq!(unmet("min-free-memory = \"0\"", &full), Vec::<String>::new());
}

#[test]
fn flags_win_over_a_file() {
    let file = parse("t.toml", "min-cudnn = \"9.20\"\nmin-driver = \"590\"").expect("thresholds");
    let release = "9.19".parse().expect("a release");
    let flags = Thresholds { min_cudnn: Some(Asked::by_flag(release, "min-cudnn")), ..Thresholds::default() };
    let left: Vec<&str> = flags.over(file).unmet(&machine()).iter().map(|unmet| unmet.name).collect();
    assert_eq!(left, ["min-driver"]);
}

#[test]
fn a_file_that_says_nothing_clear_is_refused_by_its_first_wrong_line() {
    for (text, words) in [
        ("\nmin-cudart = \"13\"", "t.toml line 2: 'min-cudart' is no threshold; there are min-driver, "),
        ("min-cudnn = 9.10", "t.toml line 1: min-cudnn: a value stands in quotes; this is a float"),
        ("min-cudnn = \"9.x\"", "t.toml line 1: min-cudnn: '9.x' is no version"),
        ("min-capability = \"90\"", "'90' is no compute capability"),
        ("min-free-memory = \"10\"", "'10' is no amount of memory"),
        ("min-free-memory = \"99999999TiB\"", "is no amount of memory"),
        ("allow-set = []", "an empty list allows nothing"),
        ("allow-set = [\"9.19\", \"9.19-fat\"]", "'9.19-fat' is no name of a library set"),
        ("min-driver = \"1\"\nmin-driver = \"2\"", "t.toml line 2: is no TOML: duplicate key"),
        ("[min-driver]\na = \"1\"", "t.toml line 1: min-driver: a value stands in quotes; this is a table"),
        ("zebra = \"1\"\napple = \"2\"", "t.toml line 1: 'zebra'"),
        ("min-driver = ", "t.toml line 1: is no TOML: "),
    ] {
        let error = parse("t.toml", text).expect_err(text).to_string();
        assert!(error.contains(words) && !error.contains('\n'), "{text}: {error}");
    }
}

#[test]
fn amounts_of_memory_are_read_with_their_units_and_told_without_rounding_up() {
    for (text, bytes) in
        [("10GiB", 10 << 30), ("1.5 GiB", 3 << 29), ("1GB", 1_000_000_000), ("512MiB", 512 << 20)]
    {
        assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
    }
    assert_eq!(Bytes((10 << 30) - 1).to_string(), "9.9 GiB");
    assert_eq!(Bytes(u64::MAX).to_string(), "17179869183.9 GiB");
    for text in ["", "GiB", "-1GiB", "1e3GiB", "1.GiB", ".5GiB", "1.0000001GiB", "1 0GiB"] {
        assert!(text.parse::<Bytes>().is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_gives_thresholds_or_one_line(text in "\\PC{0,80}|(min-[a-z]{4,8} = \"[0-9.]{0,9}\"\n){0,4}") {
        if let Err(error) = parse("t.toml", &text) {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }
}
