#!/usr/bin/env python3
"""Stands where a program would stand: this form cannot hold the case."""
# [cuDNN 9.19.0] [maxpool] [out-of-bounds write] [engine 3] on sm_90: bf16 nchw n1 c1 i1x1 f1x1

import sys

print("not applicable:", "this program is written for convolutions only")
sys.exit(77)
