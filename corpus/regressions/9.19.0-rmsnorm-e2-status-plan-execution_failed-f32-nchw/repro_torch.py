#!/usr/bin/env python3
"""Stands where a program would stand: this form cannot hold the case."""
# [cuDNN 9.19.0] [rmsnorm] [unexpected status] [engine 2] on sm_90: f32 nchw n1 c1

import sys

print("not applicable:", "this program is written for convolutions only")
sys.exit(77)
