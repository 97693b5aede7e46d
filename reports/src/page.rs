//! The page about a finding, in the order in which a triager reads: one content, and its forms in Markdown
//! and HTML. Made from a bundle's data alone.

mod environment;
mod fields;
mod glossary;
pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod model;
mod paste;
mod place;
mod proof;
mod region;
mod reproduce;
mod story;
mod verdict;
mod words;

use crate::facts::Facts;
use crate::picture::{ErrorMap, RegionMap};
use crate::simulated::{BANNER, is_simulated};
use crate::title::Title;
use model::{Page, Section};

pub(crate) use proof::traces;

/// The page in Markdown.
pub(crate) fn markdown(facts: &Facts<'_>) -> String {
    markdown::render(&page(facts))
}

/// The page as one HTML file that loads nothing.
pub(crate) fn html(facts: &Facts<'_>) -> String {
    html::render(&page(facts))
}

/// Where in the output the wrong elements lie; `None` where the failure shows in no values.
pub(crate) fn error_map(facts: &Facts<'_>) -> Option<ErrorMap> {
    ErrorMap::of(facts.case, facts.verdict.execution.as_ref()?)
}

/// Pass and fail over two fields; `None` where nobody has mapped them.
pub(crate) fn region_map(facts: &Facts<'_>) -> Option<RegionMap> {
    let map = facts.explanation?.map.as_ref()?;
    Some(RegionMap::of(map, facts.case))
}

fn page(facts: &Facts<'_>) -> Page {
    let section = Section::new;
    Page {
        title: Title::new(facts.environment, &facts.verdict.sameness, facts.case),
        banner: if is_simulated(facts.environment) { BANNER } else { "" },
        lead: facts.verdict.summary.clone(),
        sections: vec![
            section("verdict", "Verdict", verdict::blocks(facts)),
            section("reproduce", "Reproduce", reproduce::blocks(facts)),
            section("case", "The case", fields::blocks(facts)),
            section("region", "Failing region and good twins", region::blocks(facts)),
            section("place", "Where it fails", place::blocks(facts)),
            section("proof", "Proof that it is wrong", proof::blocks(facts)),
            section("versions", "Versions and GPUs", environment::versions(facts)),
            section("environment", "Environment", environment::blocks(facts)),
            section("impact", "Impact", story::impact(facts)),
            section("logs", "Logs", story::logs(facts)),
            section("minimization", "How it was minimized", story::minimization(facts)),
            section("related", "Related issues", story::related(facts)),
            section("workaround", "Work-around and regression entry", story::workaround(facts)),
            section("paste", "Paste-ready texts", paste::blocks(facts)),
            section("words", "Words", glossary::blocks()),
        ],
    }
}

#[cfg(test)]
mod tests;
