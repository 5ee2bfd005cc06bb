"""What a peer gives by itself: the texts of its chunks, by its own interface, without the protocol and the scripts of scripts/chunkers.

    direct.py VARIANT < DOCUMENTS.jsonl      lines {"id", "text"} in, lines {"id", "texts"} out

Only the model and its tokens (minilm.py, tokens.py) are shared.
"""
import io
import json
import sys

import tokens


def semchunk():
    import semchunk

    return lambda text: semchunk.chunk(text, 200, tokens.count)


def text_splitter(markdown):
    import semantic_text_splitter as s

    splitter = (s.MarkdownSplitter if markdown else s.TextSplitter).from_callback(tokens.count, 200)
    return lambda text: splitter.chunks(text)


def chonkie(semantic):
    import chonkie
    import numpy

    if not semantic:
        return lambda text: [chunk.text for chunk in chonkie.RecursiveChunker(chunk_size=800)(text)]
    import minilm
    from chonkie.embeddings import BaseEmbeddings

    model = minilm.MiniLM()
    methods = {
        "embed": lambda self, text: model.embed([text])[0],
        "embed_batch": lambda self, texts: list(model.embed(texts)),
        "similarity": lambda self, u, v: numpy.float32(u @ v),
        "get_tokenizer": lambda self: tokens.TOKENIZER,
        "dimension": 384,
    }
    chunker = chonkie.SemanticChunker(embedding_model=type("MiniLM", (BaseEmbeddings,), methods)())
    return lambda text: [chunk.text for chunk in chunker(text)]


def langchain(variant):
    import langchain_text_splitters as s

    if variant == "recursive":
        return s.RecursiveCharacterTextSplitter(chunk_size=200, chunk_overlap=0, length_function=tokens.count).split_text
    if variant == "markdown":
        levels = [(f"{'#' * level}", f"h{level}") for level in range(1, 7)]
        splitter = s.MarkdownHeaderTextSplitter(headers_to_split_on=levels, strip_headers=False)
        return lambda text: [document.page_content for document in splitter.split_text(text)]
    import minilm
    from langchain_experimental.text_splitter import SemanticChunker

    model = minilm.MiniLM()
    embeddings = type("MiniLM", (), {"embed_documents": lambda self, texts: model.embed(texts).tolist()})()
    return lambda text: [document.page_content for document in SemanticChunker(embeddings).create_documents([text])]


def llamaindex(semantic):
    from llama_index.core import node_parser

    if not semantic:
        ids = lambda text: tokens.TOKENIZER.encode(text, add_special_tokens=False).ids
        return node_parser.SentenceSplitter(chunk_size=200, chunk_overlap=20, tokenizer=ids).split_text
    import minilm
    from llama_index.core import Document
    from llama_index.core.base.embeddings.base import BaseEmbedding

    model = minilm.MiniLM()

    class MiniLM(BaseEmbedding):
        def _get_text_embedding(self, text):
            return model.embed([text])[0].tolist()

        def _get_text_embeddings(self, texts):
            return model.embed(texts).tolist()

        def _get_query_embedding(self, query):
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query):
            return self._get_text_embedding(query)

    parser = node_parser.SemanticSplitterNodeParser(embed_model=MiniLM())
    return lambda text: [node.text for node in parser.get_nodes_from_documents([Document(text=text)])]


def docling():
    # Docling's converter imports PyTorch, whatever it converts; its Markdown reader does not.
    from docling.backend.md_backend import MarkdownDocumentBackend
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.document import InputDocument
    from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
    from docling_core.transforms.chunker.tokenizer.huggingface import HuggingFaceTokenizer
    from transformers import AutoTokenizer

    tokenizer = HuggingFaceTokenizer(tokenizer=AutoTokenizer.from_pretrained(tokens.FILE.parent), max_tokens=256)
    chunker = HybridChunker(tokenizer=tokenizer)

    def chunks(text):
        page = io.BytesIO(text.encode())
        about = InputDocument(page, InputFormat.MD, MarkdownDocumentBackend, filename="page.md")
        return [chunk.text for chunk in chunker.chunk(MarkdownDocumentBackend(about, page).convert())]

    return chunks


PEERS = {
    "semchunk tokens": semchunk,
    "text-splitter text": lambda: text_splitter(False),
    "text-splitter markdown": lambda: text_splitter(True),
    "chonkie recursive": lambda: chonkie(False),
    "chonkie semantic": lambda: chonkie(True),
    "langchain recursive": lambda: langchain("recursive"),
    "langchain markdown": lambda: langchain("markdown"),
    "langchain semantic": lambda: langchain("semantic"),
    "llamaindex sentence": lambda: llamaindex(False),
    "llamaindex semantic": lambda: llamaindex(True),
    "docling hybrid": docling,
}

if __name__ == "__main__":
    chunks, answers = PEERS[sys.argv[1]](), sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        document = json.loads(line)
        print(json.dumps({"id": document["id"], "texts": list(chunks(document["text"]))}), file=answers)
