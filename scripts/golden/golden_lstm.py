#!/usr/bin/env python3
"""Writes crates/learn/tests/golden/lstm.json: a small bidirectional LSTM, a batch of documents of several lengths, its
output by ONNX Runtime, and gradients by central differences in double precision.

    python3 scripts/golden/golden_lstm.py

The gradients are those of the sum of the output times `pull`. The differences are taken of a plain numpy LSTM that must first
agree with ONNX Runtime. The gates are in PyTorch's order (input, forget, cell, output).
"""
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OUT = pathlib.Path(__file__).resolve().parents[2] / "crates/learn/tests/golden/lstm.json"
INPUT, HIDDEN, LENGTHS = 3, 5, [6, 1, 4, 6, 3]
TIME, EPSILON = max(LENGTHS), 1e-5


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def read(p):
    """The forward and backward states, [documents, time, 2 * HIDDEN]."""
    out = np.zeros((len(LENGTHS), TIME, 2 * HIDDEN))
    for d, length in enumerate(LENGTHS):
        for side, name in enumerate(["forward", "backward"]):
            h, c = np.zeros(HIDDEN), np.zeros(HIDDEN)
            rows = slice(side * 4 * HIDDEN, (side + 1) * 4 * HIDDEN)
            for t in range(length) if side == 0 else reversed(range(length)):
                z = p["input.weight"][rows] @ p["x"][d, t] + p["input.bias"][rows] + p[name + ".weight"] @ h
                i, f, g, o = z.reshape(4, HIDDEN)
                c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                h = sigmoid(o) * np.tanh(c)
                out[d, t, side * HIDDEN:(side + 1) * HIDDEN] = h
    return out


def by_onnx_runtime(p):
    def turned(matrix):
        """ONNX has the gates in the order input, output, forget, cell."""
        i, f, g, o = matrix.reshape(4, HIDDEN, -1)
        return np.concatenate([i, o, f, g]).astype(np.float32)

    halves = p["input.weight"].reshape(2, 4 * HIDDEN, INPUT), p["input.bias"].reshape(2, 4 * HIDDEN)
    weights = {
        "w": np.stack([turned(half) for half in halves[0]]),
        "r": np.stack([turned(p["forward.weight"]), turned(p["backward.weight"])]),
        "b": np.stack([np.concatenate([turned(half)[:, 0], np.zeros(4 * HIDDEN, np.float32)]) for half in halves[1]]),
        "lengths": np.array(LENGTHS, np.int32),
    }
    node = helper.make_node("LSTM", ["x", "w", "r", "b", "lengths"], ["y"], hidden_size=HIDDEN, direction="bidirectional")
    graph = helper.make_graph(
        [node], "lstm",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [TIME, len(LENGTHS), INPUT])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [TIME, 2, len(LENGTHS), HIDDEN])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    y = session.run(None, {"x": p["x"].transpose(1, 0, 2).astype(np.float32)})[0]  # [time, 2, documents, HIDDEN]
    return y.transpose(2, 0, 1, 3).reshape(len(LENGTHS), TIME, 2 * HIDDEN)


def main():
    draw = np.random.default_rng(5)
    shapes = {
        "x": (len(LENGTHS), TIME, INPUT),
        "input.weight": (8 * HIDDEN, INPUT),
        "input.bias": (8 * HIDDEN,),
        "forward.weight": (4 * HIDDEN, HIDDEN),
        "backward.weight": (4 * HIDDEN, HIDDEN),
    }
    p = {name: np.round(draw.normal(0, 0.6, shape), 3) for name, shape in shapes.items()}
    pull = np.round(draw.normal(0, 1, (len(LENGTHS), TIME, 2 * HIDDEN)), 3)
    out = by_onnx_runtime(p)
    assert np.abs(out - read(p)).max() < 1e-6, np.abs(out - read(p)).max()
    gradients = {}
    for name, value in p.items():
        found = np.zeros(value.size)
        flat = value.reshape(-1)
        for at in range(value.size):
            kept, ends = flat[at], []
            for step in (EPSILON, -EPSILON):
                flat[at] = kept + step
                ends.append((read(p) * pull).sum())
            flat[at] = kept
            found[at] = (ends[0] - ends[1]) / (2 * EPSILON)
        gradients[name] = found
    row = lambda numbers, digits: [round(float(x), digits) + 0.0 for x in np.ravel(numbers)]
    written = {
        "versions": {"numpy": np.__version__, "onnxruntime": onnxruntime.__version__},
        "input": INPUT, "hidden": HIDDEN, "lengths": LENGTHS,
        "parameters": {name: row(value, 3) for name, value in p.items()},
        "pull": row(pull, 3), "output": row(out, 7),
        "gradients": {name: row(value, 7) for name, value in gradients.items()},
    }
    OUT.write_text(json.dumps(written, separators=(",", ":")) + "\n")
    print(OUT, OUT.stat().st_size, "bytes")


main()
