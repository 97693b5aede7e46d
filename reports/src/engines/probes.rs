//! The problems that every engine is asked about: one ordinary convolution in each type and layout, and what engines
//! often leave out. Knows case lines; plans nothing.

use case::{Case, Operation};

/// A problem of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// What is special about it: the head of a column.
    pub label: &'static str,
    /// The problem.
    pub case: Case,
}

/// Labels, and the case line without its pass. Channels are whole vectors of 32 in every group, so that each layout
/// takes them.
const LINES: [(&str, &str); 15] = [
    ("f32 nchw", "f32 nchw n8 c64 k64 i28x28 f3x3 p1x1"),
    ("f32 nhwc", "f32 nhwc n8 c64 k64 i28x28 f3x3 p1x1"),
    ("f16 nchw", "f16 nchw n8 c64 k64 i28x28 f3x3 p1x1"),
    ("f16 nhwc", "f16 nhwc n8 c64 k64 i28x28 f3x3 p1x1"),
    ("bf16 nhwc", "bf16 nhwc n8 c64 k64 i28x28 f3x3 p1x1"),
    ("f64 nchw", "f64 nchw n8 c64 k64 i28x28 f3x3 p1x1"),
    ("i8 nhwc", "i8 nhwc n8 c64 k64 i28x28 f3x3 p1x1"),
    ("i8 to f32 nhwc", "i8,i8,f32 nhwc n8 c64 k64 i28x28 f3x3 p1x1"),
    ("i8 nchwc4", "i8 nchwc4 n8 c64 k64 i28x28 f3x3 p1x1"),
    ("i8 nchwc32", "i8 nchwc32 n8 c64 k64 i28x28 f3x3 p1x1"),
    ("i8 nhwc 3-D", "i8 nhwc n2 c64 k64 i14x14x14 f3x3x3 p1x1x1"),
    ("f16 nhwc 3-D", "f16 nhwc n2 c64 k64 i14x14x14 f3x3x3 p1x1x1"),
    ("f16 nhwc 2 groups", "f16 nhwc n8 c64 k64 g2 i28x28 f3x3 p1x1"),
    ("f16 nhwc depthwise", "f16 nhwc n8 c64 k64 g64 i28x28 f3x3 p1x1"),
    ("f16 nhwc s2 d2", "f16 nhwc n8 c64 k64 i28x28 f3x3 p2x2 s2x2 d2x2"),
];

/// The problems of a pass, in the order of the columns.
#[must_use]
pub fn probes(operation: Operation) -> Vec<Probe> {
    let probe = |(label, words): &(&'static str, &str)| {
        // A line that is no case would be missing, which a test of this room forbids.
        let case = format!("{} {words}", operation.name()).parse().ok()?;
        Some(Probe { label, case })
    };
    LINES.iter().filter_map(probe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_case_of_every_pass() {
        for operation in Operation::CONVOLUTIONS {
            assert_eq!(probes(operation).len(), LINES.len());
        }
    }
}
