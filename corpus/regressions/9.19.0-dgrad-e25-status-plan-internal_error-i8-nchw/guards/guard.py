"""Tells whether a convolution lies where a failure of cuDNN was seen. Knows nothing of cuDNN's interface."""
# [cuDNN 9.19.0] [dgrad] [unexpected status] [engine 25] on sm_90: i8 nchw n1 c1 k1 i1x1x1 f1x1x1
# Conditions: dtype(x) in {i8} (29 of 29 inside failed, 0 of 19 outside)
# Use: fill a Convolution before a plan is chosen; where avoid() is true, take another engine than 25.

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
        lambda: c.operation == "dgrad",
        lambda: c.dtype_x in ["i8"],
    )


def all_of(*conditions):
    return all(condition() for condition in conditions)
