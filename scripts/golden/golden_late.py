#!/usr/bin/env python3
"""Writes crates/encode/tests/golden/late.json: vectors of chunks by late chunking (Guenther et al. 2024), computed with transformers
on the models of golden_embedders.py that pool by the mean.

Needs the packages of requirements.txt beside this script.

    {"source": ..., "models": {NAME: [{"text": ..., "spans": [[first byte, one past the last]], "vectors": [[..]]}]}}

A document is read in windows, each between the special tokens and behind the prompt of passages. Neighbours share a quarter of
the tokens that a window has room for, or more; a token is taken from the window in which it stands further from the ends. A chunk's
vector is the mean of its tokens' vectors, scaled to norm 1. Special tokens and prompt count where a chunk is all of a document that fits
one window, and nowhere else.
"""

import json
import math
import pathlib
import sys

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "crates/encode/tests/golden"

NAMES = ["bert-plain", "distilbert", "xlm-roberta", "mpnet"]

SHORT = ["The river rose in the night.", " It took the lower bridge.", "\nBread!"]

LONG = [
    "She folded the letter twice and put it away.",
    " Сегодня the café naïve was closed, and it's said that nobody knew.",
    " The river rose in the night and took the lower bridge with it; the mill went next, and after the mill the road to town.",
    "\n\nBread needs time.",
    " 10 plus 20 is 30: don't forget it.",
]


def prompt_of(folder):
    prompts = json.loads((folder / "config_sentence_transformers.json").read_text(encoding="utf-8"))["prompts"]
    return next((prompts[name] for name in ("document", "passage", "corpus") if prompts.get(name)), "")


def window_of(folder, tokenizer):
    path = folder / "sentence_bert_config.json"
    return json.loads(path.read_text())["max_seq_length"] if path.is_file() else tokenizer.model_max_length


def windows(tokens, room):
    """The first token of every window."""
    if tokens <= room:
        return [0]
    shared = room // 4
    count = math.ceil((tokens - shared) / (room - shared))
    return [i * (tokens - room) // (count - 1) for i in range(count)]


def embed(model, tokenizer, torch, window, prompt, text, spans):
    whole = tokenizer(prompt + text, add_special_tokens=False, return_offsets_mapping=True)
    ids, offsets = whole["input_ids"], whole["offset_mapping"]
    # In bytes of the text.
    at = [0]
    for character in prompt + text:
        at.append(at[-1] + len(character.encode()))
    ahead = len(prompt.encode())
    offsets = [(at[start] - ahead, at[end] - ahead) for start, end in offsets]
    told = sum(end <= 0 for _, end in offsets) if prompt else 0
    said, ids, offsets = ids[:told], ids[told:], offsets[told:]
    frame = tokenizer("")["input_ids"]
    first, last = frame[:1], frame[1:]
    room = window - len(frame) - len(said)
    starts = windows(len(ids), room)
    rows = []
    for start in starts:
        read = first + said + ids[start : start + room] + last
        with torch.no_grad():
            rows.append(model(input_ids=torch.tensor([read])).last_hidden_state[0])
    inside = len(first) + len(said)

    def row(token):
        """From the window where the nearer of its two ends is furthest; of two alike, from the second."""
        held = [i for i, start in enumerate(starts) if start <= token < start + room]
        # The ends of the document are no ends.
        def depth(i):
            left = math.inf if i == 0 else token - starts[i]
            right = math.inf if i == len(starts) - 1 else starts[i] + room - 1 - token
            return min(left, right)

        best = max(held, key=lambda i: (depth(i), i))
        return rows[best][inside + token - starts[best]]

    vectors = []
    for start, end in spans:
        own = [i for i, (a, b) in enumerate(offsets) if a < end and b > start]
        if len(own) == len(ids) and len(starts) == 1:
            total = rows[0].sum(0)
        else:
            total = torch.stack([row(token) for token in own]).sum(0)
        vectors.append([round(float(x), 5) for x in total / total.norm()])
    return vectors


def spans_of(sentences):
    spans, at = [], 0
    for sentence in sentences:
        length = len(sentence.encode())
        blank = length - len(sentence.lstrip().encode())
        spans.append([at + blank, at + length])
        at += length
    return spans


def main():
    try:
        import torch
        import transformers
    except ImportError:
        sys.exit(__doc__)
    models = {}
    for name in NAMES:
        folder = GOLDEN / f"embed-{name}"
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
        window, prompt = window_of(folder, tokenizer), prompt_of(folder)
        models[name] = []
        for sentences in [SHORT[:1], SHORT, LONG]:
            text = "".join(sentences)
            # Each sentence, all of them, and two that overlap.
            spans = spans_of(sentences) + [[0, len(text.encode())]]
            spans += [[spans[0][0], spans[1][1]], [spans[1][0], spans[2][1]]] if len(sentences) > 2 else []
            vectors = embed(model, tokenizer, torch, window, prompt, text, spans)
            models[name].append({"text": text, "spans": spans, "vectors": vectors})
            print(name, window, len(text), len(vectors))
    source = f"transformers {transformers.__version__}, CPU, scripts/golden/golden_late.py"
    text = json.dumps({"source": source, "models": models}, ensure_ascii=False, separators=(",", ":"))
    (GOLDEN / "late.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
