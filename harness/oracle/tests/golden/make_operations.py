"""Makes operations.json: pooling, products of matrices and normalization by onnx's reference evaluator.

    venv/bin/python make_operations.py, with the environment that make.py asks for

The sum of absolute products is the largest magnitude of a window for maxpool, and the magnitude of the result for
rmsnorm.
"""

import math

import numpy as np
from onnx import helper

import reference
from reference import row, run, tensor, write

EPSILON = 2.0**-17

CASES = [
    "maxpool f32 nchw n2 c3 i5x6 f3x3 p1 s2 fill=int2:1",
    "maxpool f16 nhwc n1 c4 i9 f4 p2:1 s3 fill=real:3",
    "maxpool f64 nchw n1 c2 i3x4x5 f2x3x2 p0x1x1 s1x2x2 fill=real:5",
    "maxpool bf16 nchw n2 c2 i6x6 f2x3 fill=ramp:2",
    "maxpool f32 nhwc n1 c2 i4x4 f2x2 s3 fill=sparse:4",
    "avgpool f32 nchw n2 c3 i5x6 f2x2 p1 s1x2 fill=int2:1",
    "avgpool f32 nchw n2 c3 i5x6 f3x3 p1 fill=real:3",
    "avgpool f16 nhwc n1 c5 i8 f5 p2:4 s2 fill=int1:2",
    "avgpool f64 nhwc n2 c2 i4x3x4 f3x1x2 p1x0x1 s2x1x1 fill=index:6",
    "matmul f32 m3 n4 k5 fill=int2:1",
    "matmul f16,f16,f32 row,col,row b3 m5 n2 k9 fill=int2:2",
    "matmul f64 col b2 m4 n3 k17 fill=real:3",
    "matmul bf16 m1 n1 k33 fill=tern:4",
    "matmul f32 b2 m2 n3 k4 fill=onehot:7",
    "rmsnorm f32 nchw n3 c7 fill=int2:1",
    "rmsnorm f64 nhwc n2 c33 fill=real:3",
    "rmsnorm f16,bf16,f16 nchw n1 c64 fill=ramp:2",
    "rmsnorm f32 nhwc n4 c1 fill=int1:5",
]


def read(line):
    """The line with the two words that it may leave out, as a convolution has them."""
    words = line.split()
    if words[0] != "matmul":
        words.insert(3, "k1")
        if words[0] == "rmsnorm":
            words.insert(3, "i1x1")
            words.insert(3, "f1x1")
        return reference.read(" ".join(words))
    types = words[1].split(",")
    case = {"operation": words[0], "types": types if len(types) == 3 else types * 3, "b": 1}
    for item in words[2:]:
        if "=" in item:
            case["fill"] = item.split("=")[1]
        elif item[1:].isdigit():
            case[item[0]] = int(item[1:])
    return case


def pool(case, node, x, **more):
    attributes = dict(kernel_shape=case["f"], strides=case["s"], pads=case["before"] + case["after"], **more)
    return run([helper.make_node(node, ["x"], ["out"], **attributes)], x=x)


def pooling(case):
    x = tensor(case, "x", (case["n"], case["c"], *case["i"]))
    met = pool(case, "AveragePool", np.ones_like(x), count_include_pad=1) * math.prod(case["f"])
    if case["operation"] == "maxpool":
        return pool(case, "MaxPool", x), pool(case, "MaxPool", abs(x)), met
    mean = lambda values: pool(case, "AveragePool", values, count_include_pad=1)
    return mean(x), mean(abs(x)), met


def matmul(case):
    b, m, n, k = (case[letter] for letter in "bmnk")
    x, w = tensor(case, "x", (b, m, k)), tensor(case, "w", (b, k, n))
    product = lambda x, w: run([helper.make_node("MatMul", ["x", "w"], ["out"])], x=x, w=w)
    return product(x, w), product(abs(x), abs(w)), product(np.ones_like(x), np.ones_like(w))


def rmsnorm(case):
    n, c = case["n"], case["c"]
    x, w = tensor(case, "x", (n, c, 1, 1)), tensor(case, "w", (1, c, 1, 1))
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["squares"]),
        helper.make_node("ReduceMean", ["squares", "axes"], ["mean"]),
        helper.make_node("Add", ["mean", "epsilon"], ["shifted"]),
        helper.make_node("Sqrt", ["shifted"], ["root"]),
        helper.make_node("Div", ["x", "root"], ["plain"]),
        helper.make_node("Mul", ["plain", "w"], ["out"]),
    ]
    result = run(nodes, x=x, w=w, axes=np.array([1]), epsilon=np.array(EPSILON))
    return result, abs(result), np.full_like(result, c)


def answer(line):
    case = read(line)
    by_name = {"maxpool": pooling, "avgpool": pooling, "matmul": matmul, "rmsnorm": rmsnorm}
    result, absolute, products = by_name[case["operation"]](case)
    return row(line, case, result, absolute, products)


if __name__ == "__main__":
    write("operations.json", map(answer, CASES))
