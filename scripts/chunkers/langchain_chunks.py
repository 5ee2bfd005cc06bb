"""LangChain: RecursiveCharacterTextSplitter by tokens of MiniLM, SemanticChunker with MiniLM, MarkdownHeaderTextSplitter."""
from langchain_experimental.text_splitter import SemanticChunker
from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

from protocol import arguments, places, serve
import minilm
import tokens


class Embeddings:
    def __init__(self):
        self.model = minilm.MiniLM()

    def embed_documents(self, texts):
        return self.model.embed(texts).tolist()


asked = arguments(["recursive", "semantic", "markdown"], size=200, overlap=0)
if asked.variant == "recursive":
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=asked.size, chunk_overlap=asked.overlap, length_function=tokens.count, add_start_index=True
    )
    pieces = lambda text: ((d.metadata["start_index"], d.page_content) for d in splitter.create_documents([text]))
    found = lambda text: places(text, ((start, start + len(chunk), chunk) for start, chunk in pieces(text)))
elif asked.variant == "semantic":
    splitter = SemanticChunker(Embeddings())
    found = splitter.split_text  # it joins sentences with one space: texts, not places
else:
    levels = [("#" * level, f"h{level}") for level in range(1, 7)]
    splitter = MarkdownHeaderTextSplitter(levels, strip_headers=False)
    found = lambda text: [d.page_content for d in splitter.split_text(text)]
serve(found)
