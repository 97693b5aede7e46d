#!/usr/bin/env python3
"""One convolution through cudnn-frontend's Python interface (1.32.0), compared with the CPU in double precision.

Needs nvidia-cudnn-frontend, and PyTorch for memory and the reference.
Exit: 1 the bug is present, 0 it is absent, 77 it can't be tried here, 3 something else failed.
A signal or a call that never returns is the bug too where it was seen as such; run it under timeout(1).
"""
# {{ title }}
# Case: {{ case }}
# What was seen: {{ summary }}
# Not run when this was written: a bundle is written without starting Python.
# The engine number belongs to cuDNN {{ cudnn }}; another version numbers them otherwise.

import sys

try:
    import cudnn
    import torch
except ImportError as error:
    print(f"not applicable: {error}")
    sys.exit(77)

{% include "case.py" %}
COMPUTE = cudnn.data_type.{{ compute }}
FRONTEND_TYPE = {
    torch.float16: cudnn.data_type.HALF,
    torch.bfloat16: cudnn.data_type.BFLOAT16,
    torch.float32: cudnn.data_type.FLOAT,
    torch.float64: cudnn.data_type.DOUBLE,
}
ENGINE, KNOBS = {{ engine }}, {{ knobs }}  # None: the plan at RANK of the lists in MODES
MODES, RANK = {{ modes }}, {{ rank }}
STATUS = {{ status }}  # the status that should not come back
OUTPUT_BYTE, WORKSPACE_BYTE = {{ output_byte }}, {{ workspace_byte }}  # contents before each run
GUARD_BYTES = 4096
# What lies beside the buffers, turn by turn: 0xFF is NaN in every type, so that it shows where a plan reads there.
GUARDS = (0xA5,) if KIND == "nondet" else (0xA5, 0xFF)

{% include "values.py" %}

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
