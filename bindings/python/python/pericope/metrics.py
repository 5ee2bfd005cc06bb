"""Metrics of segmentations, of retrieval and of answers. Shares lie in 0..1.

Boundaries are the numbers of the sentences, from 1, after which a segment ends; the document's end is not listed.
"""

from __future__ import annotations

from typing import Optional, Sequence

from pericope._native import answer_scores as answers
from pericope._native import retrieval_scores as retrieval
from pericope._native import segmentation_scores as segmentation

__all__ = ["answers", "boundary_similarity", "pk", "retrieval", "segmentation", "span_recall", "window_diff"]


def pk(reference: Sequence[int], hypothesis: Sequence[int], sentences: int, *, k: Optional[int] = None) -> float:
    """Pk (Beeferman, Berger and Lafferty 1999): an error, smaller is better."""
    return segmentation(reference, hypothesis, sentences, k=k)["pk"]


def window_diff(
    reference: Sequence[int], hypothesis: Sequence[int], sentences: int, *, k: Optional[int] = None
) -> float:
    """WindowDiff (Pevzner and Hearst 2002): an error, smaller is better."""
    return segmentation(reference, hypothesis, sentences, k=k)["window_diff"]


def boundary_similarity(reference: Sequence[int], hypothesis: Sequence[int], sentences: int) -> float:
    """Boundary similarity B (Fournier 2013), with near misses of one gap."""
    return segmentation(reference, hypothesis, sentences)["boundary_similarity"]


def span_recall(gold: Sequence[tuple[str, int, int]], retrieved: Sequence[tuple[str, int, int]]) -> float:
    """The share of the gold ranges (document, start, end) that the retrieved ones cover."""
    return retrieval(gold, retrieved)["span_recall"]
