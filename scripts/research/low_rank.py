"""Changes of low rank (LoRA; Hu et al. 2021) to a BERT, as Pericope's trainings name and keep them."""
import hashlib
import json
import math

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn
from transformers import BertConfig, BertModel

# The matrices of a layer, by the part of it that holds them.
MATRICES = (
    ("attention.self", "query"),
    ("attention.self", "key"),
    ("attention.self", "value"),
    ("attention.output", "dense"),
    ("intermediate", "dense"),
    ("output", "dense"),
)


class LowRank(nn.Module):
    """A linear map that stays, and a change of it that is trained: W + B A."""

    def __init__(self, linear, rank):
        super().__init__()
        self.linear = linear
        self.a = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.b = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x):
        return self.linear(x) + F.linear(F.linear(x, self.a), self.b)


def bert(folder, rank, frozen=0, dropout=0.0):
    """The BERT of a folder, as it is but for changes of the layers from `frozen` on."""
    config = BertConfig.from_json_file(folder / "config.json")
    config.hidden_dropout_prob, config.attention_probs_dropout_prob = dropout, 0.0
    config._attn_implementation = "sdpa"
    model = BertModel(config, add_pooling_layer=False)
    weights = {name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()}
    found = model.load_state_dict(weights, strict=False)
    assert not found.missing_keys, found.missing_keys
    model.requires_grad_(False)
    for layer in model.encoder.layer[frozen:]:
        for part, name in MATRICES:
            part = layer.get_submodule(part)
            setattr(part, name, LowRank(getattr(part, name), rank))
    return model


def changes(model):
    """The changes of a BERT by their names, in half precision."""
    found = {}
    for name, module in model.named_modules():
        if isinstance(module, LowRank):
            for part in ("a", "b"):
                found[f"{name}.lora_{part}"] = getattr(module, part).detach().half().contiguous().cpu()
    return found


def start(model, tensors):
    """Takes the changes that a file holds."""
    for name, module in model.named_modules():
        if isinstance(module, LowRank):
            for part in ("a", "b"):
                getattr(module, part).data.copy_(tensors[f"{name}.lora_{part}"].float())


def checksum(found):
    """What Pericope names changes by: SHA-256 of names, shapes and numbers in single precision."""
    digest = hashlib.sha256()
    for name, tensor in sorted(found.items()):
        digest.update(f"{name}{json.dumps(list(tensor.shape))}".encode())
        digest.update(tensor.float().numpy().astype("<f4").tobytes())
    return digest.hexdigest()
