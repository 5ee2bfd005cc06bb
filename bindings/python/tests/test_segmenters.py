"""Segmenters by their specs."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import pericope

# What reads with no model, and asks nobody.
PLAIN = ["sentence", "paragraph", "structure", "recursive", "fixed", "u00", "c99", "texttiling", "bayesseg", "cogltx-blocks"]


def test_every_segmenter_is_listed() -> None:
    entries: list[pericope.SegmenterEntry] = pericope.segmenters()
    names = {entry["name"] for entry in entries}
    assert {*PLAIN, "fusion", "topic", "weswin", "nsp", "hiercrf", "window", "llm"} <= names
    assert all(entry["summary"] and entry["example"] for entry in pericope.segmenters())


@pytest.mark.parametrize("spec", PLAIN)
def test_segmenters_without_a_model(spec: str, handbook: list[pericope.Document]) -> None:
    segmenter = pericope.Segmenter(spec, max_tokens=80, tokenizer="words")
    for document in handbook[:2]:
        chunks = segmenter.segment(document)
        assert chunks and all(chunk.tokens <= 80 for chunk in chunks)


@pytest.mark.parametrize("spec", ["fusion", "window", "variance", "weswin", "nsp", "topic", "hiercrf"])
def test_segmenters_with_a_model(spec: str, minilm: pericope.Embedder, handbook: list[pericope.Document]) -> None:
    segmenter = pericope.Segmenter(spec)
    chunks = segmenter.segment(handbook[0])
    assert chunks and all(chunk.tokens <= 256 for chunk in chunks)


def test_what_counts_tokens(minilm: pericope.Embedder) -> None:
    assert pericope.Segmenter("fusion").tokenizer == "minilm"
    assert pericope.Segmenter("structure").tokenizer == "words"


def test_the_size_policy() -> None:
    text = "One two three. " * 40
    segmenter = pericope.Segmenter("sentence", max_tokens=10, overlap=1, tokenizer="words")
    assert segmenter.spec == "sentence:max_tokens=10,overlap=1"
    chunks = segmenter.segment(text)
    assert all(a.end > b.start for a, b in zip(chunks, chunks[1:]))
    whole = pericope.Segmenter("paragraph", max_tokens=0, tokenizer="words").segment(text)
    assert len(whole) == 1 and whole[0].tokens == 160  # full stops count
    target = pericope.Segmenter("paragraph", max_tokens=60, target_tokens=30, tokenizer="words").segment(text)
    # Cuts that no paragraph asks for cost something: four of 40 tokens are better than five of 32.
    assert [chunk.tokens for chunk in target] == [40] * 4


def test_scores_and_boundaries(handbook: list[pericope.Document]) -> None:
    segmenter = pericope.Segmenter("texttiling", max_tokens=0, tokenizer="words")
    # No headings: those move what speaks for a cut behind them to the gap before.
    document = pericope.Document(handbook[0].text)
    scores = segmenter.segmentation(document)
    assert isinstance(scores, pericope.Scores)
    assert scores.values.dtype == np.float64 and len(scores) == len(document) - 1
    above = [int(i) + 1 for i in np.flatnonzero(scores.values > scores.threshold)]
    assert segmenter.boundaries(document) == above
    assert len(segmenter.boundaries(document, segments=4)) == 3
    assert isinstance(pericope.Segmenter("paragraph").segmentation(document), pericope.Boundaries)
    assert isinstance(pericope.Segmenter("recursive").segmentation(document), pericope.Spans)


def test_segments_within_segments(minilm: pericope.Embedder) -> None:
    topics = [
        "The kettle boils water for the tea \N{HOT BEVERAGE}. Tea leaves are steeped for three minutes. Milk goes in last. ",
        "The bridge carries trains over the river. Its piers stand on rock. Engineers inspect its cables yearly. ",
    ]
    text = "\n\n".join(topic * 3 for topic in topics)
    tree = pericope.Segmenter("hiercrf").tree(text)
    assert (tree.start, tree.end, tree.score, tree.label) == (0, len(text.rstrip()), None, None)
    bridge = next(child for child in tree.children if child.start == text.index("The bridge"))
    assert bridge.score is not None and 0.5 < bridge.score <= 1.0
    assert text[bridge.start : bridge.end].startswith("The bridge")
    for before, after in zip(tree.children, tree.children[1:]):
        assert before.end <= after.start
    with pytest.raises(pericope.UsageError, match="`fixed` finds no segments within segments; hiercrf does"):
        pericope.Segmenter("fixed:words=10", tokenizer="words").tree(text)


def test_many_give_the_same_as_each(handbook: list[pericope.Document]) -> None:
    segmenter = pericope.Segmenter("bayesseg", tokenizer="words")
    alone = [segmenter.segment(document) for document in handbook]
    assert segmenter.segment_all(handbook) == alone
    assert list(segmenter.iter(iter(handbook))) == alone


def test_nothing_to_cut() -> None:
    segmenter = pericope.Segmenter("structure", tokenizer="words")
    assert segmenter.segment("") == [] and segmenter.segment(" \n") == [] and segmenter.boundaries("") == []
    assert segmenter.segment_all([]) == [] and list(segmenter.iter([])) == []
    assert len(segmenter.segmentation("")) == 0


def test_same_size_needs_a_corpus(handbook: list[pericope.Document]) -> None:
    with pytest.raises(pericope.UsageError, match="corpus"):
        pericope.Segmenter("same-size:reference=structure", tokenizer="words")
    segmenter = pericope.Segmenter("same-size:reference=structure", tokenizer="words", corpus=handbook)
    assert segmenter.spec.startswith("fixed:")


def test_an_iterator_takes_no_more_than_it_needs() -> None:
    taken = 0

    def texts() -> object:
        nonlocal taken
        while True:
            taken += 1
            yield f"Text {taken}. It is short."

    found = pericope.Segmenter("sentence", tokenizer="words").iter(texts())  # type: ignore[arg-type]
    assert next(found)[0].text.startswith("Text 1.")
    assert taken <= 1000


def test_other_threads_run_meanwhile() -> None:
    text = "Words and more words in a row. " * 60_000
    segmenter = pericope.Segmenter("sentence", tokenizer="words")
    ticks, ended = [0], threading.Event()

    def tick() -> None:
        while not ended.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = ticks[0]
    document = pericope.Document(text)
    segmenter.boundaries(document)
    during = ticks[0] - before
    ended.set()
    thread.join()
    assert during >= 20


def test_scores_are_arrays_that_nobody_copies() -> None:
    found = pericope.Segmenter("texttiling", tokenizer="words").segmentation("Ships sail. Bread rises. " * 20)
    assert isinstance(found, pericope.Scores)
    assert found.values is found.values and np.shares_memory(found.values, found.values[1:])
    own = np.linspace(0, 1, 5)
    assert pericope.Scores(own).values is own
    assert np.allclose(pericope.Scores([0, 1]).values, [0.0, 1.0])
