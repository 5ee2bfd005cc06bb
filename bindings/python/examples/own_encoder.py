"""An encoder of one's own in a segmenter, in an index and in a search. It counts letters, for the example's sake."""

from __future__ import annotations

import tempfile

import numpy as np
from numpy.typing import NDArray

import pericope


class Letters:
    """Counts the letters a to z."""

    name = "letters"
    dimension = 26

    def encode_passages(self, texts: list[str]) -> NDArray[np.float32]:
        """One row a text."""
        found = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(found, texts):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    row[ord(letter) - ord("a")] += 1
        return found


def main() -> None:
    """Indexes two documents and finds the one that is closer."""
    texts = {"zoo": "Zebras doze. A zebra is dizzy.", "sea": "The moon pulls at the sea. Spring tides follow the new moon."}
    documents = [pericope.Document(text, id=name) for name, text in texts.items()]
    with tempfile.TemporaryDirectory() as place:
        segmenter = pericope.Segmenter("window", embedder=Letters(), tokenizer="words")
        pericope.index(documents, place, segmenter=segmenter, embedder=Letters())
        index = pericope.open(place, embedder=Letters())
        print([hit.document for hit in index.search("zigzag", mode="dense", k=1)])


if __name__ == "__main__":
    main()
