#!/usr/bin/env python3
"""Writes crates/encode/tests/golden/static-tiny/: a table of random token vectors in Model2Vec's layout, and what Model2Vec makes
of some texts with it.

    pip install model2vec==0.10.0
    scripts/golden/golden_static.py

The tokenizer is that of bert-tiny beside it (golden_encoders.py). expected.json: {"source", "cases": [{"text", "vector"}]}. The table
has a weight for each token, and tokens share rows, as in Model2Vec's newer files.
"""
import json
import pathlib
import shutil

import model2vec
import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "crates/encode/tests/golden"
TEXTS = [
    "The river rose in the night.",
    "the THE The",
    "bread, water & salt!",
    "  a text with white space at its ends \n",
    "na\u00efve caf\u00e9 fa\u00e7ade",
    "10 plus 20 is 30; 3.14",
    "\u0421\u0435\u0433\u043e\u0434\u043d\u044f evening",
    "Every line is read, and every line is kept. " * 6,
]


def main():
    folder = GOLDEN / "static-tiny"
    folder.mkdir(exist_ok=True)
    shutil.copyfile(GOLDEN / "bert-tiny/tokenizer.json", folder / "tokenizer.json")
    tokens = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab_size()
    random = np.random.default_rng(7)
    rows, dimension = tokens // 2, 8
    save_file({
        "embeddings": random.standard_normal((rows, dimension)).astype(np.float32),
        "weights": random.uniform(0.1, 2.0, tokens).astype(np.float32),
        "mapping": random.integers(0, rows, tokens).astype(np.int32),
    }, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": True,
                                                    "hidden_dim": dimension, "seq_length": 512}) + "\n")
    model = model2vec.StaticModel.from_pretrained(folder)
    found = model.encode(TEXTS, max_length=512)
    cases = [{"text": text, "vector": [round(float(x), 7) for x in vector]} for text, vector in zip(TEXTS, found)]
    (folder / "expected.json").write_text(
        json.dumps({"source": f"model2vec {model2vec.__version__}", "cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
