//! The page in both forms: the same words, in the same order, and nothing from outside that could act.

use case::Kind;

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
const SECTIONS: [&str; 14] = [
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
            Block::Fold(_, blocks) => blocks.iter().for_each(|block| of(block, pieces)),
            Block::Heading(text) => pieces.push((*text).to_owned()),
            Block::Code(..) | Block::Picture(_) => {}
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
    assert!(full.contains("silently wrong, by default"));
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
        });
        assert!(longest.max().unwrap() <= 65_000);
    });
}
