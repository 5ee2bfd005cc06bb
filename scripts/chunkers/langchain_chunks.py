"""LangChain: RecursiveCharacterTextSplitter by tokens of MiniLM, SemanticChunker with MiniLM, MarkdownHeaderTextSplitter."""
from langchain_experimental.text_splitter import SemanticChunker
from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

from protocol import arguments, places, serve, standing
import embeddings
import tokens

asked = arguments(["recursive", "semantic", "markdown"], size=200, overlap=0)
if asked.variant == "recursive":
    by_tokens = {"chunk_size": asked.size, "chunk_overlap": asked.overlap, "length_function": tokens.count}
    splitter = RecursiveCharacterTextSplitter(**by_tokens, add_start_index=True)
    pieces = lambda text: ((d.metadata["start_index"], d.page_content) for d in splitter.create_documents([text]))
    serve(lambda text: places(text, ((start, start + len(chunk), chunk) for start, chunk in pieces(text))))
elif asked.variant == "semantic":
    serve(SemanticChunker(embeddings.for_langchain()).split_text)  # it joins sentences with one space: texts, not places
else:
    splitter = MarkdownHeaderTextSplitter([("#" * level, f"h{level}") for level in range(1, 7)], strip_headers=False)
    serve(lambda text: standing(text, (d.page_content for d in splitter.split_text(text))))
