#!/usr/bin/env python3
"""Writes crates/encode/tests/golden/rerank-NAME/: small random sequence classifiers and what transformers makes of them.

Needs the packages of requirements.txt beside this script. Every folder gets config.json, model.safetensors, tokenizer.json
and expected.json:

    {"source": ..., "window": tokens of a sequence, "cases": [{"query", "passages": [text], "ids": [[..]], "types": [[..]],
     "scores": [number]}]}

`ids` and `types` are those of each pair, cut off by `truncation="only_second"`. A score is the logit of one label, or of
two labels the second's less the first's; the passages of a case are run as one padded batch. Weights are saved in half
precision, and much larger than after an initialisation.
"""

import json
import math
import pathlib
import sys

from golden_encoders import CORPUS, tokenizer_of

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "crates/encode/tests/golden"

CASES = [
    ("who took the bridge?", ["The river rose in the night and took the lower bridge with it."]),
    (
        "what does bread need",
        [
            "Bread needs flour, water, salt and time. Most of all it needs time.",
            "x",
            "",
            "She folded the letter twice, put it into the drawer and never read it again. " * 3,
            "A file is read once; its lines are kept.",
        ],
    ),
    # A long query leaves the passage what is left.
    ("the reader tests every line before it is kept, and drops those", ["Nobody had seen such water. " * 4, "Bread"]),
    ("café naïve 今日は", ["Сегодня вечером", "don't won't it's"]),
]


def settings():
    """Configurations. All but the last are the smallest that the fused kernels run."""
    from transformers import BertConfig, DistilBertConfig, RobertaConfig, XLMRobertaConfig

    packed = {"hidden_size": 96, "num_attention_heads": 3, "intermediate_size": 48, "num_hidden_layers": 1}
    # What the fused kernels cannot run.
    plain = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 40, "num_hidden_layers": 2}
    distil = {"dim": 96, "n_heads": 3, "hidden_dim": 48, "n_layers": 2}
    roberta = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
    one = {"num_labels": 1}
    bert = {"max_position_embeddings": 48, "pad_token_id": 0}
    return {
        "bert": ("bert", BertConfig, {**packed, **bert, **one}),
        "bert-two": ("bert", BertConfig, {**plain, **bert, "num_labels": 2}),
        "distilbert": ("bert", DistilBertConfig, {**distil, **bert, **one}),
        "roberta": ("roberta", RobertaConfig, {**packed, **roberta, **one, "max_position_embeddings": 66}),
        "xlm-roberta": ("xlm-roberta", XLMRobertaConfig, {**packed, **roberta, **one, "max_position_embeddings": 50}),
    }


def tokenizer(kind):
    import tokenizers
    from tokenizers import normalizers, pre_tokenizers, processors

    if kind != "xlm-roberta":
        return tokenizer_of(kind)
    made = tokenizers.Tokenizer(tokenizers.models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = tokenizers.trainers.UnigramTrainer(
        vocab_size=96, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    made.train_from_iterator(CORPUS, trainer)
    made.add_special_tokens(["<mask>"])
    ids = [(token, made.token_to_id(token)) for token in ("<s>", "</s>")]
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ids
    )
    return made


def fast(kind, made):
    """The tokenizer as transformers uses it."""
    from transformers import PreTrainedTokenizerFast

    names = (
        {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
        if kind == "bert"
        else {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    )
    return PreTrainedTokenizerFast(tokenizer_object=made, **names)


def spread(model, torch):
    """Weights of a size at which softmax, tanh and GELU are far from linear."""
    generator = torch.Generator().manual_seed(13)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if "norm" in name.lower() and name.endswith("weight"):
                weight.copy_(1 + 0.2 * noise)
            elif name.endswith("bias"):
                weight.copy_(0.1 * noise)
            elif "embeddings" in name:
                weight.copy_(0.5 * noise)
            else:
                weight.copy_(noise * 1.2 / math.sqrt(weight.shape[-1]))


def main():
    try:
        import tokenizers
        import torch
        import transformers
    except ImportError:
        sys.exit(__doc__)
    for name, (kind, config_of, values) in settings().items():
        folder = GOLDEN / f"rerank-{name}"
        folder.mkdir(parents=True, exist_ok=True)
        made = tokenizer(kind)
        made.save(str(folder / "tokenizer.json"), pretty=False)
        config = config_of(vocab_size=made.get_vocab_size(), **values)
        model = transformers.AutoModelForSequenceClassification.from_config(config, attn_implementation="eager").eval()
        spread(model, torch)
        model.half().save_pretrained(folder)
        model = model.float()
        padding = config.pad_token_id + 1 if "roberta" in kind else 0
        window = config.max_position_embeddings - padding
        pairs, typed = fast(kind, made), name.startswith("bert")
        cases = []
        for query, passages in CASES:
            batch = pairs(
                [query] * len(passages), passages, truncation="only_second", max_length=window, padding="longest",
                return_token_type_ids=True, return_tensors="pt",
            )
            types = batch.pop("token_type_ids")
            with torch.no_grad():
                logits = model(**batch, **({"token_type_ids": types} if typed else {})).logits
            scores = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
            lengths = batch["attention_mask"].sum(1).tolist()
            kept = lambda rows: [row[:length] for row, length in zip(rows.tolist(), lengths)]
            cases.append({
                "query": query,
                "passages": passages,
                "ids": kept(batch["input_ids"]),
                "types": kept(types) if typed else [[0] * length for length in lengths],
                "scores": [round(score, 5) for score in scores.tolist()],
            })
        source = f"transformers {transformers.__version__}, tokenizers {tokenizers.__version__}, CPU"
        expected = {"source": f"{source}, scripts/golden/golden_rerankers.py", "window": window, "cases": cases}
        text = json.dumps(expected, ensure_ascii=False, separators=(",", ":"))
        (folder / "expected.json").write_text(text + "\n", encoding="utf-8")
        sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
        print(folder.name, sum(sizes.values()), sizes)


if __name__ == "__main__":
    main()
