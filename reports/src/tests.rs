//! Bundles written, read, altered; and the golden one, which `BLESS=1` writes anew.

use std::fs;
use std::path::{Path, PathBuf};

use case::Kind;

use crate::sample::Sample;
use crate::{
    BundleError, ERROR_MAP, HASHED, LIBRARY_LOG, PAGE, PROGRAM, REPORT, SUMS, VERDICT, Verification,
    Verified, read, record_verification, rerender, title, verify, write,
};

pub(crate) mod program;
mod script;

const LINE: &str = "dgrad f16 nchw n2 c16 k32 i14x14 f3x3 p1x1 engine=25 fill=int2:1 wsfill=ff out=nan";

/// A written bundle and the folder that holds it.
fn bundle() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("finding");
    write(&folder, &Sample::new(Kind::Wrong, LINE).finding()).unwrap();
    (parent, folder)
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Names of all files below a folder.
fn listing(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            names.extend(listing(&path).into_iter().map(|below| format!("{name}/{below}")));
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}

#[test]
fn the_bundle_of_a_finding_is_what_it_was() {
    let (_parent, folder) = bundle();
    if std::env::var_os("BLESS").is_some() {
        let _ = fs::remove_dir_all(golden());
        write(&golden(), &Sample::new(Kind::Wrong, LINE).finding()).unwrap();
    }
    assert_eq!(listing(&folder), listing(&golden()));
    for name in listing(&folder) {
        let (now, then) = (fs::read_to_string(folder.join(&name)), fs::read_to_string(golden().join(&name)));
        assert_eq!(now.unwrap(), then.unwrap(), "{name} changed; BLESS=1 accepts it");
    }
}

#[test]
fn a_bundle_reads_back_as_what_was_written() {
    let (_parent, folder) = bundle();
    let sample = Sample::new(Kind::Wrong, LINE);
    let bundle = read(&folder).unwrap();
    assert_eq!(bundle.case, sample.case);
    assert_eq!(bundle.original, sample.original);
    assert_eq!(bundle.environment, sample.environment);
    assert_eq!(bundle.verdict.sameness, sample.fault.sameness);
    assert_eq!(bundle.verdict.coordinates, [[0, 3, 0, 2], [0, 3, 0, 6]]);
    assert_eq!(bundle.verdict.execution.as_ref(), sample.finding().telling_execution());
    assert_eq!(bundle.verdict.verification, Verification::Pending);
    assert_eq!(bundle.verdict.reach, sample.reach);
    assert_eq!(bundle.explanation, sample.explanation);
    assert_eq!(bundle.minimize_log.lines().count(), sample.minimization.log.len());
    assert_eq!(HASHED.to_vec(), bundle.hashes.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

#[test]
fn every_kind_of_finding_makes_a_bundle_that_reads_back() {
    let parent = tempfile::tempdir().unwrap();
    for kind in ALL_KINDS {
        let folder = parent.path().join(kind.name());
        write(&folder, &Sample::new(kind, LINE).finding()).unwrap();
        assert_eq!(read(&folder).unwrap().verdict.sameness.kind, kind);
        assert!(verify(&folder).is_empty(), "{:?}", verify(&folder));
    }
}

#[test]
fn a_finding_that_nobody_has_probed_has_the_same_files_and_they_say_so() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("finding");
    let mut sample = Sample::new(Kind::Crash, LINE);
    (sample.explanation, sample.reach) = (None, None);
    write(&folder, &sample.finding()).unwrap();
    assert_eq!(listing(&folder).len(), HASHED.len() + 1);
    assert_eq!(read(&folder).unwrap().explanation, None);
    for (name, says) in [
        ("region.json", "\"checked\": false"),
        ("twins.json", "\"checked\": false"),
        ("evidence/mismatches.txt", "not applicable"),
        (ERROR_MAP, "not applicable"),
        ("evidence/region-map.svg", "not checked"),
    ] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.contains(says), "{name}: {text}");
    }
}

pub(crate) const ALL_KINDS: [Kind; 10] = [
    Kind::Wrong,
    Kind::Inexact,
    Kind::Nondet,
    Kind::Oob,
    Kind::Input,
    Kind::Status,
    Kind::Device,
    Kind::Crash,
    Kind::Hang,
    Kind::Accepted,
];

#[test]
fn nothing_from_outside_reaches_the_page_or_the_program_unescaped() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("finding");
    let mut sample = Sample::new(Kind::Status, LINE);
    let bad = "<script>x</script> | [a](b) `c`\n# */ \"; system(\"id\"); // \\\n@all /home/ada/x gpu-host-7";
    sample.fault.summary = bad.to_owned();
    sample.environment.gpu = bad.to_owned();
    sample.environment.found = bad.to_owned();
    sample.environment.files[0].name = bad.to_owned();
    sample.minimization.guarantee = bad.to_owned();
    sample.minimization.log = vec![bad.to_owned()];
    sample.library_log = format!("````\n{bad}\n```\n| Stand-alone program | forged |\n");
    sample.outcome.stderr = bad.to_owned();
    write(&folder, &sample.finding()).unwrap();
    // Letters of a hash may make any short word.
    for name in listing(&folder).into_iter().filter(|name| name != SUMS) {
        let text = fs::read_to_string(folder.join(&name)).unwrap();
        for secret in ["ada", "gpu-host-7", "/home/"] {
            assert!(!text.contains(secret), "{name} holds {secret}");
        }
    }
    let report = fs::read_to_string(folder.join(REPORT)).unwrap();
    // Fenced blocks may hold anything; nothing else may.
    let (mut fence, mut page): (Option<&str>, Vec<&str>) = (None, Vec::new());
    for line in report.lines() {
        match fence {
            Some(open) if line == open => fence = None,
            None if line.starts_with("```") => fence = Some(line.trim_end_matches(|each: char| each != '`')),
            Some(_) => {}
            None => page.push(line),
        }
    }
    let page = page.join("\n");
    assert!(fence.is_none() && !page.contains("forged"));
    assert!(!page.contains("<script>") && !page.contains("[a](b)") && !page.contains("@all"), "{page}");
    assert!(page.lines().filter(|line| line.starts_with('#')).count() < 25);
    let program = fs::read_to_string(folder.join(PROGRAM)).unwrap();
    assert!(program.lines().all(|line| !line.contains("system(") || line.trim_start().starts_with("//")));
    assert_eq!(read(&folder).unwrap().verdict.minimization.guarantee.lines().count(), 3);
    let runs = Verified::Runs { reproduced: 1, runs: 3, compiler: "c++".to_owned() };
    record_verification(&folder, &runs).unwrap();
    let report = read(&folder).unwrap().report;
    assert!(report.contains("| Stand-alone program | forged |") && report.contains("in 1 of 3 runs"));
    assert!(verify(&folder).is_empty());
}

#[test]
fn the_title_says_what_a_triager_asks_first() {
    let sample = Sample::new(Kind::Wrong, LINE);
    assert_eq!(
        title(&sample.finding()),
        "[cuDNN 9.19.0] [dgrad] [wrong result] [engine 25] on sm_90: f16 nchw n2 c16 k32 i14x14 f3x3 p1x1"
    );
}

#[test]
fn one_altered_byte_of_any_file_is_named() {
    for name in HASHED {
        let (_parent, folder) = bundle();
        let mut bytes = fs::read(folder.join(name)).unwrap();
        let middle = bytes.len() / 2;
        match bytes.get_mut(middle) {
            Some(byte) => *byte ^= 1,
            None => bytes.push(b'x'),
        }
        fs::write(folder.join(name), bytes).unwrap();
        let error = read(&folder).unwrap_err();
        assert!(error.to_string().starts_with(name), "{name}: {error}");
    }
}

#[test]
fn verify_catches_each_flipped_bit_of_any_file() {
    let (_parent, folder) = bundle();
    for name in HASHED.into_iter().chain([SUMS]) {
        let path = folder.join(name);
        let whole = fs::read(&path).unwrap();
        let places = [0, whole.len() / 3, whole.len().saturating_sub(1)];
        for (place, bit) in places.into_iter().flat_map(|place| [(place, 0), (place, 5)]) {
            let mut bytes = whole.clone();
            match bytes.get_mut(place) {
                Some(byte) => *byte ^= 1 << bit,
                None => bytes.push(b'x'),
            }
            fs::write(&path, bytes).unwrap();
            assert!(!verify(&folder).is_empty(), "{name}: bit {bit} of byte {place} went unnoticed");
        }
        fs::write(&path, whole).unwrap();
    }
    assert!(verify(&folder).is_empty());
}

#[test]
fn verify_names_every_trouble_on_a_line_of_its_own() {
    let (parent, folder) = bundle();
    fs::write(folder.join(PROGRAM), "int main() {}").unwrap();
    fs::remove_file(folder.join(ERROR_MAP)).unwrap();
    fs::write(folder.join("more\n.txt"), "").unwrap();
    fs::create_dir(folder.join("other")).unwrap();
    fs::write(folder.join("logs/core"), "").unwrap();
    fs::rename(folder.join(LIBRARY_LOG), parent.path().join("log")).unwrap();
    std::os::unix::fs::symlink(parent.path().join("log"), folder.join(LIBRARY_LOG)).unwrap();
    let mut lines: Vec<String> = verify(&folder).iter().map(ToString::to_string).collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            "evidence/error-map.svg: is missing",
            "logs/core: belongs to no bundle",
            "logs/library.log: is no plain file",
            "more\\n.txt: belongs to no bundle",
            "other: belongs to no bundle",
            "repro.cpp: differs from its SHA-256 in SHA256SUMS",
        ]
    );
    assert!(!verify(&parent.path().join("no such")).is_empty());
}

#[test]
fn a_page_made_anew_is_the_same_and_one_that_was_spoilt_is_refused() {
    let (_parent, folder) = bundle();
    let before = fs::read(folder.join(PAGE)).unwrap();
    rerender(&folder).unwrap();
    assert_eq!(fs::read(folder.join(PAGE)).unwrap(), before);
    // A page that another version of convict wrote, with its hash.
    forge(&folder, PAGE, "Proof that it is wrong", "Something older");
    rerender(&folder).unwrap();
    assert_eq!(fs::read(folder.join(PAGE)).unwrap(), before);
    assert!(verify(&folder).is_empty());
    fs::write(folder.join(PAGE), "spoilt").unwrap();
    assert!(matches!(rerender(&folder), Err(BundleError::Altered { file }) if file == PAGE));
    assert_eq!(fs::read(folder.join(PAGE)).unwrap(), b"spoilt");
}

#[test]
fn a_missing_file_is_named() {
    for name in HASHED.into_iter().chain([SUMS]) {
        let (_parent, folder) = bundle();
        fs::remove_file(folder.join(name)).unwrap();
        assert!(matches!(read(&folder), Err(BundleError::Missing { file }) if file == name), "{name}");
    }
    let (_parent, folder) = bundle();
    fs::remove_dir_all(folder.join("logs")).unwrap();
    assert!(matches!(read(&folder), Err(BundleError::Missing { file }) if file == LIBRARY_LOG));
}

#[test]
fn links_and_folders_in_place_of_files_are_refused() {
    let (parent, folder) = bundle();
    let outside = parent.path().join("outside");
    fs::rename(folder.join(PROGRAM), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, folder.join(PROGRAM)).unwrap();
    assert!(matches!(read(&folder), Err(BundleError::Kind { file }) if file == PROGRAM));

    let (parent, folder) = bundle();
    fs::rename(folder.join("logs"), parent.path().join("logs")).unwrap();
    std::os::unix::fs::symlink(parent.path().join("logs"), folder.join("logs")).unwrap();
    assert!(matches!(read(&folder), Err(BundleError::Kind { file }) if file == "logs"));

    let (_parent, folder) = bundle();
    fs::remove_file(folder.join(SUMS)).unwrap();
    fs::create_dir(folder.join(SUMS)).unwrap();
    assert!(matches!(read(&folder), Err(BundleError::Kind { file }) if file == SUMS));
}

#[test]
fn names_that_no_bundle_has_are_refused_before_they_are_opened() {
    for name in ["../case.txt", "/etc/passwd", "logs/../../x", "other.txt", "logs/", "", "a\nb"] {
        let (_parent, folder) = bundle();
        let sums = fs::read_to_string(folder.join(SUMS)).unwrap();
        fs::write(folder.join(SUMS), format!("{sums}{}  {name}\n", "0".repeat(64))).unwrap();
        let error = read(&folder).unwrap_err().to_string();
        assert!(error.starts_with(SUMS) && !error.contains('\n'), "{name}: {error}");
    }
}

#[test]
fn a_list_of_hashes_with_gaps_or_repeats_is_refused() {
    let (_parent, folder) = bundle();
    let sums = fs::read_to_string(folder.join(SUMS)).unwrap();
    let (first, others) = sums.split_once('\n').unwrap();
    for text in [others.to_owned(), format!("{sums}{first}\n"), format!("{sums}nonsense\n")] {
        fs::write(folder.join(SUMS), text).unwrap();
        assert!(matches!(read(&folder), Err(BundleError::Content { file, .. }) if file == SUMS));
    }
}

/// Changes a file and its hash, as somebody does who knows the form.
fn forge(folder: &Path, name: &str, from: &str, to: &str) {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    assert!(text.contains(from), "{from} is not in {name}");
    let forged = text.replacen(from, to, 1);
    let sums = fs::read_to_string(folder.join(SUMS)).unwrap();
    let hash = |text: &str| crate::files::sha256(text.as_bytes());
    fs::write(folder.join(SUMS), sums.replace(&hash(&text), &hash(&forged))).unwrap();
    fs::write(folder.join(name), forged).unwrap();
}

#[test]
fn contents_of_another_form_are_refused_and_named() {
    for (name, from, to, reason) in [
        (VERDICT, "\"format\": 2", "\"format\": 3", "format: '3' is not 1 or 2"),
        (VERDICT, "\"format\": 2", "\"format\": 1", "no file of a bundle"),
        (VERDICT, "\"format\": 2,", "", "format: 'no number'"),
        (VERDICT, "case\": \"dgrad", "case\": \"fprop", "another case"),
        (VERDICT, "dgrad-e25", "dgrad-e26", "not the one of its case"),
        (
            "regression.case.json",
            "\"case\": \"dgrad",
            "\"case\": \"wgrad",
            "engine_free_case: expected 'wgrad",
        ),
        ("regression.case.json", "\"signature\": \"", "\"signature\": \"x", "another case"),
        ("regression.case.json", "\"rate\"", "\"more\": 1, \"rate\"", "unknown field `more`"),
        ("region.json", "\"format\": 1", "\"format\": 9", "format: '9'"),
        ("region.json", "c >= 8", "c >= 9", "not what its atoms say"),
        ("region.json", "\"fails\",", "", "no table"),
        ("twins.json", "\"checked\": true", "\"checked\": false", "contradicts region.json"),
        (VERDICT, "\"hits\"", "\"more\": 1, \"hits\"", "unknown field `more`"),
        ("case.json", "\"format\": 1", "\"format\": 7", "format: '7'"),
        ("case.json", "\"k\": 32", "\"k\": 64", "another case"),
        ("case.txt", "n2", "n0", "n: '0'"),
        ("original.txt", "\n", "\nmore\n", "not one line"),
        ("environment.json", "{", "[", "environment.json"),
    ] {
        let (_parent, folder) = bundle();
        forge(&folder, name, from, to);
        let error = read(&folder).unwrap_err().to_string();
        assert!(error.contains(reason), "{name} {to}: {error}");
    }
}

#[test]
fn an_existing_folder_is_never_written_over_and_no_draft_is_left() {
    let (parent, folder) = bundle();
    let sample = Sample::new(Kind::Hang, LINE);
    assert!(matches!(write(&folder, &sample.finding()), Err(BundleError::Exists(_))));
    fs::create_dir(parent.path().join("empty")).unwrap();
    assert!(matches!(write(&parent.path().join("empty"), &sample.finding()), Err(BundleError::Exists(_))));
    assert!(matches!(write(&parent.path().join("no/such"), &sample.finding()), Err(BundleError::Io { .. })));
    assert_eq!(read(&folder).unwrap().verdict.sameness.kind, Kind::Wrong);
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 2);
}

#[test]
fn verification_is_recorded_for_programs_and_people() {
    let (_parent, folder) = bundle();
    let runs = Verified::Runs { reproduced: 3, runs: 3, compiler: "g++ 12.2.0".to_owned() };
    record_verification(&folder, &runs).unwrap();
    let bundle = read(&folder).unwrap();
    assert_eq!(bundle.verdict.verification, Verification::from(&runs));
    assert!(bundle.report.contains("| Stand-alone program | shows the bug by itself in 3 of 3 runs"));
    assert!(!bundle.report.contains("not run yet"));

    let not = Verified::Not { because: "/home/ada/g++ | <b>\nis missing".to_owned() };
    record_verification(&folder, &not).unwrap();
    let report = read(&folder).unwrap().report;
    assert!(report.contains("not run: \\[home\\]/g++ \\| &lt;b&gt; is missing"), "{report}");
    let page = fs::read_to_string(folder.join(PAGE)).unwrap();
    assert!(page.contains("not run: [home]/g++ | &lt;b&gt;\nis missing"), "{page}");
    assert!(!report.contains("3 of 3"));
}

#[test]
fn a_bundle_that_was_altered_takes_no_verification() {
    let (_parent, folder) = bundle();
    fs::write(folder.join(REPORT), "all well").unwrap();
    let not = Verified::Not { because: "no compiler".to_owned() };
    assert!(
        matches!(record_verification(&folder, &not), Err(BundleError::Altered { file }) if file == REPORT)
    );
}

#[test]
#[expect(clippy::print_stdout, reason = "a test that was skipped says so")]
fn sha256sum_agrees_with_the_list_of_hashes() {
    let (_parent, folder) = bundle();
    let mut command = std::process::Command::new("sha256sum");
    command.args(["--check", "--strict", SUMS]).current_dir(&folder).stdout(std::process::Stdio::null());
    match command.status() {
        Ok(status) => assert!(status.success()),
        Err(error) => println!("skipped: sha256sum: {error}"),
    }
}

#[test]
fn a_compiler_is_named_by_its_name_and_version() {
    let words =
        |compiler: &str| Verification::Runs { reproduced: 3, runs: 3, compiler: compiler.to_owned() }.words();
    let plain = "shows the bug by itself in 3 of 3 runs, built with ";
    assert_eq!(words("g++-real (Distribution 13.3.0-1) 13.3.0"), format!("{plain}g++ 13.3.0"));
    assert_eq!(words("g++ 12.2.0"), format!("{plain}g++ 12.2.0"));
    assert_eq!(words("/opt/bin/c++"), format!("{plain}/opt/bin/c++"));
}
