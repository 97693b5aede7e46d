//! Files larger than memory should be: read from a generator, without a copy of it.

use std::io::{self, Read};

use import::{Format, import};

/// Repeats a text until so many bytes were read, and keeps none.
struct Endless<'a> {
    text: &'a [u8],
    place: usize,
    left: usize,
}

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.text[self.place..];
        let length = rest.len().min(buffer.len()).min(self.left);
        buffer[..length].copy_from_slice(&rest[..length]);
        self.place = (self.place + length) % self.text.len();
        self.left -= length;
        Ok(length)
    }
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn sixty_four_megabytes_of_log_are_read_in_a_few_of_memory() {
    let text = include_bytes!("../data/torch-2.11-cudnn-9.19-h200.log");
    let rounds = (64 << 20) / text.len();
    let before = peak_kib();
    let reader = Endless { text, place: 0, left: rounds * text.len() };
    let found = import(reader, None, 1).expect("a log");
    assert_eq!(found.cases.iter().map(|found| found.count).sum::<u64>(), 46 * rounds as u64);
    assert_eq!(found.cases.len(), 22);
    assert!(peak_kib() - before < 24 << 10, "{} KiB more", peak_kib() - before);
}

#[test]
fn a_line_that_never_ends_is_passed_over_in_a_few_megabytes() {
    let before = peak_kib();
    let reader = Endless { text: b"i!     key: type=int; val=1;", place: 0, left: 64 << 20 };
    let found = import(reader, Some(Format::Log), 1).expect("a log");
    assert!(found.cases.is_empty());
    assert!(peak_kib() - before < 24 << 10, "{} KiB more", peak_kib() - before);
}
