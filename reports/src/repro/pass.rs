//! The descriptor and attributes that describe a convolution pass to cuDNN. Knows names and numbers. Source:
//! cudnn_graph.h, alike from 8.9 to 9.28.

use case::Operation;
use serde::Serialize;

/// One pass.
#[derive(Serialize)]
pub(super) struct Pass {
    descriptor: &'static str,
    number: u32,
    /// Alpha, beta, convolution, x, w, y.
    attributes: [Attribute; 6],
}

/// One attribute.
#[derive(Serialize)]
struct Attribute {
    name: String,
    number: u32,
}

impl Pass {
    pub(super) fn of(operation: Operation) -> Self {
        let (descriptor, number, prefix, rows) = match operation {
            Operation::Dgrad => (
                "CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR",
                12,
                "BWD_DATA",
                [("ALPHA", 706), ("BETA", 707), ("CONV_DESC", 708), ("DX", 710), ("W", 709), ("DY", 711)],
            ),
            Operation::Wgrad => (
                "CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR",
                11,
                "BWD_FILTER",
                [("ALPHA", 712), ("BETA", 713), ("CONV_DESC", 714), ("X", 716), ("DW", 715), ("DY", 717)],
            ),
            _ => (
                "CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR",
                10,
                "FORWARD",
                [("ALPHA", 700), ("BETA", 701), ("CONV_DESC", 702), ("X", 704), ("W", 703), ("Y", 705)],
            ),
        };
        let attributes = rows.map(|(field, number)| Attribute {
            name: format!("CUDNN_ATTR_OPERATION_CONVOLUTION_{prefix}_{field}"),
            number,
        });
        Self { descriptor, number, attributes }
    }
}
