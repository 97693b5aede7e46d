//! The files of `evidence/`: what was wrong, where, and what changed beside it. Plain text and drawings.

use std::fmt::Write;

use crate::facts::Facts;
use crate::page;
use crate::picture::Picture;
use crate::position::words;

/// Why there is no map of the output.
const NO_ERROR_MAP: &str = "not applicable: the failure shows in no values of the output";

/// Why there is no map of the region.
const NO_REGION_MAP: &str = "not checked: nobody has mapped the region";

/// `evidence/mismatches.txt`.
pub(crate) fn mismatches(facts: &Facts<'_>) -> String {
    let Some(execution) = &facts.verdict.execution else {
        return "not applicable: the failure shows in no values of the output\n".to_owned();
    };
    let census = &execution.census;
    let mut text = format!(
        "# The first {} of {} elements, of {} compared, that differ from the reference rounded once.\n\
         # position  coordinates  got  expected\n",
        execution.excerpt.len(),
        census.differing,
        census.checked
    );
    for (position, got, expected) in &execution.excerpt {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{position}  {}  {got}  {expected}", words(facts.case, *position));
    }
    text
}

/// `evidence/traces.txt`.
pub(crate) fn traces(facts: &Facts<'_>) -> String {
    let lines = facts.verdict.execution.as_ref().map(page::traces).unwrap_or_default();
    if lines.is_empty() {
        return "nothing changed that should not have: no guard byte, no input, no repeated output\n"
            .to_owned();
    }
    lines.into_iter().map(|(name, words)| format!("{name}: {words}\n")).collect()
}

/// `evidence/error-map.svg`.
pub(crate) fn error_map(facts: &Facts<'_>) -> String {
    Picture::file(page::error_map(facts).map(Picture::Errors).as_ref(), NO_ERROR_MAP)
}

/// `evidence/region-map.svg`.
pub(crate) fn region_map(facts: &Facts<'_>) -> String {
    Picture::file(page::region_map(facts).map(Picture::Region).as_ref(), NO_REGION_MAP)
}
