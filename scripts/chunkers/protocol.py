"""The protocol of `command:` in few lines: a document a line in, its chunks a line out."""
import argparse
import json
import re
import sys


def arguments(variants, **options):
    """The variant and the sizes that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=variants)
    for name, default in options.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    return parser.parse_args()


def places(text, found):
    """Ranges out of (start, end, text), where the program's own ranges hold its own texts; else the texts."""
    found = list(found)
    right = all(start is not None and text[start:end] == chunk for start, end, chunk in found)
    return [(start, end) for start, end, _ in found] if right else [chunk for _, _, chunk in found]


def standing(text, chunks):
    """Ranges of chunks whose white space is another, and whose characters that do not print (joiners of emoji) are gone."""
    kept = [i for i, letter in enumerate(text) if letter.isprintable() or letter.isspace()]
    clean, before, found = "".join(text[i] for i in kept), 0, []
    for chunk in chunks:
        place = re.compile(r"\s+".join(map(re.escape, chunk.split()))).search(clean, before)
        if not place:
            raise ValueError(f"this chunk does not stand in the document: {chunk[:60]!r}")
        before = place.start() + 1
        found.append((kept[place.start()], kept[place.end() - 1] + 1))
    return found


def serve(chunks_of):
    """Answers each document with what `chunks_of(text)` gives: pairs of start and end in characters, or texts."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    for line in sys.stdin:
        document = json.loads(line)
        try:
            chunks = [{"text": c} if isinstance(c, str) else {"start": c[0], "end": c[1]} for c in chunks_of(document["text"])]
            answer = {"document": document["document"], "chunks": chunks, "offsets": "chars"}
        except Exception as problem:  # one document that fails costs no other
            answer = {"document": document["document"], "error": repr(problem)}
        print(json.dumps(answer), file=answers, flush=True)
