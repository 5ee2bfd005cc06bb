#!/usr/bin/env python3
"""Writes crates/encode/tests/golden/embed-NAME/: small random embedding models in the layout of sentence-transformers, and
what that library makes of them. Names behind the script are those of the folders to write; all of them without any.

Needs the packages of requirements.txt beside this script. Every folder gets config.json, model.safetensors, tokenizer.json,
the files around them (modules.json, 1_Pooling/config.json, sentence_bert_config.json,
config_sentence_transformers.json), and expected.json:

    {"source": ..., "window": tokens of a text, "texts": [text], "ids": {"query": [[..]], "passage": [[..]]},
     "vectors": {"query": [[..]], "passage": [[..]]}, "poolings": {mode: [[..]]}, "hidden": [[..]]}

`ids` and `vectors` are those of `encode_query` and `encode_document` with the prompts of the files. `poolings` (of one model) are the
passages' vectors by other ways of pooling, `hidden` the last hidden states of the first text without a prompt, row by row,
special tokens within. Weights are saved in half precision, and much larger than after an initialisation. Files are written in
the layout of the models on the hub, but for embed-roberta, which sentence-transformers itself saves.

Beside them lies pytorch_model.bin, a table of two tensors as PyTorch saves it.
"""

import json
import pathlib
import shutil
import sys

from golden_encoders import CORPUS, tokenizer_of
from golden_rerankers import fast, spread, tokenizer

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "crates/encode/tests/golden"

TEXTS = [
    "The river rose in the night and took the lower bridge with it.",
    "Bread",
    "",
    "She folded the letter twice, put it into the drawer and never read it again. " * 3,
    "café naïve 今日は Сегодня",
    "don't won't it's: 10 plus 20 is 30",
]

ASK = "Instruct: Given a question, find the passages that answer it\nQuery:"

POOLINGS = ["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]

# The names of the modes in 1_Pooling/config.json, as the models on the hub have them.
MODES = {
    "cls": "pooling_mode_cls_token",
    "mean": "pooling_mode_mean_tokens",
    "max": "pooling_mode_max_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}


def settings():
    """By name: tokenizer, configuration and its fields, pooling, prompts, and the window that the files name."""
    from transformers import (
        BertConfig,
        DistilBertConfig,
        ModernBertConfig,
        MPNetConfig,
        NomicBertConfig,
        Qwen3Config,
        RobertaConfig,
        XLMRobertaConfig,
    )

    packed = {"hidden_size": 96, "num_attention_heads": 3, "intermediate_size": 48, "num_hidden_layers": 1}
    # As many numbers as leave the kernels' last panel of columns with one vector or two.
    narrow = {"hidden_size": 64, "num_attention_heads": 2, "intermediate_size": 80, "num_hidden_layers": 2}
    # What the fused kernels cannot run.
    plain = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 40, "num_hidden_layers": 2}
    distil = {"dim": 96, "n_heads": 3, "hidden_dim": 48, "n_layers": 1, "max_position_embeddings": 48}
    roberta = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
    mpnet = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "max_position_embeddings": 82}
    modern = {
        "num_hidden_layers": 4,
        "local_attention": 8,
        "max_position_embeddings": 64,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "cls_token_id": 0,
        "sep_token_id": 2,
    }
    qwen = {"num_key_value_heads": 2, "max_position_embeddings": 128, "pad_token_id": 1}
    found = {"query": "search_query: ", "document": "search_document: "}
    asked = {"query": "query: ", "passage": "passage: "}
    return {
        "bert": (
            "bert",
            BertConfig,
            {**packed, "max_position_embeddings": 48, "pad_token_id": 0},
            "cls",
            {"query": "Represent this sentence: "},
            40,
        ),
        "bert-narrow": ("bert", BertConfig, {**narrow, "max_position_embeddings": 48, "pad_token_id": 0}, "mean", {}, None),
        "bert-plain": ("bert", BertConfig, {**plain, "max_position_embeddings": 48, "pad_token_id": 0}, "mean", {}, None),
        "distilbert": ("bert", DistilBertConfig, distil, "mean", asked, 32),
        "roberta": ("roberta", RobertaConfig, {**packed, **roberta, "max_position_embeddings": 66}, "max", asked, 64),
        "xlm-roberta": (
            "xlm-roberta",
            XLMRobertaConfig,
            {**packed, **roberta, "max_position_embeddings": 50},
            "mean",
            asked,
            48,
        ),
        "mpnet": ("mpnet", MPNetConfig, {**packed, **mpnet}, "mean", {}, 80),
        "mpnet-plain": ("mpnet", MPNetConfig, {**plain, **mpnet}, "mean", {}, 80),
        "modernbert": ("roberta", ModernBertConfig, {**packed, **modern}, "cls", found, 60),
        "modernbert-plain": ("roberta", ModernBertConfig, {**plain, **modern}, "cls", found, 60),
        "nomic": ("bert", NomicBertConfig, {**narrow, "max_position_embeddings": 64, "pad_token_id": 0}, "mean", found, 60),
        "nomic-plain": ("bert", NomicBertConfig, {**plain, "max_position_embeddings": 64, "pad_token_id": 0}, "mean", found, 60),
        "qwen3": (
            "qwen3",
            Qwen3Config,
            {**narrow, **qwen, "num_attention_heads": 4, "head_dim": 32},
            "lasttoken",
            {"query": ASK, "document": ""},
            None,
        ),
        "qwen3-plain": ("qwen3", Qwen3Config, {**plain, **qwen, "head_dim": 16}, "lasttoken", {"query": ASK, "document": ""}, None),
    }


def made_tokenizer(kind):
    """A tokenizer of that family, and the names of its special tokens."""
    import tokenizers
    from tokenizers import normalizers, pre_tokenizers, processors

    if kind == "mpnet":
        made = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
        made.normalizer = normalizers.BertNormalizer(lowercase=True)
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        special = ["<s>", "<pad>", "</s>", "<unk>", "[UNK]"]
        trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=96, special_tokens=special, show_progress=False)
        made.train_from_iterator(CORPUS, trainer)
        ids = [(token, made.token_to_id(token)) for token in ("</s>", "<s>")]
        made.post_processor = processors.RobertaProcessing(*ids, add_prefix_space=False, trim_offsets=True)
        return made
    if kind == "qwen3":
        made = tokenizer_of("roberta")
        last = ("</s>", made.token_to_id("</s>"))
        made.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[last])
        return made
    return tokenizer(kind)


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def pooling_file(folder, hidden, mode):
    write(folder / "1_Pooling/config.json", {"word_embedding_dimension": hidden, **{MODES[m]: m == mode for m in MODES}})


def layout(folder, hidden, mode, prompts, window, normalised):
    """The files around a model, as the hub's models have them."""
    kinds = ["Transformer", "Pooling"] + (["Normalize"] if normalised else [])
    paths = ["", "1_Pooling", "2_Normalize"]
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (kind, path) in enumerate(zip(kinds, paths))
    ]
    write(folder / "modules.json", modules)
    pooling_file(folder, hidden, mode)
    if window is not None:
        write(folder / "sentence_bert_config.json", {"max_seq_length": window, "do_lower_case": False})
    versions = {"sentence_transformers": "2.7.0", "transformers": "4.40.0", "pytorch": "2.2.0"}
    about = {"__version__": versions, "prompts": prompts, "default_prompt_name": None, "similarity_fn_name": "cosine"}
    write(folder / "config_sentence_transformers.json", about)


def rounded(rows):
    return [[round(float(value), 5) for value in row] for row in rows]


def main():
    try:
        import sentence_transformers
        import torch
        import transformers
        from sentence_transformers import SentenceTransformer
    except ImportError:
        sys.exit(__doc__)
    wanted = sys.argv[1:] or list(settings())
    if unknown := set(wanted) - set(settings()):
        sys.exit(f"golden_embedders.py: there is no {', '.join(sorted(unknown))}; there are {', '.join(settings())}")
    tensors = {"norm.weight": torch.tensor([1.0, 0.5, -2.0]), "embed.weight": torch.arange(6.0).reshape(2, 3)}
    torch.save(tensors, GOLDEN / "pytorch_model.bin")
    for name, (kind, config_of, values, mode, prompts, window) in settings().items():
        if name not in wanted:
            continue
        folder = GOLDEN / f"embed-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        made = made_tokenizer(kind)
        names = fast("bert" if kind == "bert" else "roberta", made)
        names.model_max_length = values["max_position_embeddings"] - (2 if "roberta" in kind or kind == "mpnet" else 0)
        if kind == "mpnet":
            names.unk_token = "[UNK]"
        config = config_of(vocab_size=made.get_vocab_size(), **values)
        model = transformers.AutoModel.from_config(config, attn_implementation="eager").eval()
        spread(model, torch)
        model.half().save_pretrained(folder)
        names.save_pretrained(folder)
        hidden = values.get("hidden_size") or values["dim"]
        layout(folder, hidden, mode, prompts, window, name != "bert-plain")

        def load():
            kwargs = {"attn_implementation": "eager", "dtype": torch.float32}
            return SentenceTransformer(str(folder), device="cpu", model_kwargs=kwargs)

        loaded = load()
        if name == "roberta":
            shutil.rmtree(folder)
            loaded.half().save(str(folder), create_model_card=False)
            loaded = load()
        # encode_document would take the empty prompt "document" that the library itself adds, before "passage".
        before = {"query": loaded.prompts["query"], "passage": prompts.get("document") or prompts.get("passage", "")}
        encode = {"query": loaded.encode_query, "passage": loaded.encode_document}
        options = {"normalize_embeddings": True, "batch_size": 3}
        vectors = {part: rounded(encode[part](TEXTS, prompt=before[part], **options)) for part in encode}
        ids = {
            part: [loaded.preprocess([before[part] + text])["input_ids"][0].tolist() for text in TEXTS] for part in encode
        }
        with torch.no_grad():
            states = loaded[0](loaded.preprocess(TEXTS[:1]))["token_embeddings"][0]
        poolings = {}
        if name == "bert-plain":
            for other in POOLINGS:
                pooling_file(folder, hidden, other)
                poolings[other] = rounded(load().encode_document(TEXTS, normalize_embeddings=True))
            pooling_file(folder, hidden, mode)
        versions = f"sentence-transformers {sentence_transformers.__version__}, transformers {transformers.__version__}"
        expected = {
            "source": f"{versions}, CPU, scripts/golden/golden_embedders.py",
            "window": loaded.max_seq_length,
            "texts": TEXTS,
            "ids": ids,
            "vectors": vectors,
            "poolings": poolings,
            "hidden": rounded(states),
        }
        text = json.dumps(expected, ensure_ascii=False, separators=(",", ":"))
        (folder / "expected.json").write_text(text + "\n", encoding="utf-8")
        sizes = {str(path.relative_to(folder)): path.stat().st_size for path in sorted(folder.rglob("*")) if path.is_file()}
        print(folder.name, sum(sizes.values()), sizes)


if __name__ == "__main__":
    main()
