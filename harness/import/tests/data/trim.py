#!/usr/bin/env python3
"""Trims a cuDNN log to the calls that a test needs: trim.py LOG > TRIMMED. Drops what names the machine."""
import re
import sys

KEEP = ("cudnnBackendExecute()", "cudnnBackendExecuteInternal()", "cudnnConvolution")
FINALIZE = re.compile(r"cudnnBackendFinalize\(\).*\n.*type=CUDNN_BACKEND_(EXECUTION_PLAN|OPERATIONGRAPH)_DESCRIPTOR")
# Told of the device or of addresses, never read.
DROP = re.compile(r"^i! {5,}(deviceName|cudaDeviceId|deviceVer|multiProcessorCount|driverVer|maxShared\w+|totalGlobal\w+"
                  r"|deviceProp|handle|streamId|alignmentInBytes|isByVal|target_sm_count|behaviorNotes|Uid=\w+|Workspace"
                  r"|numericalNotes|CUDNN_\w+_NOTE_\w+)\b.*\n", re.M)

seen = {}
for entry in re.split(r"\n{2,}", open(sys.argv[1]).read()):
    head = entry.split("\n", 1)[0]
    if FINALIZE.search(entry):
        kind = FINALIZE.search(entry).group(1)
        seen[kind] = seen.get(kind, 0) + 1
        wanted = seen[kind] <= 3
    else:
        wanted = any(name in head for name in KEEP)
    # A few of the calls that say nothing of convolutions stay, so that the test passes over some.
    seen[head] = seen.get(head, 0) + 1
    if (wanted or seen[head] <= 2) and "Visualize" not in head and "cudnnSetStream" not in head:
        entry = re.sub(r"(Thread=\d+; ).*", r"\1GPU=0.", entry)
        print(DROP.sub("", entry + "\n"))
