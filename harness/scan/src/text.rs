//! What a stream's bytes are, and how a line of it is shown: compressed text and UTF-16 become UTF-8, and nothing that
//! a terminal would obey is left. Knows encodings; knows no symptom.

use std::borrow::Cow;
use std::io::{self, Cursor, ErrorKind, Read};

use flate2::read::MultiGzDecoder;

/// Bytes by which an encoding is told.
const HEAD: u64 = 4096;

/// Longest line that is shown, characters; of a longer one the part about what was found, from so many bytes before.
const SHOWN_MAX: usize = 160;
const SHOWN_BEFORE: usize = 60;

/// Forms of compression that are not read: how a file of each begins, its name, and the program that unpacks it.
const PACKED: [(&[u8], &str, &str); 5] = [
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
    (b"\xfd7zXZ\0", "xz", "xz -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"\x04\x22\x4d\x18", "lz4", "lz4 -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
];

/// A stream of UTF-8, or of what is taken for it.
pub(crate) struct Decoded<'a> {
    pub(crate) reader: Box<dyn Read + 'a>,
    /// What was done to it, in words.
    pub(crate) notes: Vec<String>,
}

/// Looks at a stream's beginning and undoes compression and UTF-16.
pub(crate) fn decoded<'a>(mut reader: impl Read + 'a) -> io::Result<Decoded<'a>> {
    let mut notes = Vec::new();
    let mut first = head(&mut reader)?;
    if let Some((_, name, command)) = PACKED.iter().find(|(begin, ..)| first.starts_with(begin)) {
        let why = format!("is compressed by {name}, which is not read: {command} LOG | convict scan -");
        return Err(io::Error::new(ErrorKind::InvalidData, why));
    }
    let mut whole: Box<dyn Read + 'a> = if first.starts_with(b"\x1f\x8b") {
        notes.push("is compressed by gzip; places count the text".to_owned());
        let mut inner = MultiGzDecoder::new(Cursor::new(first).chain(reader));
        first = head(&mut inner)?;
        Box::new(inner)
    } else {
        Box::new(reader)
    };
    whole = Box::new(Cursor::new(first.clone()).chain(whole));
    if let Some(order) = Order::of(&first) {
        notes.push("is UTF-16; places count it as UTF-8".to_owned());
        whole = Box::new(Utf16 { reader: whole, order, rest: Vec::new(), ready: Vec::new(), place: 0 });
    } else if first.contains(&0) {
        notes.push("holds bytes that are no text; it was searched all the same".to_owned());
    }
    Ok(Decoded { reader: whole, notes })
}

/// The first bytes. What fails after a few of them fails again where it is read on, and is told then.
fn head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    match reader.take(HEAD).read_to_end(&mut first) {
        Err(error) if first.is_empty() => Err(error),
        Ok(_) | Err(_) => Ok(first),
    }
}

/// Which byte of two comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Order {
    /// By the mark at the beginning, else by where the zeros of plain letters stand.
    fn of(first: &[u8]) -> Option<Self> {
        match first {
            [0xff, 0xfe, 0, 0, ..] => return None,
            [0xff, 0xfe, ..] => return Some(Self::Little),
            [0xfe, 0xff, ..] => return Some(Self::Big),
            _ => {}
        }
        let zeros = |from: usize| first.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
        let (even, odd, half) = (zeros(0), zeros(1), first.len() / 2);
        match half {
            0..8 => None,
            _ if odd * 10 >= half * 8 && even * 10 < half => Some(Self::Little),
            _ if even * 10 >= half * 8 && odd * 10 < half => Some(Self::Big),
            _ => None,
        }
    }
}

/// UTF-16 as UTF-8; halves without their other half become the replacement character.
struct Utf16<R> {
    reader: R,
    order: Order,
    /// Bytes that are not decoded yet.
    rest: Vec<u8>,
    /// Decoded bytes, given out up to a place.
    ready: Vec<u8>,
    place: usize,
}

impl<R: Read> Utf16<R> {
    fn refill(&mut self) -> io::Result<bool> {
        let mut block = [0; 16 << 10];
        let count = self.reader.read(&mut block)?;
        self.rest.extend_from_slice(&block[..count]);
        let units: Vec<u16> = self.rest.chunks_exact(2).map(|pair| self.unit(pair)).collect();
        // A pair that is cut by the end of the block waits for its other half.
        let waits = count > 0 && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit));
        let taken = units.len() - usize::from(waits);
        self.ready.clear();
        self.place = 0;
        for letter in char::decode_utf16(units[..taken].iter().copied()) {
            let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.ready.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        }
        self.rest.drain(..taken * 2);
        Ok(count > 0)
    }

    fn unit(&self, pair: &[u8]) -> u16 {
        let pair = [pair[0], pair[1]];
        match self.order {
            Order::Little => u16::from_le_bytes(pair),
            Order::Big => u16::from_be_bytes(pair),
        }
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.place == self.ready.len() {
            if !self.refill()? && self.ready.is_empty() {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.ready.len() - self.place);
        buffer[..count].copy_from_slice(&self.ready[self.place..self.place + count]);
        self.place += count;
        Ok(count)
    }
}

/// The line without the codes that colour it.
pub(crate) fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    if !line.contains(&0x1b) {
        return Cow::Borrowed(line);
    }
    let mut kept = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&first, more)) = rest.split_first() {
        let code = rest.strip_prefix(b"\x1b[").map(|code| {
            let parameters = code.iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
            &code[(parameters + 1).min(code.len())..]
        });
        match code {
            Some(after) => rest = after,
            None => {
                kept.push(first);
                rest = more;
            }
        }
    }
    Cow::Owned(kept)
}

/// A line without its colours as it can be shown anywhere: of a long one the part about a place, and with every
/// character spelled out that moves a cursor, sets a terminal or turns the direction of writing.
pub(crate) fn shown(plain: &[u8], place: usize) -> String {
    let is_continued = |place: usize| plain.get(place).is_some_and(|byte| byte & 0xc0 == 0x80);
    let wanted =
        if plain.len() <= SHOWN_MAX { 0 } else { place.saturating_sub(SHOWN_BEFORE).min(plain.len()) };
    let start = (wanted..).find(|place| !is_continued(*place)).unwrap_or(plain.len());
    let end = plain.len().min(start + SHOWN_MAX * 4);
    let text = String::from_utf8_lossy(&plain[start..end]);
    let mut shown = String::from(if start > 0 { "..." } else { "" });
    for (count, letter) in text.trim().chars().enumerate() {
        if count == SHOWN_MAX {
            return shown + "...";
        }
        match letter {
            '\t' => shown.push(' '),
            _ if letter.is_control() || is_unseen(letter) => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
    }
    if end < plain.len() { shown + "..." } else { shown }
}

/// Characters that are not seen and change what is.
fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(letter, '\u{feff}' | '\u{61c}')
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::{decoded, plain, shown};

    fn read(bytes: &[u8]) -> (String, Vec<String>) {
        let mut decoded = decoded(bytes).expect("a head");
        let mut text = String::new();
        decoded.reader.read_to_string(&mut text).expect("text");
        (text, decoded.notes)
    }

    #[test]
    fn utf_16_becomes_text_with_a_mark_and_without() {
        let text = "loss: nan \u{1f600} caf\u{e9}, and so on and on\n";
        let units: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        assert_eq!(read(&little).0, text);
        assert_eq!(read(&big).0, text);
        assert_eq!(read(&[&[0xff, 0xfe], &little[..]].concat()).0, format!("\u{feff}{text}"));
        assert_eq!(read(text.as_bytes()), (text.to_owned(), Vec::new()));
    }

    #[test]
    fn compressed_text_is_read_and_told() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(b"hello").expect("memory");
        let (text, notes) = read(&packed.finish().expect("memory"));
        assert_eq!((text.as_str(), notes.len()), ("hello", 1));
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_shown() {
        let all = |line: &[u8]| shown(&plain(line), 0);
        assert_eq!(all(b"\x1b[31mred\x1b[0m \x07\x1b]0;t\xff"), "red \\u{7}\\u{1b}]0;t\u{fffd}");
        assert_eq!(all("a\u{202e}b\u{9b}".as_bytes()), "a\\u{202e}b\\u{9b}");
        assert_eq!(all(&[b'x'; 5000]).len(), 163);
        assert_eq!(*plain(b"loss \x1b[1;31mnan\x1b["), *b"loss nan");
    }

    #[test]
    fn of_a_long_line_the_part_about_the_place_is_shown() {
        let line = [&b"\xc3\xa9".repeat(3000)[..], b"CUDA error", &[b'x'; 900]].concat();
        let text = shown(&line, 6000);
        assert!(
            text.starts_with("...\u{e9}") && text.contains("CUDA errorxx") && text.ends_with("..."),
            "{text}"
        );
        assert!(!shown(&line, 5999).contains('\u{fffd}'));
        assert_eq!(shown(&line, usize::MAX), "...");
        assert_eq!(shown(b"a short one", 9), "a short one");
    }

    #[test]
    fn other_compressions_are_named_with_what_unpacks_them() {
        for (begin, name) in
            [(&b"\x28\xb5\x2f\xfdrest"[..], "zstd -dc"), (b"BZh91AY", "bzip2 -dc"), (b"\xfd7zXZ\0", "xz -dc")]
        {
            let Err(error) = decoded(begin) else { panic!("{name} was read") };
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
