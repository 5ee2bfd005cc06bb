"""text-splitter (Rust, by its Python package): text or Markdown, by tokens of MiniLM."""
from semantic_text_splitter import MarkdownSplitter, TextSplitter

from protocol import arguments, serve
import tokens

asked = arguments(["text", "markdown"], size=200)
splitter = {"text": TextSplitter, "markdown": MarkdownSplitter}[asked.variant].from_callback(tokens.count, asked.size)
serve(lambda text: [(start, start + len(chunk)) for start, chunk in splitter.chunk_indices(text)])
