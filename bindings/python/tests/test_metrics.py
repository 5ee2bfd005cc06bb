"""Metrics and statistics: the numbers of the library, which has golden tests of its own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pericope import UsageError, metrics, stats


def test_segmentations() -> None:
    # By hand: windows of two sentences over six.
    assert metrics.pk([3], [2, 3], 6, k=2) == 0.25
    assert metrics.window_diff([3], [2, 3], 6, k=2) == 0.5
    # One near miss of distance 1: 1 - 0.5.
    assert metrics.boundary_similarity([3], [4], 9) == 0.5
    best = metrics.segmentation([3], [3], 9)
    assert (best["pk"], best["f1"], best["boundary_similarity"]) == (0, 1, 1)


def test_retrieval() -> None:
    gold, first, second = [("a", 10, 20)], ("a", 0, 15), ("b", 0, 5)
    assert metrics.span_recall(gold, [first]) == 0.5
    scores = metrics.retrieval(gold, [second, first], chunks=[first, ("a", 15, 30), second])
    assert scores["span_precision"] == 0.25 and scores["iou"] == 0.2
    assert (scores["hit"], scores["mrr"], scores["document_recall"]) == (1, 0.5, 1)
    assert scores["ndcg"] == pytest.approx(0.5 / math.log2(3) / (0.5 + 0.5 / math.log2(3)))
    assert scores["precision_omega"] == pytest.approx(10 / 30)
    assert metrics.retrieval(gold, [second, first], k=1)["hit"] == 0
    assert "ndcg" not in metrics.retrieval(gold, [first])


def test_answers() -> None:
    scores = metrics.answers("The red fish", "a red cod")
    assert scores == {"exact_match": 0, "token_f1": 0.5, "rouge_l": pytest.approx(1 / 3)}
    # ROUGE reads letters a-z and digits: where the gold answer has none, nothing is measured.
    for same in ("", "答え"):
        assert metrics.answers(same, same) == {"exact_match": 1, "token_f1": 1}


def test_comparisons() -> None:
    a, b = [0.9, 0.7, 0.8, 1.0, 0.6, 0.9], [0.5, 0.7, 0.4, 0.8, 0.5, 0.3]
    paired = stats.compare(a, b, seed=7)
    # Arrays are read where they lie, however they lie; other types of numbers are taken too.
    assert stats.compare(np.array(a), np.array(b), seed=7) == paired
    apart = np.repeat(np.array(a), 2)[::2]
    assert not apart.flags["C_CONTIGUOUS"] and stats.compare(apart, tuple(b), seed=7) == paired
    assert stats.compare([1, 0, 1], np.array([0, 1, 1], dtype=np.int64))["difference"] == 0
    assert paired["difference"] == pytest.approx(1.7 / 6) and paired["p"] == 2 / 32
    assert (paired["wins"], paired["ties"], paired["losses"]) == (5, 1, 0)
    assert paired == stats.compare(a, b, seed=7)
    grouped = stats.compare(a, b, documents=list("aabbcc"))
    assert grouped["documents"] == 3 and grouped["p"] == 0.25
    low, high = stats.bootstrap_interval([x - y for x, y in zip(a, b)])
    assert low < paired["difference"] < high
    assert stats.permutation_p([1.0, 1.0, 1.0]) == 0.25
    assert stats.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_what_is_refused() -> None:
    with pytest.raises(UsageError, match="boundary 9 is outside"):
        metrics.pk([9], [], 4)
    with pytest.raises(UsageError, match="without gold"):
        metrics.span_recall([], [("a", 0, 1)])
    with pytest.raises(UsageError, match="k is 0"):
        metrics.pk([1], [2], 3, k=0)
    with pytest.raises(UsageError, match="a boundary of reference is -1"):
        metrics.pk([-1], [2], 3)
    for number in (float("nan"), float("inf")):
        with pytest.raises(UsageError, match=r"differences\[1\] is NaN or infinite"):
            stats.permutation_p([1.0, number])
        with pytest.raises(UsageError, match=r"values\[1\] is NaN or infinite"):
            stats.bootstrap_interval([1.0, number])
    for number in (float("nan"), -0.1, 1.1):
        with pytest.raises(UsageError, match="is no p-value"):
            stats.holm([0.01, number])
    with pytest.raises(UsageError, match="family is 0"):
        stats.permutation_p([1.0], family=0)
    with pytest.raises(UsageError, match="seed is -1"):
        stats.compare([1.0], [0.0], seed=-1)
    with pytest.raises(UsageError, match="2 and 1 scores"):
        stats.compare([1, 2], [1])
    with pytest.raises(UsageError, match="name one a question"):
        stats.compare([1], [1], documents=["a", "b"])
