#!/usr/bin/env python3
"""Trains WeSWin (and WeSWin-Ret) in PyTorch and writes the layout that `pericope train weswin` writes.

Two uses: an independent check of the Rust trainer (`--trace`: the loss of each step, without dropout, on the batches in
the order that both share), and training where PyTorch finds a GPU.

    scripts/research/train_weswin.py --data docs.seg.jsonl wiki.jsonl --base MODEL_DIR --out DIR --epochs 3

MODEL_DIR holds config.json, model.safetensors and tokenizer.json of a BERT (`pericope models list` shows where MiniLM
lies). Needs torch, transformers, tokenizers, safetensors and numpy.

With `--packed` in place of `--data` it reads what `topic_pack.py --documents` made, headings ask for their sections, and windows begin
elsewhere in each epoch. With `--rank` matrices get changes of low rank, and the file is small.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import time

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

import low_rank
import topic_pack


def share_of(name):
    """0..9 from the document's id: 0 is test, 1 is validation, the rest trains (as `part_of` in the Rust trainer)."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % 10


def read(paths, tokenizer, limit):
    """Documents as lists of token id lists (at most `limit` a sentence), with labels: 1 where a segment ends."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    documents = []
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if not line.strip():
                    continue
                d = json.loads(line)
                encoded = tokenizer.encode_batch(d["sentences"], add_special_tokens=False)
                ids = [e.ids[:limit] for e in encoded]
                labels = np.zeros(len(ids), dtype=np.int64)
                labels[[b - 1 for b in d["boundaries"]]] = 1
                documents.append({"id": d["id"], "ids": ids, "labels": labels, "source": d["source"]})
    return documents


def windows(lengths, budget, partition):
    """(start, end, first active, end of active) of every sequence; `lengths` counts a sentence's tokens and its [SNT]."""
    n, start, out = len(lengths), 0, []
    ends, total, end = [], 0, 0
    for i in range(n):  # ends[i]: where a sequence that starts at i is full
        while end < n and (end == i or total + lengths[end] <= budget):
            total += lengths[end]
            end += 1
        ends.append(end)
        total -= lengths[i]
    kind, k = partition.split("-")
    k = int(k)
    while start < n:
        end = ends[start]
        if kind == "cr":
            active = n if end == n else max(end - k, start + 1)
            out.append((start, end, start, active))
            if active >= n:
                break
            start = active
        elif kind == "ss":
            out.append((start, end, start, end))
            if end == n:
                break
            start = min(start + k, end - 1 if end - 1 > start else end)
        else:
            raise SystemExit(f"the partition {partition} is not known here: cr-K or ss-K")
    return out


def sequences(documents, budget, partition, draw=None):
    """Those of all documents; with `draw` the first one of each ends early, so that all begin elsewhere."""
    for number, d in enumerate(documents):
        lengths = [len(s) + 1 for s in d["ids"]]
        room = budget - 2 - (len(d["question"]) + 1 if "question" in d else 0)
        begin = 0
        if draw is not None:
            first = windows(lengths, room, partition)[0]
            if first[1] < len(lengths):
                begin = int(draw.integers(0, first[1]))
            if begin > 1:
                yield number, 0, begin, 0, begin
        for start, end, first, last in windows(lengths[begin:], room, partition):
            yield number, begin + start, begin + end, begin + first, begin + last


def read_packed(folder):
    """Documents to learn from, with the ids of the headings of their segments, and those for validation."""
    texts = [text.tolist() for text in topic_pack.sentences(folder)]
    found = topic_pack.read(folder / "documents.xz")
    sentences = topic_pack.split(np.cumsum(found["steps"].astype(np.int64)), found["lengths"])
    ends = topic_pack.split(found["ends"].astype(np.int64), found["lengths"])
    headings = topic_pack.split(found["heading_ids"], found["heading_lengths"])
    train, heading = [], 0
    for own, labels in zip(sentences, ends):
        segments = int(labels.sum())
        train.append({"id": str(len(train)), "ids": [texts[i] for i in own], "labels": labels, "headings": headings[heading : heading + segments], "source": "packed"})
        heading += segments
    # Documents with paragraphs are there twice, with and without them, which are not read here.
    valid, seen, validation = [], set(), topic_pack.Examples(folder / "validation.xz")
    for i in range(len(validation)):
        own, _, _, ends = validation.of(i)
        if (key := (own[0], len(own))) not in seen and len(own) > 1:
            seen.add(key)
            valid.append({"id": str(len(valid)), "ids": [texts[i] for i in own], "labels": ends.astype(np.int64), "source": "packed"})
    return train, valid


def heading_questions(documents, budget, draw, most=2):
    """A few segments of each document that their headings ask for: windows of the document that hold some of the answer, or lie by it."""
    asked = []
    for d in documents:
        ends = np.flatnonzero(d["labels"]) + 1
        if len(ends) < 3:
            continue
        for segment in draw.permutation(len(ends))[:most]:
            question = d["headings"][segment][:64].tolist()
            if len(question) < 1:
                continue
            start, end = (0 if segment == 0 else int(ends[segment - 1])), int(ends[segment])
            # Some text around it, so that the answer lies anywhere in a window.
            left, right = max(0, start - int(draw.integers(0, 40))), min(len(d["ids"]), end + int(draw.integers(0, 40)))
            labels = np.zeros(right - left, dtype=np.int64)
            labels[start - left : end - left] = 1
            ids = [s[: budget - 4 - len(question)] for s in d["ids"][left:right]]
            asked.append({"id": d["id"], "ids": ids, "labels": labels, "question": question})
    return asked


class WeSWin(torch.nn.Module):
    def __init__(self, folder, frozen, dropout, rank=0):
        super().__init__()
        config = BertConfig.from_json_file(os.path.join(folder, "config.json"))
        config.hidden_dropout_prob = dropout
        config.attention_probs_dropout_prob = 0.0
        if rank:
            self.encoder = low_rank.bert(pathlib.Path(folder), rank, frozen, dropout)
        else:
            self.encoder = BertModel.from_pretrained(folder, config=config, add_pooling_layer=False)
        self.snt_id = config.vocab_size
        tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.start, self.end = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        self.hidden_word = tokenizer.token_to_id("[MASK]")
        hidden = config.hidden_size
        self.snt = torch.nn.Parameter(self.encoder.embeddings.word_embeddings.weight[self.end].detach().clone())
        self.boundary = torch.nn.Linear(hidden, 2)
        self.retrieval = torch.nn.Linear(hidden, 2)
        for head in (self.boundary, self.retrieval):
            torch.nn.init.zeros_(head.weight)
            torch.nn.init.zeros_(head.bias)
        self.frozen = frozen
        for p in self.encoder.embeddings.parameters():
            p.requires_grad = False
        for layer in self.encoder.encoder.layer[:frozen]:
            for p in layer.parameters():
                p.requires_grad = False
        self.snt.requires_grad = frozen == 0

    def forward(self, ids, mask):
        words = self.encoder.embeddings.word_embeddings(ids.clamp(max=self.snt_id - 1))
        words = torch.where((ids == self.snt_id).unsqueeze(2), self.snt, words)
        return self.encoder(inputs_embeds=words, attention_mask=mask).last_hidden_state


def batch_of(model, documents, chosen, device, masked=0.0):
    """ids, mask, places of the active [SNT]s (batch, position) and their labels; `masked` of the words hidden."""
    rows, places, labels = [], [], []
    for row, (number, start, end, first, last) in enumerate(chosen):
        d = documents[number]
        ids = [model.start]
        for i in range(start, end):
            ids += d["ids"][i]
            if first <= i < last:
                places.append((row, len(ids)))
                # The document's end is no boundary to be learnt; a sentence there may well hold an answer.
                labels.append(d["labels"][i] if "question" in d or i + 1 < len(d["ids"]) else -100)
            ids.append(model.snt_id)
        rows.append(ids + [model.end] + (d["question"] + [model.end] if "question" in d else []))
    longest = max(map(len, rows))
    ids = torch.tensor([r + [0] * (longest - len(r)) for r in rows], device=device)
    if masked:
        kept = (ids == 0) | (ids == model.start) | (ids == model.end) | (ids == model.snt_id)
        ids = torch.where(kept | (torch.rand(ids.shape, device=device) >= masked), ids, model.hidden_word)
    mask = torch.tensor([[1] * len(r) + [0] * (longest - len(r)) for r in rows], device=device)
    places = torch.tensor(places, device=device).T
    return ids, mask, places, torch.tensor(labels, device=device)


@torch.no_grad()
def predict(model, documents, tokens, partition, device, batch=8):
    """Mean probability of a boundary after each sentence of each document."""
    model.eval()
    total = [np.zeros(len(d["ids"])) for d in documents]
    count = [np.zeros(len(d["ids"])) for d in documents]
    todo = sorted(sequences(documents, tokens, partition), key=lambda s: s[2] - s[1])
    todo.sort(key=lambda s: sum(len(x) + 1 for x in documents[s[0]]["ids"][s[1] : s[2]]))
    for i in range(0, len(todo), batch):
        chosen = todo[i : i + batch]
        ids, mask, places, _ = batch_of(model, documents, chosen, device)
        x = model(ids, mask)[places[0], places[1]]
        p = torch.softmax(model.boundary(x).float(), -1)[:, 1].cpu().numpy()
        at = 0
        for number, _, _, first, last in chosen:
            total[number][first:last] += p[at : at + last - first]
            count[number][first:last] += 1
            at += last - first
    return [t / np.maximum(c, 1) for t, c in zip(total, count)]


def score(documents, probabilities, tau):
    """Per source: F1, Pk, WindowDiff, proposed over true."""
    out = {}
    for d, p in zip(documents, probabilities):
        n = len(d["ids"])
        y, g = d["labels"][: n - 1], p[: n - 1] > tau
        k = max(2, int(n / (2 * (y.sum() + 1)) + 0.5))
        ref, hyp = np.concatenate([[0], np.cumsum(y)]), np.concatenate([[0], np.cumsum(g)])
        row = out.setdefault(d["source"], [0, 0, 0, 0.0, 0.0, 0])
        row[0] += (y & g).sum()
        row[1] += g.sum()
        row[2] += y.sum()
        if n > k:
            a, b = ref[k:] - ref[:-k], hyp[k:] - hyp[:-k]
            row[3] += ((a == 0) != (b == 0)).mean()
            row[4] += (a != b).mean()
        row[5] += 1
    table = {}
    for source, (hit, proposed, true, pk, wd, docs) in out.items():
        f1 = 2 * hit / max(proposed + true, 1)
        table[source] = dict(f1=f1, pk=pk / docs, wd=wd / docs, ratio=proposed / max(true, 1), docs=docs)
    hit, proposed, true = (sum(r[i] for r in out.values()) for i in range(3))
    table["all"] = dict(f1=2 * hit / max(proposed + true, 1), ratio=proposed / max(true, 1), docs=len(documents))
    return table


def read_squad(paths, tokenizer, tokens):
    """A document a question: sentences' ids, labels (1: in the answer), the question's ids; those that train."""
    out = []
    for path in paths:
        for article in json.load(open(path, encoding="utf-8"))["data"]:
            if share_of(article.get("id", article["title"])) <= 1:
                continue
            for paragraph in article["paragraphs"]:
                if not paragraph["qas"]:
                    continue
                text = paragraph["context"]
                ends = [m.end() for m in re.finditer(r"(?<=[.!?:])\s+|\n+", text)] + [len(text)]
                spans = [(a, b) for a, b in zip([0] + ends, ends) if text[a:b].strip()]
                encoded = tokenizer.encode_batch([text[a:b] for a, b in spans], add_special_tokens=False)
                for qa in paragraph["qas"]:
                    gold = [(a["answer_start"], a["answer_start"] + len(a["text"])) for a in qa["answers"]]
                    labels = np.array([any(a < e and s < b for s, e in gold) for a, b in spans], dtype=np.int64)
                    question = tokenizer.encode(qa["question"], add_special_tokens=False).ids[:64]
                    ids = [e.ids[: tokens - 4 - len(question)] for e in encoded]
                    out.append({"id": qa["id"], "ids": ids, "labels": labels, "question": question})
    return out


class SplitMix64:
    def __init__(self, seed):
        self.state = seed & 0xFFFFFFFFFFFFFFFF

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return z ^ (z >> 31)

    def shuffle(self, items):
        for i in range(len(items) - 1, 0, -1):
            j = (self.next() * (i + 1)) >> 64
            items[i], items[j] = items[j], items[i]


def batches(lengths, size, seed):
    """An epoch's batches: shuffled, of like length (sorted within 16 batches), in shuffled order; without end."""
    epoch = 0
    while True:
        random = SplitMix64(seed + epoch)
        order = list(range(len(lengths)))
        random.shuffle(order)
        cut = []
        for i in range(0, len(order), 16 * size):
            group = sorted(order[i : i + 16 * size], key=lambda j: (-lengths[j], j))
            cut += [group[j : j + size] for j in range(0, len(group), size)]
        random.shuffle(cut)
        yield from cut
        epoch += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=[], help="segmentation JSONL files")
    parser.add_argument("--packed", type=pathlib.Path, help="what topic_pack.py made, in place of --data")
    parser.add_argument("--rank", type=int, default=0, help="change matrices by products of this rank instead of training them (0: train them)")
    parser.add_argument("--seconds", type=float, default=0, help="end after so many seconds; the rate follows them (0: as many steps as the epochs have)")
    parser.add_argument("--base-sha256", default="", help="checksum of the base model, where --base holds it in another precision")
    parser.add_argument("--base", required=True, help="folder of the base model")
    parser.add_argument("--out", required=True)
    parser.add_argument("--leave-out", nargs="*", default=[], help="sources that only test")
    parser.add_argument("--partition", default="cr-1")
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--frozen", type=int, default=0, help="lower layers that stay as they are")
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--head-lr", type=float, default=1e-3)
    parser.add_argument("--warmup", type=float, default=0.1)
    parser.add_argument("--decay", type=float, default=0.01)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--masked", type=float, default=0.0, help="share of the words of a batch hidden by [MASK]")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--eval-every", type=int, default=0, help="steps between validations, instead of --evals")
    parser.add_argument("--evals", type=int, default=2, help="validations an epoch")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--base-name", default="minilm", help="how the checkpoint names its base model")
    parser.add_argument("--half", action="store_true", help="write half precision")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--questions", nargs="*", default=[], help="SQuAD-layout files for the retrieval head")
    parser.add_argument("--questions-every", type=int, default=6, help="a batch of questions every so many steps")
    parser.add_argument("--questions-apart", action="store_true", help="a batch of questions has a step of its own")
    parser.add_argument("--start", help="a checkpoint to go on from instead of the base model")
    parser.add_argument("--max-steps", type=int, default=0)
    parser.add_argument("--all", action="store_true", help="train on every document, and validate on none")
    parser.add_argument("--trace", help="write the loss of every step to this JSON file")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = Tokenizer.from_file(os.path.join(args.base, "tokenizer.json"))
    documents = read(args.data, tokenizer, args.tokens - 3)
    draw = np.random.default_rng(args.seed)
    free = [d for d in documents if d["source"].split("/")[-1] not in args.leave_out]
    train = [d for d in free if share_of(d["id"]) > 1]
    valid = [d for d in free if share_of(d["id"]) == 1]
    if args.all:
        train, valid = free, []
    if args.packed:
        train, valid = read_packed(args.packed)
        valid = valid[:: max(1, len(valid) // 300)]
    model = WeSWin(args.base, args.frozen, args.dropout, args.rank).to(device)
    if args.start:
        tensors = load_file(args.start)
        model.snt.data.copy_(tensors.pop("snt").float())
        for name in ("boundary", "retrieval"):
            getattr(model, name).load_state_dict({k: tensors.pop(f"{name}.{k}").float() for k in ("weight", "bias")})
        prefix = "encoder."
        missing = model.encoder.encoder.load_state_dict({k[len(prefix) :]: v.float() for k, v in tensors.items()}, strict=False)
        assert not missing.unexpected_keys, missing
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    heads = lambda n: n.startswith(("boundary", "retrieval", "snt"))
    groups = [
        {"params": [p for n, p in named if not heads(n) and p.dim() > 1], "weight_decay": args.decay, "times": 1.0},
        {"params": [p for n, p in named if not heads(n) and p.dim() == 1], "weight_decay": 0.0, "times": 1.0},
        {"params": [p for n, p in named if heads(n)], "weight_decay": 0.0, "times": args.head_lr / args.lr},
    ]
    optimizer = torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, 0.999), eps=1e-8)
    todo = list(sequences(train, args.tokens, args.partition, draw if args.packed else None))
    length = lambda docs, s: sum(len(x) + 1 for x in docs[s[0]]["ids"][s[1] : s[2]]) + len(docs[s[0]].get("question", []))
    feed = batches([length(train, s) for s in todo], args.batch, args.seed)
    asked = heading_questions(train, args.tokens, draw) if args.packed else read_squad(args.questions, tokenizer, args.tokens)
    todo_asked = list(sequences(asked, args.tokens, "cr-1"))
    feed_asked = batches([length(asked, s) for s in todo_asked], args.batch, args.seed)
    steps = max(1, int(-(-len(todo) // args.batch) * args.epochs))
    if args.max_steps:
        steps = min(steps, args.max_steps)
    warm = max(1, int(steps * args.warmup))
    print(f"{len(train)} documents, {len(todo)} sequences, {steps} steps; {len(valid)} for validation", flush=True)
    print(f"{len(asked)} questions, {len(todo_asked)} sequences", flush=True)
    step, best, began, running, trace = 0, -1.0, time.time(), [], []
    every = args.eval_every or max(1, int(len(todo) / args.batch / args.evals))
    epoch_steps = -(-len(todo) // args.batch)
    ended = False
    while not ended:
        left = (steps - step) / max(1, steps - warm)
        if args.seconds:
            left = min(left, 1 - (time.time() - began) / args.seconds)
        rate = args.lr * max(0.0, min((step + 1) / warm, left))
        if args.packed and step and step % epoch_steps == 0:
            todo = list(sequences(train, args.tokens, args.partition, draw))
            feed = batches([length(train, s) for s in todo], args.batch, args.seed + step)
            asked = heading_questions(train, args.tokens, draw)
            todo_asked = list(sequences(asked, args.tokens, "cr-1"))
            feed_asked = batches([length(asked, s) for s in todo_asked], args.batch, args.seed + step)
        for group in optimizer.param_groups:
            group["lr"] = rate * group["times"]
        model.train()
        optimizer.zero_grad()
        turns = [(train, todo, feed, model.boundary)]
        if todo_asked and (step + 1) % args.questions_every == 0:
            turns.append((asked, todo_asked, feed_asked, model.retrieval))
        def take():
            torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
            optimizer.step()

        for documents_, todo_, feed_, head in turns:
            if args.questions_apart and head is model.retrieval:
                take()
                optimizer.zero_grad()
            ids, mask, places, labels = batch_of(model, documents_, [todo_[i] for i in next(feed_)], device, args.masked)
            with torch.autocast(device, dtype=torch.bfloat16, enabled=args.bf16):
                logits = head(model(ids, mask)[places[0], places[1]])
            loss = torch.nn.functional.cross_entropy(logits.float(), labels, ignore_index=-100)
            loss.backward()
            if head is model.boundary:
                # A GPU waits for each number that is read; the trace alone needs all of them.
                if device == "cpu" or step % 10 == 0:
                    running.append(loss.item())
        trace.append(running[-1])
        take()
        step += 1
        if step % (25 if device == "cpu" else 200) == 0:
            print(f"{step}/{steps} loss {np.mean(running[-100:]):.4f} {time.time() - began:.0f} s", flush=True)
        ended = step == steps or (args.seconds and time.time() - began > args.seconds)
        if valid and (step % every == 0 or ended):
            p = predict(model, valid, args.tokens, "cr-1", device, 8 if device == "cpu" else 64)
            tables = {tau: score(valid, p, tau) for tau in (0.3, 0.35, 0.4, 0.45, 0.5)}
            tau = max(tables, key=lambda t: tables[t]["all"]["f1"])
            table = tables[tau]
            print(step, "tau", tau, {s: [round(float(r[k]), 3) for k in ("f1", "pk", "ratio") if k in r] for s, r in table.items()}, flush=True)
            if table["all"]["f1"] > best:
                best = table["all"]["f1"]
                write(model, args, tau)
    if args.trace:
        json.dump(trace, open(args.trace, "w"))
    if not valid:
        write(model, args, 0.5)
    print(f"best validation F1 {best:.4f}")


def write(model, args, tau):
    os.makedirs(args.out, exist_ok=True)
    tensors = {"snt": model.snt.detach()}
    if args.rank:
        tensors |= low_rank.changes(model.encoder)
    else:
        for name, value in model.encoder.encoder.state_dict().items():
            if int(name.split(".")[1]) >= args.frozen:
                tensors["encoder." + name] = value
    for name in ("boundary", "retrieval"):
        head = getattr(model, name)
        tensors[name + ".weight"], tensors[name + ".bias"] = head.weight.detach(), head.bias.detach()
    kind = torch.float16 if args.half else torch.float32
    tensors = {k: v.to(kind).contiguous().cpu() for k, v in tensors.items()}
    weights = open(os.path.join(args.base, "model.safetensors"), "rb").read()
    settings = {
        "base": args.base_name,
        "base_sha256": args.base_sha256 or hashlib.sha256(weights).hexdigest(),
        "tokens": args.tokens,
        "partition": "cr-1",
        "weights": "mean:uniform",
        "tau": tau,
        "notes": "scripts/research/train_weswin.py " + " ".join(f"{k}={v}" for k, v in sorted(vars(args).items()) if k not in ("base", "out", "data", "packed", "questions", "start")),
    }
    save_file(tensors, os.path.join(args.out, "weswin.safetensors"), metadata={"weswin": json.dumps(settings)})


if __name__ == "__main__":
    main()
