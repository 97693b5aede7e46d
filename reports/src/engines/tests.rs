//! Tables from outcomes that were made up, and pages of them that hold nothing unescaped.

use case::{Candidate, Config, Knob, Notes, Phase, Planning, Refusal};

use super::*;

fn observed(engine: i64, knobs: Vec<Knob>, ended: Ended) -> Observation {
    let range = KnobRange { knob: 2, minimum: 0, maximum: engine.saturating_add(20), stride: 1 };
    let planning = Planning { knobs: vec![range], ..Planning::default() };
    Observation {
        candidate: Some(Candidate { config: Config { engine, knobs }, ranks: Ranks::default() }),
        notes: Notes { numerical: vec![0], behavior: vec![4] },
        workspace_bytes: 131,
        plan_us: 7,
        ended,
        executions: Vec::new(),
        planning: Some(planning),
    }
}

fn outcome(observation: Observation, rank: Option<u32>, exit: Exit) -> Outcome {
    let mut candidate = observation.candidate.clone();
    if let Some(candidate) = &mut candidate {
        candidate.ranks.a = rank;
    }
    let answered = exit == Exit::Answered;
    let observation = answered.then_some(observation);
    Outcome { candidate, exit, phase: Phase::Plan, observation, stderr: String::new() }
}

fn status(name: &str) -> Ended {
    let (name, reason) = (name.to_owned(), "<script>x | y".to_owned());
    Ended::Status(Refusal { phase: Phase::Plan, status: 1, name, reason })
}

/// Engine 1 refuses with its own knobs and takes others, engine 3 compiles, engine 4 dies, engine 5 blames itself.
fn table() -> EngineTable {
    let environment =
        Environment { gpu: "<b>H200".to_owned(), compute_capability: 90, ..Environment::default() };
    let mut table = EngineTable::new(&environment);
    let knobs = vec![Knob { knob: 2, value: 3 }];
    let mut compiles = observed(3, Vec::new(), Ended::Skipped("--rtc is off".to_owned()));
    compiles.notes.behavior = vec![0];
    let outcomes = [
        outcome(observed(0, Vec::new(), status("NOT_SUPPORTED_SHAPE")), None, Exit::Answered),
        outcome(observed(1, Vec::new(), status("NOT_SUPPORTED_SHAPE")), None, Exit::Answered),
        outcome(observed(1, knobs.clone(), Ended::Described), Some(4), Exit::Answered),
        outcome(observed(1, knobs, Ended::Described), Some(2), Exit::Answered),
        outcome(compiles, None, Exit::Answered),
        outcome(observed(4, Vec::new(), Ended::Described), None, Exit::Signalled(4)),
        outcome(observed(5, Vec::new(), status("INTERNAL_ERROR")), None, Exit::Answered),
    ];
    for probe in &probes(Operation::Dgrad)[..2] {
        table.add(probe, &outcomes);
    }
    table.add(&probes(Operation::Wgrad)[0], &outcomes[..1]);
    table
}

#[test]
fn each_answer_is_the_best_that_an_engine_gave() {
    let table = table();
    let [dgrad, wgrad] = table.passes.as_slice() else { panic!("two passes: {table:?}") };
    let answers: Vec<&Answer> = dgrad.engines.iter().map(|row| &row.answers[1]).collect();
    let ranks = Ranks { a: Some(2), ..Ranks::default() };
    assert_eq!(
        answers[..3],
        [&Answer::Refused("NOT_SUPPORTED_SHAPE".to_owned()), &Answer::Built(ranks), &Answer::Unknown]
    );
    assert_eq!(answers[3], &Answer::Compiles(Ranks::default()));
    assert_eq!(answers[4], &Answer::Trouble("signal 4 ended the process in plan".to_owned()));
    assert!(
        matches!(answers[5], Answer::Trouble(words) if words.starts_with("INTERNAL_ERROR: ")),
        "{answers:?}"
    );
    assert_eq!((dgrad.engines.len(), wgrad.engines.len(), dgrad.taking().count()), (6, 1, 2));
    assert_eq!(dgrad.engines[1].knobs, [KnobRange { knob: 2, minimum: 0, maximum: 21, stride: 1 }]);
    assert_eq!(dgrad.words(), "6 engines; 1 have a plan for a problem, and 1 compile at run time");
}

#[test]
fn an_index_out_of_any_space_makes_no_endless_table() {
    let mut table = table();
    let wild = outcome(observed(i64::MAX, Vec::new(), Ended::Described), None, Exit::Answered);
    table.add(&probes(Operation::Wgrad)[1], &[wild]);
    assert_eq!(table.passes[1].engines.len(), ENGINES_MAX + 1);
}

#[test]
fn pages_tell_knobs_notes_and_troubles_and_escape_what_a_library_said() {
    let table = table();
    for text in [markdown(&table), html(&table)] {
        for words in
            ["TILE_SIZE:0..21", "TENSOR_CORE", "CUBLASLT_DEPENDENCY", "A#2", "jit", "signal 4", "131"]
        {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(!text.contains("<script>") && !text.contains("<b>"), "{text}");
    }
}

#[test]
fn one_page_holds_every_table_and_hides_what_is_not_picked_without_a_script() {
    let mut other = table();
    (other.set, other.architecture) = ("9.27.0-jit\"><i>".to_owned(), 80);
    let page = browse_html(&[table(), other]);
    for (id, classes) in [("pick-0-1", "of-0-1 of-1-1 of-2-0"), ("pick-2-1", "of-0-0 of-1-0 of-2-1")] {
        assert!(page.contains(&format!("<input type=\"checkbox\" id=\"{id}\" checked>")), "{id}: {page}");
        assert!(page.contains(&format!("<details class=\"{classes}\">")), "{classes}: {page}");
        let (group, option) = id.trim_start_matches("pick-").split_once('-').expect("two numbers");
        let rule = format!("main:has(#{id}:not(:checked)) .of-{group}-{option} {{ display: none; }}");
        assert!(page.contains(&rule), "{rule}: {page}");
    }
    // Two sets, two architectures, two passes; a fold a table and pass.
    assert_eq!((page.matches("type=\"checkbox\"").count(), page.matches("<details class=").count()), (6, 4));
    for words in ["TILE_SIZE:0..21", "CUBLASLT_DEPENDENCY", "signal 4", "prefers-color-scheme: dark"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    for bad in ["<script", "<b>", "jit\"><i>", "http:", "https:", "url("] {
        assert!(!page.contains(bad), "{bad}: {page}");
    }
}

#[test]
fn the_index_leads_to_every_table() {
    let tables = [table()];
    let name = tables[0].name();
    assert!(name.ends_with("-sm_90") && !name.contains(['<', '/', ' ']), "{name}");
    assert!(index_markdown(&tables).contains(&format!("(<{name}.md>)")), "{}", index_markdown(&tables));
    assert!(index_markdown(&tables).contains("(<browse.html>)"), "{}", index_markdown(&tables));
    assert!(index_html(&tables).contains(&format!("<a href=\"{name}.html\">")), "{}", index_html(&tables));
}
