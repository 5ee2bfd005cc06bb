"""Values go through pickles and copies as they are."""

from __future__ import annotations

import copy
import pathlib
import pickle
from typing import Any, Callable

import numpy as np
import pytest

import pericope

from .conftest import HANDBOOK, ROOT
from .test_custom import Every, Letters

WAYS: list[Callable[[Any], Any]] = [
    *(lambda value, protocol=protocol: pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, 6)),
    copy.copy,
    copy.deepcopy,
]
TEXT = "One. Two. Three. Four. Five."


@pytest.fixture(params=range(len(WAYS)))
def again(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """What makes a value again."""
    way: Callable[[Any], Any] = WAYS[request.param]
    return way


def shown(document: pericope.Document) -> tuple[object, ...]:
    places = [(one.start, one.end, one.kind, one.level, one.paragraph, one.lines) for one in document.sentences]
    paths = [document.heading_path(number) for number in range(len(document))]
    return document.id, document.title, document.text, document.encoding, document.visible(), places, paths


def test_documents(again: Callable[[Any], Any]) -> None:
    page = b"<html><nav>Menu</nav><h1 id='f'>Fish</h1>\n<p>Cod &amp; chips.</p></html>"
    documents = [
        pericope.read(sorted(HANDBOOK.glob("*.md"))[0]),
        pericope.read(page, "html", id="fish", whole_page=True),
        pericope.read("Straße und Brücke, für alle Bürger der Stadt München.".encode("cp1252"), "plain"),
        pericope.read(next((ROOT / "crates" / "read" / "tests").rglob("pump.pdf"))),
        pericope.Document.from_sentences(["One. Not two.", "Two\n\nlines."], id="given"),
        pericope.Document(""),
    ]
    segmenter = pericope.Segmenter("structure", tokenizer="words")
    for document in documents:
        other = again(document)
        assert shown(other) == shown(document) and segmenter.segment(other) == segmenter.segment(document)


def test_what_segmenters_answer(again: Callable[[Any], Any]) -> None:
    scores = again(pericope.Scores([0.25, 0.5], threshold=0.75))
    assert scores.values.tolist() == [0.25, 0.5] and scores.threshold == 0.75
    assert again(pericope.Boundaries([1, 3])).after == [1, 3]
    spans = again(pericope.Spans([(0, 4), (2, 9)], finished=True))
    assert spans.ranges == [(0, 4), (2, 9)] and spans.finished
    sentence = pericope.Document("# A\n\nOne.", format="markdown").sentences[0]
    other = again(sentence)
    assert repr(other) == repr(sentence) and (other.level, other.lines, other.paragraph) == (1, (1, 1), 0)


def test_segmenters(again: Callable[[Any], Any]) -> None:
    made = [
        pericope.Segmenter("sentence", max_tokens=2, tokenizer="words"),
        pericope.Segmenter(Every(2), max_tokens=50, tokenizer="words"),
        pericope.Segmenter("window", embedder=Letters(), tokenizer="words"),
        pericope.Segmenter("same-size:reference=sentence", corpus=[TEXT], tokenizer="words"),
    ]
    for segmenter in made:
        other = again(segmenter)
        assert (other.spec, other.tokenizer) == (segmenter.spec, segmenter.tokenizer)
        assert other.segment(TEXT) == segmenter.segment(TEXT)


def test_embedders(again: Callable[[Any], Any]) -> None:
    embedder = pericope.Embedder(Letters())
    assert np.array_equal(again(embedder).encode_passages(["abc"]), embedder.encode_passages(["abc"]))


def test_hits(again: Callable[[Any], Any], tmp_path: pathlib.Path) -> None:
    text = "# Keys 🔑\n\n🔑 alpha beta. Keys alpha.\n\nMore of alpha."
    pericope.index(pericope.Document(text, id="e", format="markdown"), tmp_path / "i", segmenter="sentence")
    hits = pericope.open(tmp_path / "i").search("alpha", context=1)
    assert hits
    for hit in hits:
        other = again(hit)
        assert other.to_dict() == hit.to_dict() and other.lines == hit.lines and other.highlights == hit.highlights
        assert (other.rank, other.score, other.context, other.snippet) == (hit.rank, hit.score, hit.context, hit.snippet)


def test_what_is_no_pickle_is_refused() -> None:
    document: Any = pericope.Document
    with pytest.raises(pericope.UsageError, match="no pickle of Pericope"):
        document._restored("{}")
