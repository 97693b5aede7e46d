//! Elements between strided bytes and dense arrays. Knows types and strides; rounds once, to nearest.

use abi::cudnn::DataType;

use crate::compute::Real;
use crate::problem::Tensor;

/// Visits the byte offset of every element in logical row-major order.
fn each_offset(tensor: &Tensor, mut visit: impl FnMut(usize)) {
    let width = tensor.element_bytes();
    let rank = tensor.extents.len();
    let (last, step) = (tensor.extents[rank - 1] as usize, tensor.strides[rank - 1] as usize * width);
    let mut at = vec![0_i64; rank - 1];
    loop {
        let row: i64 = at.iter().zip(&tensor.strides).map(|(at, stride)| at * stride).sum();
        let row = row as usize * width;
        for index in 0..last {
            visit(row + index * step);
        }
        let Some(axis) = (0..rank - 1).rev().find(|axis| at[*axis] + 1 < tensor.extents[*axis]) else {
            return;
        };
        at[axis] += 1;
        at[axis + 1..].fill(0);
    }
}

/// Every element, in logical order. `bytes` covers the tensor's span.
pub(crate) fn decode<R: Real>(tensor: &Tensor, bytes: &[u8]) -> Vec<R> {
    let mut values = Vec::with_capacity(tensor.extents.iter().product::<i64>() as usize);
    match DataType(tensor.dtype) {
        DataType::FLOAT => {
            each_offset(tensor, |at| values.push(R::of(f64::from(f32::from_bits(word(bytes, at))))))
        }
        DataType::DOUBLE => each_offset(tensor, |at| values.push(R::of(f64::from_bits(long(bytes, at))))),
        DataType::HALF => {
            each_offset(tensor, |at| values.push(R::of(half::f16::from_bits(short(bytes, at)).to_f64())));
        }
        _ => each_offset(tensor, |at| values.push(R::of(half::bf16::from_bits(short(bytes, at)).to_f64()))),
    }
    values
}

/// Writes every element that is present, in logical order, rounded once; absent ones stay as they are.
pub(crate) fn encode(tensor: &Tensor, values: &[Option<f64>], bytes: &mut [u8]) {
    let width = tensor.element_bytes();
    let mut values = values.iter();
    each_offset(tensor, |at| {
        if let Some(Some(value)) = values.next() {
            let bits = bits(tensor.dtype, *value).to_le_bytes();
            bytes[at..at + width].copy_from_slice(&bits[..width]);
        }
    });
}

/// An f32 sum is exact as f32, so that half types round once; an f64 sum goes through the kernels' own rounding,
/// since conversions by way of f32 round twice.
fn bits(dtype: i32, value: f64) -> u64 {
    let single = value as f32;
    let exact = f64::from(single) == value;
    match DataType(dtype) {
        _ if value.is_nan() => kernel::encode(dtype as u32, f64::NAN),
        DataType::FLOAT => u64::from(single.to_bits()),
        DataType::DOUBLE => value.to_bits(),
        DataType::HALF if exact => u64::from(half::f16::from_f32(single).to_bits()),
        DataType::BFLOAT16 if exact => u64::from(half::bf16::from_f32(single).to_bits()),
        _ => kernel::encode(dtype as u32, value),
    }
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_survive_a_round_trip_in_each_type_and_layout() {
        for (dtype, layout) in [
            (0, case::Layout::Nchw),
            (1, case::Layout::Nhwc),
            (2, case::Layout::Nhwc),
            (9, case::Layout::Nchw),
        ] {
            let extents = vec![2, 3, 4, 5];
            let strides = layout.strides(&extents);
            let tensor = Tensor { dtype, extents, strides, alignment: 16, id: 1, vector: 1 };
            let values: Vec<Option<f64>> = (0..120).map(|value| Some(f64::from(value) - 60.0)).collect();
            let mut bytes = vec![0xFF_u8; tensor.span_bytes().map_or(0, |bytes| bytes as usize)];
            encode(&tensor, &values, &mut bytes);
            let back: Vec<Option<f64>> = decode::<f64>(&tensor, &bytes).into_iter().map(Some).collect();
            assert_eq!(back, values);
        }
    }

    #[test]
    fn absent_elements_keep_their_bytes() {
        let tensor = Tensor {
            dtype: 0,
            extents: vec![1, 1, 2],
            strides: vec![2, 2, 1],
            alignment: 16,
            id: 1,
            vector: 1,
        };
        let mut bytes = vec![0xAB_u8; 8];
        encode(&tensor, &[Some(1.0), None], &mut bytes);
        assert_eq!(bytes, [0, 0, 0x80, 0x3F, 0xAB, 0xAB, 0xAB, 0xAB]);
    }
}
