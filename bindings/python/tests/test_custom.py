"""Segmenters and encoders that are written in Python."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import pericope

TEXT = "One. Two. Three. Four. Five."


class Every:
    """Cuts after every n-th sentence."""

    fingerprint = "every"

    def __init__(self, n: int) -> None:
        self.n = n

    def segment(self, document: pericope.Document) -> pericope.Boundaries:
        return pericope.Boundaries(range(self.n, len(document), self.n))


def texts(segmenter: Any, **limits: Any) -> list[str]:
    return [chunk.text for chunk in pericope.Segmenter(segmenter, tokenizer="words", **limits).segment(TEXT)]


def test_boundaries_scores_and_spans() -> None:
    assert texts(Every(2)) == ["One. Two.", "Three. Four.", "Five."]
    assert texts(lambda _: pericope.Scores([0.1, 0.1, 0.9, 0.1])) == ["One. Two. Three.", "Four. Five."]
    assert texts(lambda _: pericope.Scores(np.zeros(4, dtype=np.float32), threshold=0.5)) == [TEXT]
    assert texts(lambda _: pericope.Spans([(0, 6), (6, 28)])) == ["One. T", "wo. Three. Four. Five."]
    assert texts(lambda _: pericope.Spans([(5, 9), (7, 16)], finished=True)) == ["Two.", "o. Three."]


def test_spans_count_characters() -> None:
    text = "🔑 eins. 漢字 zwei."
    found = pericope.Segmenter(lambda _: pericope.Spans([(0, 7), (8, 16)]), tokenizer="words").segment(text)
    assert [chunk.text for chunk in found] == ["🔑 eins.", "漢字 zwei."]


def test_the_size_policy_holds_for_them() -> None:
    assert all(len(text.split()) <= 2 for text in texts(lambda _: pericope.Boundaries([]), max_tokens=2))
    segmenter = pericope.Segmenter(Every(2), max_tokens=50, tokenizer="words")
    assert (segmenter.spec, segmenter.fingerprint) == ("custom:max_tokens=50", "every")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([1, 2], "answers with Scores, Boundaries or Spans, not list"),
        (pericope.Boundaries([5]), "boundary 5 is outside"),
        (pericope.Scores([0.5]), "1 scores for a document of 5 sentences"),
        (pericope.Scores([0.1, 0.2, 0.3, 1.5]), "1.5 is no score"),
        (pericope.Scores([0.1, 0.2, 0.3, float("nan")]), "NaN is no score"),
        (pericope.Spans([(0, 99)]), "0..99 is no range"),
    ],
)
def test_wrong_answers_are_refused(answer: Any, says: str) -> None:
    with pytest.raises(pericope.UsageError, match=says):
        texts(lambda _: answer)


def test_exceptions_come_back_as_they_were() -> None:
    def broken(_: pericope.Document) -> pericope.Scores:
        raise KeyError("mine")

    segmenter = pericope.Segmenter(broken, tokenizer="words")
    for ask in (segmenter.segment, segmenter.boundaries, segmenter.segmentation):
        with pytest.raises(KeyError, match="mine"):
            ask(TEXT)
    with pytest.raises(KeyError, match="mine"):
        list(segmenter.iter([TEXT]))
    with pytest.raises(pericope.UsageError, match="no segmenter"):
        pericope.Segmenter(17)  # type: ignore[arg-type]


class Letters:
    """Counts letters."""

    name = "letters"
    dimension = 26
    calls = 0

    def encode_passages(self, texts: list[str]) -> np.ndarray:
        self.calls += 1
        found = np.zeros((len(texts), 26))
        for row, text in zip(found, texts):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    row[ord(letter) - 97] += 1
        return found


def test_an_encoder_in_a_segmenter() -> None:
    letters = Letters()
    segmenter = pericope.Segmenter("window", embedder=letters, tokenizer="words")
    assert segmenter.segment(TEXT) and letters.calls > 0


def test_an_encoder_in_an_index(tmp_path: pathlib.Path) -> None:
    documents = [pericope.Document("Zebras doze.", id="zoo"), pericope.Document("The moon and the sea.", id="sea")]
    report = pericope.index(documents, tmp_path / "i", segmenter="sentence", embedder=Letters())
    assert (report.documents, report.embedded) == (2, 2)
    index = pericope.open(tmp_path / "i", embedder=Letters())
    assert [hit.document for hit in index.search("zigzag", mode="dense", k=1)] == ["zoo"]
    vector = Letters().encode_passages(["moon"])[0]
    assert index.search("moon", mode="dense", k=1, vector=vector)[0].document == "sea"
    with pytest.raises(pericope.UsageError, match="letters"):
        pericope.open(tmp_path / "i").search("zigzag", mode="dense")


def test_vectors_have_length_one() -> None:
    assert pericope.Embedder(Letters()).encode_queries("abc").shape == (1, 26)
    vectors = pericope.Embedder(Letters()).encode_passages(["abc", "zzz"])
    assert vectors.dtype == np.float32 and np.allclose(np.linalg.norm(vectors, axis=1), 1)


@pytest.mark.parametrize("shape", [(1, 26), (2, 3)])
def test_vectors_of_another_shape_are_refused(shape: tuple[int, int]) -> None:
    class Wrong(Letters):
        def encode_passages(self, texts: list[str]) -> np.ndarray:
            return np.zeros(shape)

    with pytest.raises(pericope.UsageError, match="not 2 x 26"):
        pericope.Embedder(Wrong()).encode_passages(["a", "b"])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_vectors_of_numbers_that_are_none_are_refused(value: float, kind: Any, tmp_path: pathlib.Path) -> None:
    class Broken(Letters):
        def encode_passages(self, texts: list[str]) -> np.ndarray:
            found = np.ones((len(texts), 26), dtype=kind)
            found[-1, 3] = value
            return found

    with pytest.raises(pericope.UsageError, match="encode_passages gave a vector, the one of text 1, that holds"):
        pericope.Embedder(Broken()).encode_passages(["a", "b"])
    with pytest.raises(pericope.UsageError, match="that holds"):
        pericope.index(pericope.Document("One.", id="a"), tmp_path / "i", embedder=Broken())


@pytest.mark.parametrize("size", [1e-60, 1e-25, 1e25, 1e300])
def test_vectors_of_any_size_have_length_one(size: float) -> None:
    class Sized(Letters):
        def encode_passages(self, texts: list[str]) -> np.ndarray:
            return np.full((len(texts), 26), size)

    vectors = pericope.Embedder(Sized()).encode_passages(["a"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    with np.errstate(all="raise"):
        assert np.allclose(vectors, 26**-0.5)


def test_a_segmenter_of_the_library_is_none_of_your_own() -> None:
    made: Any = pericope.Segmenter("sentence", tokenizer="words")
    with pytest.raises(pericope.UsageError, match='pass the spec, "sentence:max_tokens=256"'):
        pericope.Segmenter(made, max_tokens=3)


def test_spans_are_told_of_in_characters() -> None:
    text = "🔑 eins. 漢字 zwei."

    def cut(*ranges: tuple[int, int]) -> None:
        pericope.Segmenter(lambda _: pericope.Spans(ranges), tokenizer="words").segment(text)

    with pytest.raises(pericope.UsageError, match="span 1, characters 9 to 16, does not follow"):
        cut((0, 7), (9, 16))
    with pytest.raises(pericope.UsageError, match="span 1, characters 3 to 16, does not follow"):
        cut((0, 7), (3, 16))
    with pytest.raises(pericope.UsageError, match="the last span ends before the text does"):
        cut((0, 7))


def test_what_is_no_encoder() -> None:
    with pytest.raises(pericope.UsageError, match="no encoder"):
        pericope.Embedder(object())  # type: ignore[arg-type]


def test_a_reranker_in_a_search(tmp_path: pathlib.Path) -> None:
    documents = [pericope.Document(f"Pumps and {'water ' * n}.", id=f"d{n}") for n in range(1, 5)]
    pericope.index(documents, tmp_path / "i", segmenter="sentence", embedder="none")
    index = pericope.open(tmp_path / "i")

    def longest(query: str, passages: list[str]) -> list[int]:
        assert query == "pumps"
        return [len(passage) for passage in passages]

    assert [hit.document for hit in index.search("pumps", rerank=longest, k=2)] == ["d4", "d3"]
    assert [hit.document for hit in index.search("pumps", rerank=lambda _, texts: [-len(text) for text in texts], k=1)] == ["d1"]
    with pytest.raises(pericope.UsageError, match="0 scores for 4 passages"):
        index.search("pumps", rerank=lambda *_: [])
    with pytest.raises(pericope.UsageError, match="the score NaN"):
        index.search("pumps", rerank=lambda _, texts: [float("nan")] * len(texts))
    # One prefix, or type, is a list of one.
    assert index.search("pumps", paths="d1", types="none") == [] and len(index.search("pumps", paths="d1")) == 1
    for k in (0, -1):
        with pytest.raises(pericope.UsageError, match="at least 1 hit"):
            index.search("pumps", k)
    with pytest.raises(pericope.UsageError, match="no reranker"):
        index.search("pumps", rerank=3)  # type: ignore[arg-type]

    def broken(query: str, passages: list[str]) -> list[float]:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        index.search("pumps", rerank=broken)
    assert index.search("pumps", rerank="none")
    assert index.search("pumps", rerank=lambda _, texts: np.array([len(text) for text in texts]), k=1)[0].document == "d4"


def test_a_reranker_may_ask_the_index_itself(tmp_path: pathlib.Path) -> None:
    def write(words: str) -> None:
        document = pericope.Document(f"Pumps and {words}.", id="d")
        pericope.index([document], tmp_path / "i", segmenter="sentence", embedder=Letters(), rebuild=True)

    write("water")
    index = pericope.open(tmp_path / "i", embedder=Letters())
    seen: list[object] = []

    def asks(query: str, passages: list[str]) -> list[float]:
        # The first search by vectors, and a store that was replaced.
        seen.append(index.search("water", mode="dense", k=1)[0].text)
        write("oil")
        seen.append(index.refresh())
        return [1.0] * len(passages)

    assert [hit.text for hit in index.search("pumps", mode="bm25", rerank=asks)] == ["Pumps and water."]
    assert seen == ["Pumps and water.", True]
    assert index.search("pumps", mode="bm25")[0].text == "Pumps and oil."
