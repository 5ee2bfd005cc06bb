#!/usr/bin/env python3
"""Writes crates/eval/tests/golden/{langchain,cluster}.json: what other chunkers do, for ours to agree with.

    PERICOPE_DATA=... python3 scripts/golden/golden_chunkers.py

langchain.json: LangChain's SemanticChunker with all four thresholds on made-up sentences. The embedding is the normalised count
of the letters a to z, which any program can compute.

cluster.json: the pieces of at most 50 cl100k tokens into which Chroma's ClusterSemanticChunker cuts the corpora of
$PERICOPE_DATA/questions/chroma (by langchain's RecursiveCharacterTextSplitter with the same separators, which gives the same pieces), as ranges
of code points, and the published chunks of its run `cluster_200`, as ranges of pieces. litellm ships the vocabulary.
"""
import json
import math
import os
import pathlib
import random
import sys
import warnings

warnings.filterwarnings("ignore")
OUT = pathlib.Path(__file__).resolve().parents[2] / "crates" / "eval" / "tests" / "golden"
RULES = [
    ("percentile", 95), ("percentile", 80), ("standard_deviation", 3), ("standard_deviation", 1),
    ("interquartile", 1.5), ("interquartile", 0.5), ("gradient", 95), ("gradient", 80),
]


class Letters:
    """Embeddings that count letters."""

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        counts = [float(text.lower().count(chr(ord("a") + i))) for i in range(26)]
        norm = math.sqrt(sum(c * c for c in counts)) or 1.0
        return [c / norm for c in counts]


def sentences(source, length):
    """Made-up sentences whose letters change now and then."""
    found, alphabet = [], "abcdefghij"
    for _ in range(length):
        if source.random() < 0.15:
            alphabet = "".join(source.sample("abcdefghijklmnopqrstuvwxyz", 8))
        words = ("".join(source.choices(alphabet, k=source.randint(2, 7))) for _ in range(source.randint(3, 9)))
        found.append(" ".join(words) + source.choice("..?!"))
    return found


def langchain():
    from importlib.metadata import version

    from langchain_experimental.text_splitter import SemanticChunker

    source = random.Random(7)
    documents = []
    for length in (1, 2, 3, 5, 12, 40, 120):
        runs, own = [], sentences(source, length)
        for buffer in (1, 2):
            for rule, amount in RULES:
                chunker = SemanticChunker(
                    Letters(), buffer_size=buffer, breakpoint_threshold_type=rule, breakpoint_threshold_amount=amount
                )
                ends, seen = [], 0
                for chunk in chunker.split_text(" ".join(own))[:-1]:
                    seen += sum(chunk.count(mark) for mark in ".?!")
                    ends.append(seen)
                runs.append({"buffer": buffer, "rule": rule, "amount": amount, "boundaries": ends})
        documents.append({"sentences": own, "runs": runs})
    return {"langchain_experimental": version("langchain_experimental"), "documents": documents}


def pieces_of(text, count):
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=50, chunk_overlap=0, length_function=count, keep_separator=True,
        separators=["\n\n", "\n", ".", "?", "!", " ", ""],
    )
    ranges, at = [], 0
    for piece in splitter.split_text(text):
        start = text.index(piece, at)
        at = start + len(piece)
        ranges.append((start, at))
    return ranges


def cluster(data):
    import importlib.util

    litellm = importlib.util.find_spec("litellm").origin
    os.environ["TIKTOKEN_CACHE_DIR"] = str(pathlib.Path(litellm).parent / "litellm_core_utils" / "tokenizers")
    import tiktoken

    encoding = tiktoken.get_encoding("cl100k_base")
    published = json.loads((data.parent / "peers/chroma_spans/cluster_200.json").read_text())["chunks"]
    corpora = {}
    for name in sorted({chunk["corpus_id"] for chunk in published}):
        text = (data / f"questions/chroma/corpora/{name}.md").read_text(encoding="utf-8")
        pieces = pieces_of(text, lambda t: len(encoding.encode(t, disallowed_special=())))
        place = {start: i for i, (start, _) in enumerate(pieces)}
        chunks = [chunk for chunk in published if chunk["corpus_id"] == name]
        # The benchmark puts a chunk where its text occurs first, so a chunk of a bare full stop or of a repeated heading is not where
        # it was cut; the others are, in order.
        starts = []
        for chunk in chunks:
            found = place.get(chunk["start"])
            if found is not None and (not starts or found > starts[-1]):
                starts.append(found)
        corpora[name] = {"pieces": pieces, "chunks": len(chunks), "starts": starts}
    return {"size": 200, "corpora": corpora}


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "langchain.json").write_text(json.dumps(langchain()) + "\n")
    if "PERICOPE_DATA" in os.environ:
        (OUT / "cluster.json").write_text(json.dumps(cluster(pathlib.Path(os.environ["PERICOPE_DATA"]))) + "\n")
    else:
        sys.exit("golden_chunkers: PERICOPE_DATA is not set; cluster.json stays as it is")
