"""A process that was forked works, whatever ran before in the one that it comes from."""

from __future__ import annotations

import itertools
import os
import pathlib
import signal
from typing import Callable, Iterator

import numpy as np
import pytest

import pericope
from pericope import stats

from .conftest import ROOT
from .test_custom import Letters

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")

TEXTS = ["One. Two. Three.", "Four. Five. Six."]
MODEL = ROOT / "crates" / "encode" / "tests" / "golden" / "embed-bert"
SAMPLE = ROOT / "crates" / "read" / "tests"


def in_child(work: Callable[[], object]) -> None:
    """Does something in a child, which ends after 30 seconds at the latest."""
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def works() -> list[Callable[[], object]]:
    segmenter = pericope.Segmenter("sentence", tokenizer="words")
    own = pericope.Segmenter(lambda _: pericope.Boundaries([1]), tokenizer="words")
    graph = pericope.Segmenter("graph:similarity=jaccard", tokenizer="words")
    embedder = pericope.Embedder(str(MODEL))
    differences = list(np.linspace(-1, 2, 40))
    return [
        lambda: segmenter.segment_all(TEXTS),
        lambda: list(segmenter.iter(TEXTS)),
        lambda: own.segment_all(TEXTS),
        lambda: graph.segment(" ".join(TEXTS * 5)),
        lambda: embedder.encode_passages(TEXTS * 10),
        lambda: pericope.Embedder(Letters()).encode_passages(TEXTS),
        lambda: stats.permutation_p(differences),
        lambda: stats.bootstrap_interval(differences),
        lambda: pericope.read(next(SAMPLE.rglob("pump.pdf"))),
    ]


def test_everything_runs_in_a_child() -> None:
    for work in works():
        work()
        in_child(work)


def test_a_child_of_a_child() -> None:
    segmenter = pericope.Segmenter("sentence", tokenizer="words")

    def cut() -> None:
        segmenter.segment_all(TEXTS)

    def cut_and_fork() -> None:
        cut()
        in_child(cut)

    cut()
    in_child(cut_and_fork)


def test_an_index_in_a_child(tmp_path: pathlib.Path) -> None:
    embedder = pericope.Embedder(str(MODEL))
    documents = [pericope.Document(text, id=str(number)) for number, text in enumerate(TEXTS)]
    graph = pericope.Segmenter("graph:similarity=jaccard", tokenizer="words")

    def build(name: str) -> None:
        report = pericope.index(documents, tmp_path / name, segmenter=graph, embedder=embedder)
        assert report.failures == [] and report.documents == 2
        assert pericope.open(tmp_path / name, embedder=embedder).search("Four", k=1)

    build("parent")
    in_child(lambda: build("child"))


def test_an_interrupt_is_heard_in_a_child(tmp_path: pathlib.Path) -> None:
    def without_end() -> Iterator[pericope.Document]:
        for number in itertools.count():
            if number == 5:
                os.kill(os.getpid(), signal.SIGINT)
            yield pericope.Document(f"Number {number}. It is said twice.", id=str(number))

    def build() -> None:
        with pytest.raises(KeyboardInterrupt):
            pericope.index(without_end(), tmp_path / "i", segmenter="sentence")
        assert pericope.index(pericope.Document("One.", id="one"), tmp_path / "i", segmenter="sentence").documents == 1

    in_child(build)
