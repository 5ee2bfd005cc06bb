#!/usr/bin/env python3
"""Golden values for `pericope eval calibrate`, from scikit-learn and scipy.

  golden_calibrate.py        writes crates/eval/tests/golden/calibrate.json

Each case is two lists of scores from 0 to 10 (people's and a judge's, with halves among them, which are rounded for kappa)
and Cohen's kappa with linear and quadratic weights, Pearson's and Spearman's correlation, and the slope and Spearman's
correlation of the difference with the answers' lengths.
"""

import json
import math
from pathlib import Path

import numpy
from scipy import stats
from sklearn.metrics import cohen_kappa_score

OUT = Path(__file__).resolve().parents[2] / "crates" / "eval" / "tests" / "golden" / "calibrate.json"


def whole(scores):
    """Halves away from zero, as the library rounds."""
    return [int(math.floor(score + 0.5)) for score in scores]


def main():
    random = numpy.random.default_rng(29)
    cases = []
    for n in [2, 3, 7, 20, 60, 200]:
        for noise in [0.5, 2.0, 6.0]:
            human = random.integers(0, 11, n).astype(float)
            words = random.integers(1, 400, n)
            judge = (human + random.normal(0.5, noise, n) + words / 300).clip(0, 10)
            # Mean of two votes.
            judge = numpy.round(2 * judge) / 2
            if len(set(whole(judge))) == 1 and len(set(whole(human))) == 1:
                continue
            labels = list(range(11))
            rounded = whole(human), whole(judge)
            difference = judge - human
            case = {
                "human": human.tolist(),
                "judge": judge.tolist(),
                "words": words.tolist(),
                "linear": cohen_kappa_score(*rounded, labels=labels, weights="linear"),
                "quadratic": cohen_kappa_score(*rounded, labels=labels, weights="quadratic"),
                "pearson": stats.pearsonr(human, judge).statistic,
                "spearman": stats.spearmanr(human, judge).statistic,
                "slope": 100 * stats.linregress(words, difference).slope,
                "length": stats.spearmanr(words, difference).statistic,
            }
            cases.append({key: value if isinstance(value, list) else float(value) for key, value in case.items()})
    # Everything is a number: correlations of two equal values are none.
    cases = [case for case in cases if all(math.isfinite(v) for v in case.values() if isinstance(v, float))]
    OUT.write_text(json.dumps(cases, separators=(",", ":")) + "\n", encoding="utf-8")
    print(OUT, len(cases))


if __name__ == "__main__":
    main()
