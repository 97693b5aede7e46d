//! Plainer element types and layouts: all tensors together first, then each alone.

use case::{Case, DType, DTypes, Layout, Layouts, Role};

use crate::edits::Edit;

/// Types and layouts in order of plainness; what is not smaller is dropped by the caller.
pub(crate) fn plainer(case: &Case) -> Vec<Edit> {
    let mut edits = layouts(case);
    edits.extend(dtypes(case));
    edits
}

fn layouts(case: &Case) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Layout::ALL
        .into_iter()
        .map(|layout| {
            Edit::made(format!("layouts {}", layout.name()), case, |case| {
                case.problem.layouts = Layouts::uniform(layout);
            })
        })
        .collect();
    for role in Role::ALL {
        edits.push(Edit::made(format!("layout of {} nchw", role.name()), case, |case| {
            let layouts = &mut case.problem.layouts;
            *[&mut layouts.x, &mut layouts.w, &mut layouts.y][role.index()] = Layout::Nchw;
        }));
    }
    edits
}

fn dtypes(case: &Case) -> Vec<Edit> {
    let now = case.problem.dtypes;
    let mut edits = Vec::new();
    let mut propose = |name: String, dtypes: DTypes| {
        edits.push(Edit::made(name, case, |case| case.problem.dtypes = dtypes));
    };
    for dtype in DType::ALL {
        let uniform = DTypes::uniform(dtype);
        propose(format!("types {}", dtype.name()), uniform);
        propose(
            format!("types {} with compute kept", dtype.name()),
            DTypes { compute: now.compute, ..uniform },
        );
    }
    propose("compute type by default".to_owned(), with_default_compute(now));
    for role in Role::ALL {
        for dtype in DType::ALL {
            let mut one = now;
            *[&mut one.x, &mut one.w, &mut one.y][role.index()] = dtype;
            propose(format!("type of {} {}", role.name(), dtype.name()), with_default_compute(one));
        }
    }
    edits
}

fn with_default_compute(dtypes: DTypes) -> DTypes {
    DTypes { compute: DTypes::default_compute(dtypes.tensors()), ..dtypes }
}
