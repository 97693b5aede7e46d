//! The part of ONNX's schema that shapes need. Knows field numbers only; fields that are not here are passed over.
//! Source: onnx/onnx.proto of the ONNX project.

use bytes::Bytes;

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Model {
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<Graph>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub(super) nodes: Vec<Node>,
    #[prost(message, repeated, tag = "5")]
    pub(super) initializers: Vec<TensorValue>,
    #[prost(message, repeated, tag = "11")]
    pub(super) inputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub(super) outputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "13")]
    pub(super) value_infos: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub(super) inputs: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) outputs: Vec<String>,
    #[prost(string, tag = "4")]
    pub(super) op: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(float, tag = "2")]
    pub(super) float: f32,
    #[prost(int64, tag = "3")]
    pub(super) int: i64,
    #[prost(bytes = "bytes", tag = "4")]
    pub(super) text: Bytes,
    #[prost(message, optional, tag = "5")]
    pub(super) tensor: Option<TensorValue>,
    #[prost(float, repeated, tag = "7")]
    pub(super) floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub(super) ints: Vec<i64>,
}

/// An initializer or a constant.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorValue {
    #[prost(int64, repeated, tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(super) dtype: i32,
    #[prost(float, repeated, tag = "4")]
    pub(super) floats: Vec<f32>,
    #[prost(int64, repeated, tag = "7")]
    pub(super) ints: Vec<i64>,
    #[prost(string, tag = "8")]
    pub(super) name: String,
    #[prost(bytes = "bytes", tag = "9")]
    pub(super) raw: Bytes,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ValueInfo {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "2")]
    pub(super) kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Kind {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor: Option<TensorKind>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorKind {
    #[prost(int32, tag = "1")]
    pub(super) dtype: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<ShapeKind>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ShapeKind {
    #[prost(message, repeated, tag = "1")]
    pub(super) dims: Vec<Dimension>,
}

/// A number, a name, or neither.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub(super) value: Option<i64>,
}

impl Node {
    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// An attribute's list of whole numbers.
    pub(super) fn ints(&self, name: &str) -> Option<&[i64]> {
        self.attribute(name).map(|attribute| attribute.ints.as_slice())
    }

    pub(super) fn int(&self, name: &str, usual: i64) -> i64 {
        self.attribute(name).map_or(usual, |attribute| attribute.int)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(&self.attribute(name)?.text).ok()
    }
}

/// Most numbers that are read out of a constant: those that shape something are few.
const NUMBERS_MAX: usize = 64;

impl TensorValue {
    /// Its numbers, where they are few and lie within the file.
    pub(super) fn numbers(&self) -> Option<Vec<f64>> {
        let listed = |length: usize| (1..=NUMBERS_MAX).contains(&length);
        #[expect(
            clippy::cast_precision_loss,
            reason = "extents are far below 2^53; others are refused later"
        )]
        let wide = |value: i64| value as f64;
        if listed(self.ints.len()) {
            return Some(self.ints.iter().map(|value| wide(*value)).collect());
        }
        if listed(self.floats.len()) {
            return Some(self.floats.iter().map(|value| f64::from(*value)).collect());
        }
        let raw: &[u8] = &self.raw;
        if raw.is_empty() || raw.len() > 8 * NUMBERS_MAX {
            return None;
        }
        match self.dtype {
            7 => Some(raw.as_chunks::<8>().0.iter().map(|bytes| wide(i64::from_le_bytes(*bytes))).collect()),
            1 => Some(
                raw.as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect(),
            ),
            _ => None,
        }
    }
}
