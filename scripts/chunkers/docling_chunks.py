"""Docling's HybridChunker on Markdown, by MiniLM's tokenizer. Docling rewrites what it reads: a chunk whose text does not stand in the
document, whatever its white space, reaches from the first of its parts that does to the last."""
import io
import re

from docling.backend.md_backend import MarkdownDocumentBackend
from docling.datamodel.base_models import InputFormat
from docling.datamodel.document import InputDocument
from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
from docling_core.transforms.chunker.tokenizer.huggingface import HuggingFaceTokenizer
from docling_core.types.doc.document import RefItem
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


def pieces(item, document):
    """The texts of a part and of what lies in it: list items and table cells hold theirs there."""
    cells = [cell.text for cell in item.data.table_cells] if hasattr(item, "data") else []
    inner = [piece for child in item.children for piece in pieces(child.resolve(document), document)]
    return [text for text in (getattr(item, "orig", ""), *cells, *inner) if text.strip()]


def chunks(text):
    document, found, before = document_of(text), [], 0
    for chunk in chunker.chunk(document):
        parts = [find(text, chunk.text, before)]
        if not parts[0]:
            items = [RefItem(cref=item.self_ref).resolve(document) for item in chunk.meta.doc_items]
            wanted = [piece for item in items for piece in pieces(item, document)] + chunk.text.splitlines()
            words = chunk.text.split()
            wanted += [" ".join(words[:3]), " ".join(words[-3:])]  # around a link in the middle of a paragraph
            parts, at = [], before
            for piece in wanted:
                part = find(text, piece, at) or (None if parts else find(text, piece, 0))
                at = part.end() if part else at
                parts += [part] if part else []
        if not parts:
            raise ValueError(f"no part of this chunk stands in the document: {chunk.text[:60]!r}")
        found.append((parts[0].start(), parts[-1].end()))
        before = parts[0].start() + 1
    return found


serve(chunks)
