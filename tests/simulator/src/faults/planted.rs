//! The faults that the simulator has when no script says otherwise, each modelled on a public bug report, with its
//! smallest failing case. Knows that table alone.

mod others;

use case::{Case, Kind, Phase, Sameness, Signature};

use super::predicate::Atom;
use super::{Action, Buffer, Death, Fault, Region, Side, Site};

/// A planted fault and what a hunt must make of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Planted {
    /// The fault.
    pub fault: Fault,
    /// The public report it is modelled on, by its number in the project's collection; `none` for what is no
    /// convolution.
    pub report: &'static str,
    /// The smallest case that shows it, as one line.
    pub minimum: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Where it shows.
    pub phase: Phase,
    /// Its cause, as signatures spell it.
    pub cause: &'static str,
}

impl Planted {
    /// The smallest case. `None` only if the table's line were malformed, which a test excludes.
    #[must_use]
    pub fn case(&self) -> Option<Case> {
        self.minimum.parse().ok()
    }

    /// The signature that its finding must have.
    #[must_use]
    pub fn signature(&self) -> Option<Signature> {
        let case = self.case()?;
        let engine = match &case.options.engine {
            case::EngineChoice::Pinned(config) => Some(config.engine),
            case::EngineChoice::Any | case::EngineChoice::Ranked { .. } => None,
        };
        let sameness = Sameness::new(self.kind, case.problem.operation, self.phase, self.cause, engine);
        Some(Signature::new(&sameness, &case.problem))
    }
}

/// What an atom begins with that is about an execution before.
const BEFORE: &str = "after ";

/// Name, report, condition, effect, smallest case, kind, phase, cause.
type Row =
    (&'static str, &'static str, &'static [&'static str], Action, &'static str, Kind, Phase, &'static str);

const TABLE: [Row; 20] = [
    (
        "last channel wrong where both widths are multiples of 8",
        "R51",
        &["operation = fprop", "engine = 4", "c/g mod 8 = 0", "k/g mod 8 = 0"],
        Action::Wrong { at: Region::LastChannel },
        "fprop f16 nchw n1 c8 k8 i1 f1 engine=4",
        Kind::Wrong,
        Phase::Judge,
        "finite",
    ),
    (
        "one filter width wrong",
        "R134",
        &["operation = dgrad", "engine = 2", "f[last] = 5"],
        Action::Wrong { at: Region::Scattered },
        "dgrad f32 nchw n1 c1 k1 i5 f5 engine=2",
        Kind::Wrong,
        Phase::Judge,
        "finite",
    ),
    (
        "workspace assumed zero in a split over an odd batch",
        "R93",
        &["operation = wgrad", "engine = 3", "n > 2", "n mod 2 = 1"],
        Action::ReadWorkspace,
        "wgrad f32 nchw n3 c1 k1 i1 f1 engine=3",
        Kind::Wrong,
        Phase::Judge,
        "nan",
    ),
    (
        "NaN left in the last corner",
        "R49",
        &["operation = fprop", "engine = 9", "o[last] mod 4 = 3"],
        Action::Nan { at: Region::Corner },
        "fprop f32 nhwc n1 c1 k1 i3 f1 engine=9",
        Kind::Wrong,
        Phase::Judge,
        "nan",
    ),
    (
        "bytes after the output overwritten",
        "R130",
        &["operation = fprop", "engine = 0", "k/g mod 4 = 3"],
        Action::WriteOutside { buffer: Buffer::Output, side: Side::After, bytes: 4 },
        "fprop f32 nchw n1 c1 k3 i1 f1 engine=0",
        Kind::Oob,
        Phase::Judge,
        "y_after",
    ),
    (
        "bytes before the output overwritten by wide filters",
        "R63",
        &["operation = wgrad", "engine = 2", "f[last] >= 5"],
        Action::WriteOutside { buffer: Buffer::Output, side: Side::Before, bytes: 16 },
        "wgrad f32 nchw n1 c1 k1 i5 f5 engine=2",
        Kind::Oob,
        Phase::Judge,
        "w_before",
    ),
    (
        "bytes after the workspace overwritten with groups",
        "R98",
        &["operation = dgrad", "engine = 3", "g > 1"],
        Action::WriteOutside { buffer: Buffer::Workspace, side: Side::After, bytes: 64 },
        "dgrad f32 nchw n1 c2 k2 g2 i1 f1 engine=3",
        Kind::Oob,
        Phase::Judge,
        "workspace_after",
    ),
    (
        "the image overwritten with strides, so that a second call is wrong",
        "R107",
        &["operation = fprop", "engine = 3", "s[last] > 1"],
        Action::WriteInput,
        "fprop f32 nchw n1 c1 k1 i1 f1 s2 engine=3",
        Kind::Input,
        Phase::Judge,
        "x",
    ),
    (
        "nondeterminism without a note with groups",
        "R10",
        &["operation = fprop", "engine = 10", "dtype = f32", "g > 1"],
        Action::Nondeterministic { rate: 0.5 },
        "fprop f32 nchw n1 c2 k2 g2 i1 f1 engine=10",
        Kind::Nondet,
        Phase::Judge,
        "repeat",
    ),
    (
        "a recommended engine refuses filters one above a multiple of 8",
        "R92",
        &["operation = dgrad", "engine = 0", "k/g > 1", "k/g mod 8 = 1"],
        Action::Status { site: Site::Plan, status: 3000 },
        "dgrad f32 nchw n1 c1 k9 i1 f1 engine=0",
        Kind::Status,
        Phase::Plan,
        "not_supported",
    ),
    (
        "segfault in heuristics for strided pointwise gradients",
        "R145",
        &["operation = dgrad", "f[last] = 1", "s[last] = 2"],
        Action::Crash { site: Site::Heuristics, by: Death::Segfault },
        "dgrad f32 nchw n1 c1 k1 i1 f1 s2",
        Kind::Crash,
        Phase::Heuristics,
        "sigsegv",
    ),
    (
        "abort in plan with three axes and an even batch",
        "R47",
        &["operation = wgrad", "engine = 0", "rank = 3", "n mod 2 = 0"],
        Action::Crash { site: Site::Plan, by: Death::Abort },
        "wgrad f32 nchw n2 c1 k1 i1x1x1 f1x1x1 engine=0",
        Kind::Crash,
        Phase::Plan,
        "sigabrt",
    ),
    (
        "hang in execute with a dilation of 2",
        "R102",
        &["operation = fprop", "engine = 2", "d[last] = 2"],
        Action::Hang { site: Site::Execute },
        "fprop f32 nchw n1 c1 k1 i1 f1 d2 engine=2",
        Kind::Hang,
        Phase::Execute,
        "deadline",
    ),
    (
        "illegal address with two channels beyond a multiple of 8",
        "R24",
        &["operation = wgrad", "engine = 10", "c/g mod 8 = 2"],
        Action::Sticky { error: 700 },
        "wgrad f32 nchw n1 c2 k1 i1 f1 engine=10",
        Kind::Device,
        Phase::Sync,
        "illegal_address",
    ),
    (
        "misaligned address with groups where the workspace is not clean",
        "R127",
        &["operation = wgrad", "engine = 6", "g > 1", "f[last] = 3"],
        Action::FollowWorkspace { error: 716 },
        "wgrad f32 nchw n1 c2 k2 g2 i3 f3 engine=6",
        Kind::Device,
        Phase::Sync,
        "misaligned_address",
    ),
    (
        "too little workspace asked for large batches",
        "R117",
        &["operation = dgrad", "engine = 10", "n >= 5"],
        Action::LyingWorkspace { bytes: 64 },
        "dgrad f32 nchw n5 c1 k1 i1 f1 engine=10",
        Kind::Oob,
        Phase::Judge,
        "workspace_after",
    ),
    (
        "last channel never written",
        "R73",
        &["operation = dgrad", "engine = 1", "c/g mod 4 = 3"],
        Action::Unwritten { at: Region::LastChannel },
        "dgrad f32 nchw n1 c3 k1 i1 f1 engine=1",
        Kind::Wrong,
        Phase::Judge,
        "stale",
    ),
    (
        "last item of a batch zero",
        "R77",
        &["operation = fprop", "engine = 1", "n > 1", "n mod 4 = 1"],
        Action::Zero { at: Region::LastItem },
        "fprop f32 nchw n5 c1 k1 i1 f1 engine=1",
        Kind::Wrong,
        Phase::Judge,
        "zero",
    ),
    (
        "execution fails for rows of 2 modulo 4",
        "R125",
        &["operation = wgrad", "engine = 9", "i[last] mod 4 = 2"],
        Action::Status { site: Site::Execute, status: 5000 },
        "wgrad f32 nhwc n1 c1 k1 i2 f1 engine=9",
        Kind::Status,
        Phase::Execute,
        "execution_failed",
    ),
    (
        "NaN for batches after another engine has run wide filters",
        "R147",
        &[
            "operation = wgrad",
            "engine = 1",
            "n > 1",
            "after operation = wgrad",
            "after engine = 0",
            "after f[last] = 3",
        ],
        Action::Nan { at: Region::Corner },
        "wgrad f32 nchw n1 c1 k1 i3 f3 engine=0 ; wgrad f32 nchw n2 c1 k1 i1 f1 engine=1",
        Kind::Wrong,
        Phase::Judge,
        "nan",
    ),
];

/// The atoms of a row, about the case itself or about one before it.
fn atoms(row: &[&str], before: bool) -> Vec<Atom> {
    row.iter()
        .filter(|text| text.starts_with(BEFORE) == before)
        .filter_map(|text| Atom::try_from(text.trim_start_matches(BEFORE).to_owned()).ok())
        .collect()
}

/// What is planted where nothing but a plan shows it: a hunt that executes meets none of these.
const PLANS: [Row; 6] = [
    (
        "a configuration announces more workspace than its plan asks for",
        "R117",
        &["operation = fprop", "engine = 6", "f[last] = 3"],
        Action::Surplus { site: Site::Config, bytes: 64 },
        "fprop f32 nchw n1 c1 k1 i3 f3 engine=6",
        Kind::Workspace,
        Phase::Plan,
        "config",
    ),
    (
        "a plan read from JSON asks for more workspace than the one that was built",
        "R117",
        &["operation = dgrad", "engine = 6", "n >= 3"],
        Action::Surplus { site: Site::Reload, bytes: 128 },
        "dgrad f32 nchw n3 c1 k1 i1 f1 engine=6",
        Kind::Workspace,
        Phase::Plan,
        "reloaded",
    ),
    (
        "the JSON of a grouped plan is refused",
        "R92",
        &["operation = wgrad", "engine = 5", "g > 1"],
        Action::Status { site: Site::Reload, status: 3000 },
        "wgrad f32 nchw n1 c2 k2 g2 i1 f1 engine=5",
        Kind::Reload,
        Phase::Plan,
        "not_supported",
    ),
    (
        "a plan read from JSON is one for other tensors",
        "R92",
        &["operation = wgrad", "engine = 13", "k/g mod 4 = 2"],
        Action::Garble,
        "wgrad f32 nchw n1 c1 k2 i1 f1 engine=13",
        Kind::Reload,
        Phase::Plan,
        "text",
    ),
    (
        "illegal instruction over the JSON of a plan for three channels",
        "R47",
        &["operation = wgrad", "engine = 4", "c/g = 3"],
        Action::Crash { site: Site::Reload, by: Death::IllegalInstruction },
        "wgrad f16 nchw n1 c3 k1 i1 f1 engine=4",
        Kind::Crash,
        Phase::Plan,
        "sigill",
    ),
    (
        "internal error for int8 in three axes with dilation",
        "R92",
        &["operation = dgrad", "engine = 13", "dtype = i8", "rank = 3", "d[last] > 1"],
        Action::Status { site: Site::Config, status: 4000 },
        "dgrad i8 nchw n1 c1 k1 i1x1x1 f1x1x1 d1x1x2 engine=13",
        Kind::Status,
        Phase::Plan,
        "internal_error",
    ),
];

/// What is planted in plans alone, and what a hunt without a device must make of each. None acts on an engine and pass
/// of the default set.
#[must_use]
pub fn planted_in_plans() -> Vec<Planted> {
    of(&PLANS)
}

/// The default faults of convolutions. No two act on the same engine of the same pass, so that none hides another.
#[must_use]
pub fn planted() -> Vec<Planted> {
    of(&TABLE)
}

/// The default faults of what is no convolution, under the same rule.
#[must_use]
pub fn planted_others() -> Vec<Planted> {
    of(&others::OTHERS)
}

fn of(table: &[Row]) -> Vec<Planted> {
    table
        .iter()
        .map(|(name, report, when, what, minimum, kind, phase, cause)| Planted {
            fault: Fault {
                name: (*name).to_owned(),
                when: atoms(when, false),
                after: atoms(when, true),
                nth: 1,
                what: *what,
            },
            report,
            minimum,
            kind: *kind,
            phase: *phase,
            cause,
        })
        .collect()
}
