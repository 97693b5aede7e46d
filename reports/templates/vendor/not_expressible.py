#!/usr/bin/env python3
"""Stands where a program would stand: this form cannot hold the case."""
# {{ title }}

import sys

print("not applicable:", {{ reason }})
sys.exit(77)
