"""Exceptions of the user's code come back as they were, to whom they belong."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import threading
import time
from typing import Any, Callable

import numpy as np
import pytest

import pericope

from .test_custom import Letters


def raises_its_text(document: pericope.Document) -> pericope.Boundaries:
    time.sleep(0.0002)
    raise KeyError(document.text)


def in_threads(work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_that_share_a_segmenter() -> None:
    segmenter = pericope.Segmenter(raises_its_text, tokenizer="words")
    found: list[str] = []

    def work(number: int) -> None:
        for turn in range(50):
            text = f"{number}-{turn} text."
            try:
                segmenter.segment(text)
            except KeyError as error:
                found.append("own" if error.args[0] == text else "another's")
            except Exception as error:
                found.append(repr(error))

    in_threads(work)
    assert found == ["own"] * 400


def test_threads_that_share_an_embedder() -> None:
    class Raises(Letters):
        def encode_passages(self, texts: list[str]) -> Any:
            time.sleep(0.0002)
            if texts[0].startswith("bad"):
                raise KeyError(texts[0])
            return np.ones((len(texts), 26))

    embedder = pericope.Embedder(Raises())
    found: list[str] = []

    def work(number: int) -> None:
        for turn in range(50):
            text = f"bad {number}-{turn}"
            try:
                embedder.encode_passages([text])
            except KeyError as error:
                found.append("own" if error.args[0] == text else "another's")

    in_threads(work)
    assert found == ["own"] * 400


def test_each_text_of_an_iterator_has_its_own() -> None:
    def segment(document: pericope.Document) -> Any:
        if document.text.startswith("A"):
            return pericope.Spans([(0, 1)])
        if document.text.startswith("B"):
            raise KeyError(document.text)
        return pericope.Boundaries([])

    segmenter = pericope.Segmenter(segment, tokenizer="words")
    found = segmenter.iter(["A one. A two.", "B one.", "B two.", "C one."])
    with pytest.raises(pericope.PericopeError, match="span") as error:
        next(found)
    assert "\ue000" not in str(error.value)
    for text in ("B one.", "B two."):
        with pytest.raises(KeyError, match=text):
            next(found)
    assert [chunk.text for chunk in next(found)] == ["C one."]
    assert next(found, None) is None


def test_stop_iteration_does_not_end_an_iterator() -> None:
    def segment(document: pericope.Document) -> pericope.Boundaries:
        if document.text == "B.":
            next(iter([]))
        return pericope.Boundaries([])

    found = pericope.Segmenter(segment, tokenizer="words").iter(["A.", "B.", "C."])
    assert next(found)[0].text == "A."
    with pytest.raises(RuntimeError, match="raised StopIteration") as error:
        next(found)
    assert isinstance(error.value.__cause__, StopIteration)
    assert next(found)[0].text == "C."


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_ends_an_index(tmp_path: pathlib.Path, kind: type[BaseException]) -> None:
    def segment(document: pericope.Document) -> pericope.Boundaries:
        if document.id == "b":
            raise kind("mine")
        return pericope.Boundaries([])

    documents = [pericope.Document("One.", id=name) for name in "abc"]
    with pytest.raises(kind, match="mine"):
        pericope.index(documents, tmp_path / "i", segmenter=segment)
    assert pericope.index(documents[:1], tmp_path / "i", segmenter=segment).failures == []


def test_other_exceptions_are_failures_of_their_documents(tmp_path: pathlib.Path) -> None:
    def segment(document: pericope.Document) -> pericope.Boundaries:
        if document.id == "b":
            raise KeyError("mine")
        return pericope.Boundaries([])

    documents = [pericope.Document("One.", id=name) for name in "abc"]
    made = pericope.Segmenter(segment, tokenizer="words")
    cutters: list[Any] = [segment, made]
    for number, segmenter in enumerate(cutters):
        report = pericope.index(documents, tmp_path / str(number), segmenter=segmenter)
        assert report.failures == [("b", "KeyError: 'mine'")] and report.documents == 2


def test_a_text_of_the_wrong_type_is_an_error_at_its_turn() -> None:
    found = pericope.Segmenter("sentence").iter(["One.", 2, "Three.", None, "Five."])  # type: ignore[list-item]
    assert next(found)[0].text == "One."
    with pytest.raises(pericope.UsageError, match=r"texts\[1\]: a text is a str or a Document, not int"):
        next(found)
    assert next(found)[0].text == "Three."
    with pytest.raises(pericope.UsageError, match=r"texts\[3\].*NoneType"):
        next(found)
    assert next(found)[0].text == "Five." and next(found, None) is None


def test_one_text_is_not_several() -> None:
    segmenter = pericope.Segmenter("sentence")
    for given in ("abc", pericope.Document("abc")):
        asks: list[Any] = [segmenter.iter, segmenter.segment_all]
        for ask in asks:
            with pytest.raises(pericope.UsageError, match="this is one text"):
                ask(given)


def test_an_iterator_is_asked_by_one_thread_at_a_time() -> None:
    segmenter = pericope.Segmenter("sentence")

    def texts() -> Any:
        yield "One."
        next(found)

    found = segmenter.iter(texts())
    assert next(found)[0].text == "One."
    with pytest.raises(pericope.UsageError, match="at work already"):
        next(found)


ENDING = """
import threading, time, pericope
import numpy as np

class Slow:
    name, dimension = "slow", 2

    def encode_passages(self, texts):
        time.sleep(0.001)
        return np.ones((len(texts), 2))

def segment(document):
    time.sleep(0.001)
    return pericope.Boundaries([])

def texts():
    while True:
        time.sleep(0.001)
        yield "A. B."

segmenter, embedder = pericope.Segmenter(segment, tokenizer="words"), pericope.Embedder(Slow())
plain = pericope.Segmenter("sentence", tokenizer="words")
works = [
    lambda: segmenter.segment("A. B."),
    lambda: segmenter.segment_all(["A. B."] * 8),
    lambda: embedder.encode_passages(["a"]),
    lambda: [None for _ in plain.iter(texts())],
]

def run(work):
    while True:
        work()

for work in works:
    threading.Thread(target=run, args=(work,), daemon=True).start()
time.sleep(0.3)
"""


def test_the_interpreter_ends_while_a_thread_is_in_code_of_ones_own() -> None:
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
