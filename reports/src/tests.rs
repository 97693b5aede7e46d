//! Bundles written, read, altered; and the golden one, which `BLESS=1` writes anew.

use std::fs;
use std::path::{Path, PathBuf};

use case::Kind;

use crate::sample::Sample;
use crate::{
    BundleError, HASHED, LIBRARY_LOG, PROGRAM, REPORT, SUMS, VERDICT, Verification, Verified, read,
    record_verification, title, write,
};

mod program;
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
}

#[test]
fn every_kind_of_finding_makes_a_bundle_that_reads_back() {
    let parent = tempfile::tempdir().unwrap();
    for kind in ALL_KINDS {
        let folder = parent.path().join(kind.name());
        write(&folder, &Sample::new(kind, LINE).finding()).unwrap();
        assert_eq!(read(&folder).unwrap().verdict.sameness.kind, kind);
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
    for name in listing(&folder) {
        let text = fs::read_to_string(folder.join(&name)).unwrap();
        for secret in ["ada", "gpu-host-7", "/home/"] {
            assert!(!text.contains(secret), "{name} holds {secret}");
        }
    }
    let report = fs::read_to_string(folder.join(REPORT)).unwrap();
    let (page, log) = report.split_once("`````\n").unwrap();
    assert!(!page.contains("<script>") && !page.contains("[a](b)") && !page.contains("@all"), "{page}");
    assert!(log.contains("<script>") && log.contains("\n`````\n"));
    assert!(page.lines().filter(|line| line.starts_with('#')).count() < 20);
    let program = fs::read_to_string(folder.join(PROGRAM)).unwrap();
    assert!(program.lines().all(|line| !line.contains("system(") || line.trim_start().starts_with("//")));
    assert_eq!(read(&folder).unwrap().verdict.minimization.guarantee.lines().count(), 3);
    let runs = Verified::Runs { reproduced: 1, runs: 3, compiler: "c++".to_owned() };
    record_verification(&folder, &runs).unwrap();
    let report = read(&folder).unwrap().report;
    assert!(report.contains("| Stand-alone program | forged |") && report.contains("in 1 of 3 runs"));
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
        bytes[middle] ^= 1;
        fs::write(folder.join(name), bytes).unwrap();
        let error = read(&folder).unwrap_err();
        assert!(error.to_string().starts_with(name), "{name}: {error}");
    }
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
        (VERDICT, "\"format\": 1", "\"format\": 2", "format: '2' is not 1"),
        (VERDICT, "\"format\": 1,", "", "format: 'no number'"),
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
    assert!(report.contains("| not run: \\[home\\]/g++ \\| &lt;b&gt; is missing |"), "{report}");
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
