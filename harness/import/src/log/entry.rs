//! One line within an entry of cuDNN's log: how deep it lies, its name, type and value. Knows the line's form only.

/// `name: type=KIND; val=VALUE;` or `name: type=KIND:`.
#[derive(Debug)]
pub(super) struct Entry {
    /// Blanks before it.
    pub(super) indent: usize,
    pub(super) key: String,
    pub(super) kind: String,
    /// Empty for a descriptor, whose parts lie deeper.
    pub(super) value: String,
}

impl Entry {
    /// The line after its `i!`; `None` for what is no such pair.
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(body).ok()?;
        let trimmed = text.trim_start_matches(' ');
        let (key, rest) = trimmed.split_once(": type=")?;
        let (kind, rest) = rest.split_once("; ").unwrap_or((rest, ""));
        let value = rest.strip_prefix("val=").unwrap_or(rest).trim_end().trim_end_matches(';');
        Some(Self {
            indent: text.len() - trimmed.len(),
            key: key.to_owned(),
            kind: kind.trim_end().trim_end_matches([':', ';']).to_owned(),
            value: value.to_owned(),
        })
    }

    /// The value without the number that follows a name, as in `CUDNN_DATA_HALF (2)`.
    pub(super) fn word(&self) -> &str {
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
pub(super) fn thread(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body.strip_prefix(b" Process=")?).ok()?;
    let end = text.find("; GPU").unwrap_or(text.len());
    text.get(..end).map(str::to_owned)
}
