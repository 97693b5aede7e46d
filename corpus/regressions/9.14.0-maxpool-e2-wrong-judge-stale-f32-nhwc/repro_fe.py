#!/usr/bin/env python3
"""Stands where a program would stand: this form cannot hold the case."""
# [cuDNN 9.14.0] [maxpool] [wrong result] [engine 2] on sm_90: f32 nhwc n1 c1 i2 f1

import sys

print("not applicable:", "this form is written for convolutions only, and the case is maxpool")
sys.exit(77)
