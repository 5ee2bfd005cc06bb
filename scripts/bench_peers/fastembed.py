# requires: onnxruntime onnx torch transformers
"""Checks `--embedder fastembed:FOLDER` (cargo feature): the vectors of all-MiniLM-L6-v2, exported to ONNX here, must be
those of the Python package onnxruntime on the same file and those of Pericope's own encoder; prints the speeds.

Exits with 1 where a vector differs by more than 1e-4 in any number.
"""

import argparse
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from encoder import HOME, LIMIT, sentences


def export(folder):
    """all-MiniLM-L6-v2 as Hugging Face's exporters lay it out: token vectors out, pooling left to the reader."""
    import torch
    from transformers import AutoModel

    class Tokens(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, token_type_ids):
            out = self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
            return out.last_hidden_state

    installed = HOME / "models/minilm"
    model = Tokens(AutoModel.from_pretrained(str(installed), attn_implementation="eager").eval())
    ids = torch.ones(2, 7, dtype=torch.long)
    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "n", 1: "t"} for name in [*inputs, "last_hidden_state"]}
    torch.onnx.export(
        model, (ids, ids, ids * 0), str(folder / "model.onnx"), input_names=inputs,
        output_names=["last_hidden_state"], dynamic_axes=axes, opset_version=17, dynamo=False,
    )
    for name in ["config.json", "tokenizer.json"]:
        shutil.copy(installed / name, folder / name)
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": LIMIT}))


def reference(folder, texts):
    """What the Python package makes of the same file, one text at a time."""
    import numpy
    import onnxruntime
    from tokenizers import Tokenizer

    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(LIMIT)
    tokenizer.no_padding()
    rows = []
    for text in texts:
        ids = numpy.array([tokenizer.encode(text).ids], dtype=numpy.int64)
        inputs = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
        mean = session.run(None, inputs)[0][0].mean(axis=0)
        rows.append(mean / numpy.linalg.norm(mean))
    return numpy.stack(rows)


def encode(program, texts, embedder, folder, threads):
    import numpy

    source, out = folder / "texts.txt", folder / "vectors.f32"
    source.write_text("\n".join(texts) + "\n", encoding="utf-8")
    command = [program, source, "--embedder", embedder, "--threads", str(threads), "--out", out]
    report = json.loads(subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE).stdout)
    return numpy.fromfile(out, dtype="<f4").reshape(len(texts), -1), report["seconds"]


def main():
    parser = argparse.ArgumentParser(prog="bench-peers fastembed", description=__doc__)
    parser.add_argument("--file", help="texts, one a line (default: sentences of $PERICOPE_DATA/segmentation)")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    texts = sentences(options)
    import numpy
    import onnxruntime

    if "ORT_DYLIB_PATH" not in os.environ:
        capi = pathlib.Path(onnxruntime.__file__).parent / "capi"
        os.environ["ORT_DYLIB_PATH"] = sorted(glob.glob(str(capi / "libonnxruntime.*")))[0]
    build = ["cargo", "build", "--release", "--quiet", "-p", "pericope-encode", "--features", "fastembed"]
    subprocess.run([*build, "--example", "encode_speed"], check=True)
    program = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release/examples/encode_speed"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        export(folder)
        expected = reference(folder, texts)
        found, seconds = encode(program, texts, f"fastembed:{folder}", folder, options.threads)
        own, own_seconds = encode(program, texts, "minilm", folder, options.threads)
    print(f"{len(texts)} sentences, onnxruntime {onnxruntime.__version__}, ratio of times fastembed to minilm "
          f"{seconds / own_seconds:.2f} ({seconds:.2f} s, {own_seconds:.2f} s)")
    worst = {"the package onnxruntime": abs(found - expected).max(), "pericope's own encoder": abs(found - own).max()}
    for name, difference in worst.items():
        print(f"largest difference from {name}: {difference:.1e}")
    sys.exit(1 if max(worst.values()) > 1e-4 else 0)


if __name__ == "__main__":
    main()
