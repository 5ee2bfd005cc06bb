# requires: chonkie semchunk langchain-text-splitters semantic-text-splitter tokenizers
"""Splitting speed beside other splitters, in one run: MB/s on documents of 50 KB, 1.4 MB and 20 MB.

Every splitter gets the same text and a size of 1,000 characters (semchunk: 200 words; token chunkers: 1,000
characters). Rounds are interleaved, the median is shown, with the ratio of ours to each. Peers that a long document
makes very slow are run on it once.

Text: the documentation sources of $PERICOPE_DATA/docs, one after the other, non-ASCII characters replaced.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

PACKAGES = ["chonkie", "semchunk", "langchain-text-splitters", "semantic-text-splitter", "tokenizers"]
SIZES = [50_000, 1_400_000, 20_000_000]


def corpus(size: int) -> str:
    folder = Path(os.environ.get("PERICOPE_DATA") or sys.exit("PERICOPE_DATA is not set")) / "docs"
    parts, total = [], 0
    for path in sorted(folder.glob("*.raw.jsonl")):
        for line in path.open(encoding="utf-8"):
            text = json.loads(line)["text"]
            parts.append(text)
            total += len(text.encode())
            if total >= size:
                return ascii_only(parts)[:size]
    return ascii_only(parts)


def ascii_only(parts: list[str]) -> str:
    """chonkie's FastChunker cuts inside characters of several bytes, and then fails."""
    return "\n\n".join(parts).encode("ascii", errors="replace").decode()


def peers():
    """Name -> (function, note)."""
    from chonkie import FastChunker, RecursiveChunker, SentenceChunker, TokenChunker
    from langchain_text_splitters import RecursiveCharacterTextSplitter
    from semantic_text_splitter import TextSplitter
    import semchunk

    langchain = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=0)
    rust = TextSplitter(1000)
    words = semchunk.chunkerify(lambda text: len(text.split()), 200)
    found = {
        "chonkie FastChunker": FastChunker(chunk_size=1000),
        "chonkie RecursiveChunker": RecursiveChunker(tokenizer="character", chunk_size=1000),
        "chonkie TokenChunker": TokenChunker(tokenizer="character", chunk_size=1000),
        "chonkie SentenceChunker": SentenceChunker(tokenizer="character", chunk_size=1000, chunk_overlap=0),
        "semchunk (200 words)": words,
        "langchain RecursiveCharacterTextSplitter": langchain.split_text,
        "text-splitter (Rust, semantic-text-splitter)": rust.chunk_indices,
    }
    return found


def ours(path: Path, size: int) -> dict[str, float]:
    """Splitter -> MB/s, the median of several runs."""
    command = ["cargo", "run", "--quiet", "--release", "-p", "pericope-segment", "--example", "split_speed", "--",
               str(path), str(size), "--json"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {row["splitter"]: row["mb_per_second"] for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="bytes")
    parser.add_argument("--patience", type=float, default=20.0, help="seconds after which a peer gets no further round")
    options = parser.parse_args()
    found = peers()
    print(", ".join(f"{name} {version(name)}" for name in PACKAGES))
    table: dict[str, dict[int, float]] = {}
    for size in options.sizes:
        text = corpus(size)
        megabytes = len(text.encode()) / 1e6
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            times: dict[str, list[float]] = {name: [] for name in found}
            own: dict[str, list[float]] = {}
            for _ in range(options.rounds):
                for name, rate in ours(Path(file.name), len(text.encode())).items():
                    own.setdefault(name, []).append(rate)
                for name, split in found.items():
                    if sum(times[name]) > options.patience:
                        continue
                    # Small documents are split several times, so that the clock's grain does not show.
                    repeat = max(1, int(0.2 * 20e6 / size / 50))
                    start = time.perf_counter()
                    for _ in range(repeat):
                        split(text)
                    times[name].append((time.perf_counter() - start) / repeat)
        for name, rates in own.items():
            table.setdefault(f"pericope {name}", {})[size] = statistics.median(rates)
        for name, seconds in times.items():
            table.setdefault(name, {})[size] = megabytes / statistics.median(seconds)
    best = next(iter(table))
    print("| splitter | " + " | ".join(f"{size / 1e6:g} MB" for size in options.sizes) + " |")
    print("| --- |" + " --- |" * len(options.sizes))
    for name, rates in table.items():
        cells = [f"{rates[s]:.1f} MB/s" + ("" if name == best else f" ({table[best][s] / rates[s]:.1f}x)") for s in options.sizes]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print(f"\nIn brackets: how many times as fast `{best}` is.")


if __name__ == "__main__":
    main()
