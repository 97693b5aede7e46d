//! Which symptom came first, what the others have to do with it, and what to say. Knows the order of things; reads no
//! log.

use serde::Serialize;

use crate::guide::{Cause, Group, Severity, When};
use crate::report::{Scan, Symptom};
use crate::tally::Occurrence;

/// Lines within which the words of one failure stand together.
const NEAR: u64 = 400;

/// What a symptom has to do with the one that is taken for the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// It is the one.
    Root,
    /// After a fault every later CUDA call of the process fails.
    AfterFault,
    /// Memory was short by then.
    AfterShortage,
    /// The same libraries do not fit.
    SameLibraries,
    /// The same failure in other words.
    SameFailure,
    /// What others tell of a failure that is not theirs.
    Bystander,
    /// It was there before.
    Before,
    /// It came later, and the log does not show why.
    Later,
}

impl Relation {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Root => "the one that explains most",
            Self::AfterFault => "follows: after a fault every later CUDA call of the process fails",
            Self::AfterShortage => "follows: memory was short by then",
            Self::SameLibraries => "follows: the same libraries",
            Self::SameFailure => "the same failure, told once more",
            Self::Bystander => "a bystander: it tells of a failure that is not its own",
            Self::Before => "came before and did not end the run",
            Self::Later => "came later; the log does not show whether it follows",
        }
    }
}

/// Order of symptoms for the part of the root: what explains most first.
fn tier(symptom: &Symptom) -> u8 {
    match (symptom.severity, symptom.group) {
        (Severity::Notice, _) => 4,
        (Severity::Warning, _) => 2,
        (Severity::Error, Group::Hardware) => 0,
        (Severity::Error, Group::Bystander) => 3,
        (Severity::Error, Group::Numeric) => 2,
        (
            Severity::Error,
            Group::Library
            | Group::Memory
            | Group::Fault
            | Group::Status
            | Group::Framework
            | Group::WrongResult
            | Group::Process
            | Group::LibraryLog,
        ) => 1,
    }
}

/// What orders symptoms by where they were met first. By time only where logs of several files all tell it in a way
/// that can be compared; else by place, so that the order is total for any text.
type Place = (Option<String>, usize, u64);

fn place(met: &Occurrence, by_time: bool) -> Place {
    let time = dated(met).filter(|_| by_time).map(|time| time.replace('T', " ").replace(',', "."));
    (time, met.file, met.offset)
}

/// A time with its date; what counts seconds from a start of its own cannot be compared.
fn dated(met: &Occurrence) -> Option<&str> {
    met.time.as_deref().filter(|time| time.as_bytes().first().is_some_and(u8::is_ascii_digit))
}

/// Puts the root first, tells of each other one what it has to do with it, and orders causes.
pub(crate) fn relate(symptoms: &mut [Symptom]) {
    let several = symptoms.windows(2).any(|pair| pair[0].first.file != pair[1].first.file);
    let by_time = several && symptoms.iter().all(|symptom| dated(&symptom.first).is_some());
    symptoms.sort_by_cached_key(|symptom| (tier(symptom), place(&symptom.first, by_time)));
    let all: Vec<(String, [(usize, u64); 2])> = symptoms
        .iter()
        .map(|symptom| (symptom.id.clone(), [(symptom.first.file, symptom.first.line), symptom.last]))
        .collect();
    for symptom in symptoms.iter_mut() {
        let met = &symptom.first;
        let is_near = |&(file, line): &(usize, u64)| {
            file == met.file && line <= met.line + NEAR && met.line < line + NEAR
        };
        let near = all.iter().filter(|(_, places)| places.iter().any(is_near)).map(|(id, _)| id.as_str());
        let beside: Vec<&str> =
            near.chain(symptom.statuses.iter().map(|status| status.name.as_str())).collect();
        let when = symptom.pattern;
        symptom.causes.sort_by_key(|cause| rank(cause, when, &beside));
    }
    let Some((root, others)) = symptoms.split_first_mut() else { return };
    root.relation = Relation::Root;
    let root_place = place(&root.first, by_time);
    for other in others.iter_mut() {
        other.relation = relation(root, other, place(&other.first, by_time) < root_place);
    }
    others.sort_by_cached_key(|symptom| place(&symptom.first, by_time));
}

/// Causes for which something else in the log speaks come first, then those for which the pattern does, then those
/// that any pattern suits.
fn rank(cause: &Cause, when: When, beside: &[&str]) -> u8 {
    if cause.with.iter().any(|with| beside.contains(&with.as_str())) {
        return 0;
    }
    match (cause.when.is_empty(), cause.when.contains(&when)) {
        (false, true) => 1,
        (true, _) => 2,
        (false, false) => 3,
    }
}

fn relation(root: &Symptom, other: &Symptom, is_before: bool) -> Relation {
    if other.group == Group::Bystander {
        return Relation::Bystander;
    }
    if root.group != Group::Hardware && is_before {
        return Relation::Before;
    }
    let one_of = |groups: &[Group]| groups.contains(&other.group);
    use Group::{Fault, Framework, Hardware, Library, Memory, Process, Status};
    let same_rank =
        root.first.rank.is_none() || other.first.rank.is_none() || root.first.rank == other.first.rank;
    if root.group == Hardware || (root.sticky && same_rank) {
        return if one_of(&[Fault, Framework, Hardware, Memory, Process, Status, Library]) {
            Relation::AfterFault
        } else {
            Relation::Later
        };
    }
    if root.group == Memory && one_of(&[Framework, Library, Memory, Status]) {
        return Relation::AfterShortage;
    }
    if root.group == Library && one_of(&[Framework, Library, Process, Status]) {
        return Relation::SameLibraries;
    }
    let is_near = root.first.file == other.first.file && other.first.line.abs_diff(root.first.line) < NEAR;
    if is_near && one_of(&[Fault, Framework, Process, Status]) {
        Relation::SameFailure
    } else {
        Relation::Later
    }
}

/// The pattern of a symptom, in words.
pub(crate) fn pattern(symptom: &Symptom) -> String {
    let number = symptom.period.unwrap_or_default();
    let from = symptom.first.moment.map(|moment| format!(" from {moment} on")).unwrap_or_default();
    match symptom.pattern {
        When::Start => "at the start".to_owned(),
        When::Once => "once".to_owned(),
        When::Throughout => format!("at each step that is shown{from}"),
        When::Period => format!("every {number} steps"),
        When::Fixed => format!("always at step {number}"),
        When::Change => match &symptom.change {
            Some(change) => {
                format!("from the first step after a change ({}, line {})", change.kind, change.line)
            }
            None => "after a change".to_owned(),
        },
        When::Irregular => format!("at {} steps without an order", symptom.incidents),
        When::Unplaced => format!("{} times; no step is shown", symptom.count),
    }
}

/// True where no symptom was met before the root. That of a device may be told late, by another program.
fn is_first(scan: &Scan) -> bool {
    let at = |symptom: &Symptom| (symptom.first.file, symptom.first.offset);
    let is_none_before = scan.symptoms.iter().all(|other| other.relation != Relation::Before);
    is_none_before && scan.symptoms.windows(2).all(|pair| at(&scan.symptoms[0]) <= at(&pair[1]))
}

/// One line: what it is, where, and the first thing to do.
pub(crate) fn verdict(scan: &Scan) -> String {
    let Some(root) = scan.symptoms.first().filter(|root| root.severity != Severity::Notice) else {
        return "nothing found that speaks of cuDNN, CUDA, the GPU or numbers that are none".to_owned();
    };
    let met = &root.first;
    let mut place = vec![format!("line {}", met.line)];
    place.extend(met.moment.map(|moment| moment.to_string()));
    place.extend(met.rank.map(|rank| format!("rank {rank}")));
    let first = match scan.symptoms.len() {
        0 | 1 => "",
        _ if is_first(scan) => " came first",
        _ => " is what explains most",
    };
    let likely =
        root.causes.first().map(|cause| format!("; most likely {}", cause.cause)).unwrap_or_default();
    format!("{}{first} ({}), {}{likely}", root.title, place.join(", "), pattern(root))
}
