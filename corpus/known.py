#!/usr/bin/env python3
"""Makes known.json: what others have reported, and what this corpus holds, in words a program can compare.

Usage: known.py REPORTS.jsonl > known.json

REPORTS.jsonl has one public report a line with these fields: id, source, date, cudnn, op, x, w, pad, stride, dilation,
groups, dtype_x, dtype_w, dtype_y, compute, layout, symptom_class, note. A field that a report does not state is null.
Findings of the corpus come from regressions/*/verdict.json beside this file.
"""

import json
import pathlib
import re
import sys

# What a report's class is among the kinds of finding; a class that is none of them can't be met again by a check.
KINDS = {
    "wrong-result": ["wrong"],
    "precision": ["wrong", "inexact"],
    "nan-or-uninit": ["wrong"],
    "nondeterminism": ["nondet"],
    "oob-write": ["oob", "input"],
    "illegal-access": ["device"],
    "exec-failed": ["status", "device"],
    "internal-error": ["status"],
    "bad-heuristic": ["status"],
    "host-crash": ["crash"],
    "hang": ["hang"],
}

DTYPES = {"f32": "f32", "f64": "f64", "f16": "f16", "bf16": "bf16"}
LAYOUTS = {
    "NCW": "nchw", "NCHW": "nchw", "NCDHW": "nchw",
    "NWC": "nhwc", "NHWC": "nhwc", "NDHWC": "nhwc",
}
AXES = {"NCW": 1, "NWC": 1, "NCHW": 2, "NHWC": 2, "NCDHW": 3, "NDHWC": 3}


def url(source):
    """Address of a source that names a thread; empty for the others."""
    thread = re.match(r"([\w.-]+/[\w.-]+?)(#| PR#)(\d+)", source)
    if thread:
        place = "pull" if "PR" in thread[2] else "issues"
        return f"https://github.com/{thread[1]}/{place}/{thread[3]}"
    forum = re.match(r"(?:NVIDIA developer forum|forums\.developer\.nvidia\.com) (\d+)$", source)
    return f"https://forums.developer.nvidia.com/t/{forum[1]}" if forum else ""


def numbers(text):
    """[9, 10, 2] of "9.10.2"; none for a version with a letter for a number."""
    return [int(part) for part in text.split(".")] if re.fullmatch(r"\d+(\.\d+){0,2}", text) else None


def versions(said):
    """First and last version seen failing and the first one that is right, each where the text gives it plainly."""
    said = said or ""
    main = re.sub(r"\(.*", "", said).strip()
    spans = [
        (r"(?:>=)(\S+)", lambda found: (found[1], None)),
        (r"(?:all )?<(\S+)", lambda found: (None, None)),
        (r"broken in >(\d+\.\d+)\.(\d+) up to <.*", lambda found: (f"{found[1]}.{int(found[2]) + 1}", None)),
        (r"([\d.x]+)-([\d.]+)", lambda found: (found[1].replace(".x", ""), found[2])),
        (r"([\d.]+)", lambda found: (found[1], found[1])),
        (r"([\d.]+)(?:, | / |/)(?:[\d.]+, )*([\d.]+)", lambda found: (found[1], found[2])),
        (r"(\d+)\.x|(\d+\.\d+)\.x", lambda found: (found[1] or found[2],) * 2),
    ]
    first = last = None
    for pattern, pick in spans:
        found = re.fullmatch(pattern, main)
        if found:
            first, last = (text and numbers(text) for text in pick(found))
            break
    right = re.search(r"(?:fixed|gone on|up to <|^(?:all )?<)\s*(\d+(?:\.\d+)*)", said)
    earlier = re.search(r"also saw it on (\d+(?:\.\d+)*)", said)
    return {
        "first": numbers(earlier[1]) if earlier else first,
        "last": last,
        "right": numbers(right[1]) if right else None,
    }


def engines(note):
    """Global engine numbers that the report names."""
    named = re.search(r"algo=engines? (\d+(?:(?:/|, )\d+)*)(?![#\w])", note)
    return [int(number) for number in re.findall(r"\d+", named[1])] if named else []


def shape(report):
    """All numbers of the case, innermost axis last; null where one is missing."""
    fields = ["x", "w", "pad", "stride", "dilation", "groups"]
    # A hole in a list, or padding with two numbers an axis, is no plain shape.
    plain = all(
        report[field] is not None and all(type(value) is int for value in flat(report[field])) for field in fields
    )
    return {field: report[field] for field in fields} if plain else None


def flat(value):
    return value if isinstance(value, list) else [value]


def source(report):
    """Where it was told."""
    return re.sub(r"GitHub, stored experiment log.*", "an experiment log on GitHub", report["source"])


def entry(report):
    note = report["note"] or ""
    symptom = re.search(r"symptom: ([^;]*)", note)
    dtypes = {DTYPES[report[field]] for field in ("dtype_x", "dtype_w", "dtype_y") if report[field] in DTYPES}
    layout = report["layout"]
    operation = report["op"] if report["op"] in ("fprop", "dgrad", "wgrad") else None
    axes = AXES.get(layout) or (len(report["x"]) - 2 if report["x"] else None)
    return {
        "id": report["id"],
        "source": source(report),
        "url": url(report["source"]),
        "title": symptom[1].strip() if symptom else report["symptom_class"],
        "signature": None,
        "operation": operation,
        # One convolution alone is checked; what a report says of a fusion does not carry over.
        "kinds": [] if report["op"] == "fused" else KINDS.get(report["symptom_class"], []),
        "cause": "nan" if report["symptom_class"] == "nan-or-uninit" else None,
        "dtypes": sorted(dtypes),
        "compute": report["compute"] if report["compute"] in DTYPES else None,
        "layout": LAYOUTS.get(layout),
        "axes": axes,
        "engines": engines(note),
        "versions": versions(report["cudnn"]),
        "versions_said": report["cudnn"] or "",
        "shape": shape(report),
    }


def regression(folder):
    """An entry for a finding that the corpus holds: it is met again by its signature."""
    verdict = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))
    sameness = verdict["sameness"]
    return {
        "id": folder.name,
        "source": f"corpus/regressions/{folder.name}",
        "url": "",
        "title": verdict["title"],
        "signature": verdict["signature"],
        "operation": sameness["operation"],
        "kinds": [sameness["kind"]],
        "cause": sameness["cause"],
        "dtypes": [],
        "compute": None,
        "layout": None,
        "axes": None,
        "engines": [sameness["engine"]] if sameness["engine"] is not None else [],
        "versions": versions(folder.name.split("-")[0]),
        "versions_said": folder.name.split("-")[0],
        "shape": None,
    }


def main(path):
    with open(path, encoding="utf-8") as lines:
        reports = [entry(json.loads(line)) for line in lines if line.strip()]
    folders = sorted(pathlib.Path(__file__).resolve().parent.glob("regressions/*/verdict.json"))
    reports += [regression(file.parent) for file in folders]
    print('{\n"format": 1,\n"provenance": "public issue trackers, forums and release notes, read for shapes and '
          'symptoms; and the findings of corpus/regressions. Made by corpus/known.py.",\n"entries": [')
    print(",\n".join(json.dumps(each, ensure_ascii=True) for each in reports))
    print("]\n}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
