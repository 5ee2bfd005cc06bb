"""LlamaIndex: SentenceSplitter by tokens of MiniLM, SemanticSplitterNodeParser with MiniLM."""
from llama_index.core import Document
from llama_index.core.node_parser import SemanticSplitterNodeParser, SentenceSplitter

from protocol import arguments, places, serve
import embeddings
import tokens

asked = arguments(["sentence", "semantic"], size=200, overlap=20)
if asked.variant == "sentence":
    by_tokens = {"chunk_size": asked.size, "chunk_overlap": asked.overlap, "tokenizer": tokens.ids}
    splitter = SentenceSplitter(**by_tokens, include_metadata=False)
else:
    model = embeddings.for_llamaindex()
    splitter = SemanticSplitterNodeParser.from_defaults(embed_model=model, include_metadata=False)
nodes = lambda text: splitter.get_nodes_from_documents([Document(text=text)])
serve(lambda text: places(text, ((n.start_char_idx, n.end_char_idx, n.text) for n in nodes(text))))
