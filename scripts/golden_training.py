#!/usr/bin/env python3
"""Writes crates/learn/tests/golden/training/: a tiny random BERT, documents of our own making, and the losses of
scripts/train_weswin.py (PyTorch) on them, step by step; with nsp.json, the losses of next-sentence prediction. And
crates/learn/tests/golden/nsp/: a tiny random BertForNextSentencePrediction, and its logits on pairs of sentences.

    pip install torch transformers tokenizers safetensors numpy
    python3 scripts/golden_training.py

The Rust trainer reads the same files and must have the same losses (crates/learn/tests/it/training.rs).
"""
import json
import os
import pathlib
import random
import sys
import tempfile

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForNextSentencePrediction, BertModel

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import train_weswin

OUT = pathlib.Path(__file__).parent.parent / "crates/learn/tests/golden/training"
NSP = OUT.parent / "nsp"

TOPICS = [
    "harbour ship anchor tide sailor cargo crane pilot",
    "bread flour oven yeast dough crust salt baker",
    "glacier ice snow ridge summit rope climb peak",
    "court judge lawyer trial witness verdict appeal law",
    "violin orchestra tune chord melody concert tempo score",
]
COMMON = "the a of and to in is was with for on it".split()
NSP_OPTIONS = {"tokens": 16, "batch": 4, "lr": 1e-3, "head-lr": 1e-2, "steps": 20, "warmup": 0.1, "decay": 0.01, "seed": 11}
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


def pairing(tokenizer, limit):
    """The tokenizer with BERT's pairs, the longer of two sentences cut off first."""
    pairs = Tokenizer.from_str(tokenizer.to_str())
    special = [(name, pairs.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    pairs.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=special
    )
    pairs.enable_truncation(limit, strategy="longest_first")
    return pairs


def drawn(documents, seed):
    """(first, second, 0 for neighbours and 1 for others), places being (document, sentence), as the Rust trainer draws."""
    places = [(d, i) for d, document in enumerate(documents) for i in range(len(document["sentences"]))]
    generator = train_weswin.SplitMix64(seed ^ 0xFFFFFFFFFFFFFFFF)
    at, out = 0, []
    for document in documents:
        count = len(document["sentences"])
        for k in range(at + 1, at + count):
            other = (generator.next() * (len(places) - count)) >> 64
            out.append((places[k - 1], places[k], 0))
            out.append((places[k - 1], places[other if other < at else other + count], 1))
        at += count
    return out


def nsp_losses(documents, tokenizer, frozen):
    """The losses of next-sentence prediction; the pooler begins as the identity, the classifier with zeros."""
    o = NSP_OPTIONS
    bert = BertModel.from_pretrained(OUT, add_pooling_layer=False, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    hidden = bert.config.hidden_size
    pooler, head = torch.nn.Linear(hidden, hidden), torch.nn.Linear(hidden, 2)
    torch.nn.init.eye_(pooler.weight)
    for numbers in (pooler.bias, head.weight, head.bias):
        torch.nn.init.zeros_(numbers)
    trained = [p for layer in bert.encoder.layer[frozen:] for p in layer.parameters()]
    groups = [
        {"params": [p for p in trained if p.dim() > 1], "weight_decay": o["decay"], "times": 1.0},
        {"params": [p for p in trained if p.dim() == 1], "weight_decay": 0.0, "times": 1.0},
        {"params": [*pooler.parameters(), *head.parameters()], "weight_decay": 0.0, "times": o["head-lr"] / o["lr"]},
    ]
    optimizer = torch.optim.AdamW(groups, lr=o["lr"], betas=(0.9, 0.999), eps=1e-8)
    every = [p for group in groups for p in group["params"]]
    pairs = pairing(tokenizer, o["tokens"])
    text = lambda place: documents[place[0]]["sentences"][place[1]]
    samples = [(pairs.encode(text(a), text(b)), label) for a, b, label in drawn(documents, o["seed"])]
    feed = train_weswin.batches([len(e.ids) for e, _ in samples], o["batch"], o["seed"])
    warm = max(1, int(o["steps"] * o["warmup"]))
    losses = []
    for step in range(o["steps"]):
        rate = o["lr"] * min((step + 1) / warm, (o["steps"] - step) / max(1, o["steps"] - warm))
        for group in optimizer.param_groups:
            group["lr"] = rate * group["times"]
        chosen = [samples[i] for i in next(feed)]
        longest = max(len(e.ids) for e, _ in chosen)
        pad = lambda numbers: numbers + [0] * (longest - len(numbers))
        x = bert(
            input_ids=torch.tensor([pad(e.ids) for e, _ in chosen]),
            token_type_ids=torch.tensor([pad(e.type_ids) for e, _ in chosen]),
            attention_mask=torch.tensor([pad(e.attention_mask) for e, _ in chosen]),
        ).last_hidden_state[:, 0]
        logits = head(torch.tanh(pooler(x)))
        loss = torch.nn.functional.cross_entropy(logits, torch.tensor([label for _, label in chosen]))
        optimizer.zero_grad()
        bert.zero_grad()
        loss.backward()
        losses.append(loss.item())
        torch.nn.utils.clip_grad_norm_(every, 1.0)
        optimizer.step()
    return losses


def nsp_model(documents, tokenizer, words):
    """A BertForNextSentencePrediction whose shapes the fused kernels run, with its logits."""
    NSP.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(NSP / "tokenizer.json"))
    torch.manual_seed(6)
    config = BertConfig(
        vocab_size=len(words), hidden_size=96, num_hidden_layers=2, num_attention_heads=3, intermediate_size=48,
        max_position_embeddings=32, initializer_range=0.2,
    )
    model = BertForNextSentencePrediction(config).half()
    model.save_pretrained(NSP)
    model = model.float().eval()
    pairs = pairing(tokenizer, config.max_position_embeddings)
    sentences = [s for d in documents[:4] for s in d["sentences"][:3]]
    long = " ".join(s for d in documents[4:8] for s in d["sentences"])
    texts = list(zip(sentences, sentences[1:]))
    texts += [(long, sentences[0]), (sentences[0], long), (long, long), (long, long[:-30]), (long[:-30], long), ("", sentences[0])]
    cases = []
    for first, second in texts:
        e = pairs.encode(first, second)
        with torch.no_grad():
            found = model(torch.tensor([e.ids]), token_type_ids=torch.tensor([e.type_ids]), output_hidden_states=True)
        cases.append({
            "texts": [first, second], "ids": e.ids, "second": sum(t == 0 for t in e.type_ids),
            "first": found.hidden_states[-1][0, 0].tolist(), "logits": found.logits[0].tolist(),
        })
    (NSP / "expected.json").write_text(json.dumps({"cases": cases}) + "\n")


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
    documents = list(corpus(3, 30))
    traces = {"all_layers": nsp_losses(documents, tokenizer, 0), "one_frozen": nsp_losses(documents, tokenizer, 1)}
    (OUT / "nsp.json").write_text(json.dumps({"options": NSP_OPTIONS, **traces}, indent=1) + "\n")
    nsp_model(documents, tokenizer, words)


if __name__ == "__main__":
    main()
