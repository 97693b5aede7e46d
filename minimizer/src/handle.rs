//! Numbers of a case that can be lowered: one field, fields that keep their distance or their ratio, the size
//! of a whole geometry. Knows how each is read and written; decides no value.

use case::Case;

use crate::closed::Shape;
use crate::field::Field;

/// Something of a case with an integer value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Handle {
    /// One field.
    One(Field),
    /// Several fields that are lowered by the same amount; the value is how far they can go.
    Together(Vec<Field>),
    /// A field and one that is so many times as large; the value is the first one's.
    Ratio(Field, Field, i64),
    /// A size, whose smallest geometry replaces the case's own.
    Size(Shape),
}

impl Handle {
    /// The least value that lowering aims at.
    pub(crate) fn least(&self) -> i64 {
        match self {
            Self::One(field) => field.least(),
            Self::Together(_) => 0,
            Self::Ratio(field, ..) => field.least().max(1),
            Self::Size(_) => 1,
        }
    }

    /// Its value.
    pub(crate) fn get(&self, case: &Case) -> i64 {
        match self {
            Self::One(field) | Self::Ratio(field, ..) => field.get(case),
            Self::Together(fields) => {
                fields.iter().map(|field| field.get(case) - field.least()).min().unwrap_or(0)
            }
            Self::Size(shape) => shape.size(case),
        }
    }

    /// The case with that value; `None` where it has no such field or a total leaves i64.
    pub(crate) fn set(&self, case: &Case, value: i64) -> Option<Case> {
        match self {
            Self::One(field) => field.set(case, value),
            Self::Together(fields) => {
                let step = self.get(case).checked_sub(value)?;
                fields.iter().try_fold(case.clone(), |case, field| field.set(&case, field.get(&case) - step))
            }
            Self::Ratio(first, second, ratio) => {
                first.set(case, value).and_then(|case| second.set(&case, value.checked_mul(*ratio)?))
            }
            Self::Size(shape) => Some(shape.smallest(case, value)),
        }
    }

    /// The field that an ended search of it settles.
    pub(crate) fn settles(&self) -> Option<Field> {
        match self {
            Self::One(field) => Some(*field),
            Self::Together(_) | Self::Ratio(..) | Self::Size(_) => None,
        }
    }
}

/// Every field by itself.
pub(crate) fn fields(case: &Case) -> Vec<Handle> {
    Field::all(case).into_iter().map(Handle::One).collect()
}

/// Fields that a condition may tie to one another: all extents of a kind at once, every pair by its distance,
/// every pair by a whole ratio.
pub(crate) fn ties(case: &Case) -> Vec<Handle> {
    let rank = case.problem.axes.len();
    let mut handles = Vec::new();
    let kinds: [fn(usize) -> Field; 3] = [Field::Input, Field::Filter, Field::Stride];
    if rank > 2 {
        handles.extend(kinds.map(|kind| Handle::Together((0..rank).map(kind).collect())));
    }
    let mut sizes = Field::extents(case);
    sizes.push(Field::Groups);
    sizes.extend((0..rank).flat_map(|axis| kinds[1..].iter().map(move |kind| kind(axis))));
    sizes.extend((0..rank).flat_map(|axis| [Field::PadBefore(axis), Field::PadAfter(axis)]));
    sizes.retain(|field| field.get(case) > field.least());
    for (position, second) in sizes.iter().enumerate() {
        for first in &sizes[..position] {
            handles.push(Handle::Together(vec![*first, *second]));
            handles.extend(ratio(case, *first, *second));
        }
    }
    handles
}

/// The two in a whole ratio of at least two, the smaller one first.
fn ratio(case: &Case, one: Field, other: Field) -> Option<Handle> {
    let [small, large] = if one.get(case) <= other.get(case) { [one, other] } else { [other, one] };
    let (least, most) = (small.get(case), large.get(case));
    let whole = least > 1 && most % least == 0 && most / least >= 2;
    whole.then(|| Handle::Ratio(small, large, most / least))
}
