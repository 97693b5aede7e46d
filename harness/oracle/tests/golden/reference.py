"""What make.py and make_operations.py share: the case line, the fill formula, a run of nodes, the file.

The fill formula is written a second time here, so that a change of it shows in the tests as well.
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


def run(nodes, **operands):
    double = lambda name: helper.make_tensor_value_info(name, TensorProto.DOUBLE, None)
    graph = helper.make_graph(nodes, "some", [double(n) for n in operands], [double("out")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])
    return ReferenceEvaluator(model).run(None, operands)[0]


def row(line, case, result, absolute, products):
    flat = lambda values: [v.item() for v in values.ravel()]
    return {
        "case": canonical(line, case),
        "result": flat(result),
        "abs_sum": flat(absolute),
        "products": [round(v) for v in flat(products)],
    }


def write(name, rows):
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in rows)
    pathlib.Path(__file__).with_name(name).write_text(f"[\n{lines}\n]\n")
