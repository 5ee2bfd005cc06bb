# requires: sentence-transformers onnxruntime onnx sympy
"""Sentence vectors by all-MiniLM-L6-v2: Pericope, onnxruntime (fp32) and sentence-transformers on the same texts.

Each round lets every program encode all texts once, one after the other, so that a change of the machine's speed meets
all of them; the table shows each one's median. Texts are sorted by length into batches by each program itself.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
HOME = pathlib.Path(os.environ["PERICOPE_HOME"])
LIMIT = 256


def arguments():
    parser = argparse.ArgumentParser(prog="bench-peers encoder", description=__doc__)
    parser.add_argument("--file", help="texts, one a line (default: sentences of $PERICOPE_DATA/segmentation)")
    parser.add_argument("--sentences", type=int, default=5000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--onnx-batch", type=int, default=16)
    parser.add_argument("--torch-batch", type=int, default=64)
    parser.add_argument("--skip", action="append", default=[], choices=["onnxruntime", "sentence-transformers"])
    parser.add_argument("--json", help="also write the figures here")
    return parser.parse_args()


def sentences(options):
    """Distinct sentences, evenly from all files, in file order."""
    if options.file:
        found = pathlib.Path(options.file).read_text(encoding="utf-8").splitlines()
    else:
        data = os.environ.get("PERICOPE_DATA")
        if not data:
            sys.exit("bench-peers encoder: set PERICOPE_DATA, or name a file with --file")
        found = []
        for path in sorted(pathlib.Path(data, "segmentation").glob("*.jsonl")):
            with open(path, encoding="utf-8") as lines:
                for line in lines:
                    found.extend(" ".join(sentence.split()) for sentence in json.loads(line)["sentences"])
    found = list(dict.fromkeys(text for text in found if text.strip()))
    step = max(1, len(found) / options.sentences)
    return [found[int(i * step)] for i in range(min(options.sentences, len(found)))]


class Pericope:
    name = "pericope"

    def __init__(self, texts, options, folder):
        build = ["cargo", "build", "--release", "--quiet", "-p", "pericope-encode", "--example", "encode_speed"]
        subprocess.run(build, check=True)
        source, self.out, self.texts = folder / "texts.txt", folder / "vectors.f32", texts
        source.write_text("\n".join(texts) + "\n", encoding="utf-8")
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target"))
        program = str(target / "release/examples/encode_speed")
        command = [program, str(source), "--threads", str(options.threads), "--out", str(self.out), "--serve"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit("bench-peers encoder: encode_speed did not start")
        self.version = "this checkout"

    def run(self):
        import numpy

        self.process.stdin.write("\n")
        self.process.stdin.flush()
        report = json.loads(self.process.stdout.readline())
        vectors = numpy.fromfile(self.out, dtype="<f4").reshape(len(self.texts), -1)
        return report["seconds"], vectors


def transformer(model):
    """The model as sentence-transformers describes it: 256 tokens, mean pooling, norm 1."""
    from sentence_transformers import SentenceTransformer

    try:
        from sentence_transformers.sentence_transformer import modules
    except ImportError:  # before version 6
        from sentence_transformers import models as modules
    reader = modules.Transformer(str(model), max_seq_length=LIMIT)
    return SentenceTransformer(modules=[reader, modules.Pooling(384, "mean"), modules.Normalize()], device="cpu")


class SentenceTransformers:
    name = "sentence-transformers"

    def __init__(self, texts, options, folder):
        import sentence_transformers
        import torch

        torch.set_num_threads(options.threads)
        self.model, self.texts, self.batch = transformer(HOME / "models/minilm"), texts, options.torch_batch
        self.version = f"{sentence_transformers.__version__}, torch {torch.__version__}, batch {self.batch}"

    def run(self):
        start = time.perf_counter()
        vectors = self.model.encode(self.texts, batch_size=self.batch, show_progress_bar=False)
        return time.perf_counter() - start, vectors


class OnnxRuntime:
    name = "onnxruntime fp32"

    def __init__(self, texts, options, folder):
        import onnxruntime
        from tokenizers import Tokenizer

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = options.threads
        settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        path, kind = export(folder)
        self.session = onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(HOME / "models/minilm/tokenizer.json"))
        self.tokenizer.enable_truncation(LIMIT)
        self.tokenizer.no_padding()
        self.texts, self.batch = texts, options.onnx_batch
        self.version = f"{onnxruntime.__version__}, {kind}, batch {self.batch}"

    def run(self):
        import numpy

        start = time.perf_counter()
        ids = [encoding.ids for encoding in self.tokenizer.encode_batch(self.texts)]
        order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
        vectors = numpy.zeros((len(ids), 384), dtype=numpy.float32)
        for first in range(0, len(order), self.batch):
            members = order[first : first + self.batch]
            longest = len(ids[members[0]])
            batch = numpy.zeros((len(members), longest), dtype=numpy.int64)
            mask = numpy.zeros_like(batch)
            for row, i in enumerate(members):
                batch[row, : len(ids[i])] = ids[i]
                mask[row, : len(ids[i])] = 1
            vectors[members] = self.session.run(None, {"input_ids": batch, "attention_mask": mask})[0]
        return time.perf_counter() - start, vectors


def export(folder):
    """The model with pooling as ONNX, its attention, GELU and layer norms fused by onnxruntime's own optimizer."""
    import torch
    from transformers import AutoModel

    class Pooled(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask):
            tokens = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            mask = attention_mask.unsqueeze(-1).float()
            mean = (tokens * mask).sum(1) / mask.sum(1)
            return torch.nn.functional.normalize(mean, dim=1)

    model = Pooled(AutoModel.from_pretrained(str(HOME / "models/minilm"), attn_implementation="eager").eval())
    path, fused = folder / "minilm.onnx", folder / "minilm.fused.onnx"
    ids = torch.ones(2, 7, dtype=torch.long)
    axes = {"input_ids": {0: "n", 1: "t"}, "attention_mask": {0: "n", 1: "t"}, "vectors": {0: "n"}}
    names = {"input_names": ["input_ids", "attention_mask"], "output_names": ["vectors"]}
    torch.onnx.export(
        model, (ids, ids), str(path), dynamic_axes=axes, opset_version=17, dynamo=False, **names
    )
    try:
        from onnxruntime.transformers import optimizer

        result = optimizer.optimize_model(str(path), model_type="bert", num_heads=12, hidden_size=384, opt_level=1)
        counts = result.get_fused_operator_statistics()
        result.save_model_to_file(str(fused))
        return fused, f"fused ({counts.get('Attention', 0)} Attention, {counts.get('BiasGelu', 0)} BiasGelu)"
    except Exception as error:  # the optimizer depends on the exporter's patterns; plain ONNX is still a peer
        print(f"(onnxruntime's optimizer failed, the plain graph is used: {error})", file=sys.stderr)
        return path, "plain graph"


def cpu():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if os.path.exists("/proc/cpuinfo") else []:
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    import platform

    return platform.processor() or platform.machine()


def main():
    options = arguments()
    texts = sentences(options)
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(HOME / "models/minilm/tokenizer.json"))
    tokenizer.enable_truncation(LIMIT)
    tokenizer.no_padding()
    tokens = sum(len(encoding.ids) for encoding in tokenizer.encode_batch(texts))
    with tempfile.TemporaryDirectory() as folder:
        kinds = [Pericope, OnnxRuntime, SentenceTransformers]
        kinds = [kind for kind in kinds if not any(kind.name.startswith(skip) for skip in options.skip)]
        runs = [kind(texts, options, pathlib.Path(folder)) for kind in kinds]
        seconds, vectors = {run.name: [] for run in runs}, {}
        for _ in range(options.rounds):
            for run in runs:
                took, vectors[run.name] = run.run()
                seconds[run.name].append(took)
                print(f"  {run.name}: {took:.2f} s", file=sys.stderr)
    report(options, texts, tokens, runs, seconds, vectors)


def report(options, texts, tokens, runs, seconds, vectors):
    reference = vectors.get(SentenceTransformers.name)
    ours = seconds[Pericope.name]
    print(f"{len(texts)} sentences, {tokens} word pieces, {options.threads} threads, median of {options.rounds} rounds")
    print(f"CPU: {cpu()}\n")
    print("| runtime | version | sentences/s | tokens/s | pericope is faster by | least cosine |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    rows = []
    for run in runs:
        took = statistics.median(seconds[run.name])
        # The ratio is taken inside each round, where both met the same machine.
        ratio = statistics.median(theirs / own for theirs, own in zip(seconds[run.name], ours))
        cosine = None
        if reference is not None and run.name != SentenceTransformers.name:
            cosine = float((vectors[run.name] * reference).sum(axis=1).min())
        row = {"runtime": run.name, "version": run.version, "seconds": seconds[run.name], "ratio": ratio}
        rows.append(row | {"least_cosine": cosine})
        least = "-" if cosine is None else f"{cosine:.6f}"
        speed = f"{len(texts) / took:.0f} | {tokens / took:.0f} | {ratio:.2f}"
        print(f"| {run.name} | {run.version} | {speed} | {least} |")
    if options.json:
        whole = {"sentences": len(texts), "tokens": tokens, "threads": options.threads, "cpu": cpu(), "runs": rows}
        pathlib.Path(options.json).write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
