//! Listed steps of every integer field: to its least, to half, by one.

use case::Case;

use crate::edits::Edit;
use crate::field::Field;

/// The steps of every field that is above its least value.
pub(crate) fn steps(case: &Case) -> Vec<Edit> {
    let mut edits = Vec::new();
    for field in Field::all(case) {
        let (value, least) = (field.get(case), field.least());
        if value <= least {
            continue;
        }
        for smaller in [least, (value / 2).max(least), value - 1] {
            if let Some(changed) = field.set(case, smaller) {
                edits.push(Edit::new(format!("{} to {smaller}", field.name()), changed));
            }
        }
    }
    edits
}
