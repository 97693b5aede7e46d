//! What a stream's bytes are, and how a line of it is shown: compressed text, UTF-16 and UTF-32 become UTF-8, and
//! nothing that a terminal would obey is left. Knows encodings; knows no symptom.

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

/// Layers of gzip that are undone.
const LAYERS_MAX: usize = 4;

/// Looks at a stream's beginning and undoes compression, UTF-16 and UTF-32; a mark of the order of bytes is dropped.
pub(crate) fn decoded<'a>(reader: impl Read + 'a) -> io::Result<Decoded<'a>> {
    let mut notes = Vec::new();
    let mut whole: Box<dyn Read + 'a> = Box::new(reader);
    let mut first = head(&mut whole)?;
    let mut layers = 0;
    while first.starts_with(b"\x1f\x8b") {
        if layers == LAYERS_MAX {
            let why = format!(
                "is compressed by gzip more than {LAYERS_MAX} times over; undo some of it with gzip -dc"
            );
            return Err(io::Error::new(ErrorKind::InvalidData, why));
        }
        layers += 1;
        whole = Box::new(MultiGzDecoder::new(Cursor::new(first).chain(whole)));
        first = head(&mut whole)?;
    }
    if let Some((_, name, command)) = PACKED.iter().find(|(begin, ..)| first.starts_with(begin)) {
        let unpack = if layers == 0 { format!("{command} LOG") } else { format!("gzip -dc LOG | {command}") };
        let why = format!("is compressed by {name}, which is not read: {unpack} | convict scan -");
        return Err(io::Error::new(ErrorKind::InvalidData, why));
    }
    match layers {
        0 => {}
        1 => notes.push("is compressed by gzip; places count the text".to_owned()),
        _ => notes.push(format!("is compressed by gzip {layers} times over; places count the text")),
    }
    let (form, mark) = Form::of(&first);
    let name = form.map_or("UTF-8", Form::name);
    match (form, mark) {
        (Some(_), _) => notes.push(format!("is {name}; places count it as UTF-8")),
        (None, 0) if first.contains(&0) => {
            notes.push("holds bytes that are no text; it was searched all the same".to_owned());
        }
        (None, 0) => {}
        (None, _) => notes.push("begins with a mark of UTF-8; places count what comes after it".to_owned()),
    }
    whole = Box::new(Cursor::new(first.split_off(mark)).chain(whole));
    if let Some(form) = form {
        whole = Box::new(Wide { reader: whole, form, rest: Vec::new(), ready: Vec::new(), place: 0 });
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

/// How letters are written in units of several bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    /// Bytes of a unit, 2 or 4.
    width: usize,
    is_big: bool,
}

impl Form {
    fn name(self) -> &'static str {
        if self.width == 2 { "UTF-16" } else { "UTF-32" }
    }

    /// By the mark at the beginning, whose length is told too, else by where the zeros of plain letters stand.
    fn of(first: &[u8]) -> (Option<Self>, usize) {
        let form = |width, is_big| Some(Self { width, is_big });
        match first {
            [0xff, 0xfe, 0, 0, ..] => return (form(4, false), 4),
            [0, 0, 0xfe, 0xff, ..] => return (form(4, true), 4),
            [0xff, 0xfe, ..] => return (form(2, false), 2),
            [0xfe, 0xff, ..] => return (form(2, true), 2),
            [0xef, 0xbb, 0xbf, ..] => return (None, 3),
            _ => {}
        }
        let zeros = |width: usize, place: usize| {
            let units = first.len() / width;
            let zeros = first.chunks_exact(width).filter(|unit| unit[place] == 0).count();
            // Most of them, few of them.
            (units >= 8 && zeros * 10 >= units * 8, zeros * 10 < units)
        };
        let is_wide = zeros(4, 1).0 && zeros(4, 2).0;
        let found = match (zeros(4, 0), zeros(4, 3), zeros(2, 0), zeros(2, 1)) {
            ((_, true), (true, _), _, _) if is_wide => form(4, false),
            ((true, _), (_, true), _, _) if is_wide => form(4, true),
            (_, _, (_, true), (true, _)) => form(2, false),
            (_, _, (true, _), (_, true)) => form(2, true),
            _ => None,
        };
        (found, 0)
    }
}

/// UTF-16 or UTF-32 as UTF-8; halves without their other half and what is no letter become the replacement character.
struct Wide<R> {
    reader: R,
    form: Form,
    /// Bytes that are not decoded yet.
    rest: Vec<u8>,
    /// Decoded bytes, given out up to a place.
    ready: Vec<u8>,
    place: usize,
}

impl<R: Read> Wide<R> {
    fn refill(&mut self) -> io::Result<bool> {
        let mut block = [0; 16 << 10];
        let count = self.reader.read(&mut block)?;
        self.rest.extend_from_slice(&block[..count]);
        self.ready.clear();
        self.place = 0;
        let Form { width, .. } = self.form;
        let units: Vec<u32> = self.rest.chunks_exact(width).map(|unit| self.unit(unit)).collect();
        let mut taken = units.len();
        if width == 4 {
            units.into_iter().for_each(|unit| self.put(char::from_u32(unit)));
        } else {
            let is_half = |unit: &u32| (0xd800..0xdc00).contains(unit);
            // A pair that is cut by the end of the block waits for its other half.
            taken -= usize::from(count > 0 && units.last().is_some_and(is_half));
            let units = units[..taken].iter().map(|unit| u16::try_from(*unit).unwrap_or_default());
            for letter in char::decode_utf16(units) {
                self.put(letter.ok());
            }
        }
        self.rest.drain(..taken * width);
        Ok(count > 0)
    }

    fn put(&mut self, letter: Option<char>) {
        let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
        self.ready.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn unit(&self, bytes: &[u8]) -> u32 {
        let add = |sum: u32, byte: &u8| sum << 8 | u32::from(*byte);
        if self.form.is_big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
    }
}

impl<R: Read> Read for Wide<R> {
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
    // A mark of the order of bytes, where files were put together.
    let text = text.trim_start_matches('\u{feff}');
    let mut shown = String::from(if start > 0 { "..." } else { "" });
    for (count, letter) in text.trim().chars().enumerate() {
        if count == SHOWN_MAX {
            return shown + "...";
        }
        match letter {
            '\t' => shown.push(' '),
            _ if case::is_wild(letter) => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
    }
    if end < plain.len() { shown + "..." } else { shown }
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
    fn utf_16_and_32_become_text_with_a_mark_and_without_and_the_mark_is_dropped() {
        let text = "loss: nan \u{1f600} caf\u{e9}, and so on and on\n";
        let units: Vec<u16> = text.encode_utf16().collect();
        let letters: Vec<u32> = text.chars().map(u32::from).collect();
        let forms: [(&[u8], Vec<u8>, &str); 4] = [
            (&[0xff, 0xfe], units.iter().flat_map(|unit| unit.to_le_bytes()).collect(), "UTF-16"),
            (&[0xfe, 0xff], units.iter().flat_map(|unit| unit.to_be_bytes()).collect(), "UTF-16"),
            (&[0xff, 0xfe, 0, 0], letters.iter().flat_map(|unit| unit.to_le_bytes()).collect(), "UTF-32"),
            (&[0, 0, 0xfe, 0xff], letters.iter().flat_map(|unit| unit.to_be_bytes()).collect(), "UTF-32"),
        ];
        for (mark, bytes, name) in forms {
            for bytes in [bytes.clone(), [mark, &bytes].concat()] {
                let (read, notes) = read(&bytes);
                assert_eq!(read, text, "{name}");
                assert!(notes[0].contains(name), "{notes:?}");
            }
        }
        assert_eq!(read(text.as_bytes()), (text.to_owned(), Vec::new()));
        assert_eq!(read(&[b"\xef\xbb\xbf", text.as_bytes()].concat()).0, text);
        assert_eq!(shown("\u{feff}a\u{feff}b".as_bytes(), 0), "a\\u{feff}b");
        let broken =
            [&[0xff, 0xfe, 0, 0][..], &0xd800_u32.to_le_bytes(), &0x41_u32.to_le_bytes(), &[7]].concat();
        assert_eq!(read(&broken).0, "\u{fffd}A");
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).expect("memory");
        packed.finish().expect("memory")
    }

    #[test]
    fn compressed_text_is_read_and_told_whatever_lies_within() {
        let (text, notes) = read(&packed(b"hello"));
        assert_eq!((text.as_str(), notes.len()), ("hello", 1));
        let (text, notes) = read(&packed(&packed(&packed(b"hello"))));
        assert_eq!((text.as_str(), notes[0].contains("3 times over")), ("hello", true));
        let mut bomb = b"hello".to_vec();
        (0..6).for_each(|_| bomb = packed(&bomb));
        let Err(error) = decoded(&bomb[..]) else { panic!("it was read") };
        assert!(error.to_string().contains("more than 4 times"), "{error}");
        let Err(error) = decoded(&packed(b"BZh91AY")[..]) else { panic!("it was read") };
        assert!(error.to_string().contains("gzip -dc LOG | bzip2 -dc | convict scan -"), "{error}");
        let marked: Vec<u8> = "\u{feff}hello".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&packed(&marked)).0, "hello");
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
