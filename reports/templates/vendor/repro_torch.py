#!/usr/bin/env python3
"""One convolution through PyTorch, compared with the CPU in double precision.

Exit: 1 the bug is present, 0 it is absent, 77 it can't be tried here, 3 something else failed.
A signal or a call that never returns is the bug too where it was seen as such; run it under timeout(1).
"""
# {{ title }}
# Case: {{ case }}
# What was seen: {{ summary }}
# Not run when this was written: a bundle is written without starting Python. PyTorch chooses the plan: with
# benchmark off the first of heuristics that works, with benchmark on the fastest. Another plan than the failing one
# makes the bug absent.
# Workspace and the output's prior contents are PyTorch's too; memory is soiled with NaN beforehand.

import sys

try:
    import torch
except ImportError as error:
    print(f"not applicable: {error}")
    sys.exit(77)

{% include "case.py" %}
TF32 = {{ tf32 }}  # whether the failing plan may round f32 to TF32
CHANNELS_LAST = {{ channels_last }}

{% include "values.py" %}

# ---- The run ----------------------------------------------------------------------------------------------


def on_device(tensor):
    if CHANNELS_LAST:
        order = torch.channels_last_3d if tensor.dim() == 5 else torch.channels_last
        return tensor.cuda().contiguous(memory_format=order)
    return tensor.cuda()


def soil():
    """Leaves NaN in a block of the output's size, which the allocator is likely to hand out next."""
    block = torch.full(DIM[OUTPUT], float("nan"), dtype=DTYPE[OUTPUT], device="cuda")
    del block


def convolve(x, w, y):
    axes = len(STRIDE)
    if OPERATION == "fprop":
        operation = getattr(torch.nn.functional, f"conv{axes}d")
        return operation(x, w, None, STRIDE, PAD_BEFORE, DILATION, GROUPS)
    wanted = [OPERATION == "dgrad", OPERATION == "wgrad", False]
    gradients = torch.ops.aten.convolution_backward(
        y, x, w, None, STRIDE, PAD_BEFORE, DILATION, False, [0] * axes, GROUPS, wanted
    )
    return gradients[0 if OPERATION == "dgrad" else 1]


def backend(x, w):
    """Which implementation PyTorch takes; empty where this version does not tell."""
    select = getattr(torch._C, "_select_conv_backend", None)
    if select is None:
        return ""
    return str(select(x, w, None, STRIDE, PAD_BEFORE, DILATION, False, [0] * len(STRIDE), GROUPS))


def attempt(inputs, tensors, right, bound, benchmark):
    """True where the bug shows with this setting."""
    torch.backends.cudnn.benchmark = benchmark
    before = {name: tensors[name].clone() for name in inputs}
    first = None
    for run in range(EXECUTIONS):
        soil()
        got = convolve(*(tensors[name] for name in "xwy"))
        torch.cuda.synchronize()
        if KIND == "input" and any(not torch.equal(tensors[name], before[name]) for name in inputs):
            print(f"benchmark={benchmark}, run {run}: an input changed")
            return True
        first = got.clone() if first is None else first
        if KIND == "nondet" and not same_bits(got, first):
            print(f"benchmark={benchmark}, run {run}: other bits than run 0")
            return True
        got = got.cpu().double()
        bad = wrong(got, right, bound)
        if KIND in ("wrong", "inexact") and bad.any():
            print(f"benchmark={benchmark}, run {run}:")
            show(got, right, bad)
            return True
    print(f"benchmark={benchmark}: absent in {EXECUTIONS} runs")
    return False


def main():
    if not torch.cuda.is_available():
        print("not applicable: PyTorch finds no GPU")
        return 77
    if not torch.backends.cudnn.is_available():
        print("not applicable: this PyTorch has no cuDNN")
        return 77
    print(f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}, {torch.cuda.get_device_name()}")
    torch.backends.cudnn.allow_tf32 = TF32
    inputs = {name: filled(name) for name in "xwy" if name != OUTPUT}
    right, bound = expected(inputs)
    tensors = {name: on_device(tensor) for name, tensor in inputs.items()}
    tensors[OUTPUT] = on_device(torch.zeros(DIM[OUTPUT], dtype=DTYPE[OUTPUT]))
    taken = backend(tensors["x"], tensors["w"])
    print(f"PyTorch takes: {taken or 'not told by this version'}")
    if taken and "udnn" not in taken:
        print("not applicable: PyTorch does not send this convolution to cuDNN")
        return 77
    shown = [attempt(inputs, tensors, right, bound, benchmark) for benchmark in (False, True)]
    print("BUG PRESENT" if any(shown) else "bug absent")
    return 1 if any(shown) else 0


if __name__ == "__main__":
    try:
        code = main()
    except Exception as error:  # the fault may surface in any call
        print(f"{type(error).__name__}: {error}")
        gone = KIND == "device" and "CUDA" in str(error)
        print("BUG PRESENT: a CUDA error after calls that succeeded" if gone else "another failure")
        code = 1 if gone else 3
    sys.exit(code)
