//! What passes between the supervisor and a worker: jobs down, observations up. Plain data with a JSON form;
//! knows nothing of sockets, and judges nothing.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::engine::{Config, Ranks};
use crate::environment::Environment;
use crate::fill::{Fill, OutputFill, WorkspaceFill};
use crate::job::Job;
use crate::operation::Role;
use crate::phase::Phase;
use crate::planning::Planning;
use crate::training::Shown;

/// How a worker is started: the contract between the room that spawns and the one that serves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerOptions {
    /// Folder of the cuDNN to open; absent means the usual search.
    pub library: Option<PathBuf>,
    /// Folders where cuBLASLt and NVRTC are looked for first.
    pub companions: Vec<PathBuf>,
    /// The driver file to open before anything else; absent means the system's search.
    pub driver: Option<PathBuf>,
    /// Device ordinal among those that `CUDA_VISIBLE_DEVICES` leaves visible.
    pub device: u32,
    /// Share of the device's memory that this worker may use, 0 to 1.
    pub memory_share: f64,
    /// Guard bytes on each side of every buffer.
    pub guard_bytes: u64,
    /// True where the driver that is found must be the simulator's.
    pub simulated: bool,
    /// File that phases are announced in, as `Board` lays it out.
    pub board: PathBuf,
    /// Folder of the two lock files by which one worker can have the device alone.
    pub gate: PathBuf,
    /// File of device properties as cuDNN's JSON: plans are built for them, no device is used and nothing executes.
    #[serde(default)]
    pub properties: Option<PathBuf>,
    /// Keys of those properties that are assumed, not read from a device.
    #[serde(default)]
    pub assumed: Vec<String>,
    /// Most plans of a survey that compile kernels at run time, where plans are built for device properties: 0 leaves
    /// such engines out altogether, `None` sets no limit.
    #[serde(default)]
    pub compiled_max: Option<usize>,
    /// Folder of other libraries that are opened before anything else, as a program with two stacks would.
    #[serde(default)]
    pub second_stack: Option<PathBuf>,
    /// Device memory that the worker takes away from itself.
    #[serde(default)]
    pub pressure: Option<Pressure>,
}

/// How much device memory is left to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// Bytes that stay free.
    pub left_bytes: u64,
    /// True where they are scattered in small holes.
    pub fragmented: bool,
}

/// What a worker announces before it acts: fixed bytes at the start of a shared file, so that they outlive it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The job in hand.
    pub job: u64,
    /// Position in the job's list of candidates, `UNLISTED` before there is one, `HISTORY` in a case before it.
    pub ordinal: u32,
    /// The phase being entered.
    pub phase: Phase,
    /// Counts announcements, so that a watcher sees progress within one phase.
    pub sequence: u32,
}

impl Announcement {
    /// Length of the encoded form.
    pub const BYTES: usize = 24;

    /// The ordinal where there is no list of candidates yet.
    pub const UNLISTED: u32 = u32::MAX;

    /// The ordinal while a case of the history runs: what happens there is not the judged case's doing.
    pub const HISTORY: u32 = u32::MAX - 1;

    /// Little-endian job, ordinal, sequence, phase and a check byte; the rest is 0.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0_u8; Self::BYTES];
        bytes[0..8].copy_from_slice(&self.job.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.ordinal.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[16] = self.phase as u8;
        bytes[17] = bytes[..17].iter().fold(0x5A, |sum: u8, byte| sum.wrapping_mul(31).wrapping_add(*byte));
        bytes
    }

    /// The announcement in those bytes; `None` where the check byte shows a half-written one.
    #[must_use]
    pub fn decode(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let announcement = Self {
            job: u64::from_le_bytes(bytes[0..8].try_into().ok()?),
            ordinal: u32::from_le_bytes(bytes[8..12].try_into().ok()?),
            sequence: u32::from_le_bytes(bytes[12..16].try_into().ok()?),
            phase: Phase::from_number(bytes[16])?,
        };
        (announcement.encode()[17] == bytes[17]).then_some(announcement)
    }
}

/// What the supervisor sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Do this work.
    Run(Box<Job>),
    /// Send the environment with every mapped file hashed.
    Inventory,
    /// Compare kernels with their twins and show that the guards fire; answered by `Reply::SelfTest`.
    SelfTest,
    /// End cleanly.
    Quit,
}

/// What a worker sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Libraries are open and the device answers.
    Ready(Box<Environment>),
    /// This machine or this library set can't be used: one line for the user. Exit code 3 where true, else 4.
    Unusable {
        /// What, where and what to do.
        message: String,
        /// True where the machine lacks something, false where convict itself failed.
        machine: bool,
    },
    /// The configurations that a job will visit, in order; the board's ordinal counts in this list.
    Candidates {
        /// The job.
        job: u64,
        /// In the order in which they are visited.
        candidates: Vec<Candidate>,
    },
    /// One configuration was visited.
    Observed {
        /// The job.
        job: u64,
        /// Position in the announced list, absent where the problem ended before there was one.
        ordinal: Option<u32>,
        /// What was seen.
        observation: Box<Observation>,
    },
    /// A special errand shows something.
    Drilled {
        /// The job.
        job: u64,
        /// What.
        shown: Box<Shown>,
    },
    /// Every configuration of the job was visited.
    Done {
        /// The job.
        job: u64,
        /// Microseconds spent inside cuDNN and CUDA calls during the job.
        foreign_us: u64,
        /// Microseconds of the whole job.
        busy_us: u64,
    },
    /// Answer to `Request::Inventory`.
    Inventory(Box<Environment>),
    /// Answer to `Request::SelfTest`: name, passed, detail.
    SelfTest(Vec<(String, bool, String)>),
}

/// A configuration of a problem and how it is reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Candidate {
    /// Engine and knobs.
    pub config: Config,
    /// Where heuristics list it.
    pub ranks: Ranks,
}

/// Notes that an engine declares, by cuDNN's numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes {
    /// `cudnnBackendNumericalNote_t` values.
    pub numerical: Vec<i32>,
    /// `cudnnBackendBehaviorNote_t` values.
    pub behavior: Vec<i32>,
}

impl Notes {
    /// Names of the numerical notes 0 to 9, as cudnn_graph.h spells them without their prefix.
    pub const NUMERICAL: [&'static str; 10] = [
        "TENSOR_CORE",
        "DOWN_CONVERT_INPUTS",
        "REDUCED_PRECISION_REDUCTION",
        "FFT",
        "NONDETERMINISTIC",
        "WINOGRAD",
        "WINOGRAD_TILE_4x4",
        "WINOGRAD_TILE_6x6",
        "WINOGRAD_TILE_13x13",
        "STRICT_NAN_PROP",
    ];

    /// Names of the behaviour notes 0 to 4, as cudnn_graph.h spells them without their prefix.
    pub const BEHAVIOR: [&'static str; 5] = [
        "RUNTIME_COMPILATION",
        "REQUIRES_FILTER_INT8x32_REORDER",
        "REQUIRES_BIAS_INT8x32_REORDER",
        "SUPPORTS_CUDA_GRAPH_NATIVE_API",
        "CUBLASLT_DEPENDENCY",
    ];

    fn has(&self, note: i32) -> bool {
        self.numerical.contains(&note)
    }

    /// Inputs may be rounded to a narrower type, f32 to TF32.
    #[must_use]
    pub fn down_converts(&self) -> bool {
        self.has(1)
    }

    /// Partial sums may be kept in the narrower type.
    #[must_use]
    pub fn reduces_precision(&self) -> bool {
        self.has(2)
    }

    /// Computes through a fast Fourier transform.
    #[must_use]
    pub fn fft(&self) -> bool {
        self.has(3)
    }

    /// May differ from run to run.
    #[must_use]
    pub fn nondeterministic(&self) -> bool {
        self.has(4)
    }

    /// Computes through a Winograd transform.
    #[must_use]
    pub fn winograd(&self) -> bool {
        (5..=8).any(|note| self.has(note))
    }

    /// Promises that NaN propagates as the definition says.
    #[must_use]
    pub fn strict_nan(&self) -> bool {
        self.has(9)
    }

    /// Kernels are compiled while the plan is built.
    #[must_use]
    pub fn compiles_at_run_time(&self) -> bool {
        self.behavior.contains(&0)
    }

    /// The numerical notes by name, unknown ones by number.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        named(&self.numerical, &Self::NUMERICAL)
    }

    /// The behaviour notes by name, unknown ones by number.
    #[must_use]
    pub fn behavior_names(&self) -> Vec<String> {
        named(&self.behavior, &Self::BEHAVIOR)
    }
}

fn named(notes: &[i32], names: &[&str]) -> Vec<String> {
    let name = |note: &i32| {
        let known = usize::try_from(*note).ok().and_then(|index| names.get(index));
        known.map_or_else(|| format!("NOTE_{note}"), |name| (*name).to_owned())
    };
    notes.iter().map(name).collect()
}

/// Contents of every buffer for one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Recipe {
    /// Input data.
    pub fill: Fill,
    /// Output contents before.
    pub output: OutputFill,
    /// Workspace contents before.
    pub workspace: WorkspaceFill,
    /// Earlier execution, by position, whose output must equal this one's bit for bit.
    pub repeats: Option<usize>,
}

/// What the reference says about one fill of one problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReferenceFacts {
    /// Output elements.
    pub outputs: u64,
    /// Of those, the ones that sum at least one product.
    pub with_products: u64,
    /// Of those, the ones whose reference is not 0.
    pub non_zero: u64,
    /// Most products in one output.
    pub products_max: u64,
    /// Largest |alpha| * sum of absolute products + |beta * prior|.
    pub abs_sum_max: f64,
    /// Largest absolute reference.
    pub abs_result_max: f64,
}

/// The reference on the CPU against the one on the device, at sampled outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpotCheck {
    /// Outputs compared.
    pub sampled: u32,
    /// Outputs where the two differ by more than f64 rounding allows.
    pub disagreeing: u32,
}

/// How a whole output compares with its reference. Positions are row-major over the output's logical extents
/// (n, c, spatial), and mean nothing where their count is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Census {
    /// Elements compared.
    pub checked: u64,
    /// Value differs from the reference rounded once.
    pub differing: u64,
    /// First such position.
    pub first_differing: u64,
    /// Last such position.
    pub last_differing: u64,
    /// NaN where the reference is none.
    pub nan: u64,
    /// First such position.
    pub first_nan: u64,
    /// Still what was there before the run.
    pub stale: u64,
    /// First such position.
    pub first_stale: u64,
    /// Zero where the rounded reference is not.
    pub zero: u64,
    /// Infinite where the rounded reference is finite.
    pub infinite: u64,
    /// Error above the element-wise bound, NaN included.
    pub over_element: u64,
    /// First such position.
    pub first_over_element: u64,
    /// Error above the max-norm bound, NaN included.
    pub over_norm: u64,
    /// First such position.
    pub first_over_norm: u64,
    /// Largest finite absolute error.
    pub error_max: f64,
    /// Largest ratio of error to element-wise bound, capped at `f64::MAX`.
    pub ratio_max: f64,
    /// Element-wise bound: `accumulate * abs_sum + output * |reference| + absolute`.
    pub accumulate: f64,
    /// Second factor of that bound.
    pub output: f64,
    /// Third term of that bound.
    pub absolute: f64,
    /// Max-norm bound, the same for every element.
    pub norm: f64,
}

/// A guarded buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Zone {
    /// Around a tensor.
    Tensor(Role),
    /// Around the workspace.
    Workspace,
}

impl Zone {
    /// Lower-case name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tensor(role) => role.name(),
            Self::Workspace => "workspace",
        }
    }
}

/// Guard bytes that changed beside a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneHit {
    /// The buffer.
    pub zone: Zone,
    /// True for the guard after the buffer, false for the one before it.
    pub after: bool,
    /// Bytes changed.
    pub changed: u64,
    /// Distance in bytes from the buffer's edge to the nearest changed byte, 0 for the adjacent one.
    pub nearest: u64,
    /// Distance to the farthest changed byte.
    pub farthest: u64,
}

/// One execution of a plan and everything measured after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Contents before.
    pub recipe: Recipe,
    /// The right answer's facts.
    pub reference: ReferenceFacts,
    /// Device reference against CPU reference.
    pub spot: SpotCheck,
    /// Comparison with the reference.
    pub census: Census,
    /// Guards that changed.
    pub guards: Vec<ZoneHit>,
    /// Elements of each input that changed, where any did.
    pub inputs_changed: Vec<(Role, u64)>,
    /// Elements that differ from the execution that `recipe.repeats` names.
    pub repeat_differing: Option<u64>,
    /// First wrong elements as (position, value, expected), at most 32, values printed.
    pub excerpt: Vec<(u64, String, String)>,
    /// Microseconds between launch and the end of synchronization.
    pub execute_us: u64,
}

/// A configuration or a whole problem that the library declined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Where.
    pub phase: Phase,
    /// cuDNN's status number.
    pub status: i32,
    /// Its name in the loaded version's table.
    pub name: String,
    /// The library's own words, where it had any.
    pub reason: String,
}

/// How a visit to a configuration ended inside the worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// All executions were made and measured.
    Completed,
    /// A plan was built and nothing was to be executed.
    Described,
    /// cuDNN returned a status other than success.
    Status(Refusal),
    /// CUDA returned an error after cuDNN reported success. The number is `CUresult`'s.
    Device {
        /// Where.
        phase: Phase,
        /// `CUresult`.
        code: i32,
        /// Its name.
        name: String,
        /// True where the context is lost with it.
        sticky: bool,
    },
    /// We did not run it: the reason, such as memory beyond this worker's share.
    Skipped(String),
}

/// Everything one visit to a configuration showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Configuration really used, absent where the problem was declined as a whole.
    pub candidate: Option<Candidate>,
    /// The engine's notes.
    pub notes: Notes,
    /// Workspace that the plan asks for, bytes.
    pub workspace_bytes: i64,
    /// Microseconds that building the plan took; 0 where a built one was used again.
    pub plan_us: u64,
    /// How it ended.
    pub ended: Ended,
    /// The executions made.
    pub executions: Vec<Execution>,
    /// What building the plan showed beyond that, where plans are built for device properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planning: Option<Planning>,
}
