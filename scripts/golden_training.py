#!/usr/bin/env python3
"""Writes crates/neural/tests/golden/training/: a tiny random BERT, documents of our own making, and the losses of
scripts/train_weswin.py (PyTorch) on them, step by step.

    pip install torch transformers tokenizers safetensors numpy
    python3 scripts/golden_training.py

The Rust trainer reads the same files and must have the same losses (crates/neural/tests/training.rs).
"""
import json
import os
import pathlib
import random
import sys
import tempfile

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import BertConfig, BertModel

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import train_weswin

OUT = pathlib.Path(__file__).parent.parent / "crates/neural/tests/golden/training"

TOPICS = [
    "harbour ship anchor tide sailor cargo crane pilot",
    "bread flour oven yeast dough crust salt baker",
    "glacier ice snow ridge summit rope climb peak",
    "court judge lawyer trial witness verdict appeal law",
    "violin orchestra tune chord melody concert tempo score",
]
COMMON = "the a of and to in is was with for on it".split()
OPTIONS = {"tokens": 48, "batch": 4, "lr": 1e-3, "head-lr": 1e-2, "epochs": 3, "warmup": 0.1, "seed": 11}


def corpus(seed, documents):
    draw = random.Random(seed)
    for number in range(documents):
        sentences, boundaries, last = [], [], None
        for _ in range(draw.randint(3, 6)):
            topic = draw.choice([t for t in TOPICS if t != last])
            last = topic
            for _ in range(draw.randint(2, 5)):
                words = [draw.choice(topic.split()) if draw.random() < 0.6 else draw.choice(COMMON) for _ in range(draw.randint(3, 8))]
                sentences.append(" ".join(words).capitalize() + ".")
            boundaries.append(len(sentences))
        yield {"id": f"made/{number}", "source": "made", "sentences": sentences, "boundaries": boundaries[:-1]}


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "."] + COMMON + [w for t in TOPICS for w in t.split()]
    tokenizer = Tokenizer(models.WordPiece({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.save(str(OUT / "tokenizer.json"))
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=64, initializer_range=0.2,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(OUT)
    with open(OUT / "documents.jsonl", "w", encoding="utf-8") as out:
        for document in corpus(3, 30):
            out.write(json.dumps(document) + "\n")
    article = next(corpus(4, 1))
    text = " ".join(article["sentences"])
    wanted = " ".join(article["sentences"][article["boundaries"][0] : article["boundaries"][1]])
    qas = [{"id": "q", "question": "the " + wanted.split()[0].lower(), "answers": [{"text": wanted, "answer_start": text.index(wanted)}]}]
    squad = {"data": [{"title": "made", "id": "b", "paragraphs": [{"context": text, "qas": qas}]}]}
    questions = {"sentences": article["sentences"], "answer": [article["boundaries"][0], article["boundaries"][1]], "question": qas[0]["question"]}
    losses = {"options": OPTIONS, "questions": questions}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "questions.json")
        json.dump(squad, open(path, "w"))
        for name, more in (
            ("all_layers", ["--frozen", "0"]),
            ("one_frozen", ["--frozen", "1"]),
            ("with_questions", ["--frozen", "0", "--questions", path, "--questions-every", "2"]),
        ):
            trace = os.path.join(folder, name)
            sys.argv = ["x", "--data", str(OUT / "documents.jsonl"), "--base", str(OUT), "--out", folder, "--dropout", "0"]
            sys.argv += ["--all", "--max-steps", "24", "--trace", trace] + more
            sys.argv += [part for key, value in OPTIONS.items() for part in ("--" + key, str(value))]
            train_weswin.main()
            losses[name] = json.load(open(trace))
    (OUT / "losses.json").write_text(json.dumps(losses, indent=1) + "\n")


if __name__ == "__main__":
    main()
