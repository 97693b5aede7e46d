//! Whether a finding was reported before: it is compared with a list of known reports, and the rule that matched is
//! told. Knows which facts of a report count; judges no finding.

use case::{Case, Layout, Operation, Role, Sameness, Signature};
use serde::{Deserialize, Serialize};

/// Reports as text, made by `corpus/known.py`.
const KNOWN: &str = include_str!("../../../corpus/known.json");

/// Number of the list's form.
const FORMAT: u32 = 1;

/// Points from which a report that agrees in pass and kind is worth a look.
const SIMILAR_POINTS: u32 = 4;

/// What the source of a finding of this corpus begins with.
const KEPT: &str = "corpus/regressions/";

/// Most reports that are told.
const MATCHES_MAX: usize = 5;

/// Everything that was reported before.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownList {
    format: u32,
    provenance: String,
    entries: Vec<Known>,
}

/// One report, as far as a program can compare it; what it does not state is absent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    id: String,
    source: String,
    url: String,
    title: String,
    signature: Option<String>,
    operation: Option<Operation>,
    kinds: Vec<case::Kind>,
    cause: Option<String>,
    dtypes: Vec<case::DType>,
    compute: Option<case::DType>,
    layout: Option<Layout>,
    axes: Option<usize>,
    engines: Vec<i64>,
    versions: Versions,
    versions_said: String,
    shape: Option<Shape>,
}

/// Versions as lists of numbers; a shorter one stands for all that begin so.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Versions {
    first: Option<Vec<u64>>,
    last: Option<Vec<u64>>,
    right: Option<Vec<u64>>,
}

/// All numbers of a report's case.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    x: Vec<i64>,
    w: Vec<i64>,
    pad: Vec<i64>,
    stride: Vec<i64>,
    dilation: Vec<i64>,
    groups: i64,
}

/// What of a finding is compared.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The case that fails.
    pub case: &'a Case,
    /// How it fails.
    pub sameness: &'a Sameness,
    /// Version of cuDNN, such as `9.19.0`.
    pub cudnn: &'a str,
}

/// How a finding stands to the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A report tells of the same failure.
    Known,
    /// Reports tell of something close.
    Similar,
    /// No report comes close.
    New,
}

/// A report that comes close.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// Its number in the list.
    pub id: String,
    /// Where it was made, in words.
    pub source: String,
    /// Its address; empty where it has none.
    pub url: String,
    /// What it tells.
    pub title: String,
    /// Why it matched: what agrees, what differs.
    pub rule: String,
}

impl Match {
    /// Name under which the corpus keeps it; `None` for a public report.
    pub(crate) fn kept(&self) -> Option<&str> {
        self.source.strip_prefix(KEPT)
    }
}

/// The answer for one finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Novelty {
    /// How the finding stands to the list.
    pub standing: Standing,
    /// The reports that led to it, closest first.
    pub matches: Vec<Match>,
    /// Reports that were compared.
    pub compared: usize,
    /// What the list was made from.
    pub provenance: String,
}

impl KnownList {
    /// The list that is part of this program.
    #[must_use]
    pub fn built_in() -> Self {
        // The text is a constant that a test reads; were it broken, nothing would be known, and `compared` says so.
        Self::read(KNOWN).unwrap_or(Self { format: FORMAT, provenance: String::new(), entries: Vec::new() })
    }

    /// The reports that anybody can read, without what this corpus holds itself.
    #[must_use]
    pub(crate) fn public(mut self) -> Self {
        self.entries.retain(|known| known.signature.is_none());
        self
    }

    /// A list from its text.
    ///
    /// # Errors
    /// Text that is no list of that form.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        let list: Self = serde_json::from_str(text)?;
        if list.format == FORMAT {
            return Ok(list);
        }
        Err(serde::de::Error::custom(format!("format: '{}' is not {FORMAT}, the one known", list.format)))
    }
}

/// Compares a finding with every report.
#[must_use]
pub fn novelty(seen: &Seen<'_>, list: &KnownList) -> Novelty {
    let signature = Signature::new(seen.sameness, &seen.case.problem);
    let mut close: Vec<(bool, u32, Match)> = Vec::new();
    for known in &list.entries {
        let Some((same, points, rule)) = compare(seen, &signature, known) else { continue };
        let (id, source) = (known.id.clone(), known.source.clone());
        close.push((
            same,
            points,
            Match { id, source, url: known.url.clone(), title: known.title.clone(), rule },
        ));
    }
    // Stable: reports of equal weight keep the order of the list.
    close.sort_by_key(|(same, points, _)| std::cmp::Reverse((*same, *points)));
    let standing = match close.first() {
        Some((true, ..)) => Standing::Known,
        Some(_) => Standing::Similar,
        None => Standing::New,
    };
    close.truncate(MATCHES_MAX);
    Novelty {
        standing,
        matches: close.into_iter().map(|(_, _, matched)| matched).collect(),
        compared: list.entries.len(),
        provenance: list.provenance.clone(),
    }
}

/// Whether a report tells of the same failure, its points and the rule; `None` where it is not close.
fn compare(seen: &Seen<'_>, signature: &Signature, known: &Known) -> Option<(bool, u32, String)> {
    if let Some(known) = &known.signature
        && known == signature.as_str()
    {
        return Some((true, u32::MAX, format!("same signature {known}")));
    }
    let (sameness, problem) = (seen.sameness, &seen.case.problem);
    if known.operation? != sameness.operation || !known.kinds.contains(&sameness.kind) {
        return None;
    }
    let mut agreed = Agreement::of(sameness);
    agreed.weigh_types(seen, known)?;
    let engine = agreed.weigh_engine(sameness, known)?;
    let version = agreed.weigh_version(seen.cudnn, known);
    agreed.weigh_traits(seen.case, known);
    let shape = known.shape.as_ref().is_some_and(|shape| shape.is_of(seen.case));
    if shape {
        agreed.add(3, "every number of the case".to_owned());
    }
    let axes = known.axes.is_none_or(|axes| axes == problem.axes.len());
    let same = axes && version == Some(true) && (shape || engine == Some(true) && known.signature.is_none());
    let close = same || axes && agreed.points >= SIMILAR_POINTS;
    close.then(|| (same, agreed.points, agreed.words()))
}

/// What a finding and a report have in common so far.
struct Agreement {
    points: u32,
    agrees: Vec<String>,
    differs: Vec<String>,
}

impl Agreement {
    /// Pass and kind agree, or there is nothing to weigh.
    fn of(sameness: &Sameness) -> Self {
        let agrees = vec!["same operation".to_owned(), format!("kind {}", sameness.kind.name())];
        Self { points: 0, agrees, differs: Vec::new() }
    }

    fn add(&mut self, points: u32, what: String) {
        self.points += points;
        self.agrees.push(what);
    }

    /// `None` where the report names types and none of them is the finding's.
    fn weigh_types(&mut self, seen: &Seen<'_>, known: &Known) -> Option<()> {
        let dtypes = seen.case.problem.dtypes;
        let tensors = dtypes.tensors();
        let shared = known.dtypes.iter().find(|dtype| tensors.contains(dtype));
        match shared {
            Some(dtype) => self.add(1, dtype.name().to_owned()),
            None if known.dtypes.is_empty() => {}
            None => return None,
        }
        match known.compute {
            Some(compute) if compute == dtypes.compute => {}
            Some(compute) => self.differs.push(format!("compute type {}", compute.name())),
            None => {}
        }
        match &known.cause {
            Some(cause) if *cause == seen.sameness.cause => self.add(1, format!("cause {cause}")),
            Some(cause) => self.differs.push(format!("cause {cause}")),
            None => {}
        }
        Some(())
    }

    /// Whether the engine is one that the report names; inner `None` where it names none, outer where another.
    fn weigh_engine(&mut self, sameness: &Sameness, known: &Known) -> Option<Option<bool>> {
        if known.engines.is_empty() {
            return Some(None);
        }
        let engine = sameness.engine.filter(|engine| known.engines.contains(engine))?;
        self.add(2, format!("engine {engine}"));
        Some(Some(true))
    }

    /// Whether the version lies in the range that the report states; `None` where it states none.
    fn weigh_version(&mut self, cudnn: &str, known: &Known) -> Option<bool> {
        let version: Vec<u64> = cudnn.split('.').map_while(|part| part.parse().ok()).collect();
        let within = known.versions.contains(&version)?;
        if within {
            self.add(2, format!("cuDNN {cudnn} within {}", known.versions_said));
        } else {
            self.differs.push(format!("cuDNN {cudnn} outside {}", known.versions_said));
            self.points = self.points.saturating_sub(1);
        }
        Some(within)
    }

    /// Rank, layout and what is special about the geometry.
    fn weigh_traits(&mut self, case: &Case, known: &Known) {
        let problem = &case.problem;
        if known.axes == Some(problem.axes.len()) {
            self.add(1, format!("{} axes", problem.axes.len()));
        }
        let layouts = problem.layouts;
        match known.layout {
            Some(layout) if layouts.is_uniform() && layouts.x == layout => {
                self.add(1, layout.name().to_owned());
            }
            Some(layout) => self.differs.push(format!("layout {}", layout.name())),
            None => {}
        }
        let Some(shape) = &known.shape else { return };
        for (name, ours, theirs) in shape.traits(case) {
            if ours && theirs {
                self.add(1, name.to_owned());
            }
        }
    }

    fn words(&self) -> String {
        let agrees = self.agrees.join(", ");
        if self.differs.is_empty() { agrees } else { format!("{agrees}; but {}", self.differs.join(", ")) }
    }
}

impl Versions {
    /// Whether a version lies within; `None` where nothing is stated.
    fn contains(&self, version: &[u64]) -> Option<bool> {
        if self.first.is_none() && self.last.is_none() && self.right.is_none() {
            return None;
        }
        let after_first = self.first.as_ref().is_none_or(|first| version >= first.as_slice());
        // 9.20 as the last one means every 9.20.
        let before_last = |last: &Vec<u64>| version <= last.as_slice() || version.starts_with(last);
        // Where the first right version is stated, that is the end; what was merely seen is inside.
        let before_end = match (&self.right, &self.last) {
            (Some(right), _) => version < right.as_slice(),
            (None, Some(last)) => before_last(last),
            (None, None) => true,
        };
        Some(after_first && before_end)
    }
}

impl Shape {
    fn is_of(&self, case: &Case) -> bool {
        let (problem, geometry) = (&case.problem, case.problem.geometry());
        let axes = &problem.axes;
        let all = |values: &[i64], of: fn(&case::Axis) -> i64| axes.iter().map(of).eq(values.iter().copied());
        self.x == geometry.extents(Role::X)
            && self.w == geometry.extents(Role::W)
            && all(&self.pad, |axis| axis.pad_before)
            && all(&self.pad, |axis| axis.pad_after)
            && all(&self.stride, |axis| axis.stride)
            && all(&self.dilation, |axis| axis.dilation)
            && self.groups == problem.g
    }

    /// Things that are out of the ordinary: name, in the finding, in the report.
    fn traits(&self, case: &Case) -> [(&'static str, bool, bool); 5] {
        let problem = &case.problem;
        let axes = &problem.axes;
        let channels = self.x.get(1).copied().unwrap_or(0);
        let elements =
            |extents: &[i64]| extents.iter().fold(1_i64, |all, extent| all.saturating_mul(*extent));
        // Half of 2^31, since reports lie on both sides of the line.
        let large = |elements: i64| elements >= 1 << 30;
        let ours = problem.geometry().elements(Role::X).max(problem.geometry().elements(Role::Y));
        [
            (
                "depthwise",
                problem.g > 1 && problem.g == problem.c,
                self.groups > 1 && self.groups == channels,
            ),
            ("groups", problem.g > 1, self.groups > 1),
            ("stride", axes.iter().any(|axis| axis.stride > 1), self.stride.iter().any(|step| *step > 1)),
            (
                "dilation",
                axes.iter().any(|axis| axis.dilation > 1),
                self.dilation.iter().any(|step| *step > 1),
            ),
            ("near 2^31 elements", large(ours), large(elements(&self.x))),
        ]
    }
}
