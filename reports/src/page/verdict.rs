//! The box at the top: kind, severity, how often, since when. Knows what a triager asks first.

use case::Explanation;

use super::model::{Block, Line, Span};
use crate::claim::Way;
use crate::facts::Facts;
use crate::title::{Title, kind_words};
use crate::vendor::{Match, Novelty, Standing};
use crate::verdict::Verification;

pub(super) fn blocks(facts: &Facts<'_>) -> Vec<Block> {
    let verdict = facts.verdict;
    let sameness = &verdict.sameness;
    let way = Way::read(verdict);
    let kind = Span::Plain(format!(" ({}, {})", sameness.phase.name(), sameness.cause));
    vec![Block::facts([
        ("Kind", Line::strong(kind_words(sameness.kind)).and(kind)),
        ("Severity", way.severity_words().into()),
        ("Reached", format!("{} (tier {})", way.words(), way.tier().name()).into()),
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
    let others = others(facts, novelty);
    match novelty.standing {
        // The entry that this bundle became says nothing of others.
        Standing::Known if others.len() < novelty.matches.len() => {
            format!("none beside its own entry of the corpus; {} reports compared", novelty.compared).into()
        }
        Standing::Known => match others.first().map(|first| (first.kept(), first)) {
            Some((Some(name), _)) => Line::strong(format!("kept in the corpus as {name}")),
            Some((None, first)) if first.url.is_empty() => {
                Line::strong(format!("known: reported in {}", first.source))
            }
            Some((None, first)) => Line::strong(format!("known: reported as {}", first.url)),
            None => Line::strong("known"),
        },
        Standing::Similar => "none; public reports tell of something close".into(),
        Standing::New => format!("none among {} public reports and kept findings", novelty.compared).into(),
    }
}

/// The reports that come close, without the corpus' entry of this very case.
pub(super) fn others<'a>(facts: &Facts<'_>, novelty: &'a Novelty) -> Vec<&'a Match> {
    // An entry is titled by version, kind, engine and problem, which a signature and its version have once.
    let title = Title::new(facts.environment, &facts.verdict.sameness, facts.case).to_string();
    novelty.matches.iter().filter(|found| found.kept().is_none() || found.title != title).collect()
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
    let Some(Explanation { region, .. }) = facts.explanation else { return Line::not_checked() };
    let doubt = region.support().doubt().map(|doubt| Span::Strong(format!("{doubt}: ")));
    let rest = [Span::Code(region.to_string()), Span::Plain(format!(" ({})", region.counts()))];
    Line(doubt.into_iter().chain(rest).collect())
}
