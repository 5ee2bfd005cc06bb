"""LlamaIndex: SentenceSplitter by tokens of MiniLM, SemanticSplitterNodeParser with MiniLM."""
from llama_index.core import Document
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import SemanticSplitterNodeParser, SentenceSplitter

from protocol import arguments, places, serve
import minilm
import tokens

MODEL = minilm.MiniLM()


class Embeddings(BaseEmbedding):
    def _get_text_embedding(self, text):
        return MODEL.embed([text])[0].tolist()

    def _get_text_embeddings(self, texts):
        return MODEL.embed(texts).tolist()

    _get_query_embedding = _get_text_embedding

    async def _aget_query_embedding(self, query):
        return self._get_text_embedding(query)


asked = arguments(["sentence", "semantic"], size=200, overlap=20)
if asked.variant == "sentence":
    tokenizer = lambda text: tokens.TOKENIZER.encode(text, add_special_tokens=False).ids
    splitter = SentenceSplitter(
        chunk_size=asked.size, chunk_overlap=asked.overlap, tokenizer=tokenizer, include_metadata=False
    )
else:
    splitter = SemanticSplitterNodeParser.from_defaults(embed_model=Embeddings(), include_metadata=False)
nodes = lambda text: splitter.get_nodes_from_documents([Document(text=text)])
serve(lambda text: places(text, ((n.start_char_idx, n.end_char_idx, n.text) for n in nodes(text))))
