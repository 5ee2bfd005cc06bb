"""Readers."""

from __future__ import annotations

import pathlib

import pytest

import pericope

from .conftest import HANDBOOK, ROOT


def test_a_file_is_read_by_its_ending(handbook: list[pericope.Document]) -> None:
    path = sorted(HANDBOOK.glob("*.md"))[0]
    assert handbook[0].text == path.read_text(encoding="utf-8")
    assert handbook[0].id == path.as_posix()
    assert handbook[0].title and len(handbook[0]) == len(handbook[0].sentences) > 3
    assert pericope.read(str(path), id="mine").id == "mine"


def test_bytes_need_a_format() -> None:
    page = "<h1>Fish</h1>\n<p>Cod &amp; chips.</p>".encode()
    document = pericope.read(page, "html", id="fish")
    assert document.visible().split() == ["Fish", "Cod", "&", "chips."]
    assert [sentence.kind for sentence in document.sentences if sentence.kind != "markup"] == ["heading", "prose"]
    assert document.heading_path(len(document) - 1) == ("Fish",)
    with pytest.raises(pericope.UsageError, match="say their format"):
        pericope.read(page)


def test_other_encodings_are_decoded_and_named() -> None:
    document = pericope.read("Straße und Brücke, für alle Bürger der Stadt München.".encode("cp1252"), "plain")
    assert document.encoding == "windows-1252" and document.text.startswith("Straße")
    assert pericope.read(b"plain", "plain").encoding is None


def test_jsonl_holds_several(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "two.jsonl"
    path.write_text('{"id": "a", "text": "One."}\n{"id": "b", "text": "Two."}\n')
    assert [document.id for document in pericope.read_all(path)] == ["a", "b"]
    with pytest.raises(pericope.UsageError, match="2 documents"):
        pericope.read(path)


def test_a_str_is_one_document() -> None:
    lines = '{"id": "a", "text": "One."}\n{"id": "b", "text": "Two."}\n'
    segmenter = pericope.Segmenter("sentence")
    for name in ("jsonl", "NDJSON"):
        with pytest.raises(pericope.UsageError, match=r'read_all\(text.encode\(\), "jsonl"\)'):
            segmenter.segment(lines, format=name)
        with pytest.raises(pericope.UsageError, match="read_all"):
            pericope.Document(lines, format=name)
    with pytest.raises(pericope.UsageError, match="a PDF is bytes"):
        pericope.Document("x", format="pdf")
    assert [document.text for document in pericope.read_all(lines.encode(), "jsonl")] == ["One.", "Two."]


def test_bytes_have_a_limit_too(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("hello world")
    with pytest.raises(pericope.RunError, match="11 bytes, more than the limit of 3"):
        pericope.read(path, max_bytes=3)
    with pytest.raises(pericope.RunError, match="11 bytes, more than the limit of 3"):
        pericope.read(b"hello world", "plain", max_bytes=3)
    assert pericope.read(b"hello", "plain", max_bytes=5).text == "hello"


def test_a_pdf_is_read_in_a_process_of_its_own() -> None:
    (sample,) = (ROOT / "crates" / "read" / "tests").rglob("pump.pdf")
    document = pericope.read(sample)
    assert document.text.strip()


def test_a_broken_pdf_is_an_error() -> None:
    with pytest.raises(pericope.RunError, match="not a PDF that can be read"):
        pericope.read(b"%PDF-1.7\nnothing", "pdf")


def test_sentences_that_are_given() -> None:
    document = pericope.Document.from_sentences(["One.", "Two."], id="d")
    assert (document.id, document.text, len(document)) == ("d", "One.\nTwo.", 2)
    assert not len(pericope.Document("")) and pericope.Document("")
