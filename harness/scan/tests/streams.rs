//! Streams of any size and encoding: what is no text, never ends, fails midway or comes in any pieces. Knows bytes;
//! what a log means is told in `diagnoses.rs`.

use std::io::{self, Read};

use proptest::prelude::*;
use scan::{LINE_MAX, Scan, Scanner};

const FAULT: &[u8] = b"RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED";

fn scanned(reader: impl Read) -> Scan {
    let mut scanner = Scanner::new();
    scanner.read(reader);
    scanner.finish()
}

fn ids(scan: &Scan) -> Vec<(&str, u64)> {
    scan.symptoms.iter().map(|symptom| (symptom.id.as_str(), symptom.count)).collect()
}

/// Gives few bytes a read, and fails at its end where it is told to.
struct Slow<'a>(&'a [u8], usize, bool);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() && self.2 {
            return Err(io::Error::other("the disk is gone"));
        }
        let count = self.1.min(self.0.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

#[test]
fn what_is_no_utf_8_and_zeros_hide_nothing() {
    let log = [&b"step 7 \xff\xfe\x00 caf\xe9\0\0\n\x80"[..], FAULT, b"\0\xc3\n"].concat();
    let scan = scanned(&log[..]);
    assert_eq!(ids(&scan), [("status-execution-failed", 1)]);
    assert_eq!(scan.symptoms[0].first.line, 2);
    assert!(scan.files[0].notes[0].contains("no text"), "{:?}", scan.files[0]);
}

#[test]
fn a_symptom_within_an_endless_line_is_found_once_wherever_it_stands() {
    for place in
        [0, 70, LINE_MAX - 2000, LINE_MAX - 1024, LINE_MAX - 30, LINE_MAX - 1, LINE_MAX, 3 * LINE_MAX + 5]
    {
        let mut line = vec![b'.'; 5 * LINE_MAX];
        line[place..place + FAULT.len()].copy_from_slice(FAULT);
        let scan = scanned(&line[..]);
        assert_eq!(ids(&scan), [("status-execution-failed", 1)], "at {place}");
        let first = &scan.symptoms[0].first;
        assert!(first.line == 1 && first.text.contains("EXECUTION_FAILED"), "at {place}: {first:?}");
    }
}

#[test]
fn lines_are_counted_as_editors_do_whatever_their_length_and_a_symptom_once_a_line() {
    // The same words in each of six pieces of one line, then once on a line of its own.
    let mut line = vec![b'.'; 6 * LINE_MAX];
    for piece in 0..6 {
        let place = piece * LINE_MAX + 100;
        line[place..place + FAULT.len()].copy_from_slice(FAULT);
    }
    let log = [&line[..], b"\nordinary\n", FAULT, b"\n"].concat();
    let scan = scanned(&log[..]);
    assert_eq!(ids(&scan), [("status-execution-failed", 2)]);
    assert_eq!((scan.files[0].lines, scan.symptoms[0].first.line, scan.symptoms[0].last), (3, 1, (0, 3)));
    for (text, lines) in
        [(&b""[..], 0), (b"a", 1), (b"a\n", 1), (b"a\n\n", 2), (b"a\r\nb\r\n", 2), (b"\r 1%\r 2%\n", 1)]
    {
        assert_eq!(scanned(text).files[0].lines, lines, "{text:?}");
    }
}

#[test]
fn a_mark_of_the_order_of_bytes_is_not_quoted_and_other_encodings_hide_nothing() {
    let text = String::from_utf8([FAULT, b"\n"].concat()).expect("text");
    let marked = format!("\u{feff}{text}");
    let wide = |big: bool| -> Vec<u8> {
        marked
            .chars()
            .map(u32::from)
            .flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() })
            .collect()
    };
    let utf_16 = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [marked.clone().into_bytes(), utf_16, wide(false), wide(true)] {
        let scan = scanned(&bytes[..]);
        assert_eq!(ids(&scan), [("status-execution-failed", 1)], "{bytes:?}");
        assert_eq!(scan.symptoms[0].first.text.as_bytes(), FAULT);
    }
}

#[test]
fn what_is_remembered_of_a_shape_changes_nothing() {
    // Each example of the guide with other numbers, in one log that remembers shapes and in logs that cannot.
    let guide: serde_json::Value = serde_json::from_str(include_str!("../data/guide.json")).expect("JSON");
    let examples = guide
        .as_array()
        .expect("rows")
        .iter()
        .flat_map(|row| row["examples"].as_array().into_iter().flatten());
    let mut lines: Vec<String> = Vec::new();
    for example in examples.filter_map(|example| example.as_str()) {
        for digit in ["", "0", "1", "3", "7"] {
            let other =
                |letter: char| if letter.is_ascii_digit() { digit.to_owned() } else { letter.to_string() };
            lines.push(match digit {
                "" => example.to_owned(),
                _ => example.chars().map(other).collect(),
            });
        }
    }
    lines.extend(
        ["cudnn_status: 3", "cudnn_status: 8", "cudnn_status: 0", "cudnn version 8907"].map(str::to_owned),
    );
    let told = |scan: Scan| {
        let counts: Vec<_> = scan
            .symptoms
            .into_iter()
            .map(|symptom| {
                (
                    symptom.id,
                    symptom.count,
                    symptom.ranks,
                    symptom.statuses.into_iter().map(|one| (one.name, one.count)).collect::<Vec<_>>(),
                )
            })
            .collect();
        counts
    };
    let mut once = told(scanned(lines.join("\n").as_bytes()));
    // A line that is too long for a shape is looked at by itself.
    let tail = " ".repeat(600);
    let long: Vec<String> = lines.iter().map(|line| format!("{line}{tail}")).collect();
    let mut each = told(scanned(long.join("\n").as_bytes()));
    once.sort();
    each.sort();
    assert_eq!(once, each);
}

#[test]
fn bars_that_carriage_returns_overwrite_are_moments() {
    let mut log = b"start\n".to_vec();
    for step in 1..200 {
        log.extend(format!("\r 45%|####5     | {step}/1000 [00:12<00:15, 36it/s]").into_bytes());
    }
    log.extend([b"\r", FAULT, b"\n"].concat());
    let scan = scanned(&log[..]);
    let first = &scan.symptoms[0].first;
    assert_eq!((first.line, first.moment.and_then(|moment| moment.step)), (2, Some(199)));
}

#[test]
fn a_reader_that_fails_keeps_what_came_before_and_says_so() {
    let log = [b"step 5\n", FAULT, b"\n"].concat();
    let scan = scanned(Slow(&log, 9, true));
    assert!(ids(&scan).len() == 1 && scan.is_incomplete(), "{:?}", scan.files);
    assert_eq!(scan.files[0].trouble.as_deref(), Some("the disk is gone"));
    let scan = scanned(Slow(b"", 1, true));
    assert!(scan.is_incomplete() && !scan.has_symptoms());
}

#[test]
fn the_memory_of_a_scan_does_not_follow_its_log() {
    // Each line is a symptom at another step and of another rank, with a status that nobody knows.
    let mut log = String::new();
    for number in 0..30_000 {
        log.push_str(&format!(
            "[rank{number}]: step {} CUDNN_STATUS_NEW_{number} of X\n",
            number * 7 % 30_000
        ));
    }
    let scan = scanned(log.as_bytes());
    let symptom = &scan.symptoms[0];
    assert!(symptom.count == 30_000 && symptom.more, "{symptom:?}");
    assert!(symptom.statuses.len() <= 64 && symptom.ranks.len() <= 1024 && symptom.incidents <= 256);
}

/// Pieces of logs, whole and broken.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let texts = [
        &b"\n"[..],
        b"\r",
        b"\0",
        b"\x1b[31m",
        b"step 12 ",
        b"epoch: 3/90 ",
        b"[rank3]: ",
        b"2026-01-02 03:04:05 ",
        b"loss: nan",
        b"CUDA error: an illegal memory access was encountered",
        b"CUDNN_STATUS_",
        b"CUDNN_STATUS_ALLOC_FAILED ",
        b"NVRM: Xid (PCI:0000:44:00): 79, GPU has fallen off the bus.",
        b"I! CuDNN (v91900 56) function cudnnBackendExecute() called:",
        b"i!     executionPlan: type=CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:\n",
        b"i! Process=1; Thread=2; GPU=0.\n",
        b"Running validation",
        b"out of memory ",
        b"Segmentation fault (core dumped)",
    ];
    prop_oneof![
        4 => prop::sample::select(texts.to_vec()).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_bytes_give_the_same_in_any_pieces(pieces in prop::collection::vec(piece(), 0..120), step in 1_usize..50) {
        let log = pieces.concat();
        let told = |scan: Scan| {
            for symptom in &scan.symptoms {
                assert!(!symptom.first.text.contains(char::is_control), "{:?}", symptom.first);
            }
            assert!(!scan.verdict().contains(char::is_control));
            serde_json::to_string(&scan).expect("JSON")
        };
        prop_assert_eq!(told(scanned(&log[..])), told(scanned(Slow(&log, step, false))));
    }
}
