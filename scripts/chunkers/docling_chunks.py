"""Docling's HybridChunker on Markdown, by MiniLM's tokenizer."""
from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
from docling_core.transforms.chunker.tokenizer.huggingface import HuggingFaceTokenizer
from transformers import AutoTokenizer

from protocol import arguments, serve
import docling_pages
import tokens

asked = arguments(["hybrid"], size=256)
tokenizer = HuggingFaceTokenizer(tokenizer=AutoTokenizer.from_pretrained(tokens.FILE.parent), max_tokens=asked.size)
chunker = HybridChunker(tokenizer=tokenizer)


def chunks(text):
    page = docling_pages.read(text)
    return docling_pages.places(text, page, chunker.chunk(page))


serve(chunks)
