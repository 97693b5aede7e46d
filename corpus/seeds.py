#!/usr/bin/env python3
"""Makes seeds/*.json, one case and what is expected of it a file, from public reports and from cases of our own.

Usage: seeds.py REPORTS.jsonl    writes every entry that is not there yet, and seeds/README.md
       seeds.py --check          complains of entries that are not as the format says

REPORTS.jsonl is what known.py reads. An entry that exists is left alone, because its expectations may have been edited
since: remove the file to have it made anew.
"""

import json
import pathlib
import re
import sys

import known
import seeds_check
import seeds_table

FOLDER = pathlib.Path(__file__).resolve().parent / "seeds"

# What others saw, in words for a reason; only these classes are failures that a check can meet.
SEEN = {
    "wrong-result": "a wrong result",
    "precision": "an error beyond rounding",
    "nan-or-uninit": "NaN or values that nothing wrote",
    "nondeterminism": "results that vary",
    "oob-write": "a write outside a buffer",
    "illegal-access": "an illegal access",
    "exec-failed": "a failed execution",
    "internal-error": "an internal error",
    "bad-heuristic": "a recommended plan that cannot be used",
    "host-crash": "a crash of the process",
}

# Architectures of the GPUs that reports with an expectation name.
ARCHITECTURES = [
    (r"Volta, Pascal", ["sm_60", "sm_61", "sm_70"]),
    (r"V100|TITAN V|Volta", ["sm_70"]),
    (r"Titan X Pascal", ["sm_61"]),
    (r"GTX TITAN X \(Maxwell\)", ["sm_52"]),
]

PLACES = [
    (r"google/nvidia_libs_test", "https://github.com/google/nvidia_libs_test"),
    (r"openxla/xla", "https://github.com/openxla/xla"),
]

# Names of sources that are no "owner/project#number".
NAMES = [
    (r"openxla/xla default conv denylist \((\w+)\)", r"xla-denylist-\1"),
    (r"google/nvidia_libs_test cudnn_tests.textproto \(nvbug (\d+).*\)", r"nvidia-libs-test-nvbug-\1"),
    (r"google/nvidia_libs_test cudnn_tests.textproto \(precision entry\)", "nvidia-libs-test-precision"),
    (r"NVIDIA cuDNN release notes (\S+) .*", r"cudnn-notes-\1"),
    (r"forums.developer.nvidia.com (\d+)", r"nvidia-forum-\1"),
    (r"[\w.-]+/([\w.-]+?)(?:#| PR#)(\d+).*", r"\1-\2"),
]


def joined(values):
    return "x".join(str(value) for value in values)


def padding(value):
    """`1`, or `1:2` for two ends that differ."""
    before, after = value if isinstance(value, list) else (value, value)
    return str(before) if before == after else f"{before}:{after}"


def line(report, options):
    """The case line, with what is at its default left out. `options` are given in canonical form."""
    x, w = report["x"], report["w"]
    tensors = [known.DTYPES[report[field]] for field in ("dtype_x", "dtype_w", "dtype_y")]
    layouts = [known.LAYOUTS[layout] for layout in report["layout"].split(",")]
    types = tensors[0] if len(set(tensors)) == 1 else ",".join(tensors)
    # Where a report leaves open which of two types sums, the default is taken.
    half = "/f16" if report["compute"] == "f16" else ""
    words = [report["op"], types + half, ",".join(layouts), f"n{x[0]}", f"c{x[1]}", f"k{w[0]}"]
    words += [f"g{report['groups']}"] if report["groups"] != 1 else []
    words += [f"i{joined(x[2:])}", f"f{joined(w[2:])}"]
    for letter, field, default in [("p", "pad", "0"), ("s", "stride", "1"), ("d", "dilation", "1")]:
        values = [padding(value) for value in report[field]]
        words += [letter + joined(values)] if any(value != default for value in values) else []
    return " ".join(words + ([options] if options else []))


def filled(report, row):
    """The report with what a row replaces."""
    changed = {**report, **{field: value for field, value in row.items() if field in report}}
    if "dtype" in row:
        changed.update({field: row["dtype"] for field in ("dtype_x", "dtype_w", "dtype_y")}, compute=None)
    changed["op"] = "fprop" if changed["op"] == "fused" else changed["op"]
    changed["layout"] = changed["layout"] or None
    return changed


def can_be_said(report):
    """Whether all numbers, types and layouts of a case are there."""
    types = all(report[field] in known.DTYPES for field in ("dtype_x", "dtype_w", "dtype_y"))
    layouts = set((report["layout"] or "").split(",")) <= set(known.LAYOUTS)
    return types and layouts and (known.shape(report) is not None or padded(report))


def padded(report):
    """Whether the shape is whole but for padding with two numbers an axis."""
    pad = report["pad"]
    pairs = isinstance(pad, list) and all(isinstance(each, list) and len(each) == 2 for each in pad)
    return pairs and known.shape({**report, "pad": [0] * len(pad)}) is not None


def dotted(version):
    return ".".join(str(number) for number in version)


def after(version):
    """The least version above, at its own precision: 7.0.4 of 7.0.3, 7.7 of 7.6."""
    return version[:-1] + [version[-1] + 1]


def span(said):
    """First version that an expectation holds for and the first that it does not; None where the text is not plain."""
    if not said or "inferred" in said:
        return None
    version = known.versions(said)
    first, end = version["first"], version["right"] or (after(version["last"]) if version["last"] else None)
    if end is None or (first is None and not re.match(r"(all )?<", said)):
        return None
    return dotted(first) if first else None, dotted(end)


def expectation(expect, reason, **known_of_it):
    """All fields in their order, each with its default."""
    fields = {
        "cudnn_from": None, "cudnn_to": None, "configuration": None, "architectures": [], "expect": expect,
        "basis": None, "kinds": [], "rate": None, "reason": reason, "ticket": None, "resolution": None,
        "owner": None, "review_by": None,
    }
    fields.update(known_of_it)
    return {name: value for name, value in fields.items() if not (name in ("basis", "kinds") and not value)}


def resolution(said):
    right = known.versions(said)["right"]
    if right is None:
        return None
    return f"{'gone' if 'gone' in said else 'fixed'} in {dotted(right)}"


def expectations(report, row):
    """What is known of the outcome, and no more."""
    ticket = address(report) or None
    ends = span(row.get("cudnn", report["cudnn"]))
    if "expect" not in row:
        return reported(report, row, ends) if ends and can_be_met(report) else []
    if row["expect"] is None:
        return []
    holds = {"cudnn_from": ends[0], "cudnn_to": ends[1], "basis": "reported"} if "basis" in row else {}
    return [expectation(row["expect"], row["reason"], ticket=ticket, **holds)]


def can_be_met(report):
    """Whether a check of this one convolution can meet what was seen. A pass that was inferred is not known to fail."""
    whole = report["op"] != "fused" and "direction inferred" not in symptom(report)
    return whole and report["symptom_class"] in SEEN


def reported(report, row, ends):
    """The failure that others saw in a span of versions, and the refusal that came after it."""
    seen = row.get("seen", report["symptom_class"])
    refused = row.get("refused")
    shared = {
        "architectures": next((sm for gpu, sm in ARCHITECTURES if re.match(gpu, report["gpu"] or "")), []),
        "basis": "reported",
        "ticket": address(report) or None,
        "resolution": f"refused by {refused}" if refused else resolution(report["cudnn"]),
    }
    failing = expectation(
        "flaky" if "flaky" in row else "fail", f"reported: {SEEN[seen]}", cudnn_from=ends[0], cudnn_to=ends[1],
        kinds=row.get("kinds", known.KINDS[seen]), **shared,
    )
    if not refused:
        return [failing]
    later = {"cudnn_from": refused, "cudnn_to": dotted(after(known.numbers(refused)))}
    return [failing, expectation("refused", "reported: refused by this version", **later, **shared)]


def symptom(report):
    """What the report says happened, without its causes."""
    said = re.search(r"symptom: (.*?)(?:; cause: .*)?; features=", report["note"] or "")
    return said[1].strip() if said else ""


def address(report):
    places = (place for source, place in PLACES if re.match(source, report["source"]))
    return known.url(report["source"]) or next(places, "")


def name(report):
    for source, form in NAMES:
        found = re.fullmatch(source, report["source"])
        if found:
            return re.sub(r"[^a-z0-9]+", "-", found.expand(form).lower())
    sys.exit(f"{report['id']}: no name for {report['source']}; add a row to NAMES")


def entry(case, provenance, expected):
    order = ["source", "url", "date", "cudnn", "symptom"]
    return {
        "format": 1, "signature": None, "case": case, "engine_free_case": case,
        "provenance": {field: provenance.get(field) for field in order}, "expectations": expected,
    }


def told(report, row):
    """Where an entry comes from. A date that is no day is left out."""
    day = re.fullmatch(r"\d{4}-\d\d-\d\d", report["date"] or "")
    seen, said = report["symptom_class"].replace("-", " "), symptom(report)
    words = [said if said.startswith(seen) else f"{seen}: {said}", row.get("note", "")]
    return {
        "source": known.source(report), "url": address(report) or None, "date": day and day[0],
        "cudnn": row.get("cudnn", report["cudnn"]),
        "symptom": "; ".join(word for word in words if word),
    }


def entries(report):
    """Entries of a report by file name; none where it is no case."""
    made = {}
    for letter, row in seeds_table.ROWS.get(report["id"], [("", {})]):
        case = filled(report, row)
        if can_be_said(case):
            stem = name(report) + (f"-{letter}" if letter else "")
            made[stem] = entry(line(case, row.get("options")), told(report, row), expectations(report, row))
    return made


def ours():
    """Entries of our own by file name."""
    clean = {"cudnn_from": "9.14.0", "configuration": "full", "architectures": ["sm_90"]}
    made = {}
    for stem, case in seeds_table.FIRST:
        expected = expectation("pass", "ran clean with 9.14.0 and 9.19.0 on an H200", **clean)
        made[f"first-{stem}"] = entry(case, {"source": "convict", "symptom": "first look at a library set"}, [expected])
    for stem, case, broken in seeds_table.REFUSED:
        source = {"source": "convict", "symptom": "a problem that no convolution can compute"}
        made[f"refused-{stem}"] = entry(case, source, [expectation("refused", f"it has {broken}")])
    return made


def why_not(report):
    if report["id"] in seeds_table.LEFT_OUT:
        return seeds_table.LEFT_OUT[report["id"]]
    if (report["dtype_x"] or "").startswith("i8"):
        return "int8, a type that cases do not have"
    fused = "a fused operation; " if report["op"] == "fused" else ""
    return fused + "no whole shape is given"


def readme(reports, left_out, count):
    """The page beside the entries: what is not among them."""
    rows = []
    for report in left_out:
        source = known.source(report)
        link = f"[{source}]({address(report)})" if address(report) else source
        rows.append(f"| {link} | {report['symptom_class'].replace('-', ' ')} | {why_not(report)} |")
    return "\n".join([
        "# Seeds",
        "",
        "One case and what is expected of it a file; the format stands in the README of the corpus. Made by",
        "`corpus/seeds.py`, which leaves an entry alone once it is there.",
        "",
        f"Of {len(reports)} public reports, {len(reports) - len(left_out)} are expressed, in {count} entries.",
        "A failure is excused only for the versions that a report plainly names: where it names none, or they or the",
        "pass are inferred, or it tells of a fused operation, nothing is expected of its entry: a right result or a",
        "clean refusal is right. What a report leaves open and an entry fills in is said in its symptom.",
        "",
        "These are not expressed:",
        "",
        "| report | symptom | why |",
        "|---|---|---|",
        *rows,
        "",
    ])


def main(path):
    """Writes what is not there yet, and the page."""
    with open(path, encoding="utf-8") as lines:
        reports = [json.loads(text) for text in lines if text.strip()]
    made = {report["id"]: entries(report) for report in reports}
    left_out = [report for report in reports if not made[report["id"]]]
    count = sum(len(each) for each in made.values())
    files = ours()
    for each in made.values():
        twice = files.keys() & each.keys()
        if twice:
            sys.exit(f"two entries would have the name {sorted(twice)[0]}; give them letters in ROWS")
        files.update(each)
    for stem, each in files.items():
        file = FOLDER / f"{stem}.json"
        if not file.exists():
            file.write_text(seeds_check.canonical(each), encoding="utf-8")
    (FOLDER / "README.md").write_text(readme(reports, left_out, count), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--check":
        sys.exit(seeds_check.main(FOLDER))
    main(sys.argv[1])
