//! The page in both forms: the same words, in the same order, and nothing from outside that could act.

use case::{Kind, Phase, Ranks, Severity};

use super::{html, markdown, page};
use crate::clean::Clean;
use crate::escape::{for_html, for_page};
use crate::facts::Facts;
use crate::page::model::{Block, Page};
use crate::sample::Sample;
use crate::tests::ALL_KINDS;
use crate::vendor;
use crate::verdict::VerdictRecord;

const LINE: &str = "dgrad f16 nchw n2 c16 k32 i14x14 f3x3 p1x1 engine=25 fill=int2:1 wsfill=ff out=nan";

/// Hands the page's facts of a sample to a test.
fn with_facts<T>(sample: &Sample, test: impl FnOnce(&Facts<'_>) -> T) -> T {
    let finding = sample.finding();
    let clean = Clean::of(&finding);
    let finding = clean.finding(&finding);
    let record = VerdictRecord::of(&finding);
    let log = finding.minimization.log.join("\n");
    let novelty = vendor::of(&finding);
    test(&Facts { novelty: Some(&novelty), issue: "# [Bug]\n<b>", ..Facts::of(&finding, &record, &log) })
}

/// Sections in the order in which a triager reads.
const SECTIONS: [&str; 15] = [
    "Verdict",
    "Reproduce",
    "The case",
    "Failing region and good twins",
    "Where it fails",
    "Proof that it is wrong",
    "Versions and GPUs",
    "Environment",
    "Impact",
    "Logs",
    "How it was minimized",
    "Related issues",
    "Work-around and regression entry",
    "Paste-ready texts",
    "Words",
];

#[test]
fn every_kind_has_every_section_in_order_in_both_forms() {
    for kind in ALL_KINDS {
        let mut sample = Sample::new(kind, LINE);
        (sample.explanation, sample.reach) = (None, None);
        with_facts(&sample, |facts| {
            let (text, file) = (markdown(facts), html(facts));
            let in_text: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
            assert_eq!(in_text, SECTIONS, "{}", kind.name());
            let heads: Vec<&str> =
                file.split("<h2 id=").skip(1).filter_map(|rest| rest.split(['>', '<']).nth(1)).collect();
            assert_eq!(heads, SECTIONS, "{}", kind.name());
            for section in page(facts).sections {
                assert!(!section.blocks.is_empty(), "{} says nothing of {}", kind.name(), section.heading);
            }
        });
    }
}

/// Every piece of text that the page says outside its pictures.
fn pieces(page: &Page) -> Vec<String> {
    fn of(block: &Block, pieces: &mut Vec<String>) {
        let mut add = |line: &crate::page::model::Line| {
            pieces.extend(line.0.iter().map(|span| span.text().to_owned()));
        };
        match block {
            Block::Text(line) => add(line),
            Block::Facts(facts) => facts.iter().for_each(|(_, line)| add(line)),
            Block::Table(table) => table.rows.iter().flatten().for_each(add),
            Block::List(lines) => lines.iter().for_each(add),
            Block::Fold(_, blocks) | Block::Filed(_, _, blocks) => {
                blocks.iter().for_each(|block| of(block, pieces));
            }
            Block::Heading(text) => pieces.push((*text).to_owned()),
            Block::Code(..) | Block::Picture(_) | Block::Choices(_) => {}
        }
    }
    let mut found = Vec::new();
    page.sections.iter().flat_map(|section| &section.blocks).for_each(|block| of(block, &mut found));
    found
}

#[test]
fn both_forms_say_every_piece_of_the_content() {
    let sample = Sample::new(Kind::Oob, LINE);
    with_facts(&sample, |facts| {
        let (text, file) = (markdown(facts), html(facts));
        let pieces = pieces(&page(facts));
        assert!(pieces.len() > 100);
        for piece in pieces {
            assert!(file.contains(&for_html(&piece)), "report.html lacks '{piece}'");
            assert!(
                text.contains(&for_page(&piece)) || text.contains(piece.trim()),
                "report.md lacks '{piece}'"
            );
        }
    });
}

#[test]
fn a_page_without_probing_says_not_checked_and_one_with_it_tells_counts() {
    let mut sample = Sample::new(Kind::Wrong, LINE);
    let full = with_facts(&sample, markdown);
    assert!(full.contains("**63 of 64** random cases failed the same way"), "{full}");
    assert!(full.contains("`dtype(x) in {f16, bf16} and input[-1] mod 7 = 0 and c >= 8`"));
    assert!(full.contains("silently wrong; by default: whoever asks for nothing special gets it"));
    (sample.explanation, sample.reach) = (None, None);
    let bare = with_facts(&sample, markdown);
    assert!(bare.contains("## Failing region and good twins\n\nNot checked: "), "{bare}");
    assert!(bare.contains("how it is reached was not checked"));
}

#[test]
fn the_html_page_loads_nothing_and_has_no_script() {
    let file = with_facts(&Sample::new(Kind::Wrong, LINE), html);
    for word in ["<script", "http://", "https://", "url(", "@import", "src=", "onload", "onclick"] {
        let found = file.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        assert!(!found.contains(word), "{word}");
    }
    assert!(file.contains("default-src 'none'"));
    assert_eq!(file.matches("<h1>").count(), 1);
}

#[test]
fn whatever_comes_from_outside_is_text_on_the_page() {
    let bad = "</code></pre></title><script>alert(1)</script><img src=x onerror=alert(1)>\" ' & \u{202e}";
    let mut sample = Sample::new(Kind::Status, LINE);
    sample.fault.summary = bad.to_owned();
    sample.environment.gpu = bad.to_owned();
    sample.environment.found = bad.to_owned();
    sample.environment.conflict = bad.to_owned();
    sample.environment.files[0].name = bad.to_owned();
    sample.library_log = bad.to_owned();
    sample.outcome.stderr = bad.to_owned();
    sample.minimization.guarantee = bad.to_owned();
    let explanation = sample.explanation.as_mut().unwrap();
    explanation.any = vec![bad.to_owned()];
    explanation.twins[0].case = bad.to_owned();
    explanation.region.inside.counter_examples = vec![bad.to_owned()];
    with_facts(&sample, |facts| {
        let file = html(facts);
        assert!(!file.contains("<script") && !file.contains("<img") && !file.contains('\u{202e}'));
        assert!(file.matches("&lt;script&gt;alert(1)&lt;/script&gt;").count() >= 10, "{file}");
        let opened = file.matches('<').count() - file.matches("</").count();
        let whole = with_facts(&Sample::new(Kind::Status, LINE), html);
        // A library of that name, a conflict and a log that is not empty each bring an element of our own.
        assert!(opened.abs_diff(whole.matches('<').count() - whole.matches("</").count()) < 12);
    });
}

#[test]
fn a_mixed_library_set_is_marked() {
    let mut sample = Sample::new(Kind::Wrong, LINE);
    sample.environment.conflict = "libcudnn.so.9 is from another release than libcuda.so.1".to_owned();
    let file = with_facts(&sample, html);
    assert!(file.contains("<strong class=\"alert\">Trouble: libcudnn.so.9 is from another"));
    assert!(file.contains("<td><strong class=\"alert\">Trouble: libcudnn.so.9</strong></td>"));
}

#[test]
fn the_text_for_a_tracker_stays_below_what_trackers_take() {
    let mut sample = Sample::new(Kind::Wrong, LINE);
    sample.fault.summary = "x".repeat(100_000);
    with_facts(&sample, |facts| {
        let pasted = super::paste::blocks(facts);
        let longest = pasted.iter().map(|block| match block {
            Block::Code(_, text) => text.chars().count(),
            Block::Text(_) | Block::Heading(_) | Block::Facts(_) | Block::Table(_) => 0,
            Block::Picture(_) | Block::List(_) | Block::Fold(..) => 0,
            Block::Choices(_) | Block::Filed(..) => 0,
        });
        assert!(longest.max().unwrap() <= 65_000);
    });
}

#[test]
fn a_guess_is_called_one_wherever_the_region_is_told() {
    let mut sample = Sample::new(Kind::Wrong, LINE);
    let region = &mut sample.explanation.as_mut().unwrap().region;
    (region.inside.tested, region.inside.failed, region.outside.tested, region.outside.failed) = (1, 1, 2, 2);
    let text = with_facts(&sample, markdown);
    let counts = "(1 of 1 inside failed, 2 of 2 outside)";
    assert!(text.contains(&format!(
        "| Region | **guess, too few cases tried:** `dtype(x) in {{f16, bf16}} and input[-1] mod 7 = 0 and c >= 8` {counts} |"
    )));
    assert!(
        text.contains("**Guess, too few cases tried**: 1 of 1 inside failed, 2 of 2 outside. The conditions")
    );
    assert!(text.contains("Failing region: guess, too few cases tried: dtype(x)"), "{text}");
    let region = &mut sample.explanation.as_mut().unwrap().region;
    (region.inside, region.outside) = Default::default();
    let text = with_facts(&sample, markdown);
    assert!(text.contains("(not tried on random cases)") && !text.contains("0 of 0"), "{text}");
}

#[test]
fn the_survey_s_ranks_win_and_no_tier_contradicts_the_severity() {
    let mut sample = Sample::new(Kind::Wrong, LINE);
    sample.fault.tier = case::Tier::B;
    let reach = sample.reach.as_mut().unwrap();
    (reach.ranks, reach.severity) = (Ranks { a: Some(3), ..Ranks::default() }, Severity::UnderSearch);
    let text = with_facts(&sample, markdown);
    assert!(
        text.contains("| Reached | A#3; the case as it was met: A#0 B#1 fallback#0 (tier A) |"),
        "{text}"
    );
    assert!(
        text.contains("| Heuristic lists | A#3; ") && text.contains("a search that times them may choose it")
    );
    let reach = sample.reach.as_mut().unwrap();
    (reach.ranks, reach.original_ranks) = (Ranks::default(), Ranks { a: Some(1), ..Ranks::default() });
    let text = with_facts(&sample, markdown);
    assert!(text.contains("| Reached | in no list; the case as it was met: A#1 (tier A) |"), "{text}");
}

#[test]
fn a_failure_of_the_heuristics_is_reached_by_asking_for_them() {
    let mut sample = Sample::new(Kind::Crash, LINE);
    sample.reach = None;
    (sample.fault.sameness.engine, sample.fault.sameness.phase) = (None, Phase::Heuristics);
    let text = with_facts(&sample, markdown);
    let row = "| Reached | by asking for heuristics, before any plan is chosen (tier A) |";
    assert!(text.contains(row) && !text.contains("| in no list"), "{text}");
}

#[test]
fn a_bundle_of_the_simulator_says_so_before_anything_else() {
    let mut sample = Sample::new(Kind::Wrong, LINE);
    sample.environment.gpu = "convict simulator".to_owned();
    sample.environment.driver.clear();
    with_facts(&sample, |facts| {
        let (text, file) = (markdown(facts), html(facts));
        assert!(text.starts_with("# \\[SIMULATED\\] \\[cuDNN 9.19.0\\]"), "{text}");
        assert!(text.lines().nth(2).unwrap().starts_with("**SIMULATED: made on"));
        assert!(file.contains("<header>\n<p class=\"banner\" role=\"note\">SIMULATED: made on"));
        assert!(
            text.contains("sh run.sh FOLDER --driver FOLDER/libcuda.so.1")
                && text.contains("check --simulate '")
        );
        assert!(text.contains("| Driver | the simulator's |") && !text.contains("driver: \n"));
    });
}

#[test]
fn varying_bits_have_no_errors_and_nothing_but_nan_has_no_largest_one() {
    let mut sample = Sample::new(Kind::Nondet, LINE);
    let census = |sample: &mut Sample, change: &dyn Fn(&mut case::Execution)| {
        change(&mut sample.outcome.observation.as_mut().unwrap().executions[0]);
    };
    census(&mut sample, &|execution| {
        (execution.census.differing, execution.repeat_differing) = (0, Some(3));
        execution.excerpt.clear();
    });
    let text = with_facts(&sample, markdown);
    assert!(
        text.contains("| Between executions | the bits of 3 outputs differ on the same data |"),
        "{text}"
    );
    assert!(!text.contains("| Differing |") && !text.contains("| Largest error |"));
    census(&mut sample, &|execution| execution.repeat_differing = None);
    assert!(with_facts(&sample, markdown).contains("| Between executions | bits differed in 3 of 4 runs |"));
    let mut sample = Sample::new(Kind::Wrong, LINE);
    census(&mut sample, &|execution| {
        let census = &mut execution.census;
        (census.checked, census.differing, census.first_differing, census.nan) = (1, 1, 0, 1);
        (census.over_element, census.error_max, census.ratio_max) = (1, 0.0, 0.0);
        execution.excerpt.truncate(1);
    });
    let text = with_facts(&sample, markdown);
    assert!(text.contains("| Differing | 1 of 1 output, position 0 |"), "{text}");
    assert!(text.contains("| Beyond the bound | 1 output; bound"));
    assert!(
        !text.contains("Largest error")
            && !text.contains("All 1 elements")
            && text.contains("first 1 of 1 mismatch:")
    );
}

#[test]
fn no_report_holds_two_times_of_one_execution() {
    let mut sample = Sample::new(Kind::Wrong, LINE);
    assert!(with_facts(&sample, markdown).contains("| One execution | 31 \u{b5}s |"), "41 us at 1.31 times");
    sample.outcome.observation.as_mut().unwrap().executions[0].execute_us = 42_396;
    assert!(!with_facts(&sample, markdown).contains("42396"));
    sample.reach = None;
    assert!(
        with_facts(&sample, markdown)
            .contains("| One execution | 42396 \u{b5}s, loading and waiting included |")
    );
}

#[test]
fn what_avoids_it_comes_from_twins_and_from_what_changed_nothing() {
    let mut sample = Sample::new(Kind::Wrong, LINE);
    sample.explanation.as_mut().unwrap().any.push("layout(x)".to_owned());
    let text = with_facts(&sample, markdown);
    assert!(text.contains("| Another data type | passes with dtype(x) f32 |"), "{text}");
    assert!(text.contains("| Another layout | no help from layout(x) |"), "{text}");
    assert!(text.contains("| Another alignment of the workspace | not checked |"));
}

#[test]
fn the_corpus_entry_of_the_very_case_is_no_duplicate_of_it() {
    let mut sample = Sample::new(Kind::Wrong, "wgrad f32 nchw n1 c1 k1 i1 f2 p1:0 engine=20 fill=zero:1");
    (sample.fault.sameness.engine, sample.fault.sameness.cause) = (Some(20), "nan".to_owned());
    sample.signature = case::Signature::new(&sample.fault.sameness, &sample.case.problem);
    let text = with_facts(&sample, markdown);
    assert!(text.contains("| Duplicates | none beside its own entry of the corpus;"), "{text}");
    sample.environment.cudnn = 92_800;
    let text = with_facts(&sample, markdown);
    let kept = "**kept in the corpus as 9.19.0-wgrad-e20-wrong-judge-nan-f32-nchw**";
    assert!(text.contains(kept), "{text}");
}

#[test]
fn the_case_table_says_which_inputs_keep_their_data() {
    let text = |line: &str| with_facts(&Sample::new(Kind::Wrong, line), markdown);
    let row = "int2, seed 1; of w only element 3 and of y only elements 0 to 9 (row-major, from 0), every other one is 0";
    assert!(text(&format!("{LINE} keep=w:3,y:0-9")).contains(row));
    assert!(!text(LINE).contains("row-major, from 0), every"));
}
