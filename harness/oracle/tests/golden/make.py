"""Makes convolutions.json: expected numbers from onnx's reference evaluator, which knows nothing of convict.

    python3 -m venv venv && venv/bin/pip install onnx numpy && venv/bin/python make.py

Values come from a second writing of the fill formula, so that a change of the formula shows here as well.
dgrad is ConvTranspose; wgrad is Conv of the transposed operands with strides and dilations exchanged, group
by group.
"""

import json
import pathlib

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

WORD = (1 << 64) - 1
GOLDEN, COORDINATE = 0x9E3779B97F4A7C15, 0xD1342543DE82EF95
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
ROLES = "xwy"

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


def mix(z):
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & WORD
    return z ^ z >> 31


def word(seed, tensor, at):
    z = mix(seed ^ (GOLDEN * (tensor + 1)) & WORD)
    for v in at:
        z = mix(z ^ (v * COORDINATE) & WORD)
    return z


def family(operation, role, kind):
    probe = "y" if operation == "dgrad" else "x"
    other = {"onehot": "ramp", "ramp": "int2", "nan": "int2", "sparse": "int2"}
    return kind if role == probe else other.get(kind, kind)


def element(kind, seed, tensor, at, linear, count):
    bits = word(seed, tensor, at)
    integer = [-2, -1, 1, 2][bits >> 62]
    if kind == "int2":
        return integer
    if kind == "int1":
        return 1 if bits >> 63 else -1
    if kind == "tern":
        return ((bits >> 32) * 3 >> 32) - 1
    if kind == "real":
        return (bits >> 40) * 2.0**-23 - 1
    if kind == "index":
        return sum(f * v for f, v in zip((31, 17, 11, 7, 3), at)) % 61 - 30
    if kind == "onehot":
        return int(linear == mix(seed) % count)
    if kind == "ramp":
        return linear % 257 - 128
    if kind == "sparse":
        return integer if bits % 8 == 0 else 0
    raise ValueError(kind)


def read(line):
    words = line.split()
    case = {"operation": words[0], "g": 1, "alpha": 1.0, "beta": 0.0}
    types = words[1].split(",")
    case["types"] = types if len(types) == 3 else types * 3
    for item in words[3:]:
        if "=" in item:
            key, value = item.split("=")
            case[key] = value if key == "fill" else float(value)
        elif item[0] in "nckg":
            case[item[0]] = int(item[1:])
        else:
            case[item[0]] = item[1:].split("x")
    rank = len(case["i"])
    spread = lambda field, default: [v for v in case.get(field, [default])] * (
        rank if len(case.get(field, [default])) == 1 else 1
    )
    case["i"], case["f"] = [int(v) for v in case["i"]], [int(v) for v in case["f"]]
    case["s"], case["d"] = [int(v) for v in spread("s", "1")], [int(v) for v in spread("d", "1")]
    pads = [v.split(":") for v in spread("p", "0")]
    case["before"], case["after"] = [int(v[0]) for v in pads], [int(v[-1]) for v in pads]
    return case


def canonical(line, case):
    """The line with p, s and d written for every axis, as the grammar wants them."""
    words = []
    for item in line.split():
        if item[0] in "psd" and item[1].isdigit() and "x" not in item:
            item = item[0] + "x".join([item[1:]] * len(case["i"]))
        words.append(item)
    return " ".join(words)


def tensor(case, role, shape):
    kind, seed = case["fill"].split(":")
    index = ROLES.index(role)
    kind, values = family(case["operation"], role, kind), np.empty(shape, np.float64)
    for linear, at in enumerate(np.ndindex(*shape)):
        five = (at[0], at[1], *([0] * (5 - len(shape))), *at[2:])
        values[at] = element(kind, int(seed), index, five, linear, values.size)
    return values.astype(TYPES[case["types"][index]]).astype(np.float64)


def run(node, **operands):
    double = lambda name: helper.make_tensor_value_info(name, TensorProto.DOUBLE, None)
    graph = helper.make_graph([node], "one", [double(n) for n in operands], [double("out")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])
    return ReferenceEvaluator(model).run(None, operands)[0]


def fprop(case, x, w, _):
    pads = case["before"] + case["after"]
    attributes = dict(strides=case["s"], dilations=case["d"], group=case["g"], pads=pads)
    return run(helper.make_node("Conv", ["a", "b"], ["out"], **attributes), a=x, b=w)


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
        out = run(node, a=part_y, b=part_w)
        per_group.append(np.pad(out, [(0, 0), (0, 0)] + [(0, g) for g in grown]))
    return np.concatenate(per_group, 1)


def wgrad(case, x, _, y):
    attributes = dict(strides=case["d"], dilations=case["s"], pads=case["before"] + case["after"])
    cut = tuple(slice(0, f) for f in case["f"])
    per_group = []
    for part_x, part_y in zip(np.split(x, case["g"], 1), np.split(y, case["g"], 1)):
        node = helper.make_node("Conv", ["a", "b"], ["out"], **attributes)
        out = run(node, a=part_x.swapaxes(0, 1), b=part_y.swapaxes(0, 1))
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
    flat = lambda values: [v.item() for v in values.ravel()]
    return {
        "case": canonical(line, case),
        "result": flat(result),
        "abs_sum": flat(absolute),
        "products": [round(v) for v in flat(products)],
    }


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(answer(line), separators=(",", ":")) for line in CASES)
    pathlib.Path(__file__).with_name("convolutions.json").write_text(f"[\n{lines}\n]\n")
