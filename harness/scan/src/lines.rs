//! The lines of a stream of any size, in a memory that does not grow: each with its number, its place, and what stood
//! before it. Knows bytes; knows no symptom.

use std::io::{self, ErrorKind, Read};

use memchr::{memchr2, memchr2_iter};

/// Longest line that is looked at as one, bytes; a longer one is looked at in pieces of this length.
pub const LINE_MAX: usize = 64 << 10;

/// Bytes that two pieces of one line have in common, so that what stands at a cut is found in one of them.
pub(crate) const OVERLAP: usize = 1 << 10;

/// Bytes before a line that are kept.
pub(crate) const BEFORE_MAX: usize = 64 << 10;

/// Bytes that are held at once.
const HELD: usize = 1 << 20;

/// One line without its end. A carriage return ends one too, so that the states of a progress bar are lines.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) bytes: &'a [u8],
    /// What stood before it, at most so much as is kept.
    pub(crate) before: &'a [u8],
    /// Bytes at its beginning that the piece before it ended with; 0 for a line that is whole, and a first piece.
    pub(crate) repeated: usize,
    /// Place of its first byte in the stream.
    pub(crate) offset: u64,
    /// The same of the whole line of which it is a piece.
    pub(crate) start: u64,
    /// From 1, as editors count: carriage returns alone do not count.
    pub(crate) number: u64,
}

/// A reader of lines.
pub(crate) struct Lines<R> {
    reader: R,
    held: Box<[u8]>,
    /// End of what was read into `held`.
    filled: usize,
    /// The line that was found last.
    line: (usize, usize),
    /// Bytes at its beginning that were in the piece before, and at the next one's.
    repeated: usize,
    carried: usize,
    /// Place in the stream where the line begins whose piece was found last.
    start: u64,
    /// Where the next one begins.
    next: usize,
    /// Up to where no end of it was found.
    searched: usize,
    /// Place of the first held byte in the stream.
    base: u64,
    number: u64,
    /// Line feeds after the line that was found last.
    feeds: u64,
    pieces: u64,
    ended: bool,
    trouble: Option<io::Error>,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            held: vec![0; HELD].into_boxed_slice(),
            filled: 0,
            line: (0, 0),
            repeated: 0,
            carried: 0,
            start: 0,
            next: 0,
            searched: 0,
            base: 0,
            number: 1,
            feeds: 0,
            pieces: 0,
            ended: false,
            trouble: None,
        }
    }

    /// Finds the next line; false at the end, or where the reader failed.
    pub(crate) fn advance(&mut self) -> bool {
        self.number += self.feeds;
        self.feeds = 0;
        loop {
            let limit = self.filled.min(self.next + LINE_MAX + 1);
            if let Some(found) = memchr2(b'\n', b'\r', &self.held[self.searched..limit]) {
                let end = self.searched + found;
                self.feeds = u64::from(self.held[end] == b'\n');
                self.take(end, end + 1, 0);
                return true;
            }
            self.searched = limit;
            if limit - self.next > LINE_MAX {
                self.pieces += 1;
                let end = self.next + LINE_MAX;
                self.take(end, end - OVERLAP, OVERLAP);
                return true;
            }
            if self.ended {
                let rest = self.next + self.carried < self.filled;
                self.take(self.filled, self.filled, 0);
                return rest;
            }
            self.fill();
        }
    }

    fn take(&mut self, end: usize, next: usize, carried: usize) {
        self.line = (self.next, end);
        self.repeated = self.carried;
        if self.repeated == 0 {
            self.start = self.base + self.next as u64;
        }
        self.next = next;
        self.carried = carried;
        self.searched = next + carried;
    }

    fn fill(&mut self) {
        if self.filled == self.held.len() {
            let from = self.next.saturating_sub(BEFORE_MAX);
            self.held.copy_within(from..self.filled, 0);
            self.base += from as u64;
            for place in [&mut self.filled, &mut self.next, &mut self.searched] {
                *place -= from;
            }
        }
        match self.reader.read(&mut self.held[self.filled..]) {
            Ok(0) => self.ended = true,
            Ok(count) => self.filled += count.min(self.held.len() - self.filled),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                self.ended = true;
                self.trouble = Some(error);
            }
        }
    }

    /// The line that was found last.
    pub(crate) fn line(&self) -> Line<'_> {
        let (start, end) = self.line;
        Line {
            bytes: &self.held[start..end],
            before: &self.held[start.saturating_sub(BEFORE_MAX)..start],
            repeated: self.repeated,
            offset: self.base + start as u64,
            start: self.start,
            number: self.number,
        }
    }

    /// Bytes that were read.
    pub(crate) fn bytes(&self) -> u64 {
        self.base + self.filled as u64
    }

    /// Lines that were looked at in pieces count once for each piece.
    pub(crate) fn pieces(&self) -> u64 {
        self.pieces
    }

    /// Why the reader failed.
    pub(crate) fn trouble(self) -> Option<io::Error> {
        self.trouble
    }
}

/// The lines of a text, the last one first, each with the line feeds from its beginning to the text's end. The first
/// one is left out where the text may begin within it.
pub(crate) fn backwards(text: &[u8], is_whole: bool) -> impl Iterator<Item = (&[u8], u64)> {
    let mut rest = text;
    let mut feeds = 0;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let whole = rest;
            let ended = whole.last().is_some_and(|last| matches!(last, b'\n' | b'\r'));
            feeds += u64::from(whole.last() == Some(&b'\n'));
            let body = if ended { &whole[..whole.len() - 1] } else { whole };
            let start = memchr::memrchr2(b'\n', b'\r', body).map(|place| place + 1);
            rest = &body[..start.unwrap_or(0)];
            if start.is_none() && !is_whole {
                return None;
            }
            if !body[start.unwrap_or(0)..].is_empty() {
                return Some((&body[start.unwrap_or(0)..], feeds));
            }
        }
        None
    })
}

/// The lines of a text, the first one first.
pub(crate) fn forwards(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = memchr2_iter(b'\n', b'\r', text).chain([text.len()]);
    ends.scan(0, |start, end| {
        let line = &text[*start..end];
        *start = end + 1;
        Some(line)
    })
    .filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::{LINE_MAX, Lines, OVERLAP, backwards, forwards};

    /// Gives so many bytes a read.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn lines(text: &[u8], step: usize) -> Vec<(u64, u64, Vec<u8>)> {
        let mut lines = Lines::new(Slow(text, step));
        let mut all = Vec::new();
        while lines.advance() {
            let line = lines.line();
            all.push((line.number, line.offset, line.bytes.to_vec()));
        }
        all
    }

    #[test]
    fn line_feeds_count_and_carriage_returns_only_part() {
        let text = b"a\r\nb\n\r 10%\r 20%\nend";
        for step in [1, 2, 100] {
            let all = lines(text, step);
            let full: Vec<(u64, u64, &[u8])> = all
                .iter()
                .filter(|line| !line.2.is_empty())
                .map(|(number, at, line)| (*number, *at, &line[..]))
                .collect();
            assert_eq!(
                full,
                [(1, 0, &b"a"[..]), (2, 3, b"b"), (3, 6, b" 10%"), (3, 11, b" 20%"), (4, 16, b"end")]
            );
        }
    }

    #[test]
    fn a_long_line_comes_in_pieces_that_overlap_and_are_the_same_for_any_read() {
        let mut text: Vec<u8> = (0..3 * LINE_MAX + 17).map(|place| b'a' + (place % 23) as u8).collect();
        text.extend(b"\nlast");
        let (one, other) = (lines(&text, 7777), lines(&text, usize::MAX));
        assert_eq!(one, other);
        let sizes: Vec<usize> = one.iter().map(|line| line.2.len()).collect();
        assert_eq!(sizes, [LINE_MAX, LINE_MAX, LINE_MAX, 17 + 3 * OVERLAP, 4]);
        assert_eq!((one[3].0, one[4].0), (1, 2));
        for (number, offset, piece) in &one {
            let place = usize::try_from(*offset).expect("a small text");
            assert_eq!(text[place..place + piece.len()], piece[..], "line {number}");
        }
        let mut whole = one[0].2.clone();
        whole.extend(one[1..4].iter().flat_map(|piece| &piece.2[OVERLAP..]));
        assert_eq!(whole[..], text[..3 * LINE_MAX + 17]);
    }

    #[test]
    fn a_line_that_just_fits_is_whole_with_an_end_and_without() {
        let mut text = vec![b'x'; LINE_MAX];
        assert_eq!(lines(&text, 4096).len(), 1);
        text.push(b'\n');
        assert_eq!(lines(&text, 4096).len(), 1);
    }

    #[test]
    fn lines_go_both_ways() {
        let text = b"one\ntwo\r\nthree\r4\n";
        let all: Vec<&[u8]> = forwards(text).collect();
        assert_eq!(all, [&b"one"[..], b"two", b"three", b"4"]);
        let back: Vec<(&[u8], u64)> = backwards(text, true).collect();
        assert_eq!(back, [(&b"4"[..], 1), (b"three", 1), (b"two", 2), (b"one", 3)]);
        assert_eq!(backwards(text, false).count(), 3);
    }
}
