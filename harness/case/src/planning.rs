//! What building a plan without executing it shows: sizes told twice, and the plan read back from its own JSON. Plain
//! data; judges nothing.

use serde::{Deserialize, Serialize};

use crate::trial::Refusal;

/// The values that a knob may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnobRange {
    /// Knob type number (`cudnnBackendKnobType_t`).
    pub knob: i64,
    /// Smallest value.
    pub minimum: i64,
    /// Largest value.
    pub maximum: i64,
    /// Step between values.
    pub stride: i64,
}

/// What came of storing a plan as JSON and reading it back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reload {
    /// It was not tried.
    #[default]
    Untried,
    /// cuDNN would not write the JSON, or would not take its own.
    Refused(Refusal),
    /// A plan was read.
    Read {
        /// Workspace that it asks for, bytes.
        workspace_bytes: i64,
        /// Engine that its own JSON names, where it names one.
        engine: Option<i64>,
        /// True where its own JSON holds the same values as what it was read from.
        same: bool,
    },
}

/// What a visit showed that built a plan for device properties.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planning {
    /// Workspace that the configuration announced, bytes; absent where it tells none.
    pub config_workspace_bytes: Option<i64>,
    /// The plan through its JSON.
    pub reload: Reload,
    /// Knobs of the engine, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub knobs: Vec<KnobRange>,
}
