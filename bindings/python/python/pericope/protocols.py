"""What segmenters, encoders, rerankers, retrievers and judges written in Python look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Protocol, Sequence, TypedDict, Union

from pericope._native import Boundaries, Document, Hit, Scores, Spans

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Segmentation = Union[Scores, Boundaries, Spans]
"""What a segmenter answers with: scores of gaps, decisions at sentence ends, or pieces."""


class SegmenterEntry(TypedDict):
    """A segmenter that specs may name."""

    name: str
    summary: str
    example: str
    keys: dict[str, str]


class CustomSegmenter(Protocol):
    """A segmenter of one's own. A function of a document does as well.

    It may be called from several threads. An attribute `fingerprint`, if there is one, names what the answers depend on.
    """

    def segment(self, document: Document) -> Segmentation:
        """Says where the document may be cut."""
        ...


class Encoder(Protocol):
    """An encoder of one's own. `fingerprint` (a str), `max_tokens` (an int) and `encode_queries` may be there too.

    An index remembers `name` and `fingerprint` (by default the name), and refuses vectors of another encoder.
    """

    @property
    def name(self) -> str:
        """The short name."""
        ...

    @property
    def dimension(self) -> int:
        """The length of the vectors."""
        ...

    def encode_passages(self, texts: list[str]) -> ArrayLike:
        """One row of finite numbers a text. Rows are brought to length 1; one of zeros stays."""
        ...


class Reranker(Protocol):
    """A reranker of one's own. A function of a query and passages does as well."""

    def scores(self, query: str, passages: list[str]) -> Union[Sequence[float], NDArray[Any]]:
        """One number a passage, in order: the higher, the better it answers the query. Passages come in the order of the search."""
        ...


class Retriever(Protocol):
    """A retriever of one's own, for experiments. A function of a question and a number does as well.

    An attribute `fingerprint`, if there is one, names what the passages depend on: a run is not taken up with another one, and
    comparisons of runs say where they differ. By default it is the name of the class or function.
    """

    def retrieve(self, question: str, k: int) -> Union[Sequence[Union[Hit, Mapping[str, Any]]], Mapping[str, Any]]:
        """At most `k` passages of the experiment's documents, best first.

        A passage is a `Hit`, `{"document": id, "start": 0, "end": 9}` (characters) or `{"text": "..."}`, with a `score` where there
        is one. A dictionary has them as `hits`; beside them `answer` may be an answer, and `offsets` `"bytes"`.
        """
        ...


class Judge(Protocol):
    """A judge of one's own, for experiments. A function of these four does as well. `fingerprint` is as for a retriever."""

    def judge(self, question: str, gold: str, answer: str, context: list[str]) -> Union[float, tuple[float, str]]:
        """A score from 0 to 10, or that and a reason. `context` are the passages that the answer was made from."""
        ...
