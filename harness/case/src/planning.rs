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

/// Names of the knob types 0 to 45, as cudnn_graph.h of 9.28 spells them without their prefix.
const KNOBS: [&str; 46] = [
    "SPLIT_K",
    "SWIZZLE",
    "TILE_SIZE",
    "USE_TEX",
    "EDGE",
    "KBLOCK",
    "LDGA",
    "LDGB",
    "CHUNK_K",
    "SPLIT_H",
    "WINO_TILE",
    "MULTIPLY",
    "SPLIT_K_BUF",
    "TILEK",
    "STAGES",
    "REDUCTION_MODE",
    "CTA_SPLIT_K_MODE",
    "SPLIT_K_SLC",
    "IDX_MODE",
    "SLICED",
    "SPLIT_RS",
    "SINGLEBUFFER",
    "LDGC",
    "SPECFILT",
    "KERNEL_CFG",
    "WORKSPACE",
    "TILE_CGA",
    "TILE_CGA_M",
    "TILE_CGA_N",
    "BLOCK_SIZE",
    "OCCUPANCY",
    "ARRAY_SIZE_PER_THREAD",
    "NUM_C_PER_BLOCK",
    "SPLIT_COLS",
    "TILE_ROWS",
    "TILE_COLS",
    "LOAD_SIZE",
    "CTA_COUNT",
    "STREAM_K",
    "SPLIT_P_SLC",
    "TILE_M",
    "TILE_N",
    "WARP_SPEC_CFG",
    "SWAP_AB",
    "INPUT_TMA_ENABLE",
    "OUTPUT_TMA_ENABLE",
];

impl KnobRange {
    /// The knob's name, or its number where it is newer than 9.28.
    #[must_use]
    pub fn name(&self) -> String {
        let known = usize::try_from(self.knob).ok().and_then(|index| KNOBS.get(index));
        known.map_or_else(|| format!("KNOB_{}", self.knob), |name| (*name).to_owned())
    }
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
