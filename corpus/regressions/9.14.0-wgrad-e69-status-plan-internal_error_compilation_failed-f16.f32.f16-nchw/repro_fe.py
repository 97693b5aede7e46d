#!/usr/bin/env python3
"""One convolution through cudnn-frontend's Python interface (1.32.0), compared with the CPU in double precision.

Needs nvidia-cudnn-frontend, and PyTorch for memory and the reference.
Exit: 1 the bug is present, 0 it is absent, 77 it can't be tried here, 3 something else failed.
A signal or a call that never returns is the bug too where it was seen as such; run it under timeout(1).
"""
# [cuDNN 9.14.0] [wgrad] [unexpected status] [engine 69] on sm_90: f16,f32,f16 nchw n1 c1 k1 i1x1 f1x1
# Case: wgrad f16,f32,f16 nchw n1 c1 k1 i1x1 f1x1 engine=69 set=9.14.0-full
# What was seen: INTERNAL_ERROR_COMPILATION_FAILED (4001) in plan: Encountered runtime kernel compilation failure at: compilationResult != NVRTC_SUCCESS, though the library blames itself (in no list)
# Not run when this was written: a bundle is written without starting Python.
# The engine number belongs to cuDNN 9.14.0; another version numbers them otherwise.

import sys

try:
    import cudnn
    import torch
except ImportError as error:
    print(f"not applicable: {error}")
    sys.exit(77)

OPERATION = "wgrad"
OUTPUT = "w"  # the tensor that the pass writes
DIM = {"x": [1, 1, 1, 1], "w": [1, 1, 1, 1], "y": [1, 1, 1, 1]}
STRIDES = {"x": [1, 1, 1, 1], "w": [1, 1, 1, 1], "y": [1, 1, 1, 1]}  # elements
DTYPE = {"x": torch.float16, "w": torch.float32, "y": torch.float16}
PAD_BEFORE, PAD_AFTER = [0, 0], [0, 0]
STRIDE, DILATION, GROUPS = [1, 1], [1, 1], 1
FILL, SEED = "int2", 1
# An output may be off by BOUND[0] * sum of absolute products + BOUND[1] * |output| + BOUND[2]; all 0: not at all.
BOUND = [0e0, 0e0, 0e0]
KIND = "status"  # what was seen
EXECUTIONS = 10
COMPUTE = cudnn.data_type.FLOAT
FRONTEND_TYPE = {
    torch.float16: cudnn.data_type.HALF,
    torch.bfloat16: cudnn.data_type.BFLOAT16,
    torch.float32: cudnn.data_type.FLOAT,
    torch.float64: cudnn.data_type.DOUBLE,
}
ENGINE, KNOBS = 69, {}  # None: the plan at RANK of the lists in MODES
MODES, RANK = [cudnn.heur_mode.A], 0
STATUS = "CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED"  # the status that should not come back
OUTPUT_BYTE, WORKSPACE_BYTE = 0xFF, 0xFF  # contents before each run
GUARD_BYTES = 4096
# What lies beside the buffers, turn by turn: 0xFF is NaN in every type, so that it shows where a plan reads there.
GUARDS = (0xA5,) if KIND == "nondet" else (0xA5, 0xFF)

# ---- Values: the same as in the run that found the bug ----------------------------------------------------

MASK = (1 << 64) - 1


def signed(value):
    """The 64-bit integer with those bits, as PyTorch holds it."""
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


def shifted(bits, count):
    """Bits moved to the right with zeros from the left; PyTorch itself repeats the sign."""
    return (bits >> count) & ((1 << (64 - count)) - 1)


def mix(bits):
    if isinstance(bits, int):
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & MASK
        return bits ^ (bits >> 31)
    bits = (bits ^ shifted(bits, 30)) * signed(0xBF58476D1CE4E5B9)
    bits = (bits ^ shifted(bits, 27)) * signed(0x94D049BB133111EB)
    return bits ^ shifted(bits, 31)


def spread(dim):
    """The coordinates of every element in five dimensions: the outer two stay in front, axes move to the end."""
    five = list(dim[:2]) + [1] * (5 - len(dim)) + list(dim[2:])
    places = []
    for axis, extent in enumerate(five):
        shape = [1] * 5
        shape[axis] = extent
        places.append(torch.arange(extent, dtype=torch.int64).reshape(shape))
    return five, places


def int2(bits):
    return torch.tensor([-2.0, -1.0, 1.0, 2.0], dtype=torch.float64)[shifted(bits, 62)]


def ramp(linear):
    return (linear % 257 - 128).double()


def values(fill, seed, number, probe, dim):
    """A tensor of doubles by the formula of the fill; number is 0 for x, 1 for w, 2 for y."""
    five, at = spread(dim)
    count = 1
    for extent in five:
        count *= extent
    bits = torch.tensor(signed(mix((seed ^ (0x9E3779B97F4A7C15 * (number + 1))) & MASK)))
    for place in at:
        bits = mix(bits ^ (place * signed(0xD1342543DE82EF95)))
    bits = bits.expand(five)
    linear = torch.arange(count, dtype=torch.int64).reshape(five)
    one_place = linear == mix(seed & MASK) % count
    if fill == "zero":
        made = torch.zeros(five, dtype=torch.float64)
    elif fill == "one":
        made = torch.ones(five, dtype=torch.float64)
    elif fill == "int1":
        made = torch.where(bits < 0, 1.0, -1.0).double()
    elif fill == "tern":
        made = (shifted(shifted(bits, 32) * 3, 32) - 1).double()
    elif fill == "real":
        made = shifted(bits, 40).double() / 8388608 - 1
    elif fill == "index":
        made = ((31 * at[0] + 17 * at[1] + 11 * at[2] + 7 * at[3] + 3 * at[4]) % 61 - 30).double().expand(five)
    elif fill == "onehot":
        made = one_place.double() if probe else ramp(linear)
    elif fill == "ramp":
        made = ramp(linear) if probe else int2(bits)
    elif fill == "sparse":
        made = torch.where((bits & 7) != 0, 0.0, int2(bits)).double() if probe else int2(bits)
    else:
        made = int2(bits)
    return made.reshape(list(dim))


def filled(name):
    """One input, rounded to its type, on the CPU."""
    number = "xwy".index(name)
    probe = name == ("y" if OPERATION == "dgrad" else "x")
    made = values(FILL, SEED, number, probe, DIM[name])
    return made.to(DTYPE[name])


# ---- Reference: the convolution on the CPU in double ------------------------------------------------------


def reference(x, w, y):
    """The right output from doubles; the tensor that the pass writes is not looked at."""
    axes = len(STRIDE)
    around = [pad for pair in reversed(list(zip(PAD_BEFORE, PAD_AFTER))) for pad in pair]
    if OPERATION != "dgrad":
        x = torch.nn.functional.pad(x, around)
    if OPERATION == "fprop":
        convolve = getattr(torch.nn.functional, f"conv{axes}d")
        return convolve(x, w, None, STRIDE, 0, DILATION, GROUPS)
    if OPERATION == "wgrad":
        gradient = getattr(torch.nn.grad, f"conv{axes}d_weight")
        return gradient(x, DIM["w"], y, STRIDE, 0, DILATION, GROUPS)
    gradient = getattr(torch.nn.grad, f"conv{axes}d_input")
    padded = [extent + before + after for extent, before, after in zip(DIM["x"][2:], PAD_BEFORE, PAD_AFTER)]
    whole = gradient(DIM["x"][:2] + padded, w, y, STRIDE, 0, DILATION, GROUPS)
    inner = tuple(slice(before, before + extent) for before, extent in zip(PAD_BEFORE, DIM["x"][2:]))
    return whole[(slice(None), slice(None)) + inner]


def expected(inputs):
    """The right output and what each element may be off by, both doubles."""
    parts = [inputs[name].double() if name in inputs else None for name in "xwy"]
    right = reference(*parts)
    if not any(BOUND):
        return right.to(DTYPE[OUTPUT]).double(), torch.zeros_like(right)
    absolute = reference(*(part.abs() if part is not None else None for part in parts))
    return right, BOUND[0] * absolute + BOUND[1] * right.abs() + BOUND[2]


def wrong(got, right, bound):
    """Elements that are off by more than they may be; NaN counts, the same infinity does not."""
    same = got == right.to(DTYPE[OUTPUT]).double()
    return ~(same | ((got - right).abs() <= bound))


def same_bits(one, other):
    return torch.equal(*(tensor.cpu().contiguous().view(torch.uint8) for tensor in (one, other)))


def show(got, right, bad):
    places = bad.nonzero().tolist()
    for place in places[:8]:
        print(f"  at {place}: got {got[tuple(place)].item()!r}, expected {right[tuple(place)].item()!r}")
    print(f"  {len(places)} of {bad.numel()} outputs are wrong")

# ---- The run ----------------------------------------------------------------------------------------------


class Buffer:
    """Device memory with guard bytes on both sides."""

    def __init__(self, size, byte):
        self.whole = torch.empty(size + 2 * GUARD_BYTES, dtype=torch.uint8, device="cuda")
        self.inner = self.whole[GUARD_BYTES : GUARD_BYTES + size]
        self.sides = (self.whole[:GUARD_BYTES], self.whole[GUARD_BYTES + size :])
        self.inner.fill_(byte)
        self.paint(GUARDS[0])

    def paint(self, guard):
        self.guard = guard
        for side in self.sides:
            side.fill_(guard)

    def broken(self):
        """Guard bytes that changed."""
        return sum(int((side != self.guard).sum()) for side in self.sides)


def placed(name, source=None):
    """A tensor of the case in guarded memory, and the memory."""
    count = 1
    for extent in DIM[name]:
        count *= extent
    buffer = Buffer(count * torch.empty(0, dtype=DTYPE[name]).element_size(), OUTPUT_BYTE)
    tensor = buffer.inner.view(DTYPE[name]).as_strided(DIM[name], STRIDES[name])
    if source is not None:
        tensor.copy_(source)
    return tensor, buffer


def graph_of(handle):
    """The graph; its tensors are known by the numbers 1 x, 2 w, 3 y."""
    graph = cudnn.pygraph(
        handle=handle,
        io_data_type=FRONTEND_TYPE[DTYPE["x"]],
        intermediate_data_type=COMPUTE,
        compute_data_type=COMPUTE,
    )
    given = {
        name: graph.tensor(
            name=name,
            dim=DIM[name],
            stride=STRIDES[name],
            data_type=FRONTEND_TYPE[DTYPE[name]],
            uid="xwy".index(name) + 1,
        )
        for name in "xwy"
        if name != OUTPUT
    }
    options = dict(
        pre_padding=PAD_BEFORE,
        post_padding=PAD_AFTER,
        stride=STRIDE,
        dilation=DILATION,
        compute_data_type=COMPUTE,
    )
    if OPERATION == "fprop":
        made = graph.conv_fprop(image=given["x"], weight=given["w"], **options)
    elif OPERATION == "dgrad":
        made = graph.conv_dgrad(loss=given["y"], filter=given["w"], **options)
    else:
        made = graph.conv_wgrad(image=given["x"], loss=given["y"], **options)
    made.set_output(True).set_dim(DIM[OUTPUT]).set_stride(STRIDES[OUTPUT])
    made.set_data_type(FRONTEND_TYPE[DTYPE[OUTPUT]]).set_uid("xwy".index(OUTPUT) + 1)
    return graph


def plan(graph):
    """Builds the plan of the case and returns its place in the graph's list."""
    graph.validate()
    graph.build_operation_graph()
    if ENGINE is None:
        graph.create_execution_plans(MODES)
        index = RANK
    else:
        knobs = {getattr(cudnn.knob_type, name): value for name, value in KNOBS.items()}
        graph.create_execution_plan(ENGINE, knobs)
        index = graph.get_execution_plan_count() - 1
    graph.build_plan_at_index(index)
    print(f"plan {graph.get_plan_name_at_index(index)}")
    return index


def run_once(run, graph, index, handle, tensors, workspace):
    for buffer in (workspace, *(buffer for _, buffer in tensors.values())):
        buffer.paint(GUARDS[run % len(GUARDS)])
    tensors[OUTPUT][1].inner.fill_(OUTPUT_BYTE)
    workspace.inner.fill_(WORKSPACE_BYTE)
    pack = {"xwy".index(name) + 1: tensor for name, (tensor, _) in tensors.items()}
    graph.execute_plan_at_index(pack, workspace.inner, index, handle)
    torch.cuda.synchronize()


def main():
    if not torch.cuda.is_available():
        print("not applicable: PyTorch finds no GPU")
        return 77
    print(f"cudnn-frontend {cudnn.__version__}, cuDNN {cudnn.backend_version()}, {torch.cuda.get_device_name()}")
    handle = cudnn.create_handle()
    cudnn.set_stream(handle=handle, stream=torch.cuda.current_stream().cuda_stream)
    graph = graph_of(handle)
    index = plan(graph)
    inputs = {name: filled(name) for name in "xwy" if name != OUTPUT}
    tensors = {name: placed(name, inputs.get(name)) for name in "xwy"}
    workspace = Buffer(graph.get_workspace_size_plan_at_index(index), WORKSPACE_BYTE)
    right, bound = expected(inputs) if KIND in ("wrong", "inexact") else (None, None)
    first = None
    for run in range(EXECUTIONS):
        run_once(run, graph, index, handle, tensors, workspace)
        got = tensors[OUTPUT][0].cpu()
        first = got if first is None else first
        shown = beside(tensors, workspace) or look(got, first, inputs, tensors, (right, bound))
        if shown:
            print(f"BUG PRESENT: run {run}: {shown}")
            return 1
    print(f"bug absent in {EXECUTIONS} runs")
    return 0


def beside(tensors, workspace):
    """What changed outside the buffers, in words; empty where nothing did."""
    if KIND != "oob":
        return ""
    broken = workspace.broken() + sum(buffer.broken() for _, buffer in tensors.values())
    return f"{broken} bytes beside the buffers changed" if broken else ""


def look(got, first, inputs, tensors, judged):
    """What one run shows, in words; empty where it is as it should be."""
    if KIND == "accepted":
        return "a case that had to be refused was computed"
    if KIND == "nondet" and not same_bits(got, first):
        return "other bits than run 0"
    if KIND == "input" and any(not torch.equal(tensors[name][0].cpu(), inputs[name]) for name in inputs):
        return "an input changed"
    if KIND in ("wrong", "inexact"):
        bad = wrong(got.double(), *judged)
        if bad.any():
            show(got.double(), judged[0], bad)
            return "the result is wrong"
    return ""


if __name__ == "__main__":
    try:
        code = main()
    except Exception as error:  # the fault may surface in any call
        print(f"{type(error).__name__}: {error}")
        status = KIND == "status" and STATUS in str(error)
        gone = KIND == "device" and "CUDA" in str(error)
        # An engine asked for by number is declined as a plain error with the status in its text.
        declined = isinstance(error, cudnn.cudnnGraphNotSupportedError) or "CUDNN_STATUS_NOT_SUPPORTED" in str(error)
        if status or gone:
            print("BUG PRESENT: a status or CUDA error that should not come")
        else:
            print("not applicable: this cuDNN declines the case" if declined else "another failure")
        code = 1 if status or gone else 77 if declined else 3
    sys.exit(code)
