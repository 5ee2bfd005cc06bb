#!/usr/bin/env python3
"""Writes crates/llm/tests/golden/{qwen2,qwen3,llama}-tiny/: small random decoders as GGUF and what transformers makes of
them.

Needs the packages of requirements.txt beside this script. Every folder gets model.gguf (weights in half precision) and
expected.json; all share tokenizer.json beside the folders.

    {"cases": [{"ids": [..], "logits": [..]}], "greedy": {"ids": [..], "made": [..]},
     "chat": {"messages": [..], "text": ..., "ids": [..], "made": [..], "answer": ...}}

`logits` are those of the token after `ids`; `made` is what greedy decoding appends. Weights are large, so that attention is
far from even; the Llama one has stretched frequencies as Llama 3.1 and later.
"""

import json
import pathlib
import sys

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "crates/llm/tests/golden"

CORPUS = [
    "The river rose in the night and took the lower bridge with it.",
    "Nobody in the valley had seen such water since the mill was built.",
    "A file is read once; its lines are kept in the order in which they were written.",
]

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

CASES = [
    [5],
    [5, 6, 7, 8],
    list(range(10, 70)),
    [17, 17, 17, 250, 3, 99],
    # Longer than the block in which prompts are read.
    [(i * 37 + 11) % 250 for i in range(600)],
]

CHAT = [
    {"role": "system", "content": "You read."},
    {"role": "user", "content": "What rose in the night?"},
]


def tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=288, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
        ),
    )
    return tok


def config(family, vocab):
    common = dict(
        vocab_size=vocab,
        hidden_size=24,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        rms_norm_eps=1e-6,
        tie_word_embeddings=family != "llama",
        attn_implementation="eager",
    )
    if family == "qwen2":
        from transformers import Qwen2Config, Qwen2ForCausalLM

        return Qwen2ForCausalLM(Qwen2Config(rope_theta=1e6, **common))
    if family == "qwen3":
        from transformers import Qwen3Config, Qwen3ForCausalLM

        # Heads that are wider than their share of the hidden size.
        return Qwen3ForCausalLM(Qwen3Config(rope_theta=1e6, head_dim=12, **common))
    from transformers import LlamaConfig, LlamaForCausalLM

    scaling = {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 128,
        "rope_theta": 10000.0,
    }
    return LlamaForCausalLM(LlamaConfig(rope_parameters=scaling, **common))


def permuted(weight, heads):
    """Rows of a head in the order that llama.cpp rotates: neighbours in the place of halves."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def write(family, model, path):
    import gguf
    import numpy as np

    c = model.config
    arch = {"qwen2": "qwen2", "qwen3": "qwen3", "llama": "llama"}[family]
    out = gguf.GGUFWriter(path, arch)
    out.add_context_length(c.max_position_embeddings)
    out.add_embedding_length(c.hidden_size)
    out.add_block_count(c.num_hidden_layers)
    out.add_feed_forward_length(c.intermediate_size)
    out.add_head_count(c.num_attention_heads)
    out.add_head_count_kv(c.num_key_value_heads)
    out.add_layer_norm_rms_eps(c.rms_norm_eps)
    head = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
    out.add_key_length(head)
    out.add_value_length(head)
    out.add_rope_dimension_count(head)
    out.add_rope_freq_base(c.rope_parameters["rope_theta"])
    out.add_uint32("tokenizer.ggml.eos_token_id", 2)
    names = {
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "self_attn.q_norm": "attn_q_norm",
        "self_attn.k_norm": "attn_k_norm",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
    }
    for name, weight in model.state_dict().items():
        array = weight.numpy().astype(np.float32)
        stem, kind = name.rsplit(".", 1)
        if stem == "lm_head":
            if c.tie_word_embeddings:
                continue
            new = "output"
        elif stem == "model.embed_tokens":
            new = "token_embd"
        elif stem == "model.norm":
            new = "output_norm"
        else:
            _, _, layer, part = stem.split(".", 3)
            new = f"blk.{layer}.{names[part]}"
            if family == "llama" and part == "self_attn.q_proj":
                array = permuted(array, c.num_attention_heads)
            if family == "llama" and part == "self_attn.k_proj":
                array = permuted(array, c.num_key_value_heads)
        out.add_tensor(f"{new}.{kind}", array.astype(np.float16) if array.ndim == 2 else array)
    if family == "llama":
        plain = 1.0 / c.rope_parameters["rope_theta"] ** (np.arange(0, head, 2, dtype=np.float32) / head)
        out.add_tensor("rope_freqs.weight", (plain / model.model.rotary_emb.inv_freq.numpy()).astype(np.float32))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def chat_text(messages):
    turns = "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)
    return turns + "<|im_start|>assistant\n"


def main():
    import torch

    tok = tokenizer()
    GOLDEN.mkdir(parents=True, exist_ok=True)
    tok.save(str(GOLDEN / "tokenizer.json"), pretty=False)
    stops = {tok.token_to_id(name) for name in ("<|endoftext|>", "<|im_end|>")}

    def greedy(model, ids, most):
        made = []
        while len(made) < most:
            with torch.no_grad():
                after = model(torch.tensor([ids + made])).logits[0, -1]
            top = torch.topk(after, 2)
            # A choice that rounding could turn proves nothing.
            assert top.values[0] - top.values[1] > 1e-3, "too close: take another seed"
            choice = int(top.indices[0])
            if choice in stops:
                break
            made.append(choice)
        return made

    for family, seed in (("qwen2", 1), ("qwen3", 2), ("llama", 3)):
        torch.manual_seed(seed)
        model = config(family, tok.get_vocab_size()).eval()
        with torch.no_grad():
            for name, weight in model.named_parameters():
                noise = torch.randn_like(weight)
                weight.copy_(1 + 0.2 * noise if "norm" in name else noise * (0.35 if weight.dim() == 2 else 0.2))
                if weight.dim() == 2:
                    weight.copy_(weight.half().float())
        folder = GOLDEN / f"{family}-tiny"
        folder.mkdir(exist_ok=True)
        write(family, model, str(folder / "model.gguf"))
        cases = []
        for ids in CASES:
            with torch.no_grad():
                logits = model(torch.tensor([ids])).logits[0, -1]
            cases.append({"ids": ids, "logits": [round(x, 4) for x in logits.tolist()]})
        start = [40, 41, 42]
        text = chat_text(CHAT)
        ids = tok.encode(text, add_special_tokens=False).ids
        made = greedy(model, ids, 12)
        expected = {
            "cases": cases,
            "greedy": {"ids": start, "made": greedy(model, start, 24)},
            "chat": {"messages": CHAT, "text": text, "ids": ids, "made": made, "answer": tok.decode(made)},
        }
        (folder / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")
        print(family, "max logit", max(max(map(abs, c["logits"])) for c in cases), "made", len(made))


if __name__ == "__main__":
    sys.exit(main())
