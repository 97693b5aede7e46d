"""Makes convolutions.json: expected numbers from onnx's reference evaluator, which knows nothing of convict.

    python3 -m venv venv && venv/bin/pip install onnx numpy && venv/bin/python make.py

dgrad is ConvTranspose; wgrad is Conv of the transposed operands with strides and dilations exchanged, group
by group.
"""

import numpy as np
from onnx import helper

from reference import ROLES, read, row, run, tensor, write

CASES = [
    "fprop f32 nchw n2 c3 k4 i5x6 f3x3 p1 fill=int2:1",
    "fprop f32 nchw n2 c3 k4 i5x6 f3x3 p1 fill=real:3",
    "fprop f16 nhwc n1 c4 k6 g2 i7x5 f3x2 p1:0x2:1 s2x1 d1x2 fill=int2:2",
    "fprop bf16 nchw n2 c2 k3 i9 f4 p2:1 s2 d2 fill=real:4",
    "fprop f64 nchw n1 c2 k2 i3x4x5 f2x3x2 p0x1x1 s1x2x2 fill=real:5",
    "fprop f16 nhwc n1 c2 k2 g2 i4x4x3 f2x2x3 p1 d2x1x1 fill=index:6",
    "fprop f32 nhwc n1 c3 k3 g3 i6x6 f3x3 s2 fill=int2:7 alpha=2 beta=-0.5",
    "fprop f32 nchw n1 c1 k2 i4x4 f3x3 p1 fill=onehot:7",
    "fprop f32 nchw n1 c2 k2 i2x2 f1x1 p2 fill=ramp:1",
    "fprop f16,f32,f16 nchw n1 c2 k2 i5 f2 fill=real:9",
    "dgrad f32 nchw n2 c3 k4 i5x6 f3x3 p1 fill=int2:1",
    "dgrad f32 nchw n1 c4 k6 g2 i8x7 f3x2 p1:2x0:1 s3x2 fill=real:3",
    "dgrad f16 nhwc n1 c3 k2 i5x5 f1x1 s2 fill=int2:2",
    "dgrad bf16 nchw n2 c2 k2 i9 f3 p1:2 s2 d3 fill=tern:3",
    "dgrad f64 nhwc n1 c2 k4 g2 i4x3x6 f2x1x3 p1x0x1 s2x1x2 d1x1x2 fill=real:8",
    "dgrad f32 nchw n1 c2 k3 i6x6 f3x3 p1 s2 fill=int1:4 alpha=0.5 beta=1",
    "dgrad f32 nchw n1 c2 k2 i4x4 f2x2 fill=onehot:3",
    "wgrad f32 nchw n2 c3 k4 i5x6 f3x3 p1 fill=int2:1",
    "wgrad f32 nhwc n3 c4 k4 g2 i7x8 f3x2 p1:0x0:2 s2x3 fill=real:3",
    "wgrad f16 nhwc n2 c2 k2 i6x6 f2x2 p1 d2x3 fill=int2:5",
    "wgrad bf16 nchw n2 c2 k3 i9 f3 p2 s2 d2 fill=real:2",
    "wgrad f64 nchw n2 c2 k2 g2 i4x3x5 f2x2x3 p1 s1x2x1 fill=int2:3",
    "wgrad f32 nchw n2 c1 k2 i4x4 f3x3 p1 s2 fill=sparse:3 alpha=-4 beta=2",
    "wgrad f32 nchw n1 c2 k2 i5x5 f3x3 fill=ramp:2",
]


def fprop(case, x, w, _):
    pads = case["before"] + case["after"]
    attributes = dict(strides=case["s"], dilations=case["d"], group=case["g"], pads=pads)
    return run([helper.make_node("Conv", ["a", "b"], ["out"], **attributes)], a=x, b=w)


def dgrad(case, _, w, y):
    remainder = [
        i - ((o - 1) * s + (f - 1) * d + 1 - before - after)
        for i, o, s, f, d, before, after in zip(
            case["i"], y.shape[2:], case["s"], case["f"], case["d"], case["before"], case["after"]
        )
    ]
    # Rows of x that no tap reaches lie at its end: a longer transposed convolution, cut by smaller pads.
    after = [a - r for a, r in zip(case["after"], remainder)]
    grown = [max(0, -a) for a in after]
    pads = case["before"] + [max(0, a) for a in after]
    attributes = dict(strides=case["s"], dilations=case["d"], pads=pads)
    per_group = []
    for part_y, part_w in zip(np.split(y, case["g"], 1), np.split(w, case["g"], 0)):
        node = helper.make_node("ConvTranspose", ["a", "b"], ["out"], **attributes)
        out = run([node], a=part_y, b=part_w)
        per_group.append(np.pad(out, [(0, 0), (0, 0)] + [(0, g) for g in grown]))
    return np.concatenate(per_group, 1)


def wgrad(case, x, _, y):
    attributes = dict(strides=case["d"], dilations=case["s"], pads=case["before"] + case["after"])
    cut = tuple(slice(0, f) for f in case["f"])
    per_group = []
    for part_x, part_y in zip(np.split(x, case["g"], 1), np.split(y, case["g"], 1)):
        node = helper.make_node("Conv", ["a", "b"], ["out"], **attributes)
        out = run([node], a=part_x.swapaxes(0, 1), b=part_y.swapaxes(0, 1))
        per_group.append(out.swapaxes(0, 1)[(slice(None), slice(None), *cut)])
    return np.concatenate(per_group, 0)


def answer(line):
    case = read(line)
    response = [
        (i + before + after - (f - 1) * d - 1) // s + 1
        for i, before, after, f, d, s in zip(*(case[key] for key in ("i", "before", "after", "f", "d", "s")))
    ]
    shapes = {
        "x": (case["n"], case["c"], *case["i"]),
        "w": (case["k"], case["c"] // case["g"], *case["f"]),
        "y": (case["n"], case["k"], *response),
    }
    x, w, y = (tensor(case, role, shapes[role]) for role in ROLES)
    convolve, output = {"fprop": (fprop, y), "dgrad": (dgrad, x), "wgrad": (wgrad, w)}[case["operation"]]
    ones = [np.ones_like(t) for t in (x, w, y)]
    result = case["alpha"] * convolve(case, x, w, y) + case["beta"] * output
    absolute = abs(case["alpha"]) * convolve(case, abs(x), abs(w), abs(y)) + abs(case["beta"] * output)
    products = convolve(case, *ones)
    assert result.shape == output.shape, (line, result.shape, output.shape)
    return row(line, case, result, absolute, products)


if __name__ == "__main__":
    write("convolutions.json", map(answer, CASES))
