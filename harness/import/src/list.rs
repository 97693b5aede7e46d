//! Case lines with the counts that an import wrote above them. Knows that form only.

use std::io::{self, BufRead};

use case::{Case, Operation};

use crate::lines::Lines;
use crate::table::{Evidence, Import, Imported, Ledger, Refusals};

/// True for what may be a case line.
pub(crate) fn is_case_line(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    Operation::ALL.into_iter().any(|operation| operation.name() == word)
}

/// Reads a list to its end. A line without a count above it was met once.
pub(crate) fn read<R: BufRead>(lines: &mut Lines<R>) -> io::Result<Import> {
    let (mut ledger, mut refusals) = (Ledger::default(), Refusals::default());
    let mut above = Above::default();
    while lines.advance()? {
        let text = lines.text();
        let line = text.trim();
        if let Some(comment) = line.strip_prefix('#') {
            above = Above::read(comment).unwrap_or(above);
        } else if !line.is_empty() {
            let Above { count, fused, engines } = std::mem::take(&mut above);
            let Ok(count) = count.unwrap_or(Ok(1)) else {
                refusals.add("a case below a count that is no number above 0".to_owned(), lines.number());
                continue;
            };
            match line.parse::<Case>() {
                Ok(case) => {
                    let found = Imported { case, count, file: 0, first: lines.number(), fused, engines };
                    ledger.add(found, &mut refusals);
                }
                Err(error) => refusals.add(format!("no case line: {error}"), lines.number()),
            }
        }
    }
    let (evidence, notes) = (Evidence::Executed, Vec::new());
    Ok(Import { cases: ledger.sorted(), evidence, refused: refusals.sorted(), notes })
}

/// What the comment above a case says.
#[derive(Clone, Debug, Default)]
struct Above {
    /// Where it tells one, well or badly.
    count: Option<Result<u64, ()>>,
    fused: bool,
    engines: Vec<i64>,
}

impl Above {
    /// ` count 3, first at line 12, fused, engines 1 70`.
    fn read(comment: &str) -> Option<Self> {
        let mut told = Self::default();
        for part in comment.split(',') {
            let mut words = part.split_whitespace();
            match words.next() {
                Some("count") => told.count = Some(count(words.next()?)),
                Some("fused") => told.fused = true,
                Some("engines") => told.engines = words.map_while(|word| word.parse().ok()).collect(),
                Some(_) | None => {}
            }
        }
        told.count.is_some().then_some(told)
    }
}

/// A count above 0. One beyond what is counted is as good as the largest.
fn count(word: &str) -> Result<u64, ()> {
    match word.parse() {
        Ok(0) => Err(()),
        Ok(count) => Ok(count),
        Err(_) if word.bytes().all(|byte| byte.is_ascii_digit()) => Ok(u64::MAX),
        Err(_) => Err(()),
    }
}
