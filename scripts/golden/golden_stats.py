#!/usr/bin/env python3
"""Golden values for pericope-eval's paired statistics, from scipy and statsmodels.

  golden_stats.py            writes crates/eval/tests/golden/stats.json

Small samples carry the exact permutation p-value (scipy goes through all sign patterns). Larger ones carry the interval
and the p-value of many more resamples than the library draws, so that the difference left is the library's own Monte
Carlo error, which the test bounds.
"""

import json
import math
from pathlib import Path

import numpy
from scipy import stats
from statsmodels.stats.multitest import multipletests

OUT = Path(__file__).resolve().parents[2] / "crates" / "eval" / "tests" / "golden" / "stats.json"


def mean(x, axis):
    return numpy.mean(x, axis=axis)


def sample(random, n, kind, shift):
    """Differences as they occur: of shares, of hits (-1, 0, 1), of judge scores in halves, and skewed ones."""
    if kind == "share":
        return random.normal(shift, 0.3, n).clip(-1, 1)
    if kind == "hit":
        return random.choice([-1.0, 0.0, 1.0], n, p=[0.2 - shift / 2, 0.6, 0.2 + shift / 2])
    if kind == "judge":
        return numpy.round(2 * random.normal(10 * shift, 2, n)) / 2
    return random.exponential(0.2, n) - 0.2 + shift


def main():
    random = numpy.random.default_rng(41)
    cases = []
    for n in [2, 3, 5, 8, 10, 12, 13, 20, 50, 276, 624]:
        for kind in ["share", "hit", "judge", "skewed"]:
            shift = float(random.choice([0.0, 0.03, 0.1]))
            d = sample(random, n, kind, shift)
            exact = n <= 13
            test = stats.permutation_test((d,), mean, permutation_type="samples", alternative="two-sided",
                                          n_resamples=numpy.inf if exact else 200_000, vectorized=True,
                                          batch=2_000, random_state=1)
            case = {"kind": kind, "differences": [float(x) for x in d], "exact": exact, "p": float(test.pvalue)}
            case["mean"] = float(d.mean())
            case["detectable"] = float((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * d.std(ddof=1) / math.sqrt(n))
            if n >= 20:
                interval = stats.bootstrap((d,), mean, n_resamples=200_000, method="percentile", vectorized=True,
                                           batch=2_000, random_state=2).confidence_interval
                case["interval"] = [float(interval.low), float(interval.high)]
                case["standard_error"] = float(d.std(ddof=0) / math.sqrt(n))
            cases.append(case)
    families = []
    for n in [1, 2, 5, 12]:
        p = [float(x) for x in random.uniform(0, 1, n) ** 3]
        if n > 2:
            p[1] = p[0]
        families.append([p, [float(x) for x in multipletests(p, method="holm")[1]]])
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps({"cases": cases, "holm": families}, separators=(",", ":")) + "\n")
    print(OUT, OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
