from os import PathLike
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union, final

from numpy import float32, float64
from numpy.typing import ArrayLike, NDArray

from pericope.protocols import CustomSegmenter, Encoder, Judge, Reranker, Retriever, Segmentation
from pericope.protocols import SegmenterEntry as _SegmenterEntry

__version__: str

_Path = Union[str, PathLike[str]]
_Text = Union[str, "Document"]
_Range = tuple[str, int, int]
_Numbers = Union[Sequence[float], NDArray[Any]]
_AnySegmenter = Union[str, CustomSegmenter, Callable[["Document"], Segmentation]]
_AnyEmbedder = Union[str, "Embedder", Encoder]
_AnyReranker = Union[str, Reranker, Callable[[str, list[str]], _Numbers]]
_AnyRetriever = Union[
    Retriever, Callable[[str, int], Union[Sequence[Union["Hit", Mapping[str, Any]]], Mapping[str, Any]]]
]
_AnyJudge = Union[Judge, Callable[[str, str, str, list[str]], Union[float, tuple[float, str]]]]

class PericopeError(Exception):
    """The base of all errors of Pericope."""

class UsageError(PericopeError):
    """A wrong spec, name, value or configuration, or a model that is not installed: what was asked for must change."""

class RunError(PericopeError):
    """Something failed while it ran: a file, a model, a server."""

@final
class Sentence:
    """The smallest unit that segmenters reason about: a sentence, a heading, or a whole code block or table."""

    def __new__(
        cls,
        start: int,
        end: int,
        start_byte: int,
        end_byte: int,
        lines: tuple[int, int],
        kind: str,
        level: Optional[int],
        paragraph: int,
        text: str,
    ) -> Sentence: ...
    @property
    def start(self) -> int:
        """The first character."""
    @property
    def end(self) -> int:
        """One past the last character."""
    @property
    def start_byte(self) -> int: ...
    @property
    def end_byte(self) -> int: ...
    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line, from 1."""
    @property
    def kind(self) -> str:
        """`heading`, `prose`, `list-item`, `code`, `table` or `markup`."""
    @property
    def level(self) -> Optional[int]:
        """The level of a heading, 1 to 6."""
    @property
    def paragraph(self) -> int: ...
    @property
    def text(self) -> str: ...

@final
class Document:
    """A text, kept as it is, and what a reader found in it. An index knows a document by its `id`.

    Formats that hold several documents (`jsonl`) or are no text (`pdf`) are for `read` and `read_all`.
    """

    def __new__(cls, text: str, *, format: str = "plain", id: str = "") -> Document: ...
    @staticmethod
    def from_sentences(sentences: Sequence[str], *, id: str = "") -> Document:
        """A document of given sentences, joined by line ends; each is a paragraph of its own."""
    @property
    def id(self) -> str: ...
    @property
    def title(self) -> Optional[str]: ...
    @property
    def text(self) -> str:
        """The source, unchanged."""
    @property
    def encoding(self) -> Optional[str]:
        """What the source was decoded from; None for UTF-8."""
    @property
    def sentences(self) -> list[Sentence]: ...
    def heading_path(self, sentence: int) -> tuple[str, ...]:
        """The headings above a sentence (from 0), outermost first."""
    def visible(self) -> str:
        """The whole text as a person reads it: tags gone, entities as characters."""
    def __len__(self) -> int:
        """The number of sentences."""
    def __bool__(self) -> bool: ...

def read(
    source: Union[_Path, bytes, bytearray],
    format: Optional[str] = None,
    *,
    id: Optional[str] = None,
    whole_page: bool = False,
    max_bytes: int = 0,
) -> Document:
    """Reads the document of a file or of bytes. The ending of a file says its format; bytes need one. `max_bytes`, where it is not
    0, is the most that is read.

    PDFs are read by a process of their own, with limits of time and memory.
    """

def read_all(
    source: Union[_Path, bytes, bytearray],
    format: Optional[str] = None,
    *,
    id: Optional[str] = None,
    whole_page: bool = False,
    max_bytes: int = 0,
) -> list[Document]:
    """As `read`, for files and bytes that hold several documents (JSONL)."""

@final
class Chunk:
    """A piece of a document: `document.text[start:end] == text`."""

    def __new__(
        cls,
        document: str,
        ordinal: int,
        text: str,
        start: int,
        end: int,
        start_byte: int,
        end_byte: int,
        lines: tuple[int, int],
        heading_path: tuple[str, ...],
        tokens: int,
    ) -> Chunk: ...
    @property
    def document(self) -> str:
        """The id of the document."""
    @property
    def ordinal(self) -> int:
        """The place among the document's chunks, from 0."""
    @property
    def text(self) -> str: ...
    @property
    def start(self) -> int:
        """The first character."""
    @property
    def end(self) -> int:
        """One past the last character."""
    @property
    def start_byte(self) -> int: ...
    @property
    def end_byte(self) -> int: ...
    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line, from 1."""
    @property
    def heading_path(self) -> tuple[str, ...]: ...
    @property
    def tokens(self) -> int:
        """Tokens of the text, special tokens included."""
    def to_dict(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def __hash__(self) -> int: ...

@final
class Scores:
    """For n sentences n - 1 numbers in 0..1: how likely it is that a segment ends after the sentence."""

    def __new__(cls, values: ArrayLike, threshold: float = 0.5) -> Scores: ...
    @property
    def values(self) -> NDArray[float64]: ...
    @property
    def threshold(self) -> float: ...
    def __len__(self) -> int: ...

@final
class Boundaries:
    """The numbers of the sentences, from 1, after which a segment ends; the document's end is not listed."""

    def __new__(cls, after: Sequence[int]) -> Boundaries: ...
    @property
    def after(self) -> list[int]: ...
    def __len__(self) -> int: ...

@final
class Spans:
    """Pieces of the text by their characters.

    Finished ones may overlap and leave text out, and only those over the limit are cut; others cover everything that is not
    blank, in order.
    """

    def __new__(cls, ranges: Sequence[tuple[int, int]], *, finished: bool = False) -> Spans: ...
    @property
    def ranges(self) -> list[tuple[int, int]]: ...
    @property
    def finished(self) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[list[tuple[int, int]]], dict[str, Any]]: ...
    def __len__(self) -> int: ...

@final
class Segmenter:
    """A segmenter with its size policy: texts in, chunks out.

    `segmenter` is a spec (`"fusion"`, `"fixed:words=100"`; `segmenters()` lists them), an object with a method `segment`, or a
    function of a document. Limits count tokens; without any, a chunk has at most 256. `embedder` is what semantic
    segmenters read with; `corpus` is what `same-size` measures its reference on. It may be used from several threads, and copied
    and pickled where what it was made of can be.
    """

    def __new__(
        cls,
        segmenter: _AnySegmenter,
        *,
        max_tokens: Optional[int] = None,
        min_tokens: Optional[int] = None,
        target_tokens: Optional[int] = None,
        overlap: Optional[int] = None,
        tokenizer: Optional[str] = None,
        embedder: Optional[_AnyEmbedder] = None,
        corpus: Optional[Sequence[_Text]] = None,
        offline: bool = False,
    ) -> Segmenter: ...
    @property
    def spec(self) -> str:
        """The resolved spec, with the limits in force."""
    @property
    def fingerprint(self) -> str:
        """Names the weights that it reads with; empty where the spec says all."""
    @property
    def tokenizer(self) -> str:
        """The name of what counts tokens."""
    def segment(self, text: _Text, *, format: str = "plain") -> list[Chunk]:
        """The chunks of a text."""
    def segment_all(self, texts: Sequence[_Text], *, format: str = "plain") -> list[list[Chunk]]:
        """The chunks of each of several texts, cut on all cores."""
    def iter(self, texts: Iterable[_Text], *, format: str = "plain") -> ChunkIterator:
        """The chunks of each text of an iterable, a list a text, in order. Memory does not grow with the texts."""
    def segmentation(self, text: _Text, *, format: str = "plain") -> Segmentation:
        """What the segmenter itself says, before the size policy."""
    def boundaries(self, text: _Text, *, segments: Optional[int] = None, format: str = "plain") -> list[int]:
        """The numbers of the sentences, from 1, after which chunks end; with `segments`, of so many segments."""
    def tree(self, text: _Text, *, format: str = "plain") -> Tree:
        """The segments within segments of a text, from coarse to fine. `hiercrf` finds them; others raise `UsageError`."""
    def __getnewargs_ex__(self) -> tuple[tuple[Any], dict[str, Any]]: ...

@final
class Tree:
    """A segment with the segments in it: `text[start:end]`, in characters."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def score(self) -> Optional[float]:
        """How likely it is that a segment begins here; `None` for the first of a document."""
    @property
    def label(self) -> Optional[tuple[str, float]]:
        """What it is about, with a probability, where the model knows names for that."""
    @property
    def children(self) -> list[Tree]:
        """The segments that it consists of: none or at least two."""

@final
class ChunkIterator:
    """Gives the chunks of each text, to one thread. A text that cannot be cut raises at its turn; the next call goes on after it."""

    def __iter__(self) -> Iterator[list[Chunk]]: ...
    def __next__(self) -> list[Chunk]: ...

SegmenterEntry = _SegmenterEntry

def segmenters() -> list[SegmenterEntry]:
    """The segmenters that specs may name."""

@final
class Embedder:
    """Turns texts into vectors of length 1. `name` is an embedder's (`"minilm"`, `"static"`), or an encoder of your own."""

    def __new__(cls, name: _AnyEmbedder = "minilm", *, offline: bool = False) -> Embedder: ...
    @property
    def name(self) -> str: ...
    @property
    def fingerprint(self) -> str:
        """Names all that the vectors depend on."""
    @property
    def dimension(self) -> int: ...
    @property
    def max_tokens(self) -> int:
        """The tokens that are read of a text; the rest is cut off unread."""
    def count_tokens(self, text: str) -> Optional[int]: ...
    def encode_passages(self, texts: Sequence[str]) -> NDArray[float32]:
        """One row a text."""
    def encode_queries(self, texts: Sequence[str]) -> NDArray[float32]:
        """One row a question."""
    def __getnewargs_ex__(self) -> tuple[tuple[Any], dict[str, Any]]: ...

@final
class IndexReport:
    """What was indexed."""

    @property
    def documents(self) -> int:
        """Documents written, each under an id of its own."""
    @property
    def chunks(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def empty(self) -> list[str]:
        """Ids of documents without text."""
    @property
    def failures(self) -> list[tuple[str, str]]:
        """What was left out, by the id of its document or its path, and why."""
    @property
    def incomplete(self) -> list[tuple[str, str]]:
        """Files that were read in part, by their paths, and what of them is missing."""
    @property
    def lost(self) -> list[str]:
        """Ids of documents of the old store that could not be read or cut this time: a rebuild did not take its place."""
    @property
    def embedded(self) -> int:
        """Texts that were embedded; others were known."""
    @property
    def truncated(self) -> int:
        """Chunks whose end the embedder does not read."""
    @property
    def total_documents(self) -> int:
        """Documents in the store that was written."""
    @property
    def total_chunks(self) -> int:
        """Chunks in the store that was written."""

def index(
    documents: Union[_Path, Document, Iterable[Union[_Path, Document]]],
    into: _Path,
    *,
    segmenter: Union[Segmenter, _AnySegmenter] = "structure",
    embedder: Optional[_AnyEmbedder] = None,
    rebuild: bool = False,
    prefix_headings: bool = False,
    late_chunking: bool = False,
    offline: bool = False,
) -> IndexReport:
    """Cuts documents and writes them into a store: a folder, or `qdrant://HOST:PORT/COLLECTION`.

    A str is the path of a file or folder. A document that is there already is replaced; of those of one id in a call the first
    counts, and one without an id is refused. What cannot be read or cut is left out and named in the report. Without `embedder` the store is
    searched by words alone. Tokens are counted by the model that embeds, and a chunk has at most as many as it reads of a
    passage, and at most 512; a store that is there already keeps its tokenizer and its limit. A `Segmenter` counts with its own
    tokenizer and keeps its own limit, however much the embedder reads. A rebuild takes the place of the old store unless
    documents of that one could not be read or cut this time: they are `lost` in the report, and the old store stays.
    """

@final
class Hit:
    """A chunk that was found. Its places are those in the document's source."""

    @property
    def rank(self) -> int: ...
    @property
    def score(self) -> float:
        """Comparable within one answer only."""
    @property
    def id(self) -> str: ...
    @property
    def document(self) -> str: ...
    @property
    def title(self) -> Optional[str]: ...
    @property
    def anchor(self) -> Optional[str]: ...
    @property
    def ordinal(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def heading_path(self) -> tuple[str, ...]: ...
    @property
    def start(self) -> Optional[int]:
        """The first character; None in a store of an earlier version, which counted none."""
    @property
    def end(self) -> Optional[int]: ...
    @property
    def start_byte(self) -> int: ...
    @property
    def end_byte(self) -> int: ...
    @property
    def lines(self) -> Optional[tuple[int, int]]: ...
    @property
    def snippet(self) -> str: ...
    @property
    def context(self) -> Optional[str]:
        """The chunk with its neighbours, where `context` was asked for."""
    @property
    def highlights(self) -> list[tuple[int, int]]:
        """The query's words in the text, by characters."""
    def to_dict(self) -> dict[str, Any]:
        """The hit as a dictionary. It counts characters, as the attributes do, with `start_byte` and `end_byte` beside them."""

@final
class Index:
    """A store that is searched. It may be used from several threads."""

    @property
    def name(self) -> str: ...
    @property
    def chunks(self) -> int: ...
    @property
    def documents(self) -> int: ...
    @property
    def segmenter(self) -> str:
        """The spec of the segmenter that it was built with."""
    @property
    def embedder(self) -> Optional[str]:
        """The name of the embedder that made the vectors."""
    def search(
        self,
        query: str,
        k: int = 10,
        *,
        mode: Optional[str] = None,
        paths: Sequence[str] = (),
        headings: Sequence[str] = (),
        types: Sequence[str] = (),
        vector: Optional[ArrayLike] = None,
        rerank: Optional[_AnyReranker] = None,
        rerank_depth: int = 50,
        expand: str = "none",
        expand_tokens: int = 512,
        context: int = 0,
        token_budget: Optional[int] = None,
    ) -> list[Hit]:
        """Finds chunks, best first. `mode` is `bm25`, `dense` or `hybrid` (the default where there are vectors)."""
    def list(self, prefix: str = "", *, after: Optional[str] = None, limit: int = 1000) -> list[dict[str, Any]]:
        """The documents, in the order of their ids."""
    def refresh(self) -> bool:
        """Sees the newest state of the store from now on; true where it is another one."""

def open(place: _Path, *, embedder: Optional[_AnyEmbedder] = None, offline: bool = False) -> Index:
    """Opens a store to search it. An encoder of your own that made its vectors must be given."""

def evaluate(
    config: Union[_Path, Mapping[str, Any]],
    *,
    out: Optional[_Path] = None,
    set: Sequence[str] = (),
    embedder: Optional[_AnyEmbedder] = None,
    segmenters: Optional[Mapping[str, Union[CustomSegmenter, Callable[[Document], Segmentation]]]] = None,
    judge: Optional[_AnyJudge] = None,
    retrievers: Optional[Mapping[str, _AnyRetriever]] = None,
    resume: bool = False,
    offline: bool = False,
) -> dict[str, Any]:
    """Runs an experiment on retrieval, segmentation or classification and returns its `summary.json`; of one with a `[sweep]` the
    list `runs`, with the `label`, the `folder` and the `summary` of each variant.

    `config` is a path, a dictionary, or TOML as text (it has a line end). `out` keeps the run's files and report; `set`
    overrides keys (`"retrieval.k=[1,3]"`). A path may stand in a dictionary as a `pathlib.Path`. Each of `segmenters` is one more chunker (or segmenter). For experiments on retrieval a
    `judge` of your own takes the place of `judge.kind`, and each of `retrievers` is measured beside the chunkers, under its name.
    Keys that `set` puts in place of what is passed are refused.
    """

def segmentation_scores(
    reference: Sequence[int], hypothesis: Sequence[int], sentences: int, *, k: Optional[int] = None
) -> dict[str, float]:
    """Every score of one document's segmentation; with `k`, Pk and WindowDiff by windows of that size."""

def retrieval_scores(
    gold: Sequence[_Range],
    retrieved: Sequence[_Range],
    *,
    chunks: Optional[Sequence[_Range]] = None,
    k: Optional[int] = None,
) -> dict[str, float]:
    """The scores of one question's ranking; ranges are (document, start, end).

    With `chunks`, those of the corpus, there are `ndcg` and `precision_omega` too.
    """

def answer_scores(answer: str, gold: str) -> dict[str, float]:
    """`exact_match` and `token_f1` of an answer, and `rouge_l` where the gold answer has a word of letters a-z or digits to read."""

def compare(
    a: _Numbers, b: _Numbers, *, documents: Optional[Sequence[str]] = None, seed: int = 0
) -> dict[str, Any]:
    """Compares a with b on the same questions: difference, 95 % interval (low, high), p, wins, ties, losses, detectable."""

def bootstrap_interval(
    values: _Numbers, *, documents: Optional[Sequence[str]] = None, seed: int = 0
) -> tuple[float, float]:
    """The 95 % interval of a mean of finite numbers; NaN for fewer than two documents."""

def permutation_p(differences: _Numbers, *, family: int = 1, seed: int = 0) -> float:
    """The two-sided p-value of the paired permutation test; `differences` are sums by document, all finite."""

def holm(p: Sequence[float]) -> list[float]:
    """P-values of one family, corrected after Holm. They lie in 0..1."""

def main(arguments: Sequence[str]) -> int:
    """Runs the command with these arguments, the first of which is its name."""
