#!/usr/bin/env python3
"""Writes crates/encode/tests/golden/tiktoken.tsv: how many tokens OpenAI's tiktoken makes of words.

    pip install tiktoken==0.14.0
    scripts/golden/golden_tiktoken.py ASSETS

ASSETS is a folder with cl100k_base.tiktoken and o200k_base.tiktoken, as the crate tiktoken-rs has them under `assets`: nothing is
fetched. Words stand behind a space, as in running text, unless they are of a script without spaces.
"""
import pathlib
import sys

import tiktoken
from tiktoken.load import load_tiktoken_bpe

TARGET = pathlib.Path(__file__).resolve().parents[2] / "crates/encode/tests/golden/tiktoken.tsv"
WORDS = [
    "word", "Segmenter", "tokenization,", "don't", "3.14159", "snake_case_name()", "https://example.org/a?b=c", "naïve",
    "Häuser", "Werkzeugausgabe", "Указатель", "ευρετήριο", "👩‍👩‍👧", "a" * 40,
    "索引を作る", "全文检索的结果。", "ก่อนสร้างดัชนี", "サーバーを再起動してください",
]
UNSPACED = ("索", "全", "ก", "サ")


def encoding(name, assets):
    # The pre-tokenizer's patterns are tiktoken's own.
    from tiktoken_ext import openai_public

    openai_public.load_tiktoken_bpe = lambda url, **_: load_tiktoken_bpe(str(assets / url.rsplit("/", 1)[1]))
    return tiktoken.Encoding(**getattr(openai_public, f"{name}_base")())


def main():
    assets = pathlib.Path(sys.argv[1])
    lines = [f"# tiktoken {tiktoken.__version__} by scripts/golden/golden_tiktoken.py: vocabulary, tokens, word"]
    for name in ("cl100k", "o200k"):
        made = encoding(name, assets)
        for word in WORDS:
            text = word if word.startswith(UNSPACED) else " " + word
            lines.append(f"{name}\t{len(made.encode_ordinary(text))}\t{word}")
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
