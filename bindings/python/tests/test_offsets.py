"""Offsets count characters as Python does, whatever the text is made of."""

from __future__ import annotations

import pickle

import pytest

import pericope

TEXTS = {
    "ascii": "One sentence here. Another one there.\n\nA new paragraph begins. It ends.\n",
    "emoji": "Keys 🔑 expire. A family 👨‍👩‍👧 waits! 🏳️‍🌈 flags.\n\n🚀 Launch. Done 🎉.\n",
    "cjk": "東京は日本の首都です。人口は多い。\n\n北京是中国的首都。很大。서울은 한국의 수도이다.\n",
    "crlf": "First line.\r\nSecond line.\r\n\r\nÜber die Brücke.\r\nNoch eine.\r\n",
    "combining": "Cafe\u0301 ole\u0301. Nai\u0308ve.\u2028Next\u00a0one. \ufeffMark.\n",
    "mixed": "\ufeff# Überschrift 🔑\r\n\r\nA😀B. 漢字かな。 Ende.\r\n",
    "long": "Wörter ohne Ende und 字 " * 400,
}
SPECS = ["sentence", "paragraph", "structure", "recursive", "fixed:words=5", "fixed:tokens=8,overlap=2", "texttiling", "bayesseg"]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", TEXTS)
def test_a_chunk_is_its_slice(name: str, spec: str) -> None:
    text = TEXTS[name]
    segmenter = pericope.Segmenter(spec, max_tokens=12, tokenizer="words")
    document = pericope.Document(text, format="markdown" if name == "mixed" else "plain")
    chunks = segmenter.segment(document)
    assert chunks
    raw = document.text.encode()
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert document.text[chunk.start : chunk.end] == chunk.text
        assert raw[chunk.start_byte : chunk.end_byte].decode() == chunk.text
        assert len(chunk) == len(chunk.text)
        before = document.text[: chunk.start].count("\n")
        within = chunk.text[:-1] if chunk.text.endswith("\n") else chunk.text
        assert chunk.lines == (before + 1, before + within.count("\n") + 1)


@pytest.mark.parametrize("name", TEXTS)
def test_chunks_without_overlap_hold_every_letter(name: str) -> None:
    document = pericope.Document(TEXTS[name])
    chunks = pericope.Segmenter("sentence", max_tokens=12, tokenizer="words").segment(document)
    at, gaps = 0, ""
    for chunk in chunks:
        gaps += document.text[at : chunk.start]
        at = chunk.end
    gaps += document.text[at:]
    assert not gaps.strip("\ufeff \t\r\n\u2028\u00a0")


def test_the_text_of_a_string_is_unchanged() -> None:
    for text in TEXTS.values():
        assert pericope.Document(text).text == text


def test_sentences_count_characters_too() -> None:
    document = pericope.Document(TEXTS["emoji"])
    for sentence in document.sentences:
        assert document.text[sentence.start : sentence.end] == sentence.text
        assert document.text.encode()[sentence.start_byte : sentence.end_byte].decode() == sentence.text


def test_chunks_are_values() -> None:
    document = pericope.Document("# Ä 🔑\n\nOne. Two.\n", format="markdown", id="d")
    first, again = (pericope.Segmenter("structure").segment(document) for _ in range(2))
    assert first == again and hash(first[0]) == hash(again[0])
    assert pickle.loads(pickle.dumps(first)) == first
    assert first[0].heading_path == ("Ä 🔑",)
    assert first[0].to_dict()["text"] == str(first[0]) == first[0].text


def test_a_lone_surrogate_is_no_text() -> None:
    segmenter = pericope.Segmenter("sentence")
    with pytest.raises(pericope.UsageError, match="the text has a lone surrogate at character 1"):
        segmenter.segment("a\ud800")
    with pytest.raises(pericope.UsageError, match=r"texts\[1\]: the text has a lone surrogate at character 0"):
        segmenter.segment_all(["a", "\ud800"])
    with pytest.raises(pericope.UsageError, match="the text has"):
        pericope.Document("\ud800")
    with pytest.raises(pericope.UsageError, match="the id has"):
        pericope.Document("a", id="\ud800")
    with pytest.raises(pericope.UsageError, match=r"sentences\[1\] has"):
        pericope.Document.from_sentences(["a", "\ud800"])
