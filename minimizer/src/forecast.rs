//! What a search will ask next, whatever the answers: the likeliest questions of its decision tree. Knows the
//! search as a value; asks nobody.

use case::Case;

use crate::query::Answer;
use crate::search::Search;

/// Share of questions that are answered with yes, by which branches are weighed.
const YES: f64 = 0.3;

/// Branches looked at for each question that is wanted, so that a search near its end is not turned over.
const BRANCHES: usize = 4;

/// The questions after the present one, the likeliest first, as often as they may be asked; at most `count`.
pub(crate) fn forecast(search: &Search, count: usize) -> Vec<Case> {
    let mut frontier = Vec::new();
    branch(search, 1.0, &mut frontier);
    let mut likely = Vec::new();
    for _ in 0..count.saturating_mul(BRANCHES) {
        if likely.len() >= count {
            break;
        }
        let best = (0..frontier.len()).max_by(|one, other| {
            let weight = |index: &usize| -> f64 { frontier[*index].0 };
            // Of equals the earlier branch: the later index counts as smaller.
            weight(one).total_cmp(&weight(other)).then(other.cmp(one))
        });
        let Some(best) = best else { break };
        let (weight, mut search): (f64, Search) = frontier.swap_remove(best);
        let Some((_, case)) = search.question() else { continue };
        likely.push(case.clone());
        branch(&search, weight, &mut frontier);
    }
    likely
}

/// Both answers to the present question.
fn branch(search: &Search, weight: f64, frontier: &mut Vec<(f64, Search)>) {
    for (answer, chance) in [(Answer::Pass, 1.0 - YES), (Answer::Same, YES)] {
        let mut ahead = search.clone();
        ahead.learn(&answer);
        frontier.push((weight * chance, ahead));
    }
}
