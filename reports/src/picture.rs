//! Pictures of a finding: where wrong elements lie, where cases fail, how the case became small. Each is data
//! that is drawn as SVG or set in characters; neither needs anything from outside.

mod errors;
mod path;
mod plane;
mod region;
mod svg;

pub(crate) use errors::ErrorMap;
pub(crate) use path::{PathStep, ReductionPath};
pub(crate) use region::RegionMap;

/// Style sheet of every picture.
pub(crate) const STYLE: &str = include_str!("../templates/picture.css");

/// One picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Picture {
    /// The output with its wrong elements.
    Errors(ErrorMap),
    /// Pass and fail over two fields.
    Region(RegionMap),
    /// Size of the case over the steps of its minimization.
    Path(ReductionPath),
}

impl Picture {
    /// The picture as an SVG element that takes its colours from [`STYLE`].
    pub(crate) fn svg(&self) -> String {
        match self {
            Self::Errors(map) => map.svg(),
            Self::Region(map) => map.svg(),
            Self::Path(path) => path.svg(),
        }
    }

    /// The picture in characters.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Errors(map) => map.text(),
            Self::Region(map) => map.text(),
            Self::Path(path) => path.text(),
        }
    }

    /// What it shows and what it does not.
    pub(crate) fn caption(&self) -> String {
        match self {
            Self::Errors(map) => map.caption(),
            Self::Region(map) => map.caption(),
            Self::Path(path) => path.caption(),
        }
    }

    /// A file that shows the picture by itself; one that says why there is none, where there is none.
    pub(crate) fn file(picture: Option<&Self>, otherwise: &str) -> String {
        let element = picture.map_or_else(|| svg::note(otherwise), Self::svg);
        // Every element begins with its own tag, which has no `>` inside.
        let (tag, rest) = element.split_once('>').unwrap_or((&element, ""));
        format!("{tag}><style>{STYLE}</style>{rest}\n")
    }
}

#[cfg(test)]
mod tests;
