//! Paths as classes that name no home, user or project: what a ledger may carry off a machine. Knows texts; the classes
//! are those of a run's environment.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// Beginnings of paths that say nothing of who uses a machine.
const PLAIN: [&str; 9] =
    ["/usr/", "/lib/", "/lib64/", "/etc/", "/proc/", "/sys/", "/var/lib/dpkg", "/bin/", "/sbin/"];

/// Folders that are told by a number, in the order in which they were met.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    folders: BTreeMap<String, usize>,
    sites: BTreeMap<String, usize>,
}

impl Classes {
    /// The value with every path in its texts told by its class.
    #[must_use]
    pub fn of_value(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.of_text(&text)),
            Value::Array(all) => Value::Array(all.into_iter().map(|value| self.of_value(value)).collect()),
            Value::Object(all) => {
                Value::Object(all.into_iter().map(|(name, value)| (name, self.of_value(value))).collect())
            }
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
        }
    }

    /// The text with every path in it told by its class.
    #[must_use]
    pub fn of_text(&mut self, text: &str) -> String {
        let mut told = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find('/') {
            let before = rest[..start].chars().next_back();
            let begins = before.is_none_or(|character| " =:;,'\"(<>\n\t".contains(character));
            let after = &rest[start..];
            // A text that is a path as a whole may hold blanks.
            let whole = told.is_empty() && start == 0 && !after.contains(['\n', ':', ',', ';', '\'']);
            let end = if whole {
                None
            } else {
                after.find([' ', ':', ';', ',', '\'', '"', ')', '<', '>', '\n', '\t'])
            };
            let end = end.unwrap_or(after.len());
            told.push_str(&rest[..start]);
            // `//` follows the scheme of an address; what goes on after a word is no path of its own.
            if begins && end > 1 && !after.starts_with("//") {
                told.push_str(&self.of_path(&after[..end]));
            } else {
                told.push_str(&after[..end]);
            }
            rest = &after[end..];
        }
        told + rest
    }

    /// A path by its class.
    #[must_use]
    pub fn of_path(&mut self, path: &str) -> String {
        for root in ["/site-packages", "/dist-packages"] {
            if let Some(end) = path.find(root).map(|start| start + root.len()) {
                let next = self.sites.len() + 1;
                let number = *self.sites.entry(path[..end].to_owned()).or_insert(next);
                let number = if number == 1 { String::new() } else { number.to_string() };
                return format!("wheel{number}:{}", path[end..].trim_start_matches('/'));
            }
        }
        let user_named = path.strip_prefix("/usr/local/").is_some_and(|rest| !rest.starts_with("cuda"));
        if PLAIN.iter().any(|plain| path.starts_with(plain)) && !path.contains("/home/") && !user_named {
            return case::place_of(Path::new(path));
        }
        let (folder, name) = match path.rsplit_once('/') {
            Some((folder, name)) if name.contains(".so") => (folder, format!("/{name}")),
            Some(_) | None => (path.trim_end_matches('/'), String::new()),
        };
        let next = self.folders.len() + 1;
        let number = *self.folders.entry(folder.to_owned()).or_insert(next);
        format!("dir{number}:{}", name.trim_start_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_home_is_left_in_any_text_and_folders_stay_apart() {
        let mut classes = Classes::default();
        let mut of = |text: &str| classes.of_text(text);
        assert_eq!(of("/home/ann/a/libcudnn.so.9"), "dir1:libcudnn.so.9");
        assert_eq!(of("/home/ann/my sets/libcudnn.so.9"), "dir2:libcudnn.so.9");
        assert_eq!(of("/home/ann/a"), "dir1:");
        assert_eq!(
            of("unset '/home/ann/a':/usr/lib/x (/home/bob)"),
            "unset 'dir1:':system:/usr/lib/x (dir3:)"
        );
        let wheel = "/home/ann/v/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9";
        assert_eq!(of(wheel), "wheel:nvidia/cudnn/lib/libcudnn.so.9");
        assert_eq!(of("LD=/srv/b/site-packages/x"), "LD=wheel2:x");
        assert_eq!(of("/usr/local/cuda-13.0/lib64"), "toolkit:cuda-13.0/lib64");
        assert_eq!(of("https://example.org/a and/or 1/2"), "https://example.org/a and/or 1/2");
    }
}
