"""all-MiniLM-L6-v2 for the peers' semantic chunkers, from $PERICOPE_HOME/models/minilm, with numpy alone.

`pericope models pull minilm` gets the files. No package of a deep-learning framework is needed.
"""
import numpy
import safetensors.numpy

from tokens import FILE, TOKENIZER

HEADS, WINDOW, BATCH = 12, 256, 64


class MiniLM:
    """Mean-pooled, normalised sentence vectors."""

    def __init__(self):
        self.w = safetensors.numpy.load_file(str(FILE.with_name("model.safetensors")))

    def _linear(self, x, name):
        return x @ self.w[f"{name}.weight"].T + self.w[f"{name}.bias"]

    def _norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def _batch(self, rows):
        width = max(map(len, rows))
        ids = numpy.array([row + [0] * (width - len(row)) for row in rows])
        mask = numpy.array([[1.0] * len(row) + [0.0] * (width - len(row)) for row in rows], dtype=numpy.float32)
        e = "embeddings"
        x = self.w[f"{e}.word_embeddings.weight"][ids] + self.w[f"{e}.position_embeddings.weight"][:width]
        x = self._norm(x + self.w[f"{e}.token_type_embeddings.weight"][0], f"{e}.LayerNorm")
        away = ((mask - 1.0) * 1e9)[:, None, None, :]
        n, size = len(rows), x.shape[-1] // HEADS
        split = lambda y: y.reshape(n, width, HEADS, size).transpose(0, 2, 1, 3)
        for layer in range(6):
            at = f"encoder.layer.{layer}"
            q, k, v = (split(self._linear(x, f"{at}.attention.self.{part}")) for part in ("query", "key", "value"))
            scores = q @ k.transpose(0, 1, 3, 2) / numpy.sqrt(size).astype(numpy.float32) + away
            scores = numpy.exp(scores - scores.max(-1, keepdims=True))
            context = ((scores / scores.sum(-1, keepdims=True)) @ v).transpose(0, 2, 1, 3).reshape(n, width, -1)
            x = self._norm(x + self._linear(context, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
            inner = self._linear(x, f"{at}.intermediate.dense")
            inner = (0.5 * inner * (1.0 + _erf(inner / numpy.sqrt(2.0).astype(numpy.float32)))).astype(numpy.float32)
            x = self._norm(x + self._linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        pooled = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return pooled / numpy.linalg.norm(pooled, axis=1, keepdims=True)

    def embed(self, texts):
        """A row a text, in their order."""
        rows = [TOKENIZER.encode(text).ids for text in texts]
        rows = [row if len(row) <= WINDOW else row[: WINDOW - 1] + row[-1:] for row in rows]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        found = numpy.zeros((len(rows), 384), dtype=numpy.float32)
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            found[part] = self._batch([rows[i] for i in part])
        return found


def _erf(x):
    """Abramowitz and Stegun 7.1.26: within 1.5e-7."""
    t = 1.0 / (1.0 + 0.3275911 * numpy.abs(x))
    sum_ = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return numpy.sign(x) * (1.0 - sum_ * numpy.exp(-x * x))
