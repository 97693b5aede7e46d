#!/usr/bin/env python3
"""Makes entries of what passed in a hunt: a corpus that guards what is right today.

Usage: passing.py HUNT OUT [COUNT]

HUNT is the folder of a hunt (its events.jsonl is read), OUT a new folder, COUNT how many entries at most (1000), taken
evenly over the hunt. Each pins its engine and names the library set; it is expected to pass there from that version on.
"""

import json
import pathlib
import sys


def line(case, config, set_name):
    """The case line with its plan pinned: engine, knobs and set come before all other options."""
    words = case.split()
    sizes = [word for word in words if "=" not in word]
    options = [word for word in words if "=" in word]
    pinned = [f"engine={config['engine']}"]
    if config.get("knobs"):
        pinned.append("knobs=" + ",".join(f"{knob['knob']}:{knob['value']}" for knob in config["knobs"]))
    pinned.append(f"set={set_name}")
    return " ".join(sizes + pinned + options)


def entry(case, config, environment, set_name):
    version = set_name.split("-")[0]
    real = {"full": "full", "graph_jit_only": "jit"}[environment["configuration"]]
    expectation = {
        "cudnn_from": version,
        "cudnn_to": None,
        "configuration": "simulator" if "simulator" in environment["gpu"] else real,
        "architectures": [f"sm_{environment['compute_capability']}"],
        "expect": "pass",
        "rate": None,
        "reason": "passed in a hunt",
        "ticket": None,
        "resolution": None,
        "owner": None,
        "review_by": None,
    }
    return {
        "format": 1,
        "signature": None,
        "case": line(case, config, set_name),
        "engine_free_case": case,
        "provenance": {"source": "convict", "url": None, "date": None, "cudnn": version, "symptom": "none"},
        "expectations": [expectation],
    }


def main(hunt, out, count):
    cases, passed, started = {}, {}, None
    with open(pathlib.Path(hunt) / "events.jsonl", encoding="utf-8") as events:
        for text in events:
            event = json.loads(text)
            if event["event"] == "started":
                started = event
            elif event["event"] == "problem_started":
                cases[event["index"]] = event["case"]
            elif event["event"] == "checked" and event["verdict"] == "pass" and event.get("config"):
                case = cases.get(event["index"])
                # A limit on the workspace or on arithmetic chooses among plans, and here the plan is chosen.
                if case and not any(word in case for word in ("tf32=", "ws=max", "expect=", "heur=")):
                    passed.setdefault(line(case, event["config"], started["set"]), (case, event["config"]))
    lines = list(passed)
    step = max(1, len(lines) / count)
    chosen = [lines[int(index * step)] for index in range(min(count, len(lines)))]
    out = pathlib.Path(out)
    out.mkdir(parents=True)
    for number, each in enumerate(chosen):
        case, config = passed[each]
        text = json.dumps(entry(case, config, started["environment"], started["set"]), indent=2)
        (out / f"passing-{number:04}.json").write_text(text + "\n", encoding="utf-8")
    print(f"{len(chosen)} entries of {len(lines)} passing plans")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) == 4 else 1000)
