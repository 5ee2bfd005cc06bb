"""Memory does not grow with the number of documents."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import resource
import pericope

segmenter = pericope.Segmenter("structure", tokenizer="words")

def texts(count):
    for number in range(count):
        yield f"# Page {number}\\n\\n" + f"Sentence {number} says a thing. Another one follows it here.\\n\\n" * 4

def cut(count):
    return sum(len(chunks) for chunks in segmenter.iter(texts(count), format="markdown"))

def now():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

cut(10_000)
before = now()
chunks = cut(100_000)
print(chunks, before, now())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_hundred_thousand_documents_take_the_memory_of_ten_thousand() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    chunks, before, after = map(int, done.stdout.split())
    assert chunks >= 100_000
    # Allocators keep some; one list of all chunks would be more than 50 MB.
    assert after - before < 16 << 20, (before, after)
