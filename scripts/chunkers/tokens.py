"""Tokens of all-MiniLM-L6-v2, special tokens not counted."""
import os
import pathlib

import tokenizers

HOME = pathlib.Path(os.environ.get("PERICOPE_HOME") or pathlib.Path.home() / ".local/share/pericope")
FILE = HOME / "models/minilm/tokenizer.json"
TOKENIZER = tokenizers.Tokenizer.from_file(str(FILE))
TOKENIZER.no_padding()
TOKENIZER.no_truncation()


def ids(text):
    return TOKENIZER.encode(text, add_special_tokens=False).ids


def count(text):
    return len(ids(text))
