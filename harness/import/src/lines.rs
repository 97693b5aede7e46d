//! Lines of a file of any size, each no longer than a limit. Knows bytes; knows no form.

use std::io::{self, BufRead};

/// Longest line that is kept, bytes; the rest of a longer one is passed over.
pub(crate) const LINE_MAX: usize = 1 << 20;

/// A reader of numbered lines.
pub(crate) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    number: u64,
    cut: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, line: Vec::new(), number: 0, cut: false }
    }

    /// Reads the next line, without its end; false at the end of the file.
    pub(crate) fn advance(&mut self) -> io::Result<bool> {
        self.line.clear();
        self.cut = false;
        let mut read_any = false;
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                filled => filled?,
            };
            if buffer.is_empty() {
                break;
            }
            read_any = true;
            // The standard library's reader of slices finds a byte many at a time.
            let mut rest = buffer;
            let mut kept = std::mem::take(&mut self.line);
            let room = LINE_MAX - kept.len();
            let taken = rest.read_until(b'\n', &mut kept)?;
            let ended = kept.last() == Some(&b'\n');
            self.cut |= taken > room + 1;
            kept.truncate(LINE_MAX);
            self.line = kept;
            self.reader.consume(taken);
            if ended {
                break;
            }
        }
        while matches!(self.line.last(), Some(b'\n' | b'\r')) {
            self.line.pop();
        }
        self.number += u64::from(read_any);
        Ok(read_any)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.line
    }

    pub(crate) fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.line)
    }

    /// Number of the line that was read last, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// True where that line was longer than what is kept.
    pub(crate) fn cut(&self) -> bool {
        self.cut
    }
}

/// Position of a text within a line.
pub(crate) fn find(line: &[u8], text: &[u8]) -> Option<usize> {
    line.windows(text.len()).position(|window| window == text)
}
