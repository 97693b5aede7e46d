//! The row of library sets to search: published wheels of a range, or the sets in a folder, oldest first. Knows names
//! and versions; runs no case.

use std::fs;
use std::path::Path;

use wheels::{Part, Version};

use crate::args::{Bisect, Configurations};
use crate::failure::Failure;
use crate::screen::errln;
use crate::sets::{Set, store};

/// One version of a row.
pub(crate) struct Entry {
    /// As a `Set` is named.
    pub(crate) name: String,
    /// What it is called in reports: its version, and its folder where it has one.
    pub(crate) label: String,
    version: Version,
}

/// Sets of one configuration, oldest first.
pub(crate) struct Row {
    /// `full` or `jit`.
    pub(crate) configuration: String,
    /// The sets.
    pub(crate) entries: Vec<Entry>,
}

/// Versions from and to, either of them absent.
struct Range {
    from: Option<Version>,
    to: Option<Version>,
}

impl Range {
    fn parse(text: Option<&str>) -> Result<Self, Failure> {
        let wrong = |what: &str| {
            Failure::Usage(format!(
                "--versions {what}: write the oldest and the newest version, such as 9.12..9.19 or 9.14.0.64.."
            ))
        };
        let Some(text) = text else { return Ok(Self { from: None, to: None }) };
        let (from, to) = text.split_once("..").ok_or_else(|| wrong(text))?;
        let end = |end: &str| match end {
            "" => Ok(None),
            end => end.parse::<Version>().map(Some).map_err(|()| wrong(text)),
        };
        let range = Self { from: end(from)?, to: end(to)? };
        match (&range.from, &range.to) {
            (Some(from), Some(to)) if from > to && !to.begins(from) => {
                Err(wrong(&format!("{text}: is the wrong way round")))
            }
            (Some(_) | None, Some(_) | None) => Ok(range),
        }
    }

    /// An end takes in every version that it begins.
    fn takes(&self, version: &Version) -> bool {
        let from = self.from.as_ref().is_none_or(|from| from <= version || from.begins(version));
        let to = self.to.as_ref().is_none_or(|to| version <= to || to.begins(version));
        from && to
    }
}

/// The rows to search, at least one, each with at least one version.
pub(crate) fn rows(arguments: &Bisect) -> Result<Vec<Row>, Failure> {
    let range = Range::parse(arguments.versions.as_deref())?;
    let rows = match &arguments.sets {
        Some(folder) => in_folder(folder, arguments, &range)?,
        None => of_wheels(arguments, &range),
    };
    if rows.is_empty() {
        return Err(Failure::Usage(
            "no library set is in that range; convict sets lists the wheels".to_owned(),
        ));
    }
    Ok(rows)
}

fn of_wheels(arguments: &Bisect, range: &Range) -> Vec<Row> {
    let cuda = arguments.cuda.unwrap_or_else(|| match arguments.properties {
        Some(_) => 13,
        None => store::usual_cuda(),
    });
    let parts: &[Part] = match arguments.configuration.unwrap_or(Configurations::Full) {
        Configurations::Full => &[Part::Full],
        Configurations::Jit => &[Part::Jit],
        Configurations::Both => &[Part::Full, Part::Jit],
    };
    let row = |part: &Part| {
        let wheels = wheels::published().iter();
        let fit =
            wheels.filter(|wheel| wheel.part == *part && wheel.cuda == cuda && range.takes(&wheel.version));
        let entry = |wheel: &wheels::Wheel| Entry {
            name: wheel.name(),
            label: wheel.version.to_string(),
            version: wheel.version.clone(),
        };
        Row { configuration: part.name().to_owned(), entries: fit.map(entry).collect() }
    };
    parts.iter().map(row).filter(|row| !row.entries.is_empty()).collect()
}

fn in_folder(folder: &Path, arguments: &Bisect, range: &Range) -> Result<Vec<Row>, Failure> {
    let refuse = |error: std::io::Error| Failure::Usage(format!("--sets {}: {error}", folder.display()));
    let folder = folder.canonicalize().map_err(refuse)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut folders = Vec::new();
    for entry in fs::read_dir(&folder).map_err(refuse)? {
        folders.push(entry.map_err(refuse)?.path());
    }
    folders.sort();
    for place in folders.into_iter().filter(|place| place.is_dir()) {
        let (configuration, entry) = match of_folder(&place, arguments) {
            Ok(found) => found,
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            Err(failure) => {
                errln!("left out, {}: {failure}", place.display());
                continue;
            }
        };
        let wanted = match arguments.configuration.unwrap_or(Configurations::Both) {
            Configurations::Both => true,
            Configurations::Full => configuration == Part::Full.name(),
            Configurations::Jit => configuration == Part::Jit.name(),
        };
        if !wanted || !range.takes(&entry.version) {
            continue;
        }
        match rows.iter_mut().find(|row| row.configuration == configuration) {
            Some(row) => row.entries.push(entry),
            None => rows.push(Row { configuration, entries: vec![entry] }),
        }
    }
    for row in &mut rows {
        row.entries.sort_by(|one, other| (&one.version, &one.name).cmp(&(&other.version, &other.name)));
    }
    rows.sort_by(|one, other| one.configuration.cmp(&other.configuration));
    Ok(rows)
}

/// A set and the version that its library tells of itself, read by a worker.
fn of_folder(place: &Path, arguments: &Bisect) -> Result<(String, Entry), Failure> {
    let name = place
        .to_str()
        .ok_or_else(|| Failure::Usage(format!("{}: the folder's name is no UTF-8", place.display())))?;
    let set =
        Set::named(name, &arguments.machine, &arguments.device.device, arguments.properties.as_deref())?;
    let environment = set.machine().slot().environment()?.clone();
    let text = environment.cudnn_text();
    let version = text.parse().map_err(|()| Failure::Machine(format!("{name}: tells no version")))?;
    let short = place.file_name().unwrap_or_default().to_string_lossy();
    let label = if short == text.as_str() { text } else { format!("{text} ({short})") };
    let configuration = environment.configuration.map_or("unknown", |configuration| configuration.name());
    Ok((configuration.to_owned(), Entry { name: name.to_owned(), label, version }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Result<Range, String> {
        Range::parse(Some(text)).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_range_takes_in_what_its_ends_begin() {
        let takes = |text: &str, version: &str| {
            range(text).expect("a range").takes(&version.parse().expect("a version"))
        };
        assert!(takes("9.12..9.19", "9.12.0.46") && takes("9.12..9.19", "9.19.1.2"));
        assert!(!takes("9.12..9.19", "9.20.0.48") && !takes("9.12..9.19", "9.9.0.52"));
        assert!(takes("9.14.0.64..", "9.28.1.4") && !takes("9.14.0.64..", "9.14.0.1"));
        assert!(takes("..9.1", "9.1.0.70") && !takes("..9.1", "9.10.0"));
        assert!(takes("9.19..9.19", "9.19.0.56") && takes("9.19.0.56..9.19", "9.19.1.2"));
    }

    #[test]
    fn what_is_no_range_is_told() {
        for text in ["9.12", "9.12..x", "9.19..9.12", "a..b", "9.12...9.19"] {
            assert!(range(text).is_err_and(|words| words.contains(text)), "{text}");
        }
    }
}
