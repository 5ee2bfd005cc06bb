"""Chonkie: RecursiveChunker (by characters, as it comes), SemanticChunker with MiniLM, NeuralChunker where its model can be had."""
from chonkie import NeuralChunker, RecursiveChunker, SemanticChunker

from protocol import arguments, places, serve
import embeddings

asked = arguments(["recursive", "semantic", "neural"], size=2048)
if asked.variant == "recursive":
    chunker = RecursiveChunker(chunk_size=asked.size)
elif asked.variant == "semantic":
    chunker = SemanticChunker(embedding_model=embeddings.for_chonkie(), chunk_size=asked.size)
else:
    chunker = NeuralChunker()
serve(lambda text: places(text, ((c.start_index, c.end_index, c.text) for c in chunker.chunk(text))))
