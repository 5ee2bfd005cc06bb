"""Indexes and searches."""

from __future__ import annotations

import pathlib
import threading
from typing import Any, Callable, Iterator

import pytest

import pericope

from .conftest import HANDBOOK


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The handbook, by words."""
    place = tmp_path_factory.mktemp("index") / "handbook"
    report = pericope.index(HANDBOOK, place, segmenter=pericope.Segmenter("structure", tokenizer="words"))
    assert report.failures == [] and report.documents == len(list(HANDBOOK.glob("*.md"))) == report.total_documents
    return place


def test_search_by_words(place: pathlib.Path) -> None:
    index = pericope.open(place)
    assert index.embedder is None and index.segmenter.startswith("structure:") and index.chunks > index.documents > 1
    hits = index.search("how do I feed a sourdough starter", k=3)
    assert [hit.rank for hit in hits] == [1, 2, 3] and hits[0].score >= hits[1].score
    for hit in hits:
        source = pathlib.Path(hit.document).read_text(encoding="utf-8")
        assert hit.start is not None and source[hit.start : hit.end] == hit.text
        assert source.encode()[hit.start_byte : hit.end_byte].decode() == hit.text
        assert hit.snippet in hit.text and hit.to_dict()["text"] == hit.text
        assert all(hit.text[a:b].strip() for a, b in hit.highlights)


def test_filters_context_and_budgets(place: pathlib.Path) -> None:
    index = pericope.open(place)
    first = index.search("backup", k=5)[0]
    assert {hit.document for hit in index.search("backup", k=5, paths=[first.document])} == {first.document}
    assert index.search("backup", k=5, types=["html"]) == []
    wider = index.search("backup", k=1, context=1)[0]
    assert wider.context is not None and wider.text in wider.context
    assert sum(hit.tokens for hit in index.search("backup", k=9, token_budget=100)) <= 100
    assert index.search("backup", k=3, expand="neighbours:1")


def test_what_is_in_it(place: pathlib.Path) -> None:
    index = pericope.open(place)
    listed = index.list(limit=2)
    assert len(listed) == 2 and listed[0]["id"] < listed[1]["id"]
    assert index.list(after=listed[0]["id"], limit=1)[0]["id"] == listed[1]["id"]


def test_documents_are_replaced_and_added(tmp_path: pathlib.Path) -> None:
    place = tmp_path / "i"
    pericope.index([pericope.Document("The moon.", id="a"), pericope.Document("The sea.", id="b")], place)
    index = pericope.open(place)
    report = pericope.index(pericope.Document("The sun.", id="a"), place)
    assert (report.documents, report.total_documents) == (1, 2)
    assert index.refresh() and not index.search("moon") and index.search("sun")[0].document == "a"
    assert not index.refresh()


def test_a_generator_is_read_as_it_goes(tmp_path: pathlib.Path) -> None:
    def documents() -> Iterator[pericope.Document]:
        for number in range(500):
            yield pericope.Document(f"Number {number} is here. It is said twice.", id=str(number))

    assert pericope.index(documents(), tmp_path / "i", segmenter="sentence").total_documents == 500


def test_what_fails_is_named(tmp_path: pathlib.Path) -> None:
    (tmp_path / "good.md").write_text("# Fine\n\nA text.\n")
    (tmp_path / "bad.md").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    report = pericope.index([tmp_path / "good.md", tmp_path / "bad.md", tmp_path / "none.md"], tmp_path / "i")
    assert report.documents == 1
    (bad, image), (none, missing) = report.failures
    assert "not text but a PNG image" in image and "no such file" in missing
    assert (bad, none) == (str(tmp_path / "bad.md"), str(tmp_path / "none.md"))


def test_documents_without_an_id_are_refused(tmp_path: pathlib.Path) -> None:
    documents = [pericope.Document("One.", id="one"), pericope.Document("Two.")]
    with pytest.raises(pericope.UsageError, match=r"without an id.*Document\(text, id=...\)"):
        pericope.index(documents, tmp_path / "i")
    assert pericope.open(tmp_path / "i").documents == 1


def test_an_id_counts_once_in_a_call(tmp_path: pathlib.Path) -> None:
    documents = [pericope.Document(text, id="a") for text in ("First.", "Second.")] + [pericope.Document("Third.", id="b")]
    (tmp_path / "two.jsonl").write_text('{"id": "b", "text": "Fourth."}\n{"id": "c", "text": "Fifth."}\n')
    report = pericope.index([*documents, tmp_path / "two.jsonl"], tmp_path / "i")
    assert (report.documents, report.total_documents) == (3, 3)
    assert [name for name, _ in report.failures] == ["a", "b"]
    assert all("given before" in reason for _, reason in report.failures)
    assert pericope.open(tmp_path / "i").search("first") and not pericope.open(tmp_path / "i").search("second")


def test_hits_count_characters(tmp_path: pathlib.Path) -> None:
    text = "🔑🔑 alpha beta. 🔑 keys alpha."
    pericope.index(pericope.Document(text, id="e"), tmp_path / "i", segmenter="sentence")
    for hit in pericope.open(tmp_path / "i").search("alpha", context=1):
        found = hit.to_dict()
        assert text[found["start"] : found["end"]] == found["text"] == hit.text
        assert (found["start"], found["end"]) == (hit.start, hit.end)
        assert text.encode()[found["start_byte"] : found["end_byte"]].decode() == hit.text
        assert [tuple(mark) for mark in found["highlights"]] == hit.highlights
        assert text[found["context"]["start"] : found["context"]["end"]] == found["context"]["text"]


def test_an_iterable_that_breaks(tmp_path: pathlib.Path) -> None:
    def documents() -> Iterator[pericope.Document]:
        yield pericope.Document("One.", id="one")
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        pericope.index(documents(), tmp_path / "i")
    assert pericope.open(tmp_path / "i").documents == 1
    with pytest.raises(pericope.UsageError, match="not int"):
        pericope.index([3], tmp_path / "i")  # type: ignore[list-item]


def breaks_off() -> Iterator[pericope.Document]:
    yield pericope.Document("New.", id="new")
    raise OSError("gone")


def names_no_id() -> Iterator[pericope.Document]:
    yield pericope.Document("New.", id="new")
    yield pericope.Document("Without an id.")


@pytest.mark.parametrize(("documents", "error"), [(breaks_off, OSError), (names_no_id, pericope.UsageError)])
def test_a_rebuild_that_fails_leaves_the_old_index(
    tmp_path: pathlib.Path, documents: Callable[[], Iterator[pericope.Document]], error: type[Exception]
) -> None:
    place = tmp_path / "i"
    old = [pericope.Document(f"Old {number}.", id=str(number)) for number in range(5)]
    pericope.index(old, place, segmenter="sentence")
    before = pericope.open(place)
    with pytest.raises(error):
        pericope.index(documents(), place, segmenter="sentence", rebuild=True)
    before.refresh()
    for index in (before, pericope.open(place)):
        assert index.documents == 5 and not index.search("new")
        assert {hit.document for hit in index.search("old", k=9)} == set("01234")
    # One that does not fail takes its place, without what the failed one had.
    report = pericope.index(pericope.Document("Newer.", id="newer"), place, segmenter="sentence", rebuild=True)
    assert (report.total_documents, report.lost) == (1, [])
    index = pericope.open(place)
    assert index.search("newer") and not index.search("new") and not index.search("old")


def test_a_rebuild_that_would_lose_documents_leaves_the_old_index(tmp_path: pathlib.Path) -> None:
    place, page = tmp_path / "i", tmp_path / "page.md"

    def picky(document: pericope.Document) -> pericope.Boundaries:
        if "storm" in document.text:
            raise ValueError("not today")
        return pericope.Boundaries([])

    def rebuild(*documents: pericope.Document) -> pericope.IndexReport:
        return pericope.index([page, *documents], place, segmenter=picky, rebuild=True)

    sea, sun = pericope.Document("The sea.", id="sea"), pericope.Document("The sun.", id="sun")
    page.write_text("The moon.\n")
    assert rebuild(sea, pericope.Document("The lake.", id="lake")).lost == []
    # A file that cannot be read, and a document that cannot be cut. What is not given is no loss.
    page.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    report = rebuild(pericope.Document("The storm.", id="sea"), sun)
    assert report.lost == sorted([str(page), "sea"]) and len(report.failures) == 2
    index = pericope.open(place)
    assert index.search("moon") and index.search("lake") and not index.search("sun")
    # A file that is not there any more is no loss either.
    page.unlink()
    report = rebuild(sea, sun)
    assert (report.lost, report.total_documents, len(report.failures)) == ([], 2, 1)
    index = pericope.open(place)
    assert index.search("sun") and index.search("sea") and not index.search("moon")


def test_vectors(tmp_path: pathlib.Path, minilm: pericope.Embedder) -> None:
    texts = {"cat": "A cat sleeps on the sofa.", "shares": "Shares fell on Monday."}
    documents = [pericope.Document(text, id=name) for name, text in texts.items()]
    report = pericope.index(documents, tmp_path / "i", segmenter="sentence", embedder="minilm")
    assert report.embedded == 2
    index = pericope.open(tmp_path / "i")
    assert index.embedder == "minilm"
    assert index.search("a kitten naps", k=1, mode="dense")[0].document == "cat"
    assert index.search("Monday", k=1)[0].document == "shares"
    with pytest.raises(pericope.UsageError):
        pericope.index(documents, tmp_path / "i", segmenter="paragraph")


def test_several_threads(place: pathlib.Path) -> None:
    index = pericope.open(place)
    expected = [hit.id for hit in index.search("backup", k=5)]
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append([hit.id for hit in index.search("backup", k=5)])) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_places_that_are_none(tmp_path: pathlib.Path) -> None:
    with pytest.raises(pericope.UsageError):
        pericope.open(tmp_path / "nothing")
    with pytest.raises(pericope.UsageError):
        pericope.open("qdrant://")


def test_a_collection_on_a_server(qdrant: str) -> None:
    from .test_custom import Letters

    place = f"{qdrant}/docs"
    documents = [pericope.Document("Zebras doze.", id="zoo"), pericope.Document("The moon and the sea.", id="sea")]
    report = pericope.index(documents, place, segmenter="sentence", embedder=Letters())
    assert (report.documents, report.embedded, report.failures) == (2, 2, [])
    index = pericope.open(place, embedder=Letters())
    assert (index.documents, index.segmenter, index.embedder) == (2, "sentence:max_tokens=256", "letters")
    assert [hit.document for hit in index.search("zigzag", mode="dense", k=1)] == ["zoo"]
    assert [hit.document for hit in index.search("moon", mode="bm25", k=1)] == ["sea"]
    assert {hit.document for hit in index.search("doze", k=2)} == {"zoo", "sea"}
    # A document that is there already is replaced, and a reader sees it.
    pericope.index([pericope.Document("Lions doze by day.", id="zoo")], place, segmenter="sentence", embedder=Letters())
    index.refresh()
    assert [hit.text for hit in index.search("doze", mode="bm25")] == ["Lions doze by day."]


def test_queries_that_are_none(place: pathlib.Path) -> None:
    index = pericope.open(place)
    with pytest.raises(pericope.UsageError, match="the query is empty"):
        index.search(" ")
    with pytest.raises(pericope.UsageError, match="the modes are bm25, dense, hybrid"):
        index.search("x", mode="words")
    with pytest.raises(pericope.UsageError, match="no expansion"):
        index.search("x", expand="all")
    with pytest.raises(pericope.UsageError):
        index.search("x", mode="dense")
    for keyword in ("rerank_depth", "expand_tokens", "context", "token_budget"):
        given: dict[str, Any] = {keyword: -1}
        with pytest.raises(pericope.UsageError, match=f"{keyword} is -1"):
            index.search("x", **given)
    with pytest.raises(pericope.UsageError, match="limit is -1"):
        index.list(limit=-1)
    with pytest.raises(pericope.UsageError, match="the query has a lone surrogate"):
        index.search("\ud800")


def test_chunks_fit_what_embeds_them(tmp_path: pathlib.Path) -> None:
    # A model that reads 40 tokens.
    model = pathlib.Path(__file__).parents[3] / "crates/encode/tests/golden/embed-bert"
    document = pericope.Document("The river rises in spring and falls in autumn. " * 40, id="a")
    report = pericope.index(document, tmp_path / "i", embedder=str(model))
    assert report.truncated == 0 and report.chunks > 4
    assert pericope.open(tmp_path / "i").segmenter == "structure:max_tokens=40"
    report = pericope.index(document, tmp_path / "j", segmenter="structure:max_tokens=90", embedder=str(model))
    assert report.truncated == report.chunks
    # Added to later, a store keeps its limit and its tokenizer, however its embedder is given.
    more = pericope.Document("The lake freezes. " * 40, id="b")
    assert pericope.index(more, tmp_path / "i", embedder=pericope.Embedder(str(model))).truncated == 0
    assert pericope.index(more, tmp_path / "j", embedder=str(model)).truncated > 0
