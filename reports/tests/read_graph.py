#!/usr/bin/env python3
"""Has NVIDIA's cudnn-frontend read graph files and build the same graphs by itself. Knows nothing of convict.

Usage: read_graph.py PROPERTIES GRAPH.json...

Needs nvidia-cudnn-frontend and a cuDNN that it finds, but no GPU: PROPERTIES are a device's properties as cuDNN's JSON.
What is kept in data/frontend-1.32.0.jsonl came from the wheel of that version for CPython 3.11 on x86-64 Linux, sha256
c6006556017a4d1c914c52a556c71b1267f2d6a0500f742e7b4edef539878df0, on cuDNN 9.19.0.56 (tests/e2e/frontend.sh).
For each file prints one line: the graph as the frontend writes it when it builds it call by call, without its number.
Exit: 0 every graph was read back as it was written and is what the frontend builds, 1 one is not, 77 no frontend here.
"""

import json
import sys

try:
    import cudnn
except ImportError as error:
    print(f"not applicable: {error}", file=sys.stderr)
    sys.exit(77)

BUILDERS = {
    "CONV_FPROP": ("conv_fprop", {"X": "image", "W": "weight"}),
    "CONV_DGRAD": ("conv_dgrad", {"DY": "loss", "W": "filter"}),
    "CONV_WGRAD": ("conv_wgrad", {"X": "image", "DY": "loss"}),
}


def data_type(name):
    return getattr(cudnn.data_type, name)


def build(wanted, properties):
    """The same graph through the frontend's own calls."""
    context, (node,) = wanted["context"], wanted["nodes"]
    tensors = {tensor["uid"]: tensor for tensor in wanted["tensors"]}
    graph = cudnn.pygraph(
        name="",
        io_data_type=data_type(context["io_data_type"]),
        intermediate_data_type=data_type(context["intermediate_data_type"]),
        compute_data_type=data_type(context["compute_data_type"]),
        device_property=properties,
    )
    method, ports = BUILDERS[node["tag"]]
    given = {}
    for port, uid in node["inputs"].items():
        tensor = tensors[uid]
        given[ports[port]] = graph.tensor(
            name=tensor["name"],
            dim=tensor["dim"],
            stride=tensor["stride"],
            data_type=data_type(tensor["data_type"]),
            uid=uid,
        )
    options = {name: node[name] for name in ("pre_padding", "post_padding", "stride", "dilation", "name")}
    made = getattr(graph, method)(**given, **options, compute_data_type=data_type(node["compute_data_type"]))
    (uid,) = node["outputs"].values()
    tensor = tensors[uid]
    made.set_output(True).set_dim(tensor["dim"]).set_stride(tensor["stride"]).set_name(tensor["name"])
    made.set_data_type(data_type(tensor["data_type"])).set_uid(uid)
    graph.validate()
    return json.loads(str(graph))


def read(text, properties):
    graph = cudnn.pygraph(device_property=properties)
    graph.deserialize(text)
    return json.loads(str(graph))


def plain(graph):
    """Without what differs from graph to graph or with the library: its number and the library's version."""
    return {key: value for key, value in graph.items() if key not in ("gid", "cudnn_backend_version")}


def main(properties, paths):
    with open(properties, encoding="utf-8") as file:
        properties = cudnn.create_device_properties(file.read().strip())
    code = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        wanted, seen, built = plain(json.loads(text)), plain(read(text, properties)), None
        built = plain(build(json.loads(text), properties))
        print(json.dumps(built))
        for what, graph in (("read back", seen), ("built by its calls", built)):
            if graph != wanted:
                print(f"{path}: {what} it is another graph: {json.dumps(graph)}", file=sys.stderr)
                code = 1
    return code


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
