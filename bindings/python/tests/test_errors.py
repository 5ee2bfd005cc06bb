"""Errors are exceptions with the words of the command."""

from __future__ import annotations

import subprocess
from typing import Any, Iterator

import pytest

import pericope

from .conftest import command


def test_one_base_class() -> None:
    assert issubclass(pericope.UsageError, pericope.PericopeError)
    assert issubclass(pericope.RunError, pericope.PericopeError)
    assert pericope.UsageError.__module__ == "pericope"


@pytest.mark.parametrize(
    "spec", ["paragraf", "fusion:k", "window:colour=red", "fixed:words=none", "structure:max_tokens=-3", "chunks:none.jsonl"]
)
def test_the_same_words_as_the_command(spec: str) -> None:
    with pytest.raises(pericope.UsageError) as error:
        pericope.Segmenter(spec)
    asked = subprocess.run(command("segment", "-", "--segmenter", spec), input="A text.", capture_output=True, text=True)
    assert asked.returncode == 2 and str(error.value) in asked.stderr


def test_wrong_types() -> None:
    segmenter = pericope.Segmenter("sentence")
    with pytest.raises(pericope.UsageError, match="a text is a str or a Document, not bytes"):
        segmenter.segment(b"bytes")  # type: ignore[arg-type]
    with pytest.raises(pericope.UsageError, match='there is no format "word"; the formats are'):
        segmenter.segment("text", format="word")
    with pytest.raises(pericope.UsageError, match="max_tokens"):
        pericope.Segmenter("sentence", max_tokens=10, min_tokens=20, tokenizer="words")
    with pytest.raises(pericope.UsageError, match="no tokenizer"):
        pericope.Segmenter("sentence", tokenizer="letters")
    with pytest.raises(pericope.UsageError, match="no such file"):
        pericope.read("none.md")


@pytest.mark.parametrize("keyword", ["max_tokens", "min_tokens", "target_tokens", "overlap"])
@pytest.mark.parametrize("number", [-1, 2**64])
def test_numbers_that_count_nothing(keyword: str, number: int) -> None:
    given: dict[str, Any] = {keyword: number}
    with pytest.raises(pericope.UsageError, match=f"{keyword} is {number}"):
        pericope.Segmenter("sentence", **given)


def test_negative_numbers_name_what_they_are_for() -> None:
    with pytest.raises(pericope.UsageError, match="segments is -1"):
        pericope.Segmenter("sentence").boundaries("One.", segments=-1)
    with pytest.raises(pericope.UsageError, match="max_bytes is -3"):
        pericope.read(b"x", "plain", max_bytes=-3)
    with pytest.raises(pericope.UsageError, match="sentence is -1"):
        pericope.Document("One.").heading_path(-1)
    with pytest.raises(pericope.UsageError, match="a boundary is -1"):
        pericope.Boundaries([-1])
    with pytest.raises(pericope.UsageError, match="the start of a span is -1"):
        pericope.Spans([(-1, 2)])
    with pytest.raises(pericope.UsageError, match="ends before it starts"):
        pericope.Chunk("d", 0, "abc", 5, 1, 0, 0, (1, 1), (), 3)


def test_an_iterator_goes_on_after_an_error() -> None:
    found = pericope.Segmenter("sentence").iter(["One.", "Two."], format="word")
    for _ in range(2):
        with pytest.raises(pericope.UsageError):
            next(found)
    assert next(found, None) is None

    def texts() -> Iterator[str]:
        yield "One."
        raise OSError("gone")

    broken = pericope.Segmenter("sentence").iter(texts())
    assert next(broken)[0].text == "One."
    with pytest.raises(OSError, match="gone"):
        next(broken)
    assert next(broken, None) is None
