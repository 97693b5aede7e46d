//! Every rule with the exact line that a user reads: field, value, rule.

use crate::Case;

fn complaint(line: &str) -> String {
    match line.parse::<Case>() {
        Ok(case) => format!("accepted as {case}"),
        Err(error) => error.to_string(),
    }
}

fn check(table: &[(&str, &str)]) {
    for (line, expected) in table {
        assert_eq!(complaint(line), *expected, "for '{line}'");
    }
}

/// Appends words to a small valid line.
fn with(words: &str) -> String {
    format!("fprop f32 nchw n1 c4 k4 i8x8 f3x3 {words}")
}

#[test]
fn scales_fit_the_type_that_they_are_given_in() {
    let of = |line: &str| line.parse::<Case>().map_err(|error| error.to_string());
    let error = of("fprop f32 nchw n1 c1 k1 i1 f1 alpha=3.5e38").unwrap_err();
    assert!(error.starts_with("alpha: ") && error.contains("does not fit in f32"), "{error}");
    assert!(of("fprop f16 nchw n1 c1 k1 i1 f1 beta=-1e300").is_err());
    assert!(of("fprop f64 nchw n1 c1 k1 i1 f1 alpha=3.5e38").is_ok());
    assert!(of("fprop f32 nchw n1 c1 k1 i1 f1 alpha=3.4e38").is_ok());
}

#[test]
fn the_head_of_a_line_is_refused_by_name() {
    check(&[
        (
            "",
            "operation: is missing; a case line begins with one of fprop, dgrad, wgrad, maxpool, avgpool, matmul, rmsnorm",
        ),
        (
            "conv f32 nchw",
            "operation: 'conv' is none of fprop, dgrad, wgrad, maxpool, avgpool, matmul, rmsnorm",
        ),
        (
            "fprop",
            "dtype: is missing; after the operation comes the element type: f32, f64, f16, bf16, i8 or i32",
        ),
        (
            "fprop f32",
            "layout: is missing; after the element type comes the memory order: nchw, nhwc, nchwc4 or nchwc32",
        ),
        ("fprop f8 nchw", "dtype: 'f8' is none of f32, f64, f16, bf16, i8, i32"),
        ("fprop f32/f8 nchw", "dtype: 'f8' is none of f32, f64, f16, bf16, i8, i32"),
        (
            "fprop f32,f32 nchw",
            "tensors: 'f32,f32' names neither all at once nor x, w and y; write 1 or 3 words",
        ),
        ("fprop f32 nwhc", "layout: 'nwhc' is none of nchw, nhwc, nchwc4, nchwc32"),
    ]);
    assert_eq!(complaint(&"f".repeat(6000)), "case: the line has 6000 bytes, more than the 5120 allowed");
}

#[test]
fn a_history_is_refused_by_the_number_of_its_case() {
    let small = "fprop f32 nchw n1 c1 k1 i1 f1";
    let many = format!("{small};").repeat(129) + small;
    let again = format!("{small};{small}");
    let [missing, empty, broken, refuse] = [
        format!("{small} ;"),
        format!("{small};;{small}"),
        format!("{small};fprop f32 nchw n0 c1 k1 i1 f1;{small}"),
        format!("{small} expect=refuse;{small}"),
    ];
    check(&[
        (&again, &format!("accepted as {small} ; {small}")),
        (&missing, "case: ';' is followed by no case; the last case is the one that is judged"),
        (
            &empty,
            "case 2 of the history, operation: is missing; a case line begins with one of fprop, dgrad, wgrad, maxpool, avgpool, matmul, rmsnorm",
        ),
        (&broken, "case 2 of the history, n: '0' is below 1, the least allowed"),
        (
            &refuse,
            "case 1 of the history, expect: 'refuse' is judged, which only the last case of a history is",
        ),
        (&many, "history: has 129 cases before the last, more than the 128 allowed"),
    ]);
    let nested = serde_json::to_value(again.parse::<Case>().unwrap()).unwrap();
    let mut outer = serde_json::to_value(small.parse::<Case>().unwrap()).unwrap();
    outer["history"] = serde_json::json!([nested]);
    let error = serde_json::from_value::<Case>(outer).unwrap_err().to_string();
    assert!(error.contains("history: lies within a history"), "{error}");
}

#[test]
fn sizes_are_refused_by_name() {
    check(&[
        ("fprop f32 nchw n0 c1 k1 i1x1 f1x1", "n: '0' is below 1, the least allowed"),
        ("fprop f32 nchw n1 c-3 k1 i1 f1", "c: '-3' is below 1, the least allowed"),
        ("fprop f32 nchw n1 c1 k0 i1 f1", "k: '0' is below 1, the least allowed"),
        ("fprop f32 nchw n1 c1 k1 g0 i1 f1", "g: '0' is below 1, the least allowed"),
        ("fprop f32 nchw n2199023255552 c1 k1 i1 f1", "n: '2199023255552' is above 2^40, the most allowed"),
        ("fprop f32 nchw n1 c3 k4 g2 i1 f1", "c: '3' is not divisible by g = 2"),
        ("fprop f32 nchw n1 c4 k3 g2 i1 f1", "k: '3' is not divisible by g = 2"),
        ("fprop f32 nchw n1 c1 k1 i0 f1", "i: '0' is below 1, the least allowed"),
        ("fprop f32 nchw n1 c1 k1 i1 f0", "f: '0' is below 1, the least allowed"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 p-1", "p: '-1' is below 0, the least allowed"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 p0:-1", "p: '-1' is below 0, the least allowed"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 s0", "s: '0' is below 1, the least allowed"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 d0", "d: '0' is below 1, the least allowed"),
        (
            "fprop f32 nchw n1 c1 k1 i4 f3 p1:0 d3",
            "f: '3' with dilation 3 spans 7, more than the padded input of 5",
        ),
        ("fprop f32 nchw n1 c1 k1 i1x1x1x1 f1x1x1x1", "i: has 4 axes; 1 to 3 are possible"),
        ("fprop f32 nchw n1 c1 k1 i1x1 f1", "f: '1' has 1 axis, but i has 2 axes; write it as in f1x1"),
        ("fprop f32 nchw n1 c1 k1 i1x1 f1x1 p0", "p: '0' has 1 axis, but i has 2 axes; write it as in p0x0"),
        (
            "fprop f32 nchw n1 c1 k1 i1x1 f1x1 s1x1x1",
            "s: '1x1x1' has 3 axes, but i has 2 axes; write it as in s1x1",
        ),
        ("fprop f32 nchw n1 c1 k1 i1x1 f1x1 d1", "d: '1' has 1 axis, but i has 2 axes; write it as in d1x1"),
        (
            "fprop f32 nchw n1099511627776 c1099511627776 k1 i1 f1",
            "x: its size does not fit in 63 bits of bytes",
        ),
        (
            "fprop f64 nchw n1 c1048576 k1048576 i1048576 f524288",
            "case: its size does not fit in 63 bits of bytes or multiply-adds",
        ),
    ]);
}

#[test]
fn missing_repeated_and_unknown_words_are_refused_by_name() {
    check(&[
        ("fprop f32 nchw c1 k1 i1 f1", "n: is missing; write the batch size, as in n8"),
        ("fprop f32 nchw n1 k1 i1 f1", "c: is missing; write the number of input channels, as in c8"),
        ("fprop f32 nchw n1 c1 i1 f1", "k: is missing; write the number of filters, as in k8"),
        (
            "fprop f32 nchw n1 c1 k1 f1",
            "i: is missing; write the input's extent along each axis, as in i56x56",
        ),
        (
            "fprop f32 nchw n1 c1 k1 i1",
            "f: is missing; write the filter's extent along each axis, as in f3x3",
        ),
        ("fprop f32 nchw n1 n2 c1 k1 i1 f1", "n: '2' is a second value; give n once"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 i1", "i: '1' is a second value; give i once"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 q7", "size: 'q7' is no field: n c k g i f p s d take a number"),
        ("fprop f32 nchw n1 c1 k1 i1 f1 é", "size: 'é' is no field: n c k g i f p s d take a number"),
        ("fprop f32 nchw n c1 k1 i1 f1", "n: a number is missing; write it as in n8"),
        ("fprop f32 nchw n+1 c1 k1 i1 f1", "n: '+1' is no whole number; write digits alone, as in n8"),
        ("fprop f32 nchw n1.5 c1 k1 i1 f1", "n: '1.5' is no whole number; write digits alone, as in n8"),
        (
            "fprop f32 nchw n9223372036854775808 c1 k1 i1 f1",
            "n: '9223372036854775808' is a number out of range",
        ),
        (
            "fprop f32 nchw n1 c1 k1 i1xx f1",
            "i: '1xx' is no list of numbers; axes are joined by x, as in i56x56",
        ),
        (
            "fprop f32 nchw n1 c1 k1 i56,56 f1",
            "i: '56,56' is no list of numbers; axes are joined by x, as in i56x56",
        ),
        (
            "fprop f32 nchw n1 c1 k1 i56x56 f1x1 p1,1",
            "p: '1,1' is no list of numbers; axes are joined by x, as in p1x1",
        ),
        ("fprop f32 nchw n1 c1 k1 i1xa f1", "i: 'a' is no whole number; write digits alone, as in i56x56"),
        (&with("repeat=2 repeat=2"), "repeat: '2' is a second value; give repeat once"),
        (
            &with("guard=pages"),
            "option: 'guard' is none of engine, knobs, heur, tf32, set, ws, wsfill, fill, keep, out, alpha, beta, repeat, y, expect",
        ),
    ]);
}

#[test]
fn plans_are_refused_by_name() {
    check(&[
        (&with("engine=-1"), "engine: '-1' is below 0, the least allowed"),
        (&with("knobs=1:2"), "knobs: '1:2' belongs to an engine, and none is named; add engine=N"),
        (&with("engine=1 knobs=2"), "knobs: '2' is no knob; write TYPE:VALUE, as in knobs=2:1,13:0"),
        (
            &with("engine=1 knobs=2:1,2:3"),
            "knobs: '2' is a knob that is given twice, or out of order; give each once, in rising order",
        ),
        (
            &with("engine=1 heur=A#0"),
            "heur: 'A#0' names a plan, and engine= names another; leave one of them out",
        ),
        (
            &with("heur=C#0"),
            "heur: 'C#0' is no rank of a heuristic list; write A#0, B#0 or fallback#0, or a higher rank",
        ),
        (
            &with("heur=A"),
            "heur: 'A' is no rank of a heuristic list; write A#0, B#0 or fallback#0, or a higher rank",
        ),
        (
            &with("engine=1 tf32=off"),
            "tf32: 'off' drops plans by their notes, and engine= names one already; leave one of them out",
        ),
        (&with("tf32=maybe"), "tf32: 'maybe' is none of on, off"),
        (
            &with("set=../x"),
            "set: '../x' is no set name; write 1 to 64 letters, digits and ._+-, as in set=9.19.0-full",
        ),
        (
            &with("set="),
            "set: '' is no set name; write 1 to 64 letters, digits and ._+-, as in set=9.19.0-full",
        ),
    ]);
    let knobs: Vec<String> = (0..65).map(|knob| format!("{knob}:1")).collect();
    let line = with(&format!("engine=1 knobs={}", knobs.join(",")));
    assert_eq!(complaint(&line), "knobs: 65 are given, more than the 64 allowed");
}

#[test]
fn memory_and_data_are_refused_by_name() {
    check(&[
        (&with("ws=some"), "ws: 'some' is none of exact, +BYTES, max:BYTES, each with @ALIGN or without"),
        (&with("ws=+-1"), "ws: '-1' is below 0, the least allowed"),
        (&with("ws=max:99999999999GiB"), "ws: '99999999999GiB' does not fit in 63 bits of bytes"),
        (
            &with("ws=max:1KB"),
            "ws: '1KB' is no number of bytes; write digits, alone or with KiB, MiB or GiB, as in max:32MiB",
        ),
        (&with("ws=max:4096GiB"), "ws: '4398046511104' is above 2^40, the most allowed"),
        (
            &with("ws=exact@24"),
            "ws: '24' is no alignment; write a power of two up to 1048576, as in ws=exact@16",
        ),
        (
            &with("ws=exact@0"),
            "ws: '0' is no alignment; write a power of two up to 1048576, as in ws=exact@16",
        ),
        (
            &with("ws=exact@2097152"),
            "ws: '2097152' is no alignment; write a power of two up to 1048576, as in ws=exact@16",
        ),
        (&with("wsfill=01"), "wsfill: '01' is none of 00, ff, rand:SEED"),
        (&with("fill=int2"), "fill: 'int2' has no seed; write KIND:SEED, as in fill=int2:1"),
        (
            &with("keep=x:1"),
            "keep: 'x:1' keeps elements of given data, and none are given; add fill=KIND:SEED, as in fill=int2:1",
        ),
        (
            &with("fill=one:1 keep=17"),
            "keep: '17' is no range of a tensor; write x, w or y with a position or FIRST-LAST, as in keep=x:17,w:0-3",
        ),
        (&with("fill=one:1 keep=x:1,x:2"), "keep: 'x:2' is a second range; give x once"),
        (&with("fill=one:1 keep=y:1"), "keep: 'y:1' is of the tensor that fprop writes; name x or w"),
        (
            &with("fill=one:1 keep=w:3-1"),
            "keep: 'w:3-1' is no range; write a position or FIRST-LAST, as in keep=x:17,w:0-3",
        ),
        (
            &with("fill=one:1 keep=x:a"),
            "keep: 'a' is no whole number; write digits alone, as in keep=x:17,w:0-3",
        ),
        (
            "wgrad f32 nchw n1 c2 k3 i4 f2 fill=one:1 keep=x:0-7,y:9",
            "keep: 'y:9' is beyond y, whose positions are 0 to 8",
        ),
        (&with("out=zero"), "out: 'zero' is none of nan, finite"),
        (
            &with("out=nan beta=1"),
            "out: 'nan' has no meaning where beta is not 0, because the fill then decides; leave out= away",
        ),
        (&with("alpha=inf"), "alpha: 'inf' is not a finite number"),
        (&with("beta=NaN"), "beta: 'NaN' is not a finite number"),
        (&with("alpha=one"), "alpha: 'one' is not a number; write alpha=1 or alpha=-0.5"),
        (&with("repeat=0"), "repeat: '0' is not within 1 to 10000"),
        (&with("repeat=10001"), "repeat: '10001' is not within 1 to 10000"),
        (&with("expect=right"), "expect: 'right' is unknown; write expect=refuse"),
        (&with("y=6x6"), "y: '6x6' is an output size given on purpose; add expect=refuse"),
        (&with("y=6 expect=refuse"), "y: '6' has 1 axis, but i has 2 axes; write it as in y=6x6"),
        ("fprop f32/bf16 nchw n1 c1 k1 i1 f1", "dtype: 'bf16' is no compute type of cuDNN"),
    ]);
}

#[test]
fn sizes_that_an_operation_lacks_are_refused_by_name() {
    check(&[
        ("maxpool f32 nchw n1 c2 k2 i4x4 f2x2", "size: 'k2' is no field: n c i f p s take a number"),
        ("avgpool f32 nchw n1 c2 i4x4 f2x2 d2x2", "size: 'd2x2' is no field: n c i f p s take a number"),
        ("matmul f32 m2 n3 k4 i1", "size: 'i1' is no field: b m n k take a number"),
        ("rmsnorm f32 nchw n2 c3 i4", "size: 'i4' is no field: n c take a number"),
        ("matmul f32 n3 k4", "m: is missing; write the rows of x, as in m8"),
        (
            "matmul f32 row,col m2 n3 k4",
            "tensors: 'row,col' names neither all at once nor x, w and y; write 1 or 3 words",
        ),
        ("matmul f32 rows m2 n3 k4", "layout: 'rows' is none of row, col"),
        (
            "matmul f32 nchw m2 n3 k4",
            "layout: 'nchw' is an order of images; matmul takes row or col, or no word for row",
        ),
        ("maxpool f32 nchww n1 c2 i4x4 f2x2", "layout: 'nchww' is none of nchw, nhwc"),
        ("fprop f32 n1 c1 k1 i1 f1", "layout: 'n1' is none of nchw, nhwc, nchwc4, nchwc32"),
        ("matmul f32 m0 n3 k4", "m: '0' is below 1, the least allowed"),
        ("matmul f32 m2 n0 k4", "n: '0' is below 1, the least allowed"),
        ("matmul f32 m2 n3 k0", "k: '0' is below 1, the least allowed"),
        ("matmul f32 b2 m2 n1099511627776 k4", "b times n: '2199023255552' is above 2^40, the most allowed"),
        ("matmul f32 b4294967296 m1 n1 k4294967296", "k: '4294967296' times b leaves 63 bits"),
        ("rmsnorm f32 nchw c3", "n: is missing; write the rows of x, as in n8"),
        (
            "maxpool f32 nchw n1 c1 i4 f2 alpha=2",
            "alpha: '2' scales a convolution, and maxpool has no scales; leave alpha= away",
        ),
        (
            "maxpool f32,f16,f32 nchw n1 c1 i4 f2",
            "w: differs from x, and maxpool has no w; write x's word twice",
        ),
        (
            "avgpool f32 nchw n1 c1 i4 f2 p2",
            "p: '2' is not below the window of 2, so that a window may lie in padding alone",
        ),
        ("matmul f32 m1 n1 k1 y=2 expect=refuse", "y: '2' is an output size, and matmul has no axes"),
        (
            "maxpool f32 nchw n1 c1 i4 f2 fill=one:1 keep=w:0",
            "keep: 'w:0' is of a tensor that maxpool has not",
        ),
        (
            "maxpool f32 nchw n1 c1 i4 f2 fill=one:1 keep=y:0",
            "keep: 'y:0' is of the tensor that maxpool writes; name x",
        ),
    ]);
}

#[test]
fn other_operations_print_with_their_own_letters() {
    for line in [
        "maxpool f16 nhwc n2 c8 i14x14 f3x3 p1x1 s2x2",
        "avgpool f32 nchw n1 c3 i5 f2",
        "matmul f16 b4 m8 n16 k32",
        "matmul f32 row,col,row m2 n3 k5",
        "matmul bf16 col m2 n3 k5",
        "rmsnorm f16 nhwc n8 c64",
    ] {
        assert_eq!(complaint(line), format!("accepted as {line}"));
    }
    assert_eq!(complaint("matmul f32 row b1 m2 n3 k5"), "accepted as matmul f32 m2 n3 k5");
    for (short, line) in [
        ("maxpool f32 n1 c2 i4x4 f2x2", "maxpool f32 nchw n1 c2 i4x4 f2x2"),
        ("avgpool f16 c3 n1 i5 f2 repeat=2", "avgpool f16 nchw n1 c3 i5 f2 repeat=2"),
        ("rmsnorm bf16 n8 c64", "rmsnorm bf16 nchw n8 c64"),
    ] {
        assert_eq!(complaint(short), format!("accepted as {line}"));
    }
}

#[test]
fn matrices_of_a_batch_have_their_own_shapes() {
    let case: Case = "matmul f32 row,col,row b4 m8 n16 k32".parse().unwrap();
    let geometry = case.problem.geometry();
    assert_eq!(crate::Role::ALL.map(|role| geometry.extents(role)), [[4, 8, 32], [4, 32, 16], [4, 8, 16]]);
    assert_eq!(geometry.strides(crate::Role::W), [512, 1, 32]);
    assert_eq!((geometry.reduction(), geometry.multiply_adds()), (32, 4 * 8 * 16 * 32));
    let pool: Case = "maxpool f16 nchw n2 c8 i6x6 f3x2 s2x2".parse().unwrap();
    let geometry = pool.problem.geometry();
    assert_eq!((geometry.elements(crate::Role::W), geometry.extents(crate::Role::W)), (0, vec![8, 1, 3, 2]));
    assert_eq!((geometry.extents(crate::Role::Y), geometry.reduction()), (vec![2, 8, 2, 3], 6));
    let norm: Case = "rmsnorm f16 nhwc n8 c64".parse().unwrap();
    let geometry = norm.problem.geometry();
    assert_eq!((geometry.extents(crate::Role::W), geometry.reduction()), (vec![1, 64, 1, 1], 64));
}

#[test]
fn a_case_that_expects_a_refusal_is_read_although_it_breaks_the_rules() {
    for line in [
        "fprop f32 nchw n0 c1 k1 i1x1 f1x1 expect=refuse",
        "dgrad f16 nhwc n1 c3 k5 g2 i1x1 f3x3 expect=refuse",
        "wgrad f32 nchw n1 c1 k1 i8 f3 y=9 expect=refuse",
    ] {
        assert_eq!(complaint(line), format!("accepted as {line}"));
    }
}

#[test]
fn values_in_messages_are_escaped_and_shortened() {
    assert_eq!(
        complaint("\u{1b}[31m"),
        r"operation: '\u{1b}[31m' is none of fprop, dgrad, wgrad, maxpool, avgpool, matmul, rmsnorm"
    );
    let long =
        format!("{}... is none of fprop, dgrad, wgrad, maxpool, avgpool, matmul, rmsnorm", "a".repeat(60));
    assert_eq!(complaint(&"a".repeat(300)), format!("operation: '{}", long.replace("...", "...'")));
}

#[test]
fn json_is_refused_by_name_too() {
    let plain = r#""operation":"fprop","dtypes":{"x":"f32","w":"f32","y":"f32","compute":"f32"},
        "layouts":{"x":"nchw","w":"nchw","y":"nchw"},"c":1,"k":1,"axes":[{"input":1,"filter":1}]"#;
    for (extra, expected) in [
        (r#""format":1,"n":1,"colour":3"#, "unknown field `colour`"),
        (r#""format":2,"n":1"#, "format: '2' is not 1, the one known"),
        (r#""format":1,"n":0"#, "n: '0' is below 1, the least allowed"),
        (r#""format":1"#, "missing field `n`"),
        (r#""format":1,"n":1,"n":1"#, "duplicate field `n`"),
        (r#""format":1,"n":1,"y":[1]"#, "y: '1' is an output size given on purpose; add expect=refuse"),
        (
            r#""format":1,"n":1,"engine":{"pinned":{"engine":1,
                "knobs":[{"knob":2,"value":0},{"knob":1,"value":0}]}}"#,
            "knobs: '1' is a knob that is given twice, or out of order; give each once, in rising order",
        ),
        (r#""format":1,"n":1,"engine":{"pinned":{"engine":1,"rank":2}}"#, "unknown field `rank`"),
    ] {
        let error =
            serde_json::from_str::<Case>(&format!("{{{extra},{plain}}}")).expect_err(extra).to_string();
        assert!(error.starts_with(expected), "{extra}: {error}");
    }
    let read: Case = serde_json::from_str(&format!(r#"{{"format":1,"n":1,{plain}}}"#)).expect("all is given");
    assert_eq!(read.to_string(), "fprop f32 nchw n1 c1 k1 i1 f1");
}

#[test]
fn json_of_a_case_without_ranges_does_not_mention_them_and_one_with_them_does() {
    let plain: Case = "fprop f32 nchw n1 c1 k1 i4 f2 fill=one:1".parse().expect("a case");
    let json = serde_json::to_string(&plain).expect("a case has a JSON form");
    assert!(!json.contains("keep"), "{json}");
    let kept: Case = format!("{plain} keep=x:3").parse().expect("a case");
    let json = serde_json::to_string(&kept).expect("a case has a JSON form");
    assert!(json.contains(r#""keep":{"x":{"first":3,"last":3}}"#), "{json}");
}
