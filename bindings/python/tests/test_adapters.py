"""The adapters beside the packages' own splitters, on three documents."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import pericope

MARKDOWN = "# Keys 🔑\n\nKeys expire after a year. Rotate them.\n\n## Lost keys\n\nRevoke a lost key at once. Then make a new one.\n"
PLAIN = "The moon pulls at the sea. Twice a day it rises.\n\nSpring tides follow the new moon. Neap tides do not.\n" * 6
CJK = "東京は日本の首都です。人口は多い。\n\n北京是中国的首都。很大。\n" * 4
TEXTS = [MARKDOWN, PLAIN, CJK]
SETTINGS: dict[str, Any] = {"max_tokens": 30, "tokenizer": "words"}


def squeezed(texts: list[str]) -> str:
    """All letters, without white space and without what a Markdown splitter drops."""
    return "".join("".join(texts).split())


def test_langchain() -> None:
    pytest.importorskip("langchain_text_splitters")
    from langchain_core.documents import Document
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    from pericope.langchain import TextSplitter

    ours = TextSplitter("structure", format="markdown", **SETTINGS)
    theirs = RecursiveCharacterTextSplitter(chunk_size=60, chunk_overlap=0, add_start_index=True)
    documents = [Document(page_content=text, metadata={"source": str(i)}) for i, text in enumerate(TEXTS)]
    for splitter in (ours, theirs):
        found = splitter.split_documents(documents)
        for i, text in enumerate(TEXTS):
            parts = [part for part in found if part.metadata["source"] == str(i)]
            assert len(parts) > 1 and squeezed([part.page_content for part in parts]) == squeezed([text])
            for part in parts:
                start = part.metadata["start_index"]
                assert text[start : start + len(part.page_content)] == part.page_content
    headings = [part.metadata["heading_path"] for part in ours.split_documents(documents[:1])]
    assert headings == [["Keys 🔑"], ["Keys 🔑", "Lost keys"]]
    assert ours.split_text(PLAIN) == [part.page_content for part in ours.create_documents([PLAIN])]
    all_alone = TextSplitter(lambda document: pericope.Boundaries(range(1, len(document))), **SETTINGS)
    assert all_alone.split_text("One. Two.") == ["One.", "Two."]
    segmenter = pericope.Segmenter("structure", **SETTINGS)
    assert TextSplitter(segmenter).split_text(PLAIN) == [chunk.text for chunk in segmenter.segment(PLAIN)]


def test_llama_index() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.schema import Document, TextNode

    from pericope.llama_index import NodeParser

    ours = NodeParser(spec="structure", limits=SETTINGS, format="markdown")
    theirs = SentenceSplitter(chunk_size=60, chunk_overlap=0, tokenizer=str.split)
    documents = [Document(text=text, metadata={"source": str(i)}) for i, text in enumerate(TEXTS)]
    for parser in (ours, theirs):
        for document, text in zip(documents, TEXTS):
            nodes = [node for node in parser.get_nodes_from_documents([document]) if isinstance(node, TextNode)]
            assert nodes and squeezed([node.text for node in nodes]) == squeezed([text])
            assert all(node.metadata["source"] == document.metadata["source"] for node in nodes)
            for node in nodes:
                assert text[node.start_char_idx : node.end_char_idx] == node.text
    first, second = ours.get_nodes_from_documents(documents[:1])
    assert [node.metadata["heading_path"] for node in (first, second)] == [["Keys 🔑"], ["Keys 🔑", "Lost keys"]]
    assert first.next_node is not None and first.next_node.node_id == second.node_id
    assert first.ref_doc_id == documents[0].doc_id
    assert ours.to_dict()["spec"] == "structure" and ours.class_name() == "PericopeNodeParser"


def test_haystack() -> None:
    pytest.importorskip("haystack")
    from haystack import Document, Pipeline
    from haystack.components.preprocessors import DocumentSplitter

    from pericope.haystack import Splitter

    ours = Splitter("structure", format="markdown", **SETTINGS)
    theirs = DocumentSplitter(split_by="word", split_length=30, split_overlap=0)
    documents = [Document(content=text, meta={"source": str(i)}) for i, text in enumerate(TEXTS)]
    for splitter in (ours, theirs):
        found = splitter.run(documents=documents)["documents"]
        for document, text in zip(documents, TEXTS):
            parts = [part for part in found if part.meta["source_id"] == document.id]
            assert parts and squeezed([part.content or "" for part in parts]) == squeezed([text])
            for part in parts:
                start = part.meta["split_idx_start"]
                assert part.content is not None and text[start : start + len(part.content)] == part.content
    assert ours.run(documents[:1])["documents"][1].meta["heading_path"] == ["Keys 🔑", "Lost keys"]
    pipeline = Pipeline()
    pipeline.add_component("splitter", ours)
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["pericope.haystack"])
    assert len(again.run({"splitter": {"documents": documents}})["splitter"]["documents"]) == len(
        ours.run(documents)["documents"]
    )


def test_langchain_refuses_what_it_would_ignore() -> None:
    pytest.importorskip("langchain_text_splitters")
    from pericope.langchain import TextSplitter

    with pytest.raises(pericope.UsageError, match="max_tokens: a Segmenter has limits of its own"):
        TextSplitter(pericope.Segmenter("sentence"), max_tokens=3)
    splitter = TextSplitter("sentence", **SETTINGS)
    with pytest.raises(pericope.UsageError, match="2 texts and 1 metadatas"):
        splitter.create_documents(["One.", "Two."], [{"a": 1}])
    metadatas: list[dict[Any, Any]] = [{"tags": ["x"]}]
    first, second = splitter.create_documents(["One. Two."], metadatas)
    first.metadata["tags"].append("y")
    assert second.metadata["tags"] == metadatas[0]["tags"] == ["x"]
    assert copy.deepcopy(splitter).split_text(PLAIN) == splitter.split_text(PLAIN)


def test_llama_index_refuses_what_it_would_ignore() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import Document

    from pericope.llama_index import NodeParser

    with pytest.raises(ValueError, match="max_tokens"):
        NodeParser(spec="sentence", max_tokens=3)
    parser = NodeParser(spec="sentence", limits=SETTINGS)
    with pytest.raises(ValueError, match="frozen"):
        parser.spec = "paragraph"
    documents = [Document(text="One. Two.")]
    assert len(parser.get_nodes_from_documents(documents)) == 2
    assert len(parser.model_copy(update={"spec": "paragraph"}).get_nodes_from_documents(documents)) == 1
    assert len(pickle.loads(pickle.dumps(parser)).get_nodes_from_documents(documents)) == 2


def test_llama_index_knows_the_place_of_a_text_that_stands_twice() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import Document, TextNode

    from pericope.llama_index import NodeParser

    text = "# Keys\n\nRotate. Rotate. Rotate.\n"
    chunks = pericope.Segmenter("sentence", max_tokens=5).segment(text, format="markdown")
    assert "Rotate." in chunks[0].text and [chunk.text for chunk in chunks[1:]] == ["Rotate.", "Rotate."]
    parser = NodeParser(spec="sentence", limits={"max_tokens": 5}, format="markdown")
    nodes = [node for node in parser.get_nodes_from_documents([Document(text=text)]) if isinstance(node, TextNode)]
    places = [(node.start_char_idx, node.end_char_idx) for node in nodes]
    assert places == [(chunk.start, chunk.end) for chunk in chunks]


def test_llama_index_reads_the_settings_that_it_wrote() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import BaseNode, Document

    from pericope.llama_index import NodeParser

    def numbered(number: int, _: BaseNode) -> str:
        return f"n{number}"

    documents = [Document(text="One. Two.")]
    parser = NodeParser(spec="sentence", limits=SETTINGS)
    assert len(NodeParser.from_json(parser.to_json()).get_nodes_from_documents(documents)) == 2
    settings = NodeParser(spec="sentence", limits=SETTINGS, id_func=numbered).to_dict()
    with pytest.raises(pericope.UsageError, match="id_func: only its name, numbered"):
        NodeParser.from_dict(settings)
    nodes = NodeParser.from_dict(settings, id_func=numbered).get_nodes_from_documents(documents)
    assert [node.node_id for node in nodes] == ["n0", "n1"]


def test_haystack_shares_no_metadata() -> None:
    pytest.importorskip("haystack")
    from haystack import Document

    from pericope.haystack import Splitter

    document = Document(content="One. Two.", meta={"tags": ["x"]})
    splitter = Splitter("sentence", **SETTINGS)
    first, second = splitter.run(documents=[document])["documents"]
    first.meta["tags"].append("y")
    assert second.meta["tags"] == document.meta["tags"] == ["x"]
    assert len(copy.deepcopy(splitter).run(documents=[document])["documents"]) == 2
