//! `region.json`, `twins.json` and `regression.case.json`: where a failure lies and what to expect of its
//! case. Data with format numbers; probes nothing.

use case::{Atom, Case, EngineChoice, Explanation, Map, Probes, Region, Twin};
use serde::{Deserialize, Serialize};

use crate::error::BundleError;
use crate::files::{REGION, TWINS};
use crate::finding::Finding;

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

/// `regression.case.json`: an entry of a corpus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegressionRecord {
    /// Number of the file's form.
    pub format: u32,
    /// What deduplicates the failure.
    pub signature: String,
    /// The case, its engine pinned.
    pub case: String,
    /// The same without an engine: weaker, but it survives a renumbering.
    pub engine_free_case: String,
    /// What is expected where.
    pub expectations: Vec<Expectation>,
}

/// What a case should do on one range of versions and GPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// First version that it holds for.
    pub cudnn_from: String,
    /// Last version that it holds for; absent while it is open.
    pub cudnn_to: Option<String>,
    /// Library configuration, `full` or `jit`; absent for both.
    pub configuration: Option<String>,
    /// GPU architectures, such as `sm_90`.
    pub architectures: Vec<String>,
    /// `fail` where every confirming run failed, else `flaky`.
    pub expect: String,
    /// Share of confirming runs that failed, 0 to 1.
    pub rate: f64,
    /// Why.
    pub reason: String,
    /// Public link or number of the report; absent until somebody has filed it.
    pub ticket: Option<String>,
    /// How it ended.
    pub resolution: Option<String>,
    /// Who looks after the entry.
    pub owner: Option<String>,
    /// Date after which the entry is due for a look, `YYYY-MM-DD`.
    pub review_by: Option<String>,
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

impl RegressionRecord {
    pub(crate) fn of(finding: &Finding<'_>) -> Self {
        let environment = finding.environment;
        let rate = f64::from(finding.hits) / f64::from(finding.runs.max(1));
        let expect = if finding.hits == finding.runs { "fail" } else { "flaky" };
        let expectation = Expectation {
            cudnn_from: environment.cudnn_text(),
            cudnn_to: None,
            configuration: environment.configuration.map(|known| known.name().to_owned()),
            architectures: vec![format!("sm_{}", environment.compute_capability)],
            expect: expect.to_owned(),
            rate,
            reason: finding.fault.summary.clone(),
            ticket: None,
            resolution: None,
            owner: None,
            review_by: None,
        };
        Self {
            format: FORMAT,
            signature: finding.signature.to_string(),
            case: finding.case.to_string(),
            engine_free_case: engine_free(finding.case).to_string(),
            expectations: vec![expectation],
        }
    }
}

fn engine_free(case: &Case) -> Case {
    let mut free = case.clone();
    free.options.engine = EngineChoice::Any;
    free.options.set = None;
    free
}
