//! The vocabulary: what a case is, what a run showed, what a verdict says. Does no I/O and knows neither
//! CUDA nor cuDNN calls; every other room speaks in these words.

mod condition;
mod dtype;
mod engine;
mod environment;
mod error;
mod fill;
pub mod frame;
mod geometry;
mod job;
mod json;
mod keep;
mod layout;
mod operation;
mod outcome;
mod phase;
mod place;
mod plain;
mod planning;
mod problem;
mod region;
mod shape;
mod signature;
mod text;
mod training;
mod trial;
mod validate;
mod verdict;
mod version;
mod workspace;

pub use condition::{Atom, Property, Quantity};
pub use dtype::{DType, DTypes};
pub use engine::{Config, EngineChoice, HeuristicMode, Knob, Ranks};
pub use environment::{Environment, LibraryConfiguration, MappedFile};
pub use error::CaseError;
pub use fill::{Fill, FillKind, OutputFill, WorkspaceFill};
pub use geometry::{Extents, Geometry};
pub use job::{Engines, Job, Matrix, Provocation, Selection};
pub use json::FORMAT;
pub use keep::{Keep, Kept};
pub use layout::{Layout, Layouts};
pub use operation::{Operation, Role};
pub use outcome::{Exit, Outcome};
pub use phase::Phase;
pub use place::place_of;
pub use plain::{is_wild, one_line, spelled};
pub use planning::{KnobRange, Planning, Reload};
pub use problem::{Axis, Case, Expect, Options, Problem, Scale};
pub use region::{Alternative, Cell, Explanation, Map, Probes, Reach, Region, Severity, Support, Twin};
pub use signature::{Kind, Sameness, Signature};
pub use text::split_byte_unit;
pub use training::{Call, CallSeen, Drill, Layer, Part, Place, Planned, Shown, StepSeen, Training};
pub use trial::{
    Announcement, Candidate, Census, Ended, Execution, Notes, Observation, Pressure, Recipe, ReferenceFacts,
    Refusal, Reply, Request, SpotCheck, WorkerOptions, Zone, ZoneHit,
};
pub use verdict::{Fault, Tier, Untrusted, Verdict};
pub use version::Version;
pub use workspace::{Workspace, WorkspaceAmount};

#[cfg(test)]
mod tests;
