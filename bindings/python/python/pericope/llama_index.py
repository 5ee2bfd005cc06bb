"""Pericope's segmenters as a node parser of LlamaIndex."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.node_parser.interface import NodeParser as Base
from llama_index.core.node_parser.node_utils import build_nodes_from_splits, default_id_func
from llama_index.core.schema import BaseNode, Document, MetadataMode, TextNode

from pericope import Segmenter, UsageError


class NodeParser(Base):
    """Parses nodes with a segmenter: `NodeParser(spec="fusion", limits={"max_tokens": 256})`.

    Nodes get their exact `start_char_idx` and `end_char_idx`, and `heading_path` where there are headings. Limits go into
    `limits`; a keyword that is none is refused, and settings do not change.
    """

    model_config = ConfigDict(extra="forbid")

    spec: str = Field(default="fusion", description="The spec of the segmenter.", frozen=True)
    limits: dict[str, Any] = Field(default_factory=dict, description="Keywords of pericope.Segmenter.", frozen=True)
    format: str = Field(default="plain", description="The format of the texts.", frozen=True)
    _segmenter: Segmenter = PrivateAttr()

    def __init__(self, **data: Any) -> None:
        super().__init__(**data)  # pyright: ignore[reportUnknownMemberType]
        self._segmenter = Segmenter(self.spec, **self.limits)

    def model_copy(self, *, update: Optional[Mapping[str, Any]] = None, deep: bool = False) -> NodeParser:
        """A copy, with other settings where `update` has some."""
        copied = super().model_copy(update=update, deep=deep)
        copied._segmenter = Segmenter(copied.spec, **copied.limits)
        return copied

    @classmethod
    def from_dict(cls, data: dict[str, Any], **kwargs: Any) -> NodeParser:
        """The parser that `to_dict` wrote down. Of an `id_func` that has only the name: pass a function of your own again."""
        given: dict[str, Any] = {**data, **kwargs}
        if not callable(given.get("id_func") or default_id_func):
            name = given.pop("id_func")["id_func_name"]
            if name != default_id_func.__name__:
                raise UsageError(f"id_func: only its name, {name}, was written down; pass the function beside the settings")
        return super().from_dict(given)

    @classmethod
    def class_name(cls) -> str:
        """The name in configurations."""
        return "PericopeNodeParser"

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any) -> list[BaseNode]:
        texts = [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        found: list[BaseNode] = []
        for node, chunks in zip(nodes, self._segmenter.segment_all(texts, format=self.format)):
            named = self.id_func  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            made = build_nodes_from_splits(
                [chunk.text for chunk in chunks],
                node,
                id_func=named,  # pyright: ignore[reportUnknownArgumentType]
            )
            for part, chunk in zip(made, chunks):
                part.start_char_idx, part.end_char_idx = chunk.start, chunk.end
                if chunk.heading_path:
                    part.metadata["heading_path"] = list(chunk.heading_path)
                found.append(part)
        return found

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]
    ) -> list[BaseNode]:
        # The base looks for each text anew, and takes a sentence that stands in the chunk before for the next one like it.
        places = [(node, node.start_char_idx, node.end_char_idx) for node in nodes if isinstance(node, TextNode)]
        finished = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
        for node, start, end in places:
            node.start_char_idx, node.end_char_idx = start, end
        return finished
