#!/usr/bin/env python3
"""The examples of `topic`, as the example program `topic_examples` writes them, packed into few bytes for a machine with a GPU.

    scripts/research/topic_pack.py EXAMPLES --base MODEL_DIR --epochs 3 --documents TRAIN_DIR --out PACK_DIR

PACK_DIR gets files that numpy reads once lzma unpacked them. Numbers lose precision that no model would miss: a 64th of a nat of what
words gain, a 1/127 of a logarithm of lengths. Needs numpy and tokenizers.
"""
import argparse
import json
import lzma
import pathlib

import numpy as np
from tokenizers import Tokenizer

LIMIT = 96
# Places among the numbers of a row (crates/learn/src/rows/inputs.rs).
SCALES = {0: 127, 1: 127, 6: 255}
FLAGS = (2, 3, 4, 5, 7, 16, 17)
GAINS = (12, 13, 14, 15)
WIDTH = 18


def tokenized(texts, tokenizer):
    ids, lengths = [], np.empty(len(texts), dtype=np.uint8)
    for at in range(0, len(texts), 20_000):
        for i, one in enumerate(tokenizer.encode_batch(texts[at : at + 20_000], add_special_tokens=False)):
            own = one.ids[:LIMIT]
            ids.append(np.array(own, dtype=np.uint16))
            lengths[at + i] = len(own)
    return np.concatenate(ids), lengths


def packed_rows(folder, name):
    read = lambda array, kind: np.fromfile(folder / f"{name}.{array}", dtype=kind)
    numbers = read("numbers", "<f2").reshape(-1, WIDTH).astype(np.float32)
    bits = np.zeros(len(numbers), dtype=np.uint8)
    for bit, place in enumerate(FLAGS):
        bits |= (numbers[:, place] > 0.5).astype(np.uint8) << bit
    bits |= (read("ends", "u1") > 0).astype(np.uint8) << 7
    columns = {f"n{place}": np.clip(numbers[:, place] * scale, 0, 255).round().astype(np.uint8) for place, scale in SCALES.items()}
    columns |= {f"g{place}": np.clip(numbers[:, place] * 16, -127, 127).round().astype(np.int8) for place in GAINS}
    sentences = read("sentences", "<u4").astype(np.int64)
    return columns | {
        "bits": bits,
        "lengths": read("lengths", "<u4"),
        "counts": read("counts", "<u2"),
        "steps": np.diff(sentences, prepend=0).astype(np.int32),
    }


def unpacked(rows):
    """`lengths`, `counts`, `sentences`, `numbers` and `ends` again."""
    numbers = np.zeros((len(rows["bits"]), WIDTH), dtype=np.float32)
    for place, scale in SCALES.items():
        numbers[:, place] = rows[f"n{place}"].astype(np.float32) / scale
    for place in GAINS:
        numbers[:, place] = rows[f"g{place}"].astype(np.float32) / 16
    for bit, place in enumerate(FLAGS):
        numbers[:, place] = rows["bits"] >> bit & 1
    found = {"numbers": numbers, "ends": (rows["bits"] >> 7).astype(np.float32), "sentences": np.cumsum(rows["steps"].astype(np.int64))}
    return found | {name: rows[name].astype(np.int64) for name in ("lengths", "counts")}


def write(path, arrays):
    with lzma.open(path, "wb", preset=6) as file:
        head = {name: (str(array.dtype), array.shape) for name, array in arrays.items()}
        file.write(json.dumps(head).encode() + b"\n")
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).tobytes())
    print(path, f"{path.stat().st_size / 1e6:.1f} MB", flush=True)


def read(path):
    with lzma.open(path) as file:
        head = json.loads(file.readline())
        rest = file.read()
    found, at = {}, 0
    for name, (kind, shape) in head.items():
        count = int(np.prod(shape))
        found[name] = np.frombuffer(rest, dtype=kind, count=count, offset=at).reshape(shape)
        at += count * np.dtype(kind).itemsize
    return found


def split(values, lengths):
    """Values that lie one behind the other, in arrays of these lengths."""
    return np.split(values, np.cumsum(lengths.astype(np.int64))[:-1])


def sentences(folder):
    """The token ids of every sentence, by its number."""
    table = read(folder / "sentences.xz")
    return split(table["ids"], table["lengths"])


class Examples:
    """The rows of a file, by example."""

    def __init__(self, path):
        found = unpacked(read(path))
        self.numbers, self.ends, self.counts = found["numbers"], found["ends"], found["counts"]
        self.rows = np.concatenate([[0], np.cumsum(found["lengths"])])
        self.places = np.concatenate([[0], np.cumsum(self.counts)])
        self.sentences = found["sentences"]

    def __len__(self):
        return len(self.rows) - 1

    def of(self, i):
        """Sentences, how many of them each row has, numbers, ends."""
        start, end = self.rows[i], self.rows[i + 1]
        return self.sentences[self.places[start] : self.places[end]], self.counts[start:end], self.numbers[start:end], self.ends[start:end]


def documents(folder, numbers, tokenizer):
    """Whole documents: their sentences by number, their boundaries, and the ids of the headings of their segments."""
    lengths, sentences, ends, headings = [], [], [], []
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            own = [numbers.get(text, -1) for text in record["sentences"]]
            if min(own) < 0 or len(own) < 2:
                continue
            flags = np.zeros(len(own), dtype=np.uint8)
            flags[[boundary - 1 for boundary in record["boundaries"]]] = 1
            flags[-1] = 1
            lengths.append(len(own))
            sentences += own
            ends.append(flags)
            headings += record.get("headings") or [""] * int(flags.sum())
    ids, of = tokenized(headings, tokenizer)
    steps = np.diff(np.array(sentences, dtype=np.int64), prepend=0).astype(np.int32)
    return {
        "lengths": np.array(lengths, dtype=np.uint32),
        "steps": steps,
        "ends": np.concatenate(ends),
        "heading_ids": ids,
        "heading_lengths": of,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", type=pathlib.Path)
    parser.add_argument("--base", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--documents", type=pathlib.Path, help="the training documents, for train_weswin.py")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_file(str(args.base / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = [json.loads(line) for line in (args.examples / "sentences.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]
    ids, lengths = tokenized(texts, tokenizer)
    write(args.out / "sentences.xz", {"ids": ids, "lengths": lengths})
    if args.documents:
        numbers = {text: number for number, text in enumerate(texts)}
        write(args.out / "documents.xz", documents(args.documents, numbers, tokenizer))
    for name in ["validation", *(f"train-{epoch}" for epoch in range(args.epochs))]:
        write(args.out / f"{name}.xz", packed_rows(args.examples, name))


if __name__ == "__main__":
    main()
