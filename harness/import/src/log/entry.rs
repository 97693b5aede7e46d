//! One line within an entry of cuDNN's log: how deep it lies, its name, type and value. Knows the line's form only.

/// Most bytes that are kept of a name or a type, of a value, and of what tells a thread from others. What is read of a
/// log is far shorter; a longer one is cut, and then is no value that a convolution has.
const WORD_MAX: usize = 256;
const VALUE_MAX: usize = 2048;

/// A line of so many bytes may hold more than is kept of it.
pub(super) const LINE_MAX: usize = 1024;

/// Most bytes of a thread's name.
pub(super) const THREAD_MAX: usize = 256;

/// `name: type=KIND; val=VALUE;` or `name: type=KIND:`.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// Blanks before it.
    pub(super) indent: usize,
    pub(super) key: &'a str,
    pub(super) kind: &'a str,
    /// Empty for a descriptor, whose parts lie deeper.
    pub(super) value: &'a str,
}

impl<'a> Entry<'a> {
    /// The line after its `i!`; `None` for what is no such pair.
    pub(super) fn read(body: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(body).ok()?;
        let trimmed = text.trim_start_matches(' ');
        let (key, rest) = trimmed.split_once(": type=")?;
        let (kind, rest) = rest.split_once("; ").unwrap_or((rest, ""));
        let value = rest.strip_prefix("val=").unwrap_or(rest).trim_end().trim_end_matches(';');
        Some(Self {
            indent: text.len() - trimmed.len(),
            key: cut(key, WORD_MAX),
            kind: cut(kind.trim_end().trim_end_matches([':', ';']), WORD_MAX),
            value: cut(value, VALUE_MAX),
        })
    }

    /// The entry as a line again, without what was cut from it.
    pub(super) fn line(&self) -> String {
        let Self { indent, key, kind, value } = self;
        format!("{:indent$}{key}: type={kind}; val={value};", "")
    }

    /// The value without the number that follows a name, as in `CUDNN_DATA_HALF (2)`.
    pub(super) fn word(&self) -> &'a str {
        self.value.split(' ').next().unwrap_or_default()
    }

    /// `[8,16,28,28]`.
    pub(super) fn list(&self) -> Option<Vec<i64>> {
        let inner = self.value.strip_prefix('[')?.strip_suffix(']')?;
        if inner.trim().is_empty() {
            return Some(Vec::new());
        }
        inner.split(',').map(|number| number.trim().parse().ok()).collect()
    }
}

/// Process and thread of an entry, from its last line.
pub(super) fn thread(body: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(body.strip_prefix(b" Process=")?).ok()?;
    let end = text.find("; GPU").unwrap_or(text.len());
    text.get(..end).map(|name| cut(name, THREAD_MAX))
}

/// The text up to so many bytes, and to the end of a character.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
