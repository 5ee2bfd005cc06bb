#!/usr/bin/env python3
"""Called by scripts/ci/outputs-test."""
import json
import math
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

from prometheus_client import parser as older
from prometheus_client.openmetrics import parser

#: A name that ends attributes, labels and lines where it is not escaped.
NAME = 'a "b" <c> & \\\\ d'
CONFIG = f"""
kind = "retrieval"
name = "outputs"
[data]
kind = "squad"
path = "questions.json"
[retrieval]
embedder = "none"
modes = ["bm25"]
k = [3]
token_budgets = [256]
[[chunker]]
name = '{NAME}'
spec = "fixed:words=60"
[[chunker]]
name = "blocks"
spec = "paragraph"
[[gate]]
metric = "span_recall"
k = 3
max_drop = 0.03
[[gate]]
metric = "hit"
k = 3
min = 0.01
[[gate]]
metric = "segment_seconds"
relative_to = "calibration"
max_ratio = 9.0
"""


def run(program, folder, status, *arguments):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)


def cases(path):
    """Every test case as (class, name, outcome, message), and the counts that the file gives."""
    root = xml.parse(path).getroot()
    assert root.tag == "testsuites"
    [suite] = root
    found = []
    for case in suite.findall("testcase"):
        ends = [child for child in case if child.tag in ("failure", "skipped", "error")]
        assert len(ends) <= 1
        found.append((case.get("classname"), case.get("name"), ends[0].tag if ends else "passed", ends[0].get("message") if ends else ""))
    counts = {name: int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")}
    by = {name: sum(one[2] == tag for one in found) for name, tag in (("failures", "failure"), ("skipped", "skipped"))}
    assert counts == {"tests": len(found), "errors": 0, **by}, counts
    return found


def figures(path):
    """Every sample as {(name, labels): value}; both formats say the same."""
    text = path.read_text(encoding="utf-8")
    found = {}
    for family in parser.text_string_to_metric_families(text):
        assert family.type == "gauge" and family.documentation, family
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    before = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in older.text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert found == before
    return found


def badge(path):
    root = xml.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and root.get("role") == "img"
    return root.get("aria-label")


def scores(found, cells, experiment):
    """Every mean of the JSON is in the figures."""
    count = 0
    for cell in cells:
        cutoff = {"k": str(cell["k"])} if cell.get("k") is not None else {"token_budget": str(cell["token_budget"])}
        for metric, value in cell["metrics"].items():
            labels = {"experiment": experiment, "chunker": cell["chunker"], "mode": cell["mode"], "metric": metric, **cutoff}
            assert math.isclose(found["pericope_score", frozenset(labels.items())], value, rel_tol=1e-12), labels
            count += 1
    assert count == sum(name == "pericope_score" for name, _ in found) > 0


def nightly(root, program, scratch):
    questions = json.loads((root / "corpora/handbook-questions.json").read_text(encoding="utf-8"))
    questions["data"] = questions["data"][:8]
    (scratch / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    config = scratch / "nightly.toml"
    config.write_text(CONFIG, encoding="utf-8")
    history = scratch / "h"
    for status, text in ((0, CONFIG), (1, CONFIG.replace("words=60", "words=6"))):
        config.write_text(text, encoding="utf-8")
        run(program, scratch, status, "nightly", "nightly.toml", "--history", "h")
        latest = json.loads((history / "latest.json").read_text(encoding="utf-8"))
        words = {"held": "passed", "broken": "failure", "unjudged": "skipped"}
        plain = lambda text: text.replace("\u00a0", " ")
        wanted = [
            (f"nightly.{check['kind']}", plain(check["what"]), words[check["state"]],
             plain(check["says"]) if check["state"] != "held" else "")
            for check in latest["checks"]
        ]
        assert cases(history / "junit.xml") == wanted
        found = figures(history / "metrics.prom")
        whole = frozenset({"experiment": "outputs"}.items())
        assert found["pericope_night_good", whole] == 1 - status
        assert found["pericope_night", whole] == latest["night"] == 1 + status
        assert found["pericope_questions", whole] == latest["questions"]
        scores(found, latest["cells"], "outputs")
        held = {labels: value for (name, labels), value in found.items() if name == "pericope_check_holds"}
        judged = [check["state"] == "held" for check in latest["checks"] if check["state"] != "unjudged"]
        by_place = sorted(held.items(), key=lambda one: int(dict(one[0])["check"].split()[0]))
        assert [value == 1.0 for _, value in by_place] == judged
        assert ("failed" if status else "passed") in badge(history / "badge.svg")
    [(_, name, _, message)] = [case for case in cases(history / "junit.xml") if case[2] == "failure"]
    assert NAME in name and message.startswith("fell by "), (name, message)
    return len(found)


def compare(root, program, scratch):
    run(program, scratch, 0, "compare", str(root / "corpora/handbook"), "--questions", "40", "--embedder", "none", "--out", "c")
    summary = json.loads((scratch / "c/run/summary.json").read_text(encoding="utf-8"))
    assert [case[2] for case in cases(scratch / "c/junit.xml")] == ["passed", "passed"]
    found = figures(scratch / "c/metrics.prom")
    scores(found, summary["cells"], "compare")
    assert summary["verdict"]["recommended"] in badge(scratch / "c/badge.svg")
    return len(found)


def main():
    root, program, scratch = (pathlib.Path(argument) for argument in sys.argv[1:4])
    night, comparison = nightly(root, program, scratch), compare(root, program, scratch)
    print(f"outputs: {night} figures of a night and {comparison} of a comparison are read alike by prometheus_client")


if __name__ == "__main__":
    main()
