"""Says whether the entries of a folder are as the corpus format has them. Knows fields, not convolutions."""

import datetime
import json
import re
import sys

ENTRY = ["format", "signature", "case", "engine_free_case", "provenance", "expectations"]
PROVENANCE = ["source", "url", "date", "cudnn", "symptom"]
EXPECTATION = [
    "cudnn_from", "cudnn_to", "configuration", "architectures", "expect", "basis", "kinds", "rate", "reason", "ticket",
    "resolution", "owner", "review_by",
]
MAY_BE_ABSENT = {"provenance", "basis", "kinds"}
CONFIGURATIONS = {None, "full", "jit", "simulator"}
OUTCOMES = {"pass", "fail", "refused", "flaky"}
KINDS = {"wrong", "inexact", "nondet", "oob", "input", "status", "device", "crash", "hang", "accepted", "workspace",
         "reload"}
# Words of a case line that pin what belongs to one library set.
PINS = ("engine=", "knobs=", "set=")


def canonical(entry):
    """The only form that an entry has as text."""
    return json.dumps(entry, indent=2, ensure_ascii=False) + "\n"


def fields(value, order, where):
    """Complaints of fields that are missing, unknown or out of order."""
    if not isinstance(value, dict):
        return [f"{where} is no object"]
    missing = [name for name in order if name not in value and name not in MAY_BE_ABSENT]
    known = [name for name in order if name in value]
    complaints = [f"{where}: {name} is missing" for name in missing]
    if list(value) != known:
        complaints.append(f"{where}: fields are {list(value)}, in order they are {known}")
    return complaints


def is_day(text):
    try:
        return text is None or bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False


def version(text, without):
    """Numbers of a version that compare; `without` where there is none."""
    return without if text is None else tuple((list(map(int, text.split("."))) + [0, 0])[:3])


def ends(expectation):
    return version(expectation["cudnn_from"], (0,)), version(expectation["cudnn_to"], (1 << 30,))


def is_version(text):
    return text is None or bool(re.fullmatch(r"\d+(\.\d+){0,2}", text))


def of_expectation(value, where):
    complaints = fields(value, EXPECTATION, where)
    if complaints:
        return complaints
    rules = [
        (is_version(value["cudnn_from"]) and is_version(value["cudnn_to"]), "a version is no version"),
        (value["configuration"] in CONFIGURATIONS, "configuration is unknown"),
        (all(re.fullmatch(r"sm_\d+", sm) for sm in value["architectures"]), "an architecture is not like sm_90"),
        (value["architectures"] == sorted(set(value["architectures"])), "architectures are not sorted, or given twice"),
        (value["expect"] in OUTCOMES, "expect is unknown"),
        (value.get("basis", "reported") == "reported", "basis is not `reported`"),
        (set(value.get("kinds", ["wrong"])) <= KINDS and value.get("kinds") != [], "kinds are unknown, or none"),
        (value["expect"] in ("fail", "flaky") or "kinds" not in value, "kinds without a failure"),
        (value["expect"] in ("fail", "flaky") or value["rate"] is None, "a rate without a failure"),
        (value["rate"] is None or 0 < value["rate"] <= 1, "rate is not within 0 to 1"),
        (bool(value["reason"]) and "\n" not in value["reason"], "reason is not one line"),
        (value["ticket"] is None or value["ticket"].startswith("https://"), "ticket is no link"),
        (is_day(value["review_by"]), "review_by is no day"),
    ]
    complaints = [f"{where}: {text}" for holds, text in rules if not holds]
    if not complaints and not ends(value)[0] < ends(value)[1]:
        complaints.append(f"{where}: no version lies between cudnn_from and cudnn_to")
    return complaints


def apply_together(one, other):
    """Whether both can hold for one library set."""
    (start, end), (other_start, other_end) = ends(one), ends(other)
    configurations = {one["configuration"], other["configuration"]}
    # null stands for every real set, and the simulator is none.
    apart = len(configurations) == 2 and (None not in configurations or "simulator" in configurations)
    machines = not one["architectures"] or not other["architectures"]
    machines = machines or set(one["architectures"]) & set(other["architectures"])
    return start < other_end and other_start < end and not apart and bool(machines)


def contradictions(expectations, where):
    pairs = [(one, other) for i, one in enumerate(expectations) for other in expectations[:i]]
    clash = any(one["expect"] != other["expect"] and apply_together(one, other) for one, other in pairs)
    return [f"{where}: two expectations contradict each other"] if clash else []


def of_provenance(value, where):
    complaints = fields(value, PROVENANCE, where)
    if complaints:
        return complaints
    rules = [
        (bool(value["source"]) and bool(value["symptom"]), "source or symptom is empty"),
        (value["url"] is None or value["url"].startswith("https://"), "url is no link"),
        (is_day(value["date"]), "date is no day"),
        (not any("\n" in (text or "") for text in value.values()), "a field has more than one line"),
    ]
    return [f"{where}: {text}" for holds, text in rules if not holds]


def of_entry(entry, where):
    complaints = fields(entry, ENTRY, where)
    if complaints:
        return complaints
    pinned = any(word.startswith(PINS) for word in entry["case"].split())
    if entry["format"] != 1:
        complaints.append(f"{where}: format is not 1")
    if (entry["case"] == entry["engine_free_case"]) == pinned:
        complaints.append(f"{where}: engine_free_case is not the case without engine, knobs and set")
    complaints += of_provenance(entry["provenance"], f"{where}: provenance") if "provenance" in entry else []
    numbered = [(f"{where}: expectation {i}", each) for i, each in enumerate(entry["expectations"], 1)]
    told = [text for place, each in numbered for text in of_expectation(each, place)]
    return complaints + (told or contradictions(entry["expectations"], where))


def main(folder):
    """Complains on stderr; the number that the process ends with."""
    complaints, seen = [], {}
    files = sorted(folder.glob("*.json"))
    for file in files:
        text = file.read_text(encoding="utf-8")
        try:
            entry = json.loads(text)
        except ValueError as error:
            complaints.append(f"{file.name}: {error}")
            continue
        if text != canonical(entry) or not text.isascii():
            complaints.append(f"{file.name}: is not in canonical form, or not ASCII")
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.json", file.name):
            complaints.append(f"{file.name}: the name is not of lower-case words joined by -")
        try:
            complaints += of_entry(entry, file.name)
        except (TypeError, AttributeError) as error:
            complaints.append(f"{file.name}: a value is of another type: {error}")
        case = str(entry.get("case")) if isinstance(entry, dict) else file.name
        if case in seen:
            complaints.append(f"{file.name}: has the case of {seen[case]}; join their sources by ` and `")
        seen.setdefault(case, file.name)
    if not files:
        complaints.append(f"{folder.name}: holds no entry")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"{len(files)} entries, {len(complaints)} complaints")
    return 1 if complaints else 0
