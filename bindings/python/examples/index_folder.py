"""Indexes a folder and searches it by words: no model, no network.

python examples/index_folder.py FOLDER 'what to look for'
"""

from __future__ import annotations

import sys
import tempfile

import pericope


def main(folder: str, question: str) -> None:
    """Prints the three best passages."""
    with tempfile.TemporaryDirectory() as place:
        segmenter = pericope.Segmenter("structure", max_tokens=200, tokenizer="words")
        report = pericope.index(folder, place, segmenter=segmenter)
        print(f"{report.documents} documents, {report.chunks} chunks, {len(report.failures)} left out")
        for hit in pericope.open(place).search(question, k=3):
            line = hit.lines[0] if hit.lines else 1
            print(f"{hit.score:.2f}  {hit.document}:{line}  {' > '.join(hit.heading_path)}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
