# requires: sentence-transformers onnxruntime onnx sympy
"""Vectors by all-MiniLM-L6-v2: Pericope, onnxruntime and PyTorch, each in fewer bits too, on the same texts.

Each round lets every runtime encode all texts once, one after the other, so that a change of the machine's speed meets
all of them; the table shows each one's median. Texts are sorted by length into batches by each runtime itself.
Cosines are to the vectors of sentence-transformers in fp32.

Then each encodes the questions of $PERICOPE_DATA/questions/documentation.json and paragraphs of those pages, once:
the share of questions whose paragraph with the answer is among the ten nearest. --passages 0 leaves this out.

Without AVX-512 BF16 Pericope works bfloat16 out number by number: --skip "pericope bf16" there.
"""

import argparse
import functools
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
# Paragraphs among which the right one is looked for.
NEAREST = 10
REFERENCE = "sentence-transformers fp32"
# Each is skipped by its name; onnxruntime in both precisions at once.
SKIPPED = ["pericope bf16", "pericope int16", "onnxruntime", "torch", "sentence-transformers"]


def arguments():
    parser = argparse.ArgumentParser(prog="bench-peers encoder", description=__doc__)
    parser.add_argument("--file", help="texts, one a line (default: sentences of $PERICOPE_DATA/segmentation)")
    parser.add_argument("--sentences", type=int, default=5000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--onnx-batch", type=int, default=16)
    parser.add_argument("--torch-batch", type=int, default=64)
    parser.add_argument("--passages", type=int, default=6000, help="paragraphs to search (default: 6000)")
    parser.add_argument("--skip", action="append", default=[], choices=SKIPPED)
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


def retrieval(options):
    """Paragraphs, questions, and for each question the paragraphs that hold its answer where it says."""
    data = os.environ.get("PERICOPE_DATA")
    if not data or not options.passages:
        return [], [], []
    pages = json.loads(pathlib.Path(data, "questions/documentation.json").read_text(encoding="utf-8"))["data"]
    paragraphs, questions, right = [], [], []
    for context in (paragraph for page in pages for paragraph in page["paragraphs"]):
        at, spans = 0, []
        for text in context["context"].split("\n\n"):
            if text.strip():
                spans.append((at, at + len(text), len(paragraphs)))
                paragraphs.append(" ".join(text.split()))
            at += len(text) + 2
        for asked in context["qas"]:
            starts = [answer["answer_start"] for answer in asked["answers"]]
            held = {index for start in starts for first, end, index in spans if first <= start < end}
            if held:
                questions.append(" ".join(asked["question"].split()))
                right.append(held)
    # Those with answers, and others evenly.
    needed = set().union(*right)
    others = [index for index in range(len(paragraphs)) if index not in needed]
    count = max(0, min(options.passages - len(needed), len(others)))
    kept = sorted(needed | {others[i * len(others) // count] for i in range(count)})
    place = {index: new for new, index in enumerate(kept)}
    return [paragraphs[i] for i in kept], questions, [{place[i] for i in held} for held in right]


def found(passages, questions, right):
    """The share of questions with a right paragraph among the nearest."""
    import numpy

    nearest = numpy.argsort(-(questions @ passages.T), axis=1, kind="stable")[:, :NEAREST]
    return sum(bool(held & set(row)) for held, row in zip(right, nearest.tolist())) / len(right)


class Pericope:
    """In single precision, in bfloat16 or in whole numbers of 16 bits."""

    def __init__(self, precision, options, folder):
        build = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "pericope-encode"]
        subprocess.run([*build, "--example", "encode_speed"], check=True)
        self.source, self.out = folder / f"{precision}.txt", folder / f"{precision}.f32"
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target"))
        self.command = [str(target / "release/examples/encode_speed"), str(self.source), "--out", str(self.out)]
        self.command += ["--threads", str(options.threads), "--serve"]
        self.environment = {**os.environ, "PERICOPE_PRECISION": "f32" if precision == "fp32" else precision}
        self.process, self.version = None, "this checkout"

    def take(self, texts):
        if self.process:
            self.process.communicate()
        self.texts = texts
        self.source.write_text("\n".join(texts) + "\n", encoding="utf-8")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(self.command, env=self.environment, **pipes)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit("bench-peers encoder: encode_speed did not start")

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


def threads(options):
    import torch

    torch.set_num_threads(options.threads)
    return torch


class SentenceTransformers:
    def __init__(self, options, folder):
        import sentence_transformers

        torch = threads(options)
        self.model, self.batch = transformer(HOME / "models/minilm"), options.torch_batch
        self.version = f"{sentence_transformers.__version__}, torch {torch.__version__}, batch {self.batch}"

    def take(self, texts):
        self.texts = texts

    def run(self):
        start = time.perf_counter()
        vectors = self.model.encode(self.texts, batch_size=self.batch, show_progress_bar=False)
        return time.perf_counter() - start, vectors


@functools.cache
def tokenizer():
    from tokenizers import Tokenizer

    found = Tokenizer.from_file(str(HOME / "models/minilm/tokenizer.json"))
    found.enable_truncation(LIMIT)
    found.no_padding()
    return found


class Batched:
    """Texts as lists of ids, longest first, in batches; a subclass makes vectors of a batch."""

    def take(self, texts):
        self.texts = texts

    def batches(self, ids):
        order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
        return [order[first : first + self.batch] for first in range(0, len(order), self.batch)]

    def run(self):
        import numpy

        start = time.perf_counter()
        ids = [encoding.ids for encoding in tokenizer().encode_batch(self.texts)]
        vectors = numpy.zeros((len(ids), 384), dtype=numpy.float32)
        for members in self.batches(ids):
            longest = len(ids[members[0]])
            batch = numpy.zeros((len(members), longest), dtype=numpy.int64)
            mask = numpy.zeros_like(batch)
            for row, i in enumerate(members):
                batch[row, : len(ids[i])] = ids[i]
                mask[row, : len(ids[i])] = 1
            vectors[members] = self.vectors(batch, mask)
        return time.perf_counter() - start, vectors


class OnnxRuntime(Batched):
    """The fused graph in fp32, or with the weights of its products in int8 and activations quantized as they come."""

    def __init__(self, precision, options, folder):
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = options.threads
        settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        path, kind = export(folder)
        if precision == "int8":
            from onnxruntime.quantization import QuantType, quantize_dynamic

            whole, path = path, folder / "minilm.int8.onnx"
            # Shapes end at the fused attention: what is not known there is a float.
            known = {"extra_options": {"DefaultTensorType": 1}, "weight_type": QuantType.QInt8}
            quantize_dynamic(str(whole), str(path), per_channel=True, **known)
        self.session = onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
        self.batch = options.onnx_batch
        self.version = f"{onnxruntime.__version__}, {kind}, batch {self.batch}"

    def vectors(self, batch, mask):
        return self.session.run(None, {"input_ids": batch, "attention_mask": mask})[0]


class TorchBf16(Batched):
    """The model in bfloat16 with texts of one length to a batch: no padding, no mask."""

    def __init__(self, options, folder):
        from transformers import AutoModel

        self.torch, self.batch = threads(options), options.torch_batch
        self.model = AutoModel.from_pretrained(str(HOME / "models/minilm"), dtype=self.torch.bfloat16).eval()
        self.version = f"{self.torch.__version__}, equal lengths, batch {self.batch}"

    def batches(self, ids):
        lengths = {}
        for i, of in enumerate(ids):
            lengths.setdefault(len(of), []).append(i)
        equal = sorted(lengths.items())
        return [these[first : first + self.batch] for _, these in equal for first in range(0, len(these), self.batch)]

    def vectors(self, batch, mask):
        with self.torch.inference_mode():
            tokens = self.model(input_ids=self.torch.from_numpy(batch)).last_hidden_state
            return self.torch.nn.functional.normalize(tokens.float().mean(1), dim=1).numpy()


@functools.cache
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
        if result.get_fused_operator_statistics().get("Attention") != 6:
            raise ValueError("the attention of six layers was not found")
        result.save_model_to_file(str(fused))
        return fused, "fused graph"
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
    tokens = sum(len(encoding.ids) for encoding in tokenizer().encode_batch(texts))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        kinds = {
            "pericope bf16": lambda: Pericope("bf16", options, folder),
            "pericope int16": lambda: Pericope("int16", options, folder),
            "pericope fp32": lambda: Pericope("fp32", options, folder),
            "onnxruntime fp32": lambda: OnnxRuntime("fp32", options, folder),
            "onnxruntime int8": lambda: OnnxRuntime("int8", options, folder),
            "torch bf16": lambda: TorchBf16(options, folder),
            REFERENCE: lambda: SentenceTransformers(options, folder),
        }
        skipped = tuple(options.skip)
        runs = {name: kind() for name, kind in kinds.items() if not name.startswith(skipped)}
        seconds, vectors = {name: [] for name in runs}, {}
        for run in runs.values():
            run.take(texts)
        for _ in range(options.rounds):
            for name, run in runs.items():
                took, vectors[name] = run.run()
                seconds[name].append(took)
                print(f"  {name}: {took:.2f} s", file=sys.stderr)
        passages, questions, right = retrieval(options)
        recall = {}
        for name, run in runs.items() if right else []:
            run.take(passages + questions)
            of_all = run.run()[1]
            recall[name] = found(of_all[: len(passages)], of_all[len(passages) :], right)
            print(f"  {name}: {100 * recall[name]:.1f} % found", file=sys.stderr)
    report(options, texts, tokens, runs, seconds, vectors, recall)
    if right:
        print(f"\nfound: {len(questions)} questions, {len(passages)} paragraphs, the nearest {NEAREST}")


def report(options, texts, tokens, runs, seconds, vectors, recall):
    first = next(iter(runs))
    reference, ours = vectors.get(REFERENCE), seconds[first]
    print(f"{len(texts)} sentences, {tokens} word pieces, {options.threads} threads, median of {options.rounds} rounds")
    print(f"CPU: {cpu()}\n")
    print(f"| runtime | version | tokens/s | {first} is faster by | cosine, least | mean | found |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    rows = []
    for name, run in runs.items():
        took = statistics.median(seconds[name])
        # The ratio is taken inside each round, where both met the same machine.
        ratio = statistics.median(theirs / own for theirs, own in zip(seconds[name], ours))
        least = mean = None
        if reference is not None and name != REFERENCE:
            cosines = (vectors[name] * reference).sum(axis=1)
            least, mean = float(cosines.min()), float(cosines.mean())
        row = {"runtime": name, "version": run.version, "seconds": seconds[name], "ratio": ratio}
        rows.append(row | {"least_cosine": least, "mean_cosine": mean, "found": recall.get(name)})
        cosines = "- | -" if least is None else f"{least:.6f} | {mean:.6f}"
        share = f"{100 * recall[name]:.1f} %" if name in recall else "-"
        print(f"| {name} | {run.version} | {tokens / took:,.0f} | {ratio:.2f} | {cosines} | {share} |")
    if options.json:
        whole = {"sentences": len(texts), "tokens": tokens, "threads": options.threads, "cpu": cpu(), "runs": rows}
        pathlib.Path(options.json).write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
