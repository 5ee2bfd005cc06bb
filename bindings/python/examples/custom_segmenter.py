"""A segmenter of one's own: a segment begins where a sentence begins with a word that turns the page."""

from __future__ import annotations

import pericope

TURNS = {"later", "meanwhile", "finally", "however"}


def turning_words(document: pericope.Document) -> pericope.Scores:
    """One score for each gap between two sentences: the size policy is told nothing else."""
    firsts = [sentence.text.split()[0].strip(",").lower() for sentence in document.sentences[1:]]
    return pericope.Scores([0.9 if first in TURNS else 0.1 for first in firsts], threshold=0.5)


def main() -> None:
    """Cuts a short tale."""
    tale = "The miller wakes. The wheel turns. Later the rain comes. The river rises. Finally it stops."
    segmenter = pericope.Segmenter(turning_words, max_tokens=8, tokenizer="words")
    for chunk in segmenter.segment(tale):
        print(f"{chunk.tokens:2} words  {chunk.text}")


if __name__ == "__main__":
    main()
