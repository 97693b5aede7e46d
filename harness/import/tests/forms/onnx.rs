//! Models made byte by byte: sound ones, and those that lie. Knows the encoding of fields; the schema is the crate's.

use import::{Format, import};

use super::{complaint, counted, reasons};

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value as u8 & 0x7F) | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A field with bytes: text, a message.
fn field(number: u64, bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [varint(number << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

fn number(number: u64, value: i64) -> Vec<u8> {
    [varint(number << 3), varint(value.cast_unsigned())].concat()
}

fn ints(name: &str, values: &[i64]) -> Vec<u8> {
    let values: Vec<u8> = values.iter().flat_map(|value| number(8, *value)).collect();
    field(5, [field(1, name), values].concat())
}

fn int(name: &str, value: i64) -> Vec<u8> {
    field(5, [field(1, name), number(3, value)].concat())
}

fn text(name: &str, value: &str) -> Vec<u8> {
    field(5, [field(1, name), field(4, value)].concat())
}

fn node(op: &str, inputs: &[&str], output: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
    let inputs: Vec<u8> = inputs.iter().flat_map(|name| field(1, name)).collect();
    field(1, [inputs, field(2, output), field(4, op), attributes.concat()].concat())
}

/// A value with extents; -1 is an open one.
fn info(place: u64, name: &str, extents: &[i64]) -> Vec<u8> {
    let open = |extent: i64| if extent < 0 { field(2, "N") } else { number(1, extent) };
    let dims: Vec<u8> = extents.iter().flat_map(|extent| field(1, open(*extent))).collect();
    field(place, [field(1, name), field(2, field(1, [number(1, 1), field(2, dims)].concat()))].concat())
}

/// A weight whose data lie in another file.
fn weight(name: &str, extents: &[i64]) -> Vec<u8> {
    let dims: Vec<u8> = extents.iter().flat_map(|extent| number(1, *extent)).collect();
    field(5, [dims, number(2, 1), field(8, name), number(14, 1)].concat())
}

fn constant(name: &str, values: &[i64]) -> Vec<u8> {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    field(5, [number(1, values.len() as i64), number(2, 7), field(8, name), field(9, raw)].concat())
}

fn model(parts: &[Vec<u8>]) -> Vec<u8> {
    [number(1, 8), field(7, parts.concat())].concat()
}

#[test]
fn extents_follow_through_the_common_operators() {
    let bytes = model(&[
        info(11, "x", &[-1, 3, 224, 224]),
        weight("w1", &[64, 3, 7, 7]),
        weight("w2", &[32, 64, 1, 1]),
        weight("w3", &[32, 2, 3, 3]),
        weight("w4", &[64, 8, 2, 2]),
        weight("w5", &[4, 8, 1, 1]),
        constant("pads", &[0, 0, 1, 0, 0, 0, 0, 1]),
        node("Conv", &["x", "w1"], "a", &[ints("pads", &[3, 3, 3, 3]), ints("strides", &[2, 2])]),
        node("BatchNormalization", &["a", "s", "b", "m", "v"], "b", &[]),
        node("Relu", &["b"], "c", &[]),
        node(
            "MaxPool",
            &["c"],
            "d",
            &[ints("kernel_shape", &[3, 3]), ints("strides", &[2, 2]), ints("pads", &[1; 4])],
        ),
        node("Conv", &["d", "w2"], "e", &[]),
        node(
            "Conv",
            &["e", "w3"],
            "f",
            &[int("group", 16), text("auto_pad", "SAME_UPPER"), ints("strides", &[2, 2])],
        ),
        node("Concat", &["f", "f"], "g", &[int("axis", 1)]),
        node("ConvTranspose", &["g", "w4"], "h", &[ints("strides", &[2, 2])]),
        node("Add", &["h", "h"], "i", &[]),
        node("Pad", &["i", "pads"], "j", &[]),
        node("Conv", &["j", "w5"], "k", &[]),
    ]);
    let import = import(&bytes[..], None, 4).expect("a model");
    assert_eq!(
        counted(&import).into_iter().map(|(_, case)| case).collect::<Vec<_>>(),
        [
            "fprop f32 nchw n4 c3 k64 i224x224 f7x7 p3x3 s2x2",
            "maxpool f32 nchw n4 c64 i112x112 f3x3 p1x1 s2x2",
            "fprop f32 nchw n4 c64 k32 i56x56 f1x1",
            "fprop f32 nchw n4 c32 k32 g16 i56x56 f3x3 p0:1x0:1 s2x2",
            "dgrad f32 nchw n4 c8 k64 i56x56 f2x2 s2x2",
            "fprop f32 nchw n4 c8 k4 i57x57 f1x1",
        ]
    );
    assert_eq!(reasons(&import), []);
    assert_eq!(import.notes[0], "the model leaves its batch open; it was taken as 4 (--batch)");
    assert_eq!((import.cases[1].first, import.cases[2].first), (4, 5));
}

#[test]
fn poolings_products_and_normalizations_are_cases_too_as_far_as_one_says_the_same() {
    let window =
        |more: &[Vec<u8>]| [&[ints("kernel_shape", &[3, 3]), ints("strides", &[2, 2])], more].concat();
    let padded = ints("pads", &[1; 4]);
    let bytes = model(&[
        info(11, "x", &[2, 8, 10, 10]),
        info(11, "tokens", &[2, 5, 12]),
        info(11, "heads", &[2, 5, 12]),
        info(11, "turned", &[2, 12, 5]),
        info(11, "vector", &[12]),
        weight("w", &[12, 7]),
        weight("v", &[6, 8]),
        weight("u", &[5, 12]),
        node("MaxPool", &["x"], "a", &window(&[])),
        node("MaxPool", &["x"], "b", &window(&[int("ceil_mode", 1)])),
        node("AveragePool", &["x"], "c", &window(&[padded.clone(), int("count_include_pad", 1)])),
        node("GlobalAveragePool", &["x"], "d", &[]),
        node("Flatten", &["d"], "e", &[]),
        info(13, "e", &[2, 8]),
        node("Gemm", &["e", "v", "bias"], "f", &[int("transB", 1)]),
        node("MatMul", &["tokens", "w"], "g", &[]),
        node("MatMul", &["heads", "turned"], "h", &[]),
        node("RMSNormalization", &["g", "scale"], "i", &[]),
        // What no case says.
        node("AveragePool", &["x"], "j", &window(&[int("ceil_mode", 1)])),
        node("AveragePool", &["x"], "k", &window(&[padded])),
        node("MaxPool", &["x"], "l", &window(&[ints("dilations", &[2, 2])])),
        node("MatMul", &["u", "turned"], "m", &[]),
        node("MatMul", &["tokens", "vector"], "n", &[]),
        node("MatMul", &["nowhere", "w"], "o", &[]),
        node("MatMul", &["tokens", "v"], "p", &[]),
    ]);
    let import = import(&bytes[..], None, 1).expect("a model");
    assert_eq!(
        counted(&import).into_iter().map(|(_, case)| case).collect::<Vec<_>>(),
        [
            "maxpool f32 nchw n2 c8 i10x10 f3x3 s2x2",
            "maxpool f32 nchw n2 c8 i10x10 f3x3 p0:1x0:1 s2x2",
            "avgpool f32 nchw n2 c8 i10x10 f3x3 p1x1 s2x2",
            "avgpool f32 nchw n2 c8 i10x10 f10x10",
            "matmul f32 row,col,row m2 n6 k8",
            "matmul f32 m10 n7 k12",
            "matmul f32 b2 m5 n5 k12",
            "rmsnorm f32 nchw n10 c7",
        ]
    );
    assert_eq!(
        reasons(&import).into_iter().map(|(_, reason)| reason).collect::<Vec<_>>(),
        [
            "an AveragePool whose last window is cut off (ceil_mode)",
            "an AveragePool that leaves padding out of its means (count_include_pad)",
            "a MaxPool with dilation",
            "a MatMul that repeats a factor (broadcasting)",
            "a MatMul of a vector",
            "a MatMul whose input has unknown extents",
            "a MatMul whose attributes do not fit its extents",
        ]
    );
}

#[test]
fn a_model_that_lies_gives_a_line_for_each_lie_and_the_rest() {
    let conv = |x: &str, w: &str, attributes: &[Vec<u8>]| node("Conv", &[x, w], "y", attributes);
    let bytes = model(&[
        info(11, "x", &[1, 3, 8, 8]),
        info(11, "negative", &[1, -3, 8, 8]),
        info(11, "huge", &[i64::MAX, 3, 8, 8]),
        weight("w", &[4, 3, 3, 3]),
        weight("thin", &[4, 3]),
        conv("x", "w", &[]),
        conv("negative", "w", &[]),
        conv("huge", "w", &[]),
        conv("nowhere", "w", &[]),
        conv("x", "thin", &[]),
        conv("x", "w", &[ints("strides", &[1])]),
        conv("x", "w", &[ints("strides", &[0, 1])]),
        conv("x", "w", &[ints("pads", &[i64::MAX; 4])]),
        conv("x", "w", &[ints("dilations", &[i64::MIN, 1])]),
        conv("x", "w", &[int("group", -2)]),
        conv("x", "w", &[int("group", 2)]),
        node("Relu", &["b"], "a", &[]),
        node("Relu", &["a"], "b", &[]),
        conv("a", "w", &[]),
        node("Loop", &["a"], "l", &[]),
        node("QLinearConv", &["x"], "q", &[]),
        field(1, field(4, "Conv")),
        node("ConvTranspose", &["x", "thin"], "t", &[]),
    ]);
    let import = import(&bytes[..], Some(Format::Onnx), 1).expect("a model");
    assert_eq!(counted(&import), [(1, "fprop f32 nchw n1 c3 k4 i8x8 f3x3".to_owned())]);
    let all = reasons(&import);
    assert_eq!(all.iter().map(|(count, _)| count).sum::<u64>(), 15, "{all:?}");
    for reason in [
        "a Conv whose input has unknown extents",
        "a Conv whose attributes do not fit its extents",
        "channels of filter and input that do not fit together",
        "a graph within Loop, which is not searched",
        "the operator QLinearConv",
        "a Conv without input",
        "a ConvTranspose whose attributes do not fit its extents",
    ] {
        assert!(all.iter().any(|(_, told)| *told == reason), "{reason}: {all:?}");
    }
}

#[test]
fn a_file_that_is_no_model_is_refused_in_one_line() {
    let whole = model(&[info(11, "x", &[1, 3, 8, 8])]);
    assert!(complaint(&whole[..whole.len() - 3], Some(Format::Onnx)).starts_with("is no sound ONNX model"));
    assert!(complaint(&number(1, 8), Some(Format::Onnx)).starts_with("is an ONNX file without a graph"));
    assert!(complaint(b"\x7fELF\0\0\0\0", None).starts_with("is binary, but no ONNX model"));
    // A length of 2^60, and messages within messages a hundred deep.
    assert!(
        complaint(&[0x08, 0x08, 0x3A, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10, 0], None)
            .contains("ONNX")
    );
    let deep = (0..200).fold(Vec::new(), |inner, _| field(7, field(1, field(5, field(6, inner)))));
    import(&deep[..], Some(Format::Onnx), 1).expect("what is not read nests as it likes");
}
