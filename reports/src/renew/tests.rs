//! Renewal: that a bundle holds all that its own files follow from.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use case::{Execution, Kind, Recipe, WorkspaceFill};

use super::{record_explanation, rerender};
use crate::sample::Sample;
use crate::{BundleError, HASHED, REGION, SUMS, VERDICT, read, verify, write};

const LINE: &str = "dgrad f16 nchw n2 c16 k32 i14x14 f3x3 p1x1 engine=25 fill=int2:1 wsfill=ff out=nan";

const KINDS: [Kind; 10] = [
    Kind::Wrong,
    Kind::Inexact,
    Kind::Nondet,
    Kind::Oob,
    Kind::Input,
    Kind::Status,
    Kind::Device,
    Kind::Crash,
    Kind::Hang,
    Kind::Accepted,
];

fn texts(folder: &Path) -> BTreeMap<&'static str, String> {
    let read = |name: &'static str| (name, fs::read_to_string(folder.join(name)).unwrap());
    HASHED.into_iter().chain([SUMS]).map(read).collect()
}

#[test]
fn a_bundle_of_every_kind_made_anew_is_the_same_byte_for_byte() {
    for kind in KINDS {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("finding");
        write(&folder, &Sample::new(kind, LINE).finding()).unwrap();
        let before = texts(&folder);
        rerender(&folder).unwrap();
        for (name, text) in texts(&folder) {
            assert_eq!(text, before[name], "{} of {}", name, kind.name());
        }
        assert!(verify(&folder).is_empty());
    }
}

#[test]
fn the_program_follows_from_the_data() {
    for kind in KINDS {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("finding");
        write(&folder, &Sample::new(kind, LINE).finding()).unwrap();
        let bundle = read(&folder).unwrap();
        assert_eq!(super::program(&bundle).unwrap(), bundle.program_text, "{}", kind.name());
    }
}

#[test]
fn the_program_of_bits_that_differ_with_the_workspace_follows_from_the_data_too() {
    let line = "dgrad f16 nchw n2 c16 k32 i14x14 f3x3 p1x1 engine=25 fill=int2:1 out=nan";
    let mut sample = Sample::new(Kind::Nondet, line);
    let earlier = Recipe { workspace: WorkspaceFill::Ones, repeats: None, ..sample.fault.recipe.unwrap() };
    let telling = Recipe { workspace: WorkspaceFill::Zero, repeats: Some(0), ..earlier };
    sample.fault.recipe = Some(telling);
    let executions = &mut sample.outcome.observation.as_mut().unwrap().executions;
    let like = executions[0].clone();
    *executions = [earlier, telling].map(|recipe| Execution { recipe, ..like.clone() }).to_vec();
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("finding");
    write(&folder, &sample.finding()).unwrap();
    let bundle = read(&folder).unwrap();
    assert_eq!(super::program(&bundle).unwrap(), bundle.program_text);
    assert!(bundle.program_text.contains("Bytes::ones") && bundle.program_text.contains("Bytes::zero"));
}

#[test]
fn an_explanation_that_comes_later_makes_the_bundle_that_it_would_have_made_at_once() {
    let parent = tempfile::tempdir().unwrap();
    let (late, at_once) = (parent.path().join("late"), parent.path().join("at-once"));
    let whole = Sample::new(Kind::Wrong, LINE);
    let (explanation, reach) = (whole.explanation.clone().unwrap(), whole.reach.clone().unwrap());
    write(&at_once, &whole.finding()).unwrap();
    let unexplored = Sample { explanation: None, reach: None, ..Sample::new(Kind::Wrong, LINE) };
    write(&late, &unexplored.finding()).unwrap();
    assert_ne!(texts(&late)[REGION], texts(&at_once)[REGION]);
    record_explanation(&late, &explanation, &reach).unwrap();
    assert_eq!(texts(&late), texts(&at_once));
    assert_eq!(read(&late).unwrap().explanation, Some(explanation));
}

#[test]
fn what_was_altered_takes_no_explanation() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("finding");
    let sample = Sample::new(Kind::Wrong, LINE);
    write(&folder, &sample.finding()).unwrap();
    fs::write(folder.join(VERDICT), "{}").unwrap();
    let (explanation, reach) = (sample.explanation.as_ref().unwrap(), sample.reach.as_ref().unwrap());
    let error = record_explanation(&folder, explanation, reach).unwrap_err();
    assert!(matches!(error, BundleError::Altered { .. } | BundleError::Content { .. }), "{error}");
    assert_eq!(fs::read_to_string(folder.join(VERDICT)).unwrap(), "{}");
}
