#!/usr/bin/env python3
"""Golden values for pericope-eval's paired statistics, from scipy, statsmodels and arch.

  golden_stats.py            writes crates/eval/tests/golden/stats.json

Every case is the differences of questions and the documents that they belong to. Documents are the units: sums by
document are flipped (scipy's permutation test) and drawn (scipy's bootstrap of the ratio of sums), and the standard error
is that of a mean with clusters (statsmodels, least squares on a constant with `cov_type="cluster"`).

Small samples carry the exact permutation p-value (scipy goes through all sign patterns). Larger ones carry the interval
and the p-value of many more resamples than the library draws, so that the difference left is the library's own Monte
Carlo error, which the test bounds. The model confidence set is worked out with numpy; where questions are independent,
arch's, which resamples them, stands beside. Needs numpy, scipy, statsmodels and arch.
"""

import json
import math
from pathlib import Path

import numpy
import statsmodels.api as sm
from arch.bootstrap import MCS
from scipy import stats
from statsmodels.stats.multitest import multipletests

OUT = Path(__file__).resolve().parents[2] / "crates" / "eval" / "tests" / "golden" / "stats.json"
LEVEL = 0.05
# Under so many documents the interval is BCa.
BCA_UNDER = 40


def total(x, axis):
    return numpy.sum(x, axis=axis)


def ratio(sums, counts, axis=-1):
    return numpy.sum(sums, axis=axis) / numpy.sum(counts, axis=axis)


def sample(random, n, kind, shift):
    """Differences as they occur: of shares, of hits (-1, 0, 1), of judge scores in halves, and skewed ones."""
    if kind == "share":
        return random.normal(shift, 0.3, n).clip(-1, 1)
    if kind == "hit":
        return random.choice([-1.0, 0.0, 1.0], n, p=[0.2 - shift / 2, 0.6, 0.2 + shift / 2])
    if kind == "judge":
        return numpy.round(2 * random.normal(10 * shift, 2, n)) / 2
    return random.exponential(0.2, n) - 0.2 + shift


def clustered(random, documents, kind, shift):
    """Documents of 1 to 9 questions with something in common; one question each where the kind says so."""
    sizes = random.integers(1, 10, documents)
    of = numpy.repeat(numpy.arange(documents), sizes)
    return of, sample(random, len(of), kind, shift) + random.normal(0, 0.1, documents)[of]


def case(random, of, d, kind):
    documents = int(of.max()) + 1
    sums = numpy.bincount(of, weights=d, minlength=documents)
    counts = numpy.bincount(of, minlength=documents).astype(float)
    # As scipy calls two sums equal that differ in their last bits: the library leaves documents without a difference out.
    exact = documents <= 13
    test = stats.permutation_test((sums,), total, permutation_type="samples", alternative="two-sided",
                                  n_resamples=numpy.inf if exact else 200_000, vectorized=True,
                                  batch=2_000, random_state=1)
    found = {"kind": kind, "differences": [float(x) for x in d], "documents": [int(x) for x in of], "exact": exact,
             "p": float(test.pvalue), "mean": float(d.mean())}
    df = documents - 1
    if df > 0:
        fit = sm.OLS(d, numpy.ones(len(d))).fit(cov_type="cluster", cov_kwds={"groups": of})
        error = float(fit.bse[0])
        found["standard_error"] = error
        spread = d.var(ddof=1) / len(d)
        found["design_effect"] = float(error ** 2 / spread) if spread > 1e-24 else None
        found["detectable"] = float((stats.t.ppf(1 - LEVEL / 2, df) + stats.t.ppf(0.8, df)) * error)
        # At the strictest level of a family of twelve.
        found["detectable_of_12"] = float((stats.t.ppf(1 - LEVEL / 24, df) + stats.t.ppf(0.8, df)) * error)
        z = stats.norm.ppf(1 - LEVEL / 2) + stats.norm.ppf(0.8)
        found["needed_for_2_points"] = int(max(2, math.ceil(documents * (z * error / 0.02) ** 2)))
    if documents >= 20:
        tail = stats.norm.cdf(-math.sqrt(documents / df) * stats.t.ppf(1 - LEVEL / 2, df))
        interval = stats.bootstrap((sums, counts), ratio, n_resamples=200_000, paired=True, vectorized=True, batch=2_000,
                                   confidence_level=1 - 2 * tail, random_state=2,
                                   method="BCa" if documents < BCA_UNDER else "percentile").confidence_interval
        found["interval"] = [float(interval.low), float(interval.high)]
    return found


def permuted_set(random, sums):
    """The p-values of a model confidence set whose test is on the range under random signs; `sums` by document, system."""
    signs = random.choice([-1.0, 1.0], (50_000, len(sums)))
    left, p, highest = list(range(sums.shape[1])), {}, 0.0
    while len(left) > 1:
        a, b = numpy.triu_indices(len(left), 1)
        d = sums[:, left][:, a] - sums[:, left][:, b]
        norm = numpy.sqrt((d ** 2).sum(axis=0))
        seen = d.sum(axis=0) / norm
        ranges = numpy.abs(signs @ (d / norm)).max(axis=1)
        highest = max(highest, (1 + (ranges >= numpy.abs(seen).max() - 1e-9).sum()) / (1 + len(signs)))
        behind = [max([-t for t, i in zip(seen, a) if i == s] + [t for t, j in zip(seen, b) if j == s])
                  for s in range(len(left))]
        p[left.pop(int(numpy.argmax(behind)))] = highest
    p[left[0]] = 1.0
    return [float(p[s]) for s in range(sums.shape[1])]


def confidence_sets(random):
    """Scores of systems and the p-values of their model confidence set; on independent questions also arch's."""
    found = []
    for systems, n, step, clusters in [(3, 60, 0.03, 60), (6, 120, 0.02, 120), (8, 200, 0.0, 200), (5, 150, 0.03, 30)]:
        common = random.normal(0.5, 0.2, (n, 1))
        scores = common + random.normal(0, 0.1, (n, systems)) + step * numpy.arange(systems)
        of = numpy.arange(n) % clusters
        sums = numpy.array([numpy.bincount(of, weights=column) for column in scores.T]).T
        case = {"scores": [[float(x) for x in column] for column in scores.T], "documents": [int(x) for x in of],
                "p": permuted_set(random, sums), "arch": None}
        found.append(case)
        if clusters < n:
            continue
        # Blocks of one question are questions drawn one by one.
        mcs = MCS(-scores, size=0.1, reps=50_000, block_size=1, method="R", bootstrap="circular", seed=4)
        mcs.compute()
        p = mcs.pvalues["Pvalue"]
        case["arch"] = [float(p.loc[s]) for s in range(systems)]
    return found


def main():
    random = numpy.random.default_rng(41)
    cases = []
    for n in [2, 3, 5, 8, 10, 12, 13, 20, 50, 276]:
        for kind in ["share", "hit", "judge", "skewed"]:
            shift = float(random.choice([0.0, 0.03, 0.1]))
            cases.append(case(random, numpy.arange(n), sample(random, n, kind, shift), kind))
    for documents in [4, 11, 25, 39, 40, 80]:
        for kind in ["share", "hit", "skewed"]:
            shift = float(random.choice([0.0, 0.03, 0.1]))
            cases.append(case(random, *clustered(random, documents, kind, shift), f"clustered {kind}"))
    families = []
    for n in [1, 2, 5, 12]:
        p = [float(x) for x in random.uniform(0, 1, n) ** 3]
        if n > 2:
            p[1] = p[0]
        families.append([p, [float(x) for x in multipletests(p, method="holm")[1]]])
    OUT.parent.mkdir(parents=True, exist_ok=True)
    found = {"cases": cases, "holm": families, "confidence_sets": confidence_sets(random)}
    OUT.write_text(json.dumps(found, separators=(",", ":")) + "\n")
    print(OUT, OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
