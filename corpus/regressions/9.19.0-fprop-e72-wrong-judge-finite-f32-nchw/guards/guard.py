"""Tells whether a convolution lies where a failure of cuDNN was seen. Knows nothing of cuDNN's interface."""
# [cuDNN 9.19.0] [fprop] [wrong result] [engine 72] on sm_90: f32 nchw n1 c4 k1 i2x2 f1x1 s1x9
# Conditions: the whole pass is blocked for x f32, w f32, y f32, compute f32; guess, random cases contradict it: n * input[-2] >= 2 and stride[-2] != 2 and input[-1] != 11 and input[-2] != 66 and stride[-2] mod 8 != 3 and stride[-1] mod 8 != 0 and axes = 2 (10 of 12 inside failed, 6 of 11 outside)
# Use: fill a Convolution before a plan is chosen; where avoid() is true, take another engine than 72.

from dataclasses import dataclass
from typing import Tuple

# Version of cuDNN in which it was seen, as torch.backends.cudnn.version() returns it.
SEEN_VERSION = 91900
MOST = (1 << 63) - 1


@dataclass
class Convolution:
    """A convolution by its forward problem. Tuples begin with the innermost axis (width)."""

    operation: str  # "fprop", "dgrad" or "wgrad"
    n: int
    c: int
    k: int
    groups: int
    input: Tuple[int, ...]
    filter: Tuple[int, ...]
    pad_before: Tuple[int, ...]
    pad_after: Tuple[int, ...]
    stride: Tuple[int, ...]
    dilation: Tuple[int, ...]
    dtype_x: str = "f32"  # f32 f64 f16 bf16
    dtype_w: str = "f32"
    dtype_y: str = "f32"
    compute: str = "f32"
    layout_x: str = "nchw"  # nchw nhwc
    layout_w: str = "nchw"
    layout_y: str = "nchw"
    alpha: float = 1.0
    beta: float = 0.0
    workspace_alignment: int = 256  # bytes

    @property
    def axes(self):
        return len(self.input)


def product(factors):
    whole = 1
    for factor in factors:
        whole = min(whole * factor, MOST)
    return whole


def per_group(channels, groups):
    return channels // max(groups, 1)


def output(c, axis):
    span = (c.filter[axis] - 1) * c.dilation[axis] + 1
    padded = c.input[axis] + c.pad_before[axis] + c.pad_after[axis]
    return 0 if c.stride[axis] < 1 or padded < span else (padded - span) // c.stride[axis] + 1


def elements(c, tensor):
    if tensor == "w":
        return product([c.k, per_group(c.c, c.groups), *c.filter])
    if tensor == "x":
        return product([c.n, c.c, *c.input])
    return product([c.n, c.k, *(output(c, axis) for axis in range(c.axes))])


def bytes_of(c, tensor):
    dtype = {"x": c.dtype_x, "w": c.dtype_w, "y": c.dtype_y}[tensor]
    return product([elements(c, tensor), {"f64": 8, "f32": 4}.get(dtype, 2)])


def avoid(c, cudnn_version):
    """True where it is to be avoided: this pass, this version, and every condition."""
    return all_of(
        lambda: cudnn_version == SEEN_VERSION,
        lambda: c.operation == "fprop",
        lambda: c.dtype_x in ["f32"],
        lambda: c.dtype_w in ["f32"],
        lambda: c.dtype_y in ["f32"],
        lambda: c.compute in ["f32"],
    )


def all_of(*conditions):
    return all(condition() for condition in conditions)
