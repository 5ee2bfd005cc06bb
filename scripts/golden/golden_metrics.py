#!/usr/bin/env python3
"""Golden values for pericope-segment's segmentation metrics, from segeval and nltk.

  golden_metrics.py fixture            writes crates/segment/tests/golden/metrics.json
  golden_metrics.py check --pairs 10000 --binary target/debug/examples/metrics_stdin
                                       compares that many random pairs with what the example prints; exit 1 above 1e-9

A random pair is not stored but drawn again from its seed (SplitMix64, see `draw`), by this script and by the test.
segeval is written for Python 2 and compares numbers with `is`, which fails above 256: `repair` puts that right. It fails
on pairs without any boundary, where B and S are 1 by its own rule for an empty denominator.
"""

import argparse
import importlib
import json
import subprocess
import sys
from pathlib import Path

FIXTURE = Path(__file__).resolve().parents[2] / "crates" / "segment" / "tests" / "golden" / "metrics.json"
MODES = ["independent", "near", "none", "all", "same"]
COLUMNS = ["k_ours", "pk_ours", "wd_ours", "k_segeval", "pk_segeval", "wd_segeval", "k_nltk", "pk_nltk", "wd_nltk",
           "b", "s", "b_span3", "s_span3"]


class SplitMix:
    """Steele, Lea and Flood 2014: a 64-bit generator of one line that every language can repeat."""

    def __init__(self, seed):
        self.state = seed

    def uniform(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return ((z ^ (z >> 31)) >> 11) * 2.0**-53


def draw(seed, n, density, mode, noise):
    """The pair (reference, hypothesis) of `n` sentences, as sorted boundary lists.

    The reference takes each gap with probability `density`. The hypothesis, by mode: each gap with probability `noise`;
    or `near`: every boundary of the reference, moved by -2 to 2 gaps, dropped with probability 0.2, and each gap beside
    with probability `noise`; or no gap, every gap, the reference itself.
    """
    random = SplitMix(seed)
    reference = [gap for gap in range(1, n) if random.uniform() < density]
    if mode == "none":
        return reference, []
    if mode == "all":
        return reference, list(range(1, n))
    if mode == "same":
        return reference, list(reference)
    found = set()
    if mode == "near":
        for boundary in reference:
            kept = random.uniform() >= 0.2
            moved = boundary + int(random.uniform() * 5) - 2
            if kept and 1 <= moved < n:
                found.add(moved)
    found.update(gap for gap in range(1, n) if random.uniform() < noise)
    return reference, sorted(found)


def repair():
    """segeval's window metrics, with numbers compared by value."""
    for name in ("windowdiff", "pk"):
        module = importlib.import_module(f"segeval.window.{name}")
        source = Path(module.__file__).read_text(encoding="utf-8")
        for old, new in [("len(window) is window_size + 1", "len(window) == window_size + 1"),
                         ("ref_part[0] is not ref_part[1]", "ref_part[0] != ref_part[1]"),
                         ("hyp_part[0] is not hyp_part[1]", "hyp_part[0] != hyp_part[1]"),
                         ("ref_boundaries is not hyp_boundaries", "ref_boundaries != hyp_boundaries"),
                         ("window_ref[0] is window_ref[-1]", "window_ref[0] == window_ref[-1]"),
                         ("window_hyp[0] is window_hyp[-1]", "window_hyp[0] == window_hyp[-1]")]:
            source = source.replace(old, new)
        exec(compile(source, module.__file__, "exec"), module.__dict__)
    return importlib.import_module("segeval.window.pk"), importlib.import_module("segeval.window.windowdiff")


def masses(n, after):
    edges = [0, *after, n]
    return tuple(b - a for a, b in zip(edges, edges[1:]))


class Judge:
    def __init__(self):
        # By import_module, since both packages hide modules behind functions of the same name.
        self.segeval = importlib.import_module("segeval")
        self.nltk = importlib.import_module("nltk.metrics.segmentation")
        self.pk, self.window_diff = repair()

    def windows(self, hypothesis, reference, size):
        """segeval's Pk and WindowDiff; `None` where it has no window to put."""
        n = sum(reference)
        pk = float(self.pk.pk(hypothesis, reference, window_size=size))
        return [pk, float(self.window_diff.window_diff(hypothesis, reference, window_size=size)) if size < n else None]

    def similarity(self, hypothesis, reference, span):
        if len(hypothesis) == 1 and len(reference) == 1:
            return [1.0, 1.0]
        return [float(f(hypothesis, reference, n_t=span))
                for f in (self.segeval.boundary_similarity, self.segeval.segmentation_similarity)]

    def scores(self, n, after_reference, after_hypothesis):
        reference, hypothesis = masses(n, after_reference), masses(n, after_hypothesis)
        segments = len(reference)
        ours = max(2, (n + segments) // (2 * segments))
        theirs = self.segeval.compute_window_size(reference, boundary_format=self.segeval.BoundaryFormat.mass)
        gaps = ["".join("1" if g in after else "0" for g in range(1, n))
                for after in (set(after_reference), set(after_hypothesis))]
        half = int(round((n - 1) / (max(len(after_reference), 1) * 2.0)))
        row = [ours, *self.windows(hypothesis, reference, ours), theirs, *self.windows(hypothesis, reference, theirs)]
        default = self.nltk.pk(*gaps)
        assert default == self.nltk.pk(*gaps, k=half), "nltk chooses k otherwise"
        row += [half, default, self.nltk.windowdiff(*gaps, half)]
        return row + self.similarity(hypothesis, reference, 2) + self.similarity(hypothesis, reference, 3)


def parameters(count, first_seed):
    """Sizes and densities from documents of one sentence to long ones, sparse to full."""
    random = SplitMix(first_seed)
    for i in range(count):
        u = random.uniform()
        n = 1 + int(u * 12) if i % 5 == 0 else 1 + int(u * u * 300)
        if i % 500 == 77:
            n = 1200
        density = [0.02, 0.1, 0.25, 0.5, 0.9][int(random.uniform() * 5)]
        mode = MODES[2 + i % 3] if i % 12 == 5 else MODES[i % 2]
        noise = density if mode == "independent" else 0.02
        if n == 1200:
            # Windows of more than 256 sentences.
            density, noise = 0.0005, 0.01
        yield first_seed + i, n, density, mode, noise


def fixture(_):
    judge = Judge()
    rows = []
    for seed, n, density, mode, noise in parameters(300, 1000):
        rows.append([seed, n, density, mode, noise, *judge.scores(n, *draw(seed, n, density, mode, noise))])
    extreme = [(1, [], []), (2, [], []), (2, [1], []), (2, [], [1]), (2, [1], [1]), (3, [1, 2], []), (3, [], [1]),
               (11, [2, 5], [5]), (11, [4, 9], [3, 5, 9]), (20, [10], [9, 11]), (20, [9, 11], [10]),
               (20, [5, 6, 7], [6, 7, 8]), (20, [5, 7, 9], [6, 8, 10]), (40, [], list(range(1, 40))),
               (40, list(range(1, 40)), []), (40, [1], [39]), (600, [], [300]), (600, [300], [302])]
    pairs = [[n, a, b, *judge.scores(n, a, b)] for n, a, b in extreme]
    parts = {"columns": [COLUMNS], "explicit": pairs, "seeded": rows}
    lines = {name: ",\n".join(json.dumps(row, separators=(",", ":")) for row in part) for name, part in parts.items()}
    text = '{"columns":%(columns)s,\n"explicit":[\n%(explicit)s],\n"seeded":[\n%(seeded)s]}\n' % lines
    FIXTURE.write_text(text)
    print(FIXTURE, len(text), "bytes")


def check(args):
    judge = Judge()
    pairs = [(n, *draw(seed, n, density, mode, noise))
             for seed, n, density, mode, noise in parameters(args.pairs, args.seed)]
    expected = [dict(zip(COLUMNS, judge.scores(n, a, b))) for n, a, b in pairs]
    lines = "".join(json.dumps({"sentences": n, "reference": a, "hypothesis": b,
                                "windows": {"segeval": row["k_segeval"], "nltk": row["k_nltk"]}}) + "\n"
                    for (n, a, b), row in zip(pairs, expected))
    output = subprocess.run([args.binary], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(output) == len(pairs), "the example answers every line"
    worst, compared = dict.fromkeys(COLUMNS, 0.0), 0
    for (n, a, b), row, line in zip(pairs, expected, output):
        found = json.loads(line)
        for column, value in row.items():
            if value is not None:
                worst[column] = max(worst[column], abs(found[column] - value))
                compared += 1
        common = len(set(a) & set(b))
        f1 = 2 * common / (len(a) + len(b)) if a or b else 1.0
        assert abs(found["f1"] - f1) < 1e-12, (n, a, b)
    print(f"{len(pairs)} pairs, {compared} values; largest difference by column:")
    for column, value in worst.items():
        print(f"  {column:12} {value:.3g}")
    return int(max(worst.values()) > 1e-9)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    commands.add_parser("fixture").set_defaults(run=fixture)
    command = commands.add_parser("check")
    command.add_argument("--pairs", type=int, default=10_000)
    command.add_argument("--seed", type=int, default=500_000)
    command.add_argument("--binary", required=True)
    command.set_defaults(run=check)
    args = parser.parse_args()
    sys.exit(args.run(args))


if __name__ == "__main__":
    main()
