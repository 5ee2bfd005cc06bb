#!/usr/bin/env python3
"""Writes crates/encode/tests/golden/{bert,roberta,longformer}-tiny/: small random models and what transformers makes
of them.

Needs `pip install torch transformers tokenizers`. Every folder gets config.json, model.safetensors, tokenizer.json
(trained on the sentences below) and expected.json:

    {"source": ..., "tokens": [{"text", "ids"}], "cases": [{"ids": [[..]], "globals": [[..]], "hidden": [[..]]}],
     "gradients": {"case", "norms": {tensor: L2 norm}}}

`hidden` has for each sequence its last hidden states, row by row; sequences of a case are run as one padded batch.
`globals` are places of global tokens (Longformer). Gradients are those of the sum over the case's hidden states, each
number times the sine of its index (the sequences one after the other). Texts are tokenised stripped and without special
tokens. Weights are saved in half precision, and much larger than after an initialisation, so that attention is far from
even.
"""

import json
import math
import pathlib
import sys

GOLDEN = pathlib.Path(__file__).parent.parent / "crates/encode/tests/golden"

# What the tokenizers are trained on.
CORPUS = [
    "The river rose in the night and took the lower bridge with it.",
    "Nobody in the valley had seen such water since the mill was built.",
    "By morning the road to the station lay under a foot of mud.",
    "A file is read once; its lines are kept in the order in which they were written.",
    "The reader tests every line before it is kept, and drops those that are not whole.",
    "Bread needs flour, water, salt and time. Most of all it needs time.",
    "She folded the letter twice, put it into the drawer and never read it again.",
]

TEXTS = [
    "The river rose in the night.",
    "Nobody kept the letter.",
    "the THE The",
    "bread, water & salt!",
    "",
    "   ",
    "  a text with white space at its ends \n",
    "two\nlines\tand  wide   gaps",
    "naïve café façade",
    "e\u0301 is the same as é, or not",
    "10 plus 20 is 30; 3.14",
    "今日は天気がいい。",
    "Сегодня вечером",
    "🙂 and 👋🏽",
    "soft\u00adhyphen no\u00a0break",
    "don't won't it's",
    "https://example.org/a?b=c#d",
    "antidisestablishmentarianism",
    "Every line is read, and every line is kept. " * 6,
    "x" * 120,
    "tab\tbefore [SEP] and <s> and </s> <pad> here",
    "FULL ＷＩＤＴＨ ½ ﬁ",
]


def settings():
    """Configurations. BERT's and RoBERTa's are the smallest that the fused kernels run."""
    from transformers import BertConfig, LongformerConfig, RobertaConfig

    packed = {"hidden_size": 96, "num_attention_heads": 3, "intermediate_size": 48, "num_hidden_layers": 1}
    small = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48, "num_hidden_layers": 2}
    roberta = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
    return {
        "bert": (BertConfig, {**packed, "max_position_embeddings": 16, "pad_token_id": 0}),
        "roberta": (RobertaConfig, {**packed, **roberta, "max_position_embeddings": 18}),
        "longformer": (
            LongformerConfig,
            {**small, **roberta, "max_position_embeddings": 102, "attention_window": [4, 8], "sep_token_id": 2},
        ),
    }


def tokenizer_of(kind):
    import tokenizers
    from tokenizers import normalizers, pre_tokenizers, processors

    if kind == "bert":
        made = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
        made.normalizer = normalizers.BertNormalizer(lowercase=True)
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=96, special_tokens=special, show_progress=False)
        made.train_from_iterator(CORPUS, trainer)
        ids = [(token, made.token_to_id(token)) for token in ("[SEP]", "[CLS]")]
        made.post_processor = processors.BertProcessing(*ids)
        # As sentence-transformers saves them: neither is to be followed.
        made.enable_truncation(8)
        made.enable_padding(length=8, pad_id=0, pad_token="[PAD]")
    else:
        made = tokenizers.Tokenizer(tokenizers.models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=288,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        made.train_from_iterator(CORPUS, trainer)
        ids = [(token, made.token_to_id(token)) for token in ("</s>", "<s>")]
        made.post_processor = processors.RobertaProcessing(*ids, add_prefix_space=False)
    return made


def sequence(length, seed, first, last, size):
    """Ids that look like text: special tokens at the ends, others between them."""
    middle = [5 + (seed * 31 + i * i * 7 + i * seed) % (size - 5) for i in range(max(length - 2, 0))]
    return ([first] + middle + [last])[:length]


def cases(kind, size):
    first, last = (2, 3) if kind == "bert" else (0, 2)

    def ids(*lengths):
        return [sequence(length, i + 3, first, last, size) for i, length in enumerate(lengths)]

    if kind != "longformer":
        found = [ids(1), ids(7), ids(3, 16, 8, 2)]
        if kind == "roberta":
            odd = ids(6)[0]
            odd[2] = 1  # the id of padding inside a text: it has no position
            found.append([odd])
        return [(batch, None) for batch in found]
    return [
        (ids(1), [[0]]),
        (ids(3), [[]]),
        (ids(16), [[0]]),
        (ids(23, 5), [[0], [0]]),
        (ids(100), [[0]]),
        (ids(45, 7, 26), [[0, 17, 44], [], [25]]),
        (ids(21, 10), [[], []]),
        (ids(19), [[4, 5, 6, 7, 8, 9]]),
    ]


def spread(model, torch):
    """Weights of a size at which softmax and GELU are far from linear."""
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if "LayerNorm.weight" in name:
                weight.copy_(1 + 0.2 * noise)
            elif name.endswith("bias"):
                weight.copy_(0.1 * noise)
            elif "embeddings" in name:
                weight.copy_(0.5 * noise)
            else:
                weight.copy_(noise * 1.5 / math.sqrt(weight.shape[-1]))


def run(model, batch, marks, torch):
    """Hidden states of each sequence, in one padded batch."""
    longest = max(map(len, batch))
    pad = model.config.pad_token_id
    ids = torch.tensor([row + [pad] * (longest - len(row)) for row in batch])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in batch])
    extra = {}
    if marks is not None:
        extra["global_attention_mask"] = torch.tensor([[int(i in own) for i in range(longest)] for own in marks])
    hidden = model(input_ids=ids, attention_mask=mask, **extra).last_hidden_state
    return [hidden[i, : len(row)] for i, row in enumerate(batch)]


def gradients(model, batch, marks, torch):
    model.zero_grad()
    flat = torch.cat([rows.reshape(-1) for rows in run(model, batch, marks, torch)])
    (flat * torch.sin(torch.arange(len(flat), dtype=torch.float32))).sum().backward()
    named = model.named_parameters()
    return {name: float(f"{p.grad.norm().item():.6g}") for name, p in named if p.grad is not None}


def main():
    try:
        import tokenizers
        import torch
        import transformers
    except ImportError:
        sys.exit(__doc__)
    for kind, (config_of, values) in settings().items():
        folder = GOLDEN / f"{kind}-tiny"
        folder.mkdir(parents=True, exist_ok=True)
        tokenizer = tokenizer_of(kind)
        tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        size = tokenizer.get_vocab_size()
        config = config_of(vocab_size=size, **values)
        model = transformers.AutoModel.from_config(config, add_pooling_layer=False, attn_implementation="eager").eval()
        spread(model, torch)
        model.half().save_pretrained(folder)
        model = model.float()

        found = []
        for batch, marks in cases(kind, size):
            with torch.no_grad():
                hidden = run(model, batch, marks, torch)
            rows = [[round(v, 5) for v in sequence.reshape(-1).tolist()] for sequence in hidden]
            found.append({"ids": batch, "globals": marks or [], "hidden": rows})
        chosen = 5 if kind == "longformer" else 2
        norms = gradients(model, *cases(kind, size)[chosen], torch)
        texts = [{"text": t, "ids": tokenizer.encode(t.strip(), add_special_tokens=False).ids} for t in TEXTS]
        source = f"transformers {transformers.__version__}, tokenizers {tokenizers.__version__}, CPU"
        expected = {
            "source": f"{source}, scripts/golden_encoders.py",
            "tokens": texts,
            "cases": found,
            "gradients": {"case": chosen, "norms": norms},
        }
        text = json.dumps(expected, ensure_ascii=False, separators=(",", ":"))
        (folder / "expected.json").write_text(text + "\n", encoding="utf-8")
        sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
        print(folder.name, sum(sizes.values()), sizes)


if __name__ == "__main__":
    main()
