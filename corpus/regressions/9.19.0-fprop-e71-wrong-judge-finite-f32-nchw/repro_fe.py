#!/usr/bin/env python3
"""Stands where a program would stand: this form cannot hold the case."""
# [cuDNN 9.19.0] [fprop] [wrong result] [engine 71] on sm_90: f32 nchw n1 c1 k1 i1 f1

import sys

print("not applicable:", "cudnn-frontend's convolutions have alpha 1 and beta 0; the case has 2 and 0")
sys.exit(77)
