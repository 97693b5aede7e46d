//! Reads a bundle that may come from anywhere: plain files of known names with the hashes they were given, or
//! nothing. Follows no link and runs nothing.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use case::{Case, Environment, Explanation, Signature};
use serde::de::DeserializeOwned;

use crate::error::BundleError;
use crate::files::{
    CASE_JSON, CASE_TEXT, ENVIRONMENT, LIBRARY_LOG, MINIMIZE_LOG, ORIGINAL, PROGRAM, REGION, REGRESSION,
    REPORT, SCRIPT, STDERR, SUMS, TWINS, VERDICT, of_form, parse_sums, sha256, shown,
};
use crate::region::{RegionRecord, TwinsRecord};
use crate::vendor::{ISSUE, NOVELTY, Novelty};
use crate::verdict::{FORMAT, VerdictRecord};

/// Largest file that is read, bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// A bundle whose every file was checked.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The case that fails.
    pub case: Case,
    /// The case as it was met.
    pub original: Case,
    /// Machine and libraries that it failed on.
    pub environment: Environment,
    /// What was seen.
    pub verdict: VerdictRecord,
    /// Where the failure lies; absent where nobody has probed.
    pub explanation: Option<Explanation>,
    /// Whether it was reported before; absent in form 1.
    pub novelty: Option<Novelty>,
    /// Text for an issue tracker; empty in form 1.
    pub issue: String,
    /// Questions of the minimization and their answers, JSON lines.
    pub minimize_log: String,
    /// The library's own log.
    pub library_log: String,
    /// What the libraries wrote on stderr.
    pub stderr: String,
    /// The page in Markdown.
    pub report: String,
    /// The stand-alone program.
    pub program: PathBuf,
    /// Its text, whose hash was checked.
    pub program_text: String,
    /// The script that builds and runs it.
    pub script: PathBuf,
    /// SHA-256 of each file.
    pub hashes: Vec<(&'static str, String)>,
}

/// A name and the text of that file.
type Text = (&'static str, String);

/// Reads and checks a bundle. Files that it does not list are not looked at.
///
/// # Errors
/// The first file that is missing, altered, of another form, or no plain file of a bundle.
pub fn read(folder: &Path) -> Result<Bundle, BundleError> {
    check_folder(folder)?;
    let hashes = parse_sums(&file(folder, SUMS)?, form(folder)?)?;
    let texts = hashes.iter().map(|listed| checked(folder, listed)).collect::<Result<Vec<Text>, _>>()?;
    parse(folder, hashes, &texts)
}

/// Checks all of a bundle and names every trouble, not the first one alone; none means that [`read`] succeeds
/// and that the folder holds nothing else.
#[must_use]
pub fn verify(folder: &Path) -> Vec<BundleError> {
    if let Err(error) = check_folder(folder) {
        return vec![error];
    }
    let names = match form(folder) {
        Ok(names) => names,
        Err(error) => return vec![error],
    };
    let mut troubles = Vec::new();
    let listed = file(folder, SUMS).and_then(|text| parse_sums(&text, names));
    match listed {
        Ok(hashes) => {
            let texts: Vec<Result<Text, BundleError>> =
                hashes.iter().map(|listed| checked(folder, listed)).collect();
            let (sound, broken): (Vec<_>, Vec<_>) = texts.into_iter().partition(Result::is_ok);
            troubles.extend(broken.into_iter().filter_map(Result::err));
            let texts: Vec<Text> = sound.into_iter().flatten().collect();
            // What an altered file says is of no interest.
            if troubles.is_empty() {
                troubles.extend(parse(folder, hashes, &texts).err());
            }
        }
        Err(error) => {
            troubles.push(error);
            troubles.extend(names.iter().filter_map(|name| file(folder, name).err()));
        }
    }
    troubles.extend(extras(folder, names));
    troubles
}

/// Names of the files that a bundle of this folder's form has. A record that cannot be read at all is taken
/// for one of today's form: its hash tells.
fn form(folder: &Path) -> Result<&'static [&'static str], BundleError> {
    let text = match file(folder, VERDICT) {
        Ok(text) => text,
        Err(BundleError::Altered { .. }) => String::new(),
        Err(error) => return Err(error),
    };
    let value: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let Some(value) = value else { return Ok(of_form(u64::from(FORMAT)).unwrap_or_default()) };
    let number = value.get("format").and_then(serde_json::Value::as_u64);
    number.and_then(of_form).ok_or_else(|| {
        let found = number.map_or_else(|| "no number".to_owned(), |number| number.to_string());
        BundleError::content(VERDICT, format!("format: '{found}' is not 1 or {FORMAT}, the ones known"))
    })
}

/// The text of a listed file, its hash checked.
fn checked(folder: &Path, (name, hash): &(&'static str, String)) -> Result<Text, BundleError> {
    let text = file(folder, name)?;
    if sha256(text.as_bytes()) == *hash {
        Ok((name, text))
    } else {
        Err(BundleError::Altered { file: (*name).to_owned() })
    }
}

/// Makes sense of texts whose hashes were checked.
fn parse(folder: &Path, hashes: Vec<(&'static str, String)>, texts: &[Text]) -> Result<Bundle, BundleError> {
    // `parse_sums` lists every name of the form exactly once; a name of a later form has no text.
    let text = |name: &str| texts.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
    let verdict: VerdictRecord = parse_json(VERDICT, text(VERDICT))?;
    let case: Case = parse_json(CASE_JSON, text(CASE_JSON))?;
    if line(CASE_TEXT, text(CASE_TEXT))? != case {
        return Err(BundleError::content(CASE_TEXT, format!("is another case than {CASE_JSON}")));
    }
    let (explanation, novelty) = match verdict.format {
        1 => (None, None),
        _ => (later(&case, &verdict, &text)?, Some(parse_json(NOVELTY, text(NOVELTY))?)),
    };
    Ok(Bundle {
        original: line(ORIGINAL, text(ORIGINAL))?,
        environment: parse_json(ENVIRONMENT, text(ENVIRONMENT))?,
        novelty,
        issue: text(ISSUE).to_owned(),
        minimize_log: text(MINIMIZE_LOG).to_owned(),
        library_log: text(LIBRARY_LOG).to_owned(),
        stderr: text(STDERR).to_owned(),
        report: text(REPORT).to_owned(),
        program: folder.join(PROGRAM),
        program_text: text(PROGRAM).to_owned(),
        script: folder.join(SCRIPT),
        case,
        verdict,
        explanation,
        hashes,
    })
}

/// What form 1 did not have: the case named in each record, and the region.
fn later<'a>(
    case: &Case,
    verdict: &VerdictRecord,
    text: &impl Fn(&str) -> &'a str,
) -> Result<Option<Explanation>, BundleError> {
    let other = |file: &str| BundleError::content(file, format!("is about another case than {CASE_JSON}"));
    if verdict.case != case.to_string() {
        return Err(other(VERDICT));
    }
    if verdict.signature != Signature::new(&verdict.sameness, &case.problem).as_str() {
        return Err(BundleError::content(VERDICT, "its signature is not the one of its case"));
    }
    let entry =
        corpus::Entry::read(text(REGRESSION)).map_err(|error| BundleError::content(REGRESSION, error))?;
    if entry.case != verdict.case || entry.signature.as_ref() != Some(&verdict.signature) {
        return Err(other(REGRESSION));
    }
    let region: RegionRecord = parse_json(REGION, text(REGION))?;
    let twins: TwinsRecord = parse_json(TWINS, text(TWINS))?;
    region.with(twins)
}

/// The folder itself may be reached through a link; nothing in it may.
fn check_folder(folder: &Path) -> Result<(), BundleError> {
    if fs::metadata(folder).map_err(BundleError::io(folder))?.is_dir() {
        Ok(())
    } else {
        Err(BundleError::Kind { file: folder.display().to_string() })
    }
}

/// Whatever lies in the folder and is no file of the form.
fn extras(folder: &Path, names: &[&str]) -> Vec<BundleError> {
    let mut troubles = Vec::new();
    let mut inner = vec![String::new()];
    while let Some(prefix) = inner.pop() {
        let entries = match fs::read_dir(folder.join(&prefix)) {
            Ok(entries) => entries,
            Err(error) => {
                troubles.push(BundleError::io(&folder.join(&prefix))(error));
                continue;
            }
        };
        for entry in entries.flatten() {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let below = format!("{name}/");
            if is_folder && names.iter().any(|known| known.starts_with(&below)) {
                inner.push(below);
            } else if name != SUMS && !names.contains(&name.as_str()) {
                troubles.push(BundleError::Extra { file: shown(&name) });
            }
        }
    }
    troubles
}

/// What a path is, links not followed; an absent one makes the file `name` missing.
fn facts(path: &Path, name: &str) -> Result<fs::Metadata, BundleError> {
    fs::symlink_metadata(path).map_err(|source| {
        if source.kind() == io::ErrorKind::NotFound {
            BundleError::Missing { file: name.to_owned() }
        } else {
            BundleError::Io { path: path.to_owned(), source }
        }
    })
}

/// A plain file of the bundle as text. Its folder is looked at too: a link in its place would lead out.
fn file(folder: &Path, name: &str) -> Result<String, BundleError> {
    if let Some((parent, _)) = name.rsplit_once('/')
        && !facts(&folder.join(parent), name)?.is_dir()
    {
        return Err(BundleError::Kind { file: parent.to_owned() });
    }
    let path = folder.join(name);
    if !facts(&path, name)?.is_file() {
        return Err(BundleError::Kind { file: name.to_owned() });
    }
    let too_large = || BundleError::content(name, format!("is larger than {FILE_BYTES_MAX} bytes"));
    let mut bytes = Vec::new();
    let opened = fs::File::open(&path).map_err(BundleError::io(&path))?;
    opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(BundleError::io(&path))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(too_large());
    }
    // A bundle's files are text, so that others in their place were put there; no hash of the list itself is kept.
    String::from_utf8(bytes).map_err(|_| match name {
        SUMS => BundleError::content(SUMS, "is no UTF-8 text"),
        _ => BundleError::Altered { file: name.to_owned() },
    })
}

fn parse_json<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, BundleError> {
    serde_json::from_str(text).map_err(|error| BundleError::content(name, error))
}

fn line(name: &str, text: &str) -> Result<Case, BundleError> {
    let single = text.strip_suffix('\n').filter(|line| !line.contains('\n'));
    let single = single.ok_or_else(|| BundleError::content(name, "is not one line"))?;
    single.parse().map_err(|error| BundleError::content(name, error))
}
