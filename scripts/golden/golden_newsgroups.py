#!/usr/bin/env python3
"""Writes what scikit-learn takes out of made-up messages: crates/eval/tests/golden/newsgroups.json.

    scripts/golden/golden_newsgroups.py
"""
import itertools
import json
from pathlib import Path

import sklearn
from sklearn.datasets import _twenty_newsgroups as groups

OUT = Path(__file__).resolve().parents[2] / "crates/eval/tests/golden/newsgroups.json"

# In the order in which fetch_20newsgroups takes them out.
PARTS = {
    "headers": groups.strip_newsgroup_header,
    "footers": groups.strip_newsgroup_footer,
    "quotes": groups.strip_newsgroup_quoting,
}

MESSAGES = [
    "From: a@b.example\nSubject: Engines\n\nIn article <1@x> c@d.example wrote:\n> Which oil?\n\nThe thin one.\nIt lasts.\n\n--\nA. Author\nSomewhere\n",
    "From: a@b.example\n\nOne line.",
    "From: a@b.example\n\nOne line.\n\n",
    "From: a@b.example\n\n\n\nAfter empty lines.\n\n   \nSigned\n",
    "Subject: x\n\n| quoted\n > not at its beginning\nHe said: no.\nQuoted from a book\n   In article <3>\nWhat she writes: well\nThe end\n-----\n",
    "Subject: x\n\n----\nAll below a rule\nand more",
    "Subject: x\n\nFirst\n\nSecond\n--- \nThird\n -- \nFourth",
    "Subject: x\n\nTabs\there\n\t\nand a signature\n--\n",
    "Subject: x\n\n",
]


def main():
    cases = []
    for text in MESSAGES:
        for count in range(len(PARTS) + 1):
            for chosen in itertools.combinations(PARTS, count):
                left = text
                for part in chosen:
                    left = PARTS[part](left)
                cases.append({"text": text, "strip": list(chosen), "left": left})
    OUT.write_text(json.dumps({"scikit-learn": sklearn.__version__, "cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
