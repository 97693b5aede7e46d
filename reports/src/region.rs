//! `region.json` and `twins.json`: where a failure lies. Data with format numbers; probes nothing.

use case::{Atom, Explanation, Map, Probes, Region, Twin};
use serde::{Deserialize, Serialize};

use crate::error::BundleError;
use crate::files::{REGION, TWINS};

/// Number of the form of these files.
const FORMAT: u32 = 1;

/// `region.json`. Where nothing was probed, `checked` is false and the rest is empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegionRecord {
    /// Number of the file's form.
    pub format: u32,
    /// False where nobody has probed.
    pub checked: bool,
    /// The conditions as a person reads them.
    pub expression: String,
    /// The conditions.
    pub atoms: Vec<Atom>,
    /// Random cases in the region.
    pub inside: Probes,
    /// Random cases just outside it.
    pub outside: Probes,
    /// Fields that may have any value.
    pub any: Vec<String>,
    /// Pass and fail over two fields.
    pub map: Option<Map>,
    /// Cases run for it.
    pub calls: u32,
    /// False where the budget ended first.
    pub complete: bool,
}

/// `twins.json`. Where nothing was probed, `checked` is false.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwinsRecord {
    /// Number of the file's form.
    pub format: u32,
    /// False where nobody has probed.
    pub checked: bool,
    /// The nearest passing cases, one a field.
    pub twins: Vec<Twin>,
}

impl RegionRecord {
    pub(crate) fn of(explanation: Option<&Explanation>) -> Self {
        let region = explanation.map(|explanation| &explanation.region);
        Self {
            format: FORMAT,
            checked: explanation.is_some(),
            expression: region.map(ToString::to_string).unwrap_or_default(),
            atoms: region.map(|region| region.atoms.clone()).unwrap_or_default(),
            inside: region.map(|region| region.inside.clone()).unwrap_or_default(),
            outside: region.map(|region| region.outside.clone()).unwrap_or_default(),
            any: explanation.map(|explanation| explanation.any.clone()).unwrap_or_default(),
            map: explanation.and_then(|explanation| explanation.map.clone()),
            calls: explanation.map_or(0, |explanation| explanation.calls),
            complete: explanation.is_some_and(|explanation| explanation.complete),
        }
    }

    /// The explanation that the two files hold together; `None` where nobody has probed.
    ///
    /// # Errors
    /// Another form, files that contradict each other, a map that is no table.
    pub(crate) fn with(self, twins: TwinsRecord) -> Result<Option<Explanation>, BundleError> {
        known(REGION, self.format)?;
        known(TWINS, twins.format)?;
        if self.checked != twins.checked {
            return Err(BundleError::content(
                TWINS,
                format!("contradicts {REGION} on whether it was checked"),
            ));
        }
        let region = Region { atoms: self.atoms, inside: self.inside, outside: self.outside };
        if self.checked && region.to_string() != self.expression {
            return Err(BundleError::content(REGION, "its expression is not what its atoms say"));
        }
        if self.map.as_ref().is_some_and(|map| !is_table(map)) {
            return Err(BundleError::content(REGION, "its map is no table of rows and columns"));
        }
        Ok(self.checked.then_some(Explanation {
            region,
            twins: twins.twins,
            any: self.any,
            map: self.map,
            calls: self.calls,
            complete: self.complete,
        }))
    }
}

fn is_table(map: &Map) -> bool {
    map.cells.len() == map.rows.len() && map.cells.iter().all(|row| row.len() == map.columns.len())
}

fn known(file: &str, format: u32) -> Result<(), BundleError> {
    if format == FORMAT {
        return Ok(());
    }
    Err(BundleError::content(file, format!("format: '{format}' is not {FORMAT}, the one known")))
}

impl TwinsRecord {
    pub(crate) fn of(explanation: Option<&Explanation>) -> Self {
        let twins = explanation.map(|explanation| explanation.twins.clone()).unwrap_or_default();
        Self { format: FORMAT, checked: explanation.is_some(), twins }
    }
}
