//! Takes out of a text what names a person or a machine: home folders, temporary files, device ids, serials,
//! and words that the caller knows. Knows patterns only; addresses, versions and library paths stay.

/// Replaces what must not leave the machine.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

/// Beginnings of paths whose next part is a user's name.
const HOMES: [&str; 3] = ["/home/", "/Users/", "/run/user/"];

/// Beginnings of paths that mean nothing elsewhere.
const TEMPORARY: [&str; 4] = ["/tmp/", "/var/tmp/", "/dev/shm/", "/var/folders/"];

/// Groups of hexadecimal digits in a universally unique identifier.
const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// What stands in for a home folder.
const HOME: &str = "[home]";

/// What stands in for a temporary path.
const TEMPORARY_PATH: &str = "[tmp]";

/// What stands in for everything else.
const REMOVED: &str = "[removed]";

impl Redactor {
    /// A redactor that also removes those words, in any case, wherever they stand alone. Words of fewer than
    /// three characters are left in, since they would hit ordinary text.
    #[must_use]
    pub fn new(secrets: &[String]) -> Self {
        let long = |word: &&String| word.chars().count() >= 3;
        Self { secrets: secrets.iter().filter(long).map(|word| word.to_ascii_lowercase()).collect() }
    }

    /// The text without them. Control characters other than line ends and tabs go too.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = None;
        while let Some(character) = rest.chars().next() {
            if let Some((length, instead)) = self.match_at(before, rest) {
                clean.push_str(instead);
                before = rest[..length].chars().next_back();
                rest = &rest[length..];
                continue;
            }
            if !character.is_control() || character == '\n' || character == '\t' {
                clean.push(character);
            }
            before = Some(character);
            rest = &rest[character.len_utf8()..];
        }
        clean
    }

    /// What begins here, as its length in bytes and its replacement.
    fn match_at(&self, before: Option<char>, rest: &str) -> Option<(usize, &'static str)> {
        if !before.is_some_and(is_path_character) {
            if let Some(length) = home(rest) {
                return Some((length, HOME));
            }
            if let Some(length) = temporary(rest) {
                return Some((length, TEMPORARY_PATH));
            }
        }
        if before.is_some_and(char::is_alphanumeric) {
            return None;
        }
        let length = uuid(rest).or_else(|| serial(rest)).or_else(|| self.secret(rest));
        length.map(|length| (length, REMOVED))
    }

    fn secret(&self, rest: &str) -> Option<usize> {
        self.secrets.iter().find_map(|secret| {
            let found = rest.get(..secret.len())?.to_ascii_lowercase() == *secret;
            let ends = !rest[secret.len()..].chars().next().is_some_and(char::is_alphanumeric);
            (found && ends).then_some(secret.len())
        })
    }
}

fn is_path_character(character: char) -> bool {
    character.is_alphanumeric() || "._-/".contains(character)
}

/// Length of a path's next part.
fn part(path: &str) -> usize {
    path.find(|character: char| !is_path_character(character) || character == '/').unwrap_or(path.len())
}

/// Length of a home folder's path; what lies below it stays.
fn home(rest: &str) -> Option<usize> {
    if let Some(after) = rest.strip_prefix("/root") {
        return (part(after) == 0).then_some("/root".len());
    }
    let prefix = HOMES.into_iter().find(|prefix| rest.starts_with(prefix))?;
    let name = part(&rest[prefix.len()..]);
    (name > 0).then_some(prefix.len() + name)
}

/// Length of a whole temporary path.
fn temporary(rest: &str) -> Option<usize> {
    let prefix = TEMPORARY.into_iter().find(|prefix| rest.starts_with(prefix))?;
    let path = &rest[prefix.len()..];
    let end = path.find(|character: char| !is_path_character(character)).unwrap_or(path.len());
    Some(prefix.len() + end)
}

/// Length of an identifier such as `GPU-8d2c...`, `MIG-...` or a bare one.
fn uuid(rest: &str) -> Option<usize> {
    let prefix = ["GPU-", "MIG-"].into_iter().find(|prefix| rest.starts_with(prefix)).unwrap_or("");
    let mut length = prefix.len();
    for (index, group) in UUID_GROUPS.into_iter().enumerate() {
        if index > 0 {
            rest[length..].strip_prefix('-')?;
            length += 1;
        }
        let digits = rest.get(length..length + group)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        length += group;
    }
    Some(length)
}

/// Length of `Serial Number : 1320`, label included: a label, separators, and a word with a digit in it.
fn serial(rest: &str) -> Option<usize> {
    let label = rest.get(.."serial".len())?;
    if !label.eq_ignore_ascii_case("serial") {
        return None;
    }
    let mut length = label.len();
    for word in [" number", "_number", "number", " no"] {
        if rest.get(length..length + word.len()).is_some_and(|next| next.eq_ignore_ascii_case(word)) {
            length += word.len();
            break;
        }
    }
    let separators = rest[length..].find(|character| !" :=\"'.\t".contains(character))?;
    let value = &rest[length + separators..];
    let end = value.find(|character: char| !character.is_alphanumeric()).unwrap_or(value.len());
    let numbered = value[..end].bytes().any(|byte| byte.is_ascii_digit());
    (separators > 0 && numbered).then_some(length + separators + end)
}

#[cfg(test)]
mod tests;
