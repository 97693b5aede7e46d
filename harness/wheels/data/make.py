#!/usr/bin/env python3
"""Writes published.tsv anew from the package index: which wheels of cuDNN 9 and of its companions are published for
x86-64 Linux, with sizes and hashes. Needs a network; downloads no wheel."""

import json
import pathlib
import re
import urllib.request

INDEX = "https://pypi.org/simple/{}/"
KIND = "application/vnd.pypi.simple.v1+json"

# Package, and the versions of it that are kept. Companions of CUDA 13 are those of its first release, since newer ones
# may ask for a newer driver than cuDNN does; those of CUDA 12 are of the last, and any later driver takes them.
PACKAGES = [
    ("nvidia-cudnn-cu12", lambda version: version[0] == 9),
    ("nvidia-cudnn-cu13", lambda version: version[0] == 9),
    ("nvidia-cudnn-jit-cu12", lambda version: version[0] == 9),
    ("nvidia-cudnn-jit-cu13", lambda version: version[0] == 9),
    ("nvidia-cublas-cu12", lambda version: version[:2] == (12, 9)),
    ("nvidia-cublas", lambda version: version[:2] == (13, 1)),
    ("nvidia-cuda-nvrtc-cu12", lambda version: version[:2] == (12, 9)),
    ("nvidia-cuda-nvrtc", lambda version: version[:2] == (13, 0)),
]
CUDNN = 4


def files(package):
    request = urllib.request.Request(INDEX.format(package), headers={"Accept": KIND})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["files"]


def rows(package, is_kept):
    """Newest last, one row a version: of several platforms' files the one that asks for the least glibc."""
    found = {}
    for file in files(package):
        name = file["filename"]
        fields = name.removesuffix(".whl").split("-")
        if not name.endswith(".whl") or len(fields) != 5 or file.get("yanked"):
            continue
        if "manylinux" not in fields[4] or "x86_64" not in fields[4]:
            continue
        if not re.fullmatch(r"\d+(\.\d+)+", fields[1]):
            continue
        version = tuple(int(part) for part in fields[1].split("."))
        if is_kept(version):
            found.setdefault(version, []).append((name, file["size"], file["hashes"]["sha256"], fields[1]))
    for version in sorted(found):
        name, size, digest, text = min(found[version])
        yield package, text, name, size, digest


def main():
    lines = ["# package\tversion\tfile\tbytes\tsha256; written by make.py"]
    for number, (package, is_kept) in enumerate(PACKAGES):
        kept = list(rows(package, is_kept))
        # Of a companion one is enough.
        kept = kept if number < CUDNN else kept[-1:]
        lines += ["\t".join(str(field) for field in row) for row in kept]
    place = pathlib.Path(__file__).with_name("published.tsv")
    place.write_text("\n".join(lines) + "\n")


main()
