#!/usr/bin/env python3
"""Writes crates/segment/tests/golden/difflib.json: ratios of Python's difflib.SequenceMatcher that ours must equal.

    python3 scripts/golden/golden_difflib.py

Pairs of texts: empty ones, equal ones, other scripts and emoji, variants of a sentence, and texts of 200 characters and more,
where the heuristic against popular characters sets in. The ratios are strings, so that no JSON reader rounds them.
"""
import difflib
import json
import pathlib
import platform
import random

OUT = pathlib.Path(__file__).resolve().parents[2] / "crates" / "segment" / "tests" / "golden"

WORDS = """the a of and to in that it is was for on are with they be at one have this from by hot but some what there we
can out other were all your when up use how said an each she which their time if will way about many then them would
write like these long make thing see him two has look more day could go come did sound no most number who over know water
than call first people may down side been now find any new work part take get place made live where after back little""".split()
ALPHABETS = ["ab", "abcdefgh ", "éüñçßøåλжд ", "漢字仮名交じり文。、", "👩👨👧🇩🇪\u200d\u0301e ", "01 .,;"]


def sentence(rng, words):
    return " ".join(rng.choice(WORDS) for _ in range(words)).capitalize() + rng.choice(".!?")


def variant(rng, text):
    text = list(text)
    for _ in range(rng.randint(1, 1 + len(text) // 10)):
        at = rng.randrange(len(text) + 1)
        kind = rng.randrange(3)
        if kind == 0:
            text.insert(at, rng.choice("xyz é漢"))
        elif kind == 1:
            del text[at : at + rng.randint(1, 5)]
        else:
            other = rng.randrange(len(text) + 1)
            text[at:at] = text[other : other + rng.randint(1, 20)]
    return "".join(text)


def pairs():
    rng = random.Random(11)
    yield from [("", ""), ("", "a"), ("a", ""), ("a", "a"), ("a", "b"), ("tide", "diet"), ("diet", "tide"), ("ab" * 100, "ba" * 100)]
    for _ in range(80):
        alphabet = rng.choice(ALPHABETS)
        yield tuple("".join(rng.choice(alphabet) for _ in range(rng.randint(0, 60))) for _ in range(2))
    for _ in range(60):
        yield sentence(rng, rng.randint(3, 30)), sentence(rng, rng.randint(3, 30))
    for _ in range(50):
        text = sentence(rng, rng.randint(3, 30))
        yield text, variant(rng, text)
    # Around the length of 200, and beyond.
    for length in (198, 199, 200, 201, 299, 300, 301):
        text = sentence(rng, 90)[:length]
        yield text, variant(rng, text)[:length].ljust(length, "x")
        yield variant(rng, text), text
        yield sentence(rng, 8), text
        yield text, sentence(rng, 8)
    for _ in range(50):
        text = sentence(rng, rng.randint(45, 120))
        yield text, variant(rng, text)
    for _ in range(30):
        letters = "".join(chr(rng.randrange(0x4E00, 0x4E00 + rng.choice([20, 90, 150, 400]))) for _ in range(420))
        yield letters[: rng.randint(100, 400)], variant(rng, letters)


if __name__ == "__main__":
    cases = [[a, b, repr(difflib.SequenceMatcher(None, a, b).ratio())] for a, b in pairs()]
    OUT.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"python": platform.python_version(), "cases": cases}, ensure_ascii=False)
    (OUT / "difflib.json").write_text(text + "\n")
    print(len(cases), "cases")
