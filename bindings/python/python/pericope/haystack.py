"""Pericope's segmenters as a component of Haystack."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from haystack import Document, component

from pericope import Segmenter


@component
class Splitter:
    """Splits documents with a segmenter: `Splitter("fusion", max_tokens=256)`.

    Documents get `source_id`, `split_id`, the exact `split_idx_start`, and `heading_path` where there are headings.
    """

    def __init__(self, segmenter: str = "fusion", format: str = "plain", **limits: Any) -> None:
        self.segmenter = segmenter
        self.format = format
        self.limits = limits
        self._segmenter = Segmenter(segmenter, **limits)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """A document a chunk, in order."""
        texts = [document.content or "" for document in documents]
        found: list[Document] = []
        for document, chunks in zip(documents, self._segmenter.segment_all(texts, format=self.format)):
            for chunk in chunks:
                place = {"source_id": document.id, "split_id": chunk.ordinal, "split_idx_start": chunk.start}
                meta = {**deepcopy(document.meta), **place}
                if chunk.heading_path:
                    meta["heading_path"] = list(chunk.heading_path)
                found.append(Document(content=chunk.text, meta=meta))
        return {"documents": found}

    def to_dict(self) -> dict[str, Any]:
        """The settings, as pipelines write them down."""
        settings = {"segmenter": self.segmenter, "format": self.format, **self.limits}
        return {"type": f"{type(self).__module__}.{type(self).__name__}", "init_parameters": settings}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Splitter:
        """The component of settings that `to_dict` wrote."""
        return cls(**data["init_parameters"])
