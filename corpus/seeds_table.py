"""Knows what the public reports leave open and how an entry fills it in, and the cases of our own. Data only."""

OURS = "the report gives no shape, this one is ours"
PLAIN = {"pad": [0, 0], "stride": [1, 1], "dilation": [1, 1], "groups": 1}
ALONE = "told of a fused operation, here is its convolution alone"

# Rows by report: a letter, and fields that replace the report's. Other fields: `dtype` of all tensors, `options` of the
# case line, `note` for the symptom; `expect`: None where nothing is expected, "pass" or "refused" with a `reason`, else
# what the report says; `kinds`, and `seen`, the class of the failure, where they are not the report's; the version that
# `refused` it later. A report with all its numbers and no row has one entry.
ROWS = {
    "R03": [
        ("a", {"layout": "NHWC"}),
        ("b", {"layout": "NCHW", "dtype": "f32", "note": "the same test in f32 and NCHW"}),
        ("c", {"layout": "NHWC", "x": [100, 2, 3280, 3280], "note": "the variant whose batch can be split"}),
    ],
    "R05": [("", {"note": f"{ALONE}, without its bias"})],
    "R06": [("", {"options": "beta=1", "note": f"{ALONE}, its side input as beta=1, without its bias"})],
    "R28": [("", {
        "w": [1, 128, 3, 3, 3], "pad": [1, 1, 1], "stride": [1, 1, 1], "dilation": [1, 1, 1], "groups": 1,
        "dtype": "f16", "note": "only the extents of x are told; type, one 3x3x3 filter and padding are ours",
    })],
    "R33": [("", {"layout": "NDHWC"})],
    "R35": [("", {"options": "beta=1", "note": f"{ALONE}, the addend as beta=1 and alpha taken as 1"})],
    "R47": [("", {"kinds": ["status", "crash"]})],
    "R49": [
        ("a", {}),
        ("b", {"compute": "f16", "note": "the same with f16 as compute type"}),
    ],
    "R54": [
        ("a", {}),
        ("b", {"dtype": "f32", "note": "the same in f32"}),
        ("c", {"dtype": "f64", "note": "the same in f64"}),
    ],
    "R55": [
        ("a", {
            "options": "y=32 expect=refuse", "expect": "refused",
            "reason": "dy was given with 32 elements where the convolution has 35: BAD_PARAM is right",
        }),
        ("b", {"note": "the same with the output that the convolution has"}),
    ],
    "R58": [("", {"note": f"{ALONE}, without its relu"})],
    "R59": [("", {"options": "beta=1", "note": f"{ALONE}, its side input as beta=1"})],
    "R60": [
        ("a", {}),
        ("b", {"x": [100, 2048, 7, 7], "stride": [1, 1], "note": "the second shape; what it leaves open as the first"}),
    ],
    "R65": [("a", {"layout": "NCHW"}), ("b", {"layout": "NHWC", "note": "the same in NHWC"})],
    "R68": [
        ("a", {"options": "beta=1"}),
        ("b", {"expect": None, "note": "the same with beta 0, of which the report does not tell"}),
    ],
    "R74": [("", {
        "expect": "refused", "basis": "reported",
        "reason": "y has 2^31 elements and more, which these versions do not support by their documents",
    })],
    "R75": [("a", {})],
    "R76": [("b", {})],
    "R77": [("", {
        **PLAIN, "x": [100000, 1, 8, 10], "w": [1, 1, 3, 3], "pad": [1, 1],
        "note": "told are the batch and 80 values an item; extents and filter are ours",
    })],
    "R78": [("", {
        **PLAIN, "x": [65536, 3, 5, 5], "w": [3, 3, 3, 3], "pad": [1, 1],
        "note": "told are the batch and 75 values an item; extents and filter are ours",
    })],
    "R79": [("", {
        "x": [65536, 1, 16], "w": [1, 1, 3], "pad": [1], "stride": [1], "dilation": [1], "groups": 1,
        "note": "told is a batch above 65535; all else is ours",
    })],
    "R82": [("", {"expect": None, "note": "no failure of cuDNN is expected, for the framework is suspected too"})],
    "R92": [("a", {}), ("b", {"w": [1, 128, 3, 3], "note": "the same with one output channel"})],
    "R96": [("", {
        "options": "expect=refuse", "expect": "refused", "reason": "cuDNN has no tensors with an extent of 0",
    })],
    "R97": [("", {
        "options": "expect=refuse", "expect": "refused", "reason": "cuDNN has no tensors with an extent of 0",
    })],
    "R104": [("", {
        "x": [1, 4, 6, 6, 6], "w": [4, 4, 3, 3, 3], "pad": [1, 1, 1], "stride": [1, 1, 1], "dilation": [1, 1, 1],
        "groups": 1, "options": "repeat=4", "note": OURS, "expect": "pass",
        "reason": "a plan whose notes say nondeterministic may vary between runs, which is no failure",
    })],
    "R110": [("", {"x": [1, 64, 64000], "note": "the batch is not told, 1 is ours"})],
    "R114": [("", {
        **PLAIN, "x": [65536, 3, 5, 5], "w": [3, 3, 3, 3], "pad": [1, 1], "stride": [2, 2], "dtype": "f32",
        "layout": "NCHW", "note": "read as a batch above 65535 with stride 2; all else is ours",
    })],
    "R123": [
        ("a", {}),
        ("b", {
            "compute": "f16", "kinds": ["status"], "seen": "internal-error",
            "cudnn": "6.0.21 (7.0.5 refuses it)", "refused": "7.0.5",
            "note": "here the variant with f16 as compute type, which the documents exclude",
        }),
    ],
    "R125": [("", {"refused": "7.1.2"})],
    "R126": [("", {
        "layout": "NCDHW", "expect": None,
        "note": "told with explicit strides, which no case has: here they are packed, which is not told as failing",
    })],
    "R129": [
        ("a", {"layout": "NCHW,NHWC,NHWC"}),
        ("b", {"layout": "NCHW", "expect": None, "note": "the same with all tensors in NCHW, not told as failing"}),
    ],
    "R130": [
        ("a", {"layout": "NHWC,NHWC,NCHW"}),
        ("b", {"layout": "NCHW", "expect": None, "note": "the same with all tensors in NCHW, not told as failing"}),
    ],
    "R136": [
        ("a", {}),
        ("b", {"compute": "f32", "expect": None, "note": "the same with f32 as compute type, not told as failing"}),
    ],
    "R137": [
        ("a", {"kinds": ["wrong", "nondet"], "flaky": True}),
        ("b", {"compute": "f32", "expect": None, "note": "the same with f32 as compute type, not told as failing"}),
    ],
    "R139": [("", {"expect": "pass", "reason": "the reference in bf16 was the weak side, not cuDNN"})],
    "R140": [("", {
        **PLAIN, "x": [2, 64, 14, 14], "w": [64, 64, 3, 3], "pad": [1, 1], "note": OURS, "expect": "pass",
        "reason": "TF32 is on by default, and its rounding was taken for a defect",
    })],
    "R141": [
        (letter, {
            **PLAIN, "op": op, "layout": "NCHW", "x": [2, 16, 13, 13], "w": [32, 16, 3, 3], "note": OURS,
            "expect": "pass", "reason": "TF32 rounding was held against a fixed absolute limit",
        })
        for letter, op in [("a", "fprop"), ("b", "dgrad")]
    ],
    "R142": [("", {
        "pad": [1, 1], "note": "the padding is not told, 1 is ours", "expect": "pass",
        "reason": "that TF32 is allowed does not mean that it is used",
    })],
    "R143": [
        (letter, {
            **PLAIN, "x": [2, 64, 28, 28], "w": [64, 64, 3, 3], "pad": [1, 1], "options": f"ws=max:{limit}",
            "note": f"{OURS}, with one of the two limits", "expect": "pass",
            "reason": "more workspace makes TF32 plans eligible, which the default math allows",
        })
        for letter, limit in [("a", "8MiB"), ("b", "256MiB")]
    ],
}

# Why a report is no case, where it is neither its type nor a missing shape alone.
LEFT_OUT = {
    "R50": "batch and extents are missing, and it takes inputs of about 1e35, which no fill has",
    "R62": "the difference is a whole network's; no filter is named",
    "R121": "retained memory, which is not judged; no whole shape is given",
}

FIRST = [
    ("fprop-f32-nchw", "fprop f32 nchw n2 c4 k4 i8x8 f3x3 p1x1"),
    ("dgrad-f32-nchw", "dgrad f32 nchw n2 c4 k4 i8x8 f3x3 p1x1"),
    ("wgrad-f32-nchw", "wgrad f32 nchw n2 c4 k4 i8x8 f3x3 p1x1"),
    ("fprop-f16-nhwc", "fprop f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1"),
    ("dgrad-f16-nhwc", "dgrad f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1"),
    ("wgrad-f16-nhwc", "wgrad f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1"),
    ("fprop-bf16-nhwc-uneven", "fprop bf16 nhwc n1 c8 k8 i7x9 f3x3 p1:0x1 s2x1"),
    ("dgrad-bf16-nhwc-uneven", "dgrad bf16 nhwc n1 c8 k8 i7x9 f3x3 p1:0x1 s2x1"),
    ("wgrad-bf16-nhwc-uneven", "wgrad bf16 nhwc n1 c8 k8 i7x9 f3x3 p1:0x1 s2x1"),
    ("fprop-f64-nchw-dilated", "fprop f64 nchw n1 c2 k2 i9 f4 d2"),
    ("wgrad-f64-nchw-dilated", "wgrad f64 nchw n1 c2 k2 i9 f4 d2"),
    ("fprop-mixed-groups", "fprop f16,f16,f32 nchw,nhwc,nchw n1 c6 k9 g3 i5x6 f2x3"),
    ("dgrad-f32-nchw-3d", "dgrad f32 nchw n1 c4 k6 i4x5x6 f2x3x1 p0x1x0"),
    ("fprop-f16-nhwc-3d", "fprop f16 nhwc n1 c8 k8 i4x5x6 f3x3x3 p1x1x1 tf32=off"),
    ("wgrad-f32-nhwc-scales", "wgrad f32 nhwc n3 c1 k1 i1x7 f1x3 alpha=2 beta=0.5"),
]

REFUSED = [
    ("zero-batch", "fprop f32 nchw n0 c1 k1 i1x1 f1x1 expect=refuse", "a batch of 0"),
    ("zero-channels", "fprop f32 nchw n1 c0 k1 i1x1 f1x1 expect=refuse", "0 input channels"),
    ("fprop-output", "fprop f32 nchw n1 c4 k4 i8x8 f3x3 y=7x6 expect=refuse", "an output of 7x6 instead of 6x6"),
    ("dgrad-output", "dgrad f16 nhwc n2 c8 k8 i9x9 f3x3 y=8x8 expect=refuse", "an output of 8x8 instead of 7x7"),
    ("wgrad-output", "wgrad f32 nchw n2 c4 k8 i10 f3 y=9 expect=refuse", "an output of 9 instead of 8"),
    ("filter-beyond-input", "fprop f32 nchw n1 c1 k1 i2x2 f3x3 y=1x1 expect=refuse", "a filter larger than the input"),
]
