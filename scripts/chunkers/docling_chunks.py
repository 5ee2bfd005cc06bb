"""Docling's HybridChunker on Markdown, by MiniLM's tokenizer. Docling rewrites what it reads: a chunk whose text does not stand in the
document, whatever its white space, reaches from the first of its parts that does to the last."""
import io
import re

from docling.backend.md_backend import MarkdownDocumentBackend
from docling.datamodel.base_models import InputFormat
from docling.datamodel.document import InputDocument
from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
from docling_core.transforms.chunker.tokenizer.huggingface import HuggingFaceTokenizer
from transformers import AutoTokenizer

from protocol import arguments, serve
import tokens

asked = arguments(["hybrid"], size=256)
tokenizer = HuggingFaceTokenizer(tokenizer=AutoTokenizer.from_pretrained(tokens.FILE.parent), max_tokens=asked.size)
chunker = HybridChunker(tokenizer=tokenizer)


def document_of(text):
    stream = io.BytesIO(text.encode())
    source = InputDocument(path_or_stream=stream, format=InputFormat.MD, filename="page.md", backend=MarkdownDocumentBackend)
    return MarkdownDocumentBackend(in_doc=source, path_or_stream=stream).convert()


def find(text, wanted, start):
    words = [re.escape(word) for word in wanted.split()]
    return re.compile(r"\s+".join(words)).search(text, start) if words else None


def pieces(item):
    return [cell.text for cell in item.data.table_cells] if hasattr(item, "data") else [getattr(item, "orig", "")]


def chunks(text):
    document, found, before = document_of(text), [], 0
    items = {item.self_ref: item for item, _ in document.iterate_items()}
    for chunk in chunker.chunk(document):
        parts, at = [find(text, chunk.text, before)], before
        if not parts[0]:
            parts = []
            for piece in (piece for item in chunk.meta.doc_items for piece in pieces(items[item.self_ref])):
                part = find(text, piece, at)
                at = part.end() if part else at
                parts += [part] if part else []
        if not parts:
            raise ValueError(f"no part of this chunk stands in the document: {chunk.text[:60]!r}")
        found.append((parts[0].start(), parts[-1].end()))
        before = parts[0].start() + 1
    return found


serve(chunks)
