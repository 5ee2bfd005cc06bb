"""Pericope's segmenters as a text splitter of LangChain."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Callable, Optional, Union

from langchain_core.documents import Document
from langchain_text_splitters import TextSplitter as Base

import pericope
from pericope import Segmenter, UsageError
from pericope.protocols import CustomSegmenter, Segmentation


class TextSplitter(Base):
    """Splits texts with a segmenter: `TextSplitter("fusion", max_tokens=256)`.

    Documents get their exact `start_index`, and `heading_path` where there are headings. Limits are in tokens; a `Segmenter` has
    its own, and takes none here.
    """

    def __init__(
        self,
        segmenter: Union[str, Segmenter, CustomSegmenter, Callable[[pericope.Document], Segmentation]],
        *,
        format: str = "plain",
        **limits: Any,
    ) -> None:
        super().__init__(add_start_index=True)
        if isinstance(segmenter, Segmenter) and limits:
            raise UsageError(f"{', '.join(limits)}: a Segmenter has limits of its own; give them to it, or pass a spec")
        self._segmenter = segmenter if isinstance(segmenter, Segmenter) else Segmenter(segmenter, **limits)
        self._format = format

    def split_text(self, text: str) -> list[str]:
        """The texts of the chunks."""
        return [chunk.text for chunk in self._segmenter.segment(text, format=self._format)]

    def create_documents(
        self, texts: list[str], metadatas: Optional[list[dict[Any, Any]]] = None
    ) -> list[Document]:
        """A document a chunk, in order."""
        texts = list(texts)
        given: list[dict[Any, Any]] = metadatas or [{} for _ in texts]
        if len(given) != len(texts):
            raise UsageError(f"{len(texts)} texts and {len(given)} metadatas: give one a text, or none")
        found: list[Document] = []
        for chunks, metadata in zip(self._segmenter.segment_all(texts, format=self._format), given):
            for chunk in chunks:
                path = {"heading_path": list(chunk.heading_path)} if chunk.heading_path else {}
                place = {"start_index": chunk.start, **path}
                found.append(Document(page_content=chunk.text, metadata={**deepcopy(metadata), **place}))
        return found
