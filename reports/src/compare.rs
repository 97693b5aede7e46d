//! A comparison of two library sets as a page and for pipelines. Knows differences; runs nothing.

use corpus::{Change, Contrast, Difference};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::page;
use crate::page::model::{Block, Line, Page, Section};
use crate::replay::named_as_in_the_schema;
use crate::simulated::BANNER;
use crate::title::Title;

/// Rows of one sort of difference that are shown at once; the rest is folded.
const SHOWN: usize = 20;

/// The page as Markdown.
#[must_use]
pub fn markdown(contrast: &Contrast, simulated: bool) -> String {
    page::markdown::render(&page(contrast, simulated))
}

/// The page as one HTML file that loads nothing.
#[must_use]
pub fn html(contrast: &Contrast, simulated: bool) -> String {
    page::html::render(&page(contrast, simulated))
}

/// A JUnit file: one test for each sort of difference that makes something worse, and one for each such difference.
///
/// # Errors
/// An element that can't be written: our own trouble.
pub fn junit(contrast: &Contrast) -> Result<String, String> {
    let mut report = Report::new("convict compare");
    let mut suite = TestSuite::new("compare");
    for change in Change::ALL.into_iter().filter(|change| change.is_regression()) {
        let name = format!("nothing is {}", change.name());
        if contrast.of(change).next().is_none() {
            suite.add_test_case(TestCase::new(name.clone(), TestCaseStatus::success()));
        }
        for difference in contrast.of(change) {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(change.name()).set_message(difference.words.clone());
            status.set_description(format!(
                "{}\nrepeat it: convict check '{}'",
                difference.case, difference.repeat
            ));
            suite.add_test_case(TestCase::new(format!("{name}: {}", difference.case), status));
        }
    }
    report.add_test_suite(suite);
    report.to_string().map(|text| named_as_in_the_schema(&text)).map_err(|error| error.to_string())
}

fn page(contrast: &Contrast, simulated: bool) -> Page {
    let [baseline, candidate] = contrast.sets.clone();
    let worse = if contrast.has_regressions() { "worse" } else { "not worse" };
    Page {
        title: Title {
            simulated,
            tags: ["compare".to_owned(), baseline, worse.to_owned(), candidate],
            architecture: contrast.architecture.clone(),
            condition: format!("{} problems judged on both sets", contrast.problems - contrast.unjudged),
        },
        banner: if simulated { BANNER } else { "" },
        lead: contrast.verdict(),
        sections: sections(contrast),
    }
}

fn sections(contrast: &Contrast) -> Vec<Section> {
    let texts = [
        (
            Change::NewlyWrong,
            "newly-wrong",
            "Newly wrong",
            "The candidate fails where the baseline does not.",
        ),
        (
            Change::NewlyRefused,
            "newly-refused",
            "Newly refused",
            "The candidate has no plan where the baseline is right.",
        ),
        (
            Change::Slower,
            "slower",
            "Slower",
            "The plan that frameworks try first, timed in turns; each turn agreed.",
        ),
        (
            Change::NewlyRight,
            "newly-right",
            "Newly right",
            "The baseline fails where the candidate does not.",
        ),
        (
            Change::NewlyAccepted,
            "newly-accepted",
            "Newly accepted",
            "The baseline has no plan where the candidate is right.",
        ),
        (
            Change::Faster,
            "faster",
            "Faster",
            "The plan that frameworks try first, timed in turns; each turn agreed.",
        ),
        (
            Change::FirstChoice,
            "first-choice",
            "Another first choice",
            "Heuristics A rank another plan first. Engine numbers move between versions, so that this alone means little.",
        ),
    ];
    let mut sections = vec![Section::new("verdict", "Verdict", verdict(contrast))];
    for (change, id, heading, words) in texts {
        let rows: Vec<&Difference> = contrast.of(change).collect();
        let mut blocks = vec![Block::text(words)];
        if rows.is_empty() {
            blocks.push(Block::text("None."));
        } else {
            blocks.push(table(&rows[..rows.len().min(SHOWN)]));
        }
        if rows.len() > SHOWN {
            let rest = &rows[SHOWN..];
            blocks.push(Block::Fold(format!("{} more", rest.len()), vec![table(rest)]));
        }
        sections.push(Section::new(id, heading, blocks));
    }
    sections.push(Section::new("engines", "Engines", engines(contrast)));
    sections
}

fn verdict(contrast: &Contrast) -> Vec<Block> {
    let count = |number: u64| Line::from(number.to_string());
    let mut facts = vec![
        ("Baseline", Line::from(contrast.baseline.clone())),
        ("Candidate", Line::from(contrast.candidate.clone())),
        ("Problems", count(contrast.problems)),
        ("Right on both", count(contrast.right)),
        ("Failing on both in the same kinds", count(contrast.wrong)),
        ("Refused by both", count(contrast.refused)),
        ("Not judged on one of them", count(contrast.unjudged)),
        ("Suspected, and gone at the second look", count(contrast.dismissed)),
        ("Time", Line::from(format!("{:.0} s", contrast.seconds))),
    ];
    for change in Change::ALL {
        let all = contrast.of(change).count();
        if all > 0 {
            let recommended = contrast.of(change).filter(|difference| difference.recommended).count();
            let words = format!("{all}, of which heuristic lists lead to {recommended}");
            facts.push((heading(change), Line::from(words)));
        }
    }
    vec![Block::text(Line::strong(contrast.verdict())), Block::facts(facts)]
}

fn heading(change: Change) -> &'static str {
    match change {
        Change::NewlyWrong => "Newly wrong",
        Change::NewlyRefused => "Newly refused",
        Change::Slower => "Slower",
        Change::NewlyRight => "Newly right",
        Change::NewlyAccepted => "Newly accepted",
        Change::Faster => "Faster",
        Change::FirstChoice => "Another first choice",
    }
}

fn table(rows: &[&Difference]) -> Block {
    let row = |difference: &&Difference| {
        vec![
            Line::code(difference.repeat.clone()),
            Line::from(difference.words.clone()),
            Line::from(if difference.recommended { "yes" } else { "no" }),
            Line::from(difference.source.clone()),
        ]
    };
    Block::table(&["problem", "what", "recommended", "from"], rows.iter().map(row).collect())
}

fn engines(contrast: &Contrast) -> Vec<Block> {
    let list = |numbers: Vec<String>| {
        Line::from(if numbers.is_empty() { "none".to_owned() } else { numbers.join(" ") })
    };
    let rows = contrast.engines.iter().map(|(operation, [before, after])| {
        let numbers = |one: &std::collections::BTreeSet<i64>, other: &std::collections::BTreeSet<i64>| {
            list(one.difference(other).map(i64::to_string).collect())
        };
        let both = before.intersection(after).count();
        vec![
            Line::from(operation.clone()),
            Line::from(both.to_string()),
            numbers(before, after),
            numbers(after, before),
        ]
    });
    vec![
        Block::text("Engines that executed at least one plan, by global index."),
        Block::table(&["pass", "on both", "on the baseline alone", "on the candidate alone"], rows.collect()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(words: &str) -> Contrast {
        let difference = Difference {
            case: "fprop f32 nchw n1 c1 k1 i4 f1".to_owned(),
            source: "seeds/a<b".to_owned(),
            change: Change::NewlyWrong,
            words: words.to_owned(),
            repeat: "fprop f32 nchw n1 c1 k1 i4 f1 engine=7".to_owned(),
            recommended: true,
        };
        Contrast {
            sets: ["9.14.0-full".to_owned(), "9.19.0-full".to_owned()],
            problems: 30,
            differences: vec![difference; 25],
            ..Contrast::default()
        }
    }

    #[test]
    fn both_pages_say_the_verdict_and_every_difference_and_nothing_unescaped() {
        let contrast = contrast("x <script> | y");
        for text in [markdown(&contrast, false), html(&contrast, false)] {
            assert!(
                text.contains("WORSE: 9.19.0-full against 9.14.0-full on 30 problems: 25 newly wrong"),
                "{text}"
            );
            assert_eq!(text.matches("engine=7").count(), 25);
            assert!(text.contains("5 more") && !text.contains("<script>") && !text.contains("a<b"), "{text}");
        }
        assert!(markdown(&contrast, true).contains("simul") || markdown(&contrast, true).contains("SIMUL"));
    }

    #[test]
    fn a_pipeline_sees_a_failure_for_each_regression_and_a_success_where_there_is_none() {
        let text = junit(&contrast("bad")).expect("a file");
        assert!(text.contains("failures=\"25\"") && text.contains("nothing is newly refused"), "{text}");
        let text = junit(&Contrast::default()).expect("a file");
        assert!(text.contains("tests=\"2\"") && text.contains("failures=\"0\""), "{text}");
    }
}
