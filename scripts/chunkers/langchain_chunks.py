"""LangChain: RecursiveCharacterTextSplitter by tokens of MiniLM, SemanticChunker with MiniLM, MarkdownHeaderTextSplitter."""
import re

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


def placed(text, chunks):
    """Places of chunks whose white space is another, and whose characters that do not print (joiners of emoji) are gone."""
    kept = [i for i, letter in enumerate(text) if letter.isprintable() or letter.isspace()]
    clean, before = "".join(text[i] for i in kept), 0
    for chunk in chunks:
        found = re.compile(r"\s+".join(map(re.escape, chunk.split()))).search(clean, before)
        if not found:
            raise ValueError(f"this chunk does not stand in the document: {chunk[:60]!r}")
        before = found.start() + 1
        yield kept[found.start()], kept[found.end() - 1] + 1


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
    found = lambda text: list(placed(text, (d.page_content for d in splitter.split_text(text))))
serve(found)
