"""Chonkie: RecursiveChunker (by characters, as it comes), SemanticChunker with MiniLM, NeuralChunker where its model can be had."""
import numpy
from chonkie import NeuralChunker, RecursiveChunker, SemanticChunker
from chonkie.embeddings import BaseEmbeddings

from protocol import arguments, places, serve
import minilm
import tokens


class Embeddings(BaseEmbeddings):
    def __init__(self):
        self.model = minilm.MiniLM()

    def embed(self, text):
        return self.model.embed([text])[0]

    def embed_batch(self, texts):
        return list(self.model.embed(texts))

    def similarity(self, u, v):
        return numpy.float32(u @ v)

    def get_tokenizer(self):
        return tokens.TOKENIZER

    dimension = 384


asked = arguments(["recursive", "semantic", "neural"], size=2048)
if asked.variant == "recursive":
    chunker = RecursiveChunker(chunk_size=asked.size)
elif asked.variant == "semantic":
    chunker = SemanticChunker(embedding_model=Embeddings(), chunk_size=asked.size)
else:
    chunker = NeuralChunker()
serve(lambda text: places(text, ((c.start_index, c.end_index, c.text) for c in chunker.chunk(text))))
