"""MiniLM as each package wants its embedding model."""
import numpy

import minilm
import tokens


def for_chonkie():
    from chonkie.embeddings import BaseEmbeddings

    class Embeddings(BaseEmbeddings):
        model = minilm.MiniLM()
        dimension = 384

        def embed(self, text):
            return self.model.embed([text])[0]

        def embed_batch(self, texts):
            return list(self.model.embed(texts))

        def similarity(self, u, v):
            return numpy.float32(u @ v)

        def get_tokenizer(self):
            return tokens.TOKENIZER

    return Embeddings()


def for_langchain():
    class Embeddings:
        model = minilm.MiniLM()

        def embed_documents(self, texts):
            return self.model.embed(texts).tolist()

    return Embeddings()


def for_llamaindex():
    from llama_index.core.base.embeddings.base import BaseEmbedding

    model = minilm.MiniLM()

    class Embeddings(BaseEmbedding):
        def _get_text_embedding(self, text):
            return model.embed([text])[0].tolist()

        def _get_text_embeddings(self, texts):
            return model.embed(texts).tolist()

        _get_query_embedding = _get_text_embedding

        async def _aget_query_embedding(self, query):
            return self._get_text_embedding(query)

    return Embeddings()
