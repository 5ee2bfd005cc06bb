"""Markdown as Docling reads it, and where its chunks stand. Docling rewrites what it reads: a chunk whose text does not stand in the
document, whatever its white space, reaches from the first of its parts that does to the last."""
import io
import re

from docling.backend.md_backend import MarkdownDocumentBackend
from docling.datamodel.base_models import InputFormat
from docling.datamodel.document import InputDocument
from docling_core.types.doc.document import RefItem


def read(text):
    # Docling's converter imports PyTorch, whatever it converts; its Markdown reader does not.
    stream = io.BytesIO(text.encode())
    source = InputDocument(path_or_stream=stream, format=InputFormat.MD, filename="page.md", backend=MarkdownDocumentBackend)
    return MarkdownDocumentBackend(in_doc=source, path_or_stream=stream).convert()


def places(text, page, chunks):
    """Ranges in characters, a chunk each."""
    found, before = [], 0
    for chunk in chunks:
        whole = _find(text, chunk.text, before)
        parts = [whole] if whole else _parts(text, page, chunk, before)
        if not parts:
            raise ValueError(f"no part of this chunk stands in the document: {chunk.text[:60]!r}")
        found.append((parts[0].start(), parts[-1].end()))
        before = parts[0].start() + 1
    return found


def _find(text, wanted, start):
    words = [re.escape(word) for word in wanted.split()]
    return re.compile(r"\s+".join(words)).search(text, start) if words else None


def _parts(text, page, chunk, at):
    items = [RefItem(cref=item.self_ref).resolve(page) for item in chunk.meta.doc_items]
    words = chunk.text.split()
    around = [" ".join(words[:3]), " ".join(words[-3:])]  # of a link in the middle of a paragraph
    parts = []
    for piece in [*(piece for item in items for piece in _pieces(item, page)), *chunk.text.splitlines(), *around]:
        part = _find(text, piece, at) or (None if parts else _find(text, piece, 0))
        at = part.end() if part else at
        parts += [part] if part else []
    return parts


def _pieces(item, page):
    """The texts of a part and of what lies in it: list items and table cells hold theirs there."""
    cells = [cell.text for cell in item.data.table_cells] if hasattr(item, "data") else []
    inner = [piece for child in item.children for piece in _pieces(child.resolve(page), page)]
    return [text for text in (getattr(item, "orig", ""), *cells, *inner) if text.strip()]
