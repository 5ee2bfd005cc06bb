#!/usr/bin/env python3
"""Writes crates/segment/tests/golden/: values of other software that the segmenters must agree with.

    python3 scripts/golden/golden_segment.py

kamradt.json: for random distances, the thresholds of the four rules as numpy computes them (percentile with linear
interpolation, mean and population standard deviation, interquartile range, gradient), and the indices above.
"""
import json
import pathlib

import numpy

OUT = pathlib.Path(__file__).resolve().parents[2] / "crates" / "segment" / "tests" / "golden"


def kamradt():
    random = numpy.random.default_rng(7)
    cases = []
    for n in (1, 2, 3, 4, 7, 20, 21, 60, 101):
        for style in ("uniform", "ties"):
            distances = random.random(n) if style == "uniform" else random.integers(0, 4, n) / 8
            rules = []

            def rule(name, amount, values, bound):
                above = [int(i) for i in numpy.nonzero(values > bound)[0]]
                rules.append({"rule": name, "amount": amount, "bound": float(bound), "above": above})

            for amount in (0, 50, 80, 95, 100):
                rule("percentile", amount, distances, numpy.percentile(distances, amount))
                if n > 1:
                    slopes = numpy.gradient(distances, range(n))
                    rule("gradient", amount, slopes, numpy.percentile(slopes, amount))
            for amount in (0.5, 3):
                rule("stddev", amount, distances, numpy.mean(distances) + amount * numpy.std(distances))
            for amount in (0.25, 1.5):
                low, high = numpy.percentile(distances, [25, 75])
                rule("iqr", amount, distances, numpy.mean(distances) + amount * (high - low))
            cases.append({"distances": [float(d) for d in distances], "rules": rules})
    return {"numpy": numpy.__version__, "cases": cases}


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "kamradt.json").write_text(json.dumps(kamradt()) + "\n")
