#!/bin/sh
# Exit 1 where the kernel's log tells of a GPU that must not get the next job. As root: Slurm's Epilog (a node whose
# epilog fails is drained by itself) or HealthCheckProgram, the job-started hook of a GitHub runner, a GitLab runner's
# pre_get_sources_script, a check of Kubernetes' node-problem-detector.
#
# Not every Xid is the GPU's fault: 13, 31, 43 and 45 are what a wrong kernel does, and a hunt is after those.
# These say that the device, its memory, its link or its firmware is in trouble until somebody has looked:
#   46 stopped  48 double-bit error  62 microcontroller  64 remapping failed  74 NVLink  79 off the bus
#   95 uncontained error  119 120 firmware  140 uncorrected error  143 initialization  154 recovery needed
sick='46|48|62|64|74|79|95|119|120|140|143|154'
log=$(dmesg) || exit 0 # who may not read the log drains nothing
found=$(printf '%s\n' "$log" | grep -E "NVRM: Xid \(.*\): ($sick)," | tail -n 1)
[ -z "$found" ] || { echo "GPU in trouble: $found"; exit 1; }
