"""Pericope: documents in, passages out, and what the cutting does to retrieval.

Start with `Segmenter("fusion").segment(text)`. Offsets count characters, as Python does: `text[chunk.start:chunk.end]` is
`chunk.text`; `start_byte` and `end_byte` count the bytes of the text in UTF-8.
"""

from __future__ import annotations

from pericope import metrics, stats
from pericope._native import (
    Boundaries,
    Chunk,
    ChunkIterator,
    Document,
    Embedder,
    Hit,
    Index,
    IndexReport,
    PericopeError,
    RunError,
    Scores,
    Segmenter,
    Sentence,
    Spans,
    Tree,
    UsageError,
    __version__,
    evaluate,
    index,
    open,
    read,
    read_all,
    segmenters,
)
from pericope.protocols import CustomSegmenter, Encoder, Judge, Reranker, Retriever, Segmentation, SegmenterEntry

__all__ = [
    "Boundaries",
    "Chunk",
    "ChunkIterator",
    "CustomSegmenter",
    "Document",
    "Embedder",
    "Encoder",
    "Hit",
    "Index",
    "IndexReport",
    "Judge",
    "PericopeError",
    "Reranker",
    "Retriever",
    "RunError",
    "Scores",
    "Segmentation",
    "Segmenter",
    "SegmenterEntry",
    "Sentence",
    "Spans",
    "Tree",
    "UsageError",
    "__version__",
    "evaluate",
    "index",
    "metrics",
    "open",
    "read",
    "read_all",
    "segmenters",
    "stats",
]
