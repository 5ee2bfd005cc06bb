"""What segmenters and encoders written in Python look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Union

from pericope._native import Boundaries, Document, Scores, Spans

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Segmentation = Union[Scores, Boundaries, Spans]
"""What a segmenter answers with: scores of gaps, decisions at sentence ends, or pieces."""


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
        """One row of numbers a text. Rows are brought to length 1."""
        ...
