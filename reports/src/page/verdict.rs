//! The box at the top: kind, severity, how often, since when. Knows what a triager asks first.

use super::model::{Block, Line, Span};
use super::words;
use crate::facts::Facts;
use crate::title::kind_words;
use crate::vendor::Standing;
use crate::verdict::Verification;

pub(super) fn blocks(facts: &Facts<'_>) -> Vec<Block> {
    let verdict = facts.verdict;
    let sameness = &verdict.sameness;
    let severity = verdict.reach.as_ref().map(|reach| reach.severity);
    let kind = Span::Plain(format!(" ({}, {})", sameness.phase.name(), sameness.cause));
    vec![Block::facts([
        ("Kind", Line::strong(kind_words(sameness.kind)).and(kind)),
        ("Severity", words::severity(sameness.kind, severity).into()),
        ("Reached", format!("{} (tier {})", verdict.ranks, verdict.tier.name()).into()),
        ("Reproduces", reproduces(facts)),
        ("Stand-alone program", program(&verdict.verification)),
        ("Region", region(facts)),
        ("Signature", Line::code(verdict.signature.clone())),
        ("Regression", Line::not_checked()),
        ("Last good, first bad, fixed in", Line::not_checked()),
        ("Duplicates", duplicates(facts)),
    ])]
}

fn duplicates(facts: &Facts<'_>) -> Line {
    let Some(novelty) = facts.novelty else { return Line::not_checked() };
    match novelty.standing {
        Standing::Known => Line::strong(match novelty.matches.first() {
            Some(first) if first.url.is_empty() => format!("known: kept as {}", first.source),
            Some(first) => format!("known: reported as {}", first.url),
            None => "known".to_owned(),
        }),
        Standing::Similar => "none; public reports tell of something close".into(),
        Standing::New => format!("none among {} public reports and kept findings", novelty.compared).into(),
    }
}

fn reproduces(facts: &Facts<'_>) -> Line {
    let verdict = facts.verdict;
    Line::strong(format!("{} of {}", verdict.hits, verdict.runs))
        .and(Span::Plain(" fresh processes".to_owned()))
}

fn program(verification: &Verification) -> Line {
    match verification {
        Verification::Pending => Line::faint(verification.words()),
        Verification::Runs { reproduced: 0, .. } | Verification::Not { .. } => {
            Line::alert(verification.words())
        }
        Verification::Runs { .. } => verification.words().into(),
    }
}

fn region(facts: &Facts<'_>) -> Line {
    facts.explanation.map_or_else(Line::not_checked, |found| Line::code(found.region.to_string()))
}
