"""all-MiniLM-L6-v2 for the peers' semantic chunkers, from $PERICOPE_HOME/models/minilm, with numpy alone.

`pericope models pull minilm` gets the files. No package of a deep-learning framework is needed.
"""
import numpy
import safetensors.numpy

from tokens import FILE, TOKENIZER

HEADS, WINDOW = 12, 256
# A batch has as many rows of equal width as keep what is computed for it in the processor's caches.
TOKENS = 512


class MiniLM:
    """Mean-pooled, normalised sentence vectors."""

    def __init__(self):
        read = safetensors.numpy.load_file(str(FILE.with_name("model.safetensors")))
        self.w = {name: numpy.ascontiguousarray(w.T) if w.ndim == 2 and "embeddings" not in name else w for name, w in read.items()}

    def _linear(self, x, name):
        y = x @ self.w[f"{name}.weight"]
        y += self.w[f"{name}.bias"]
        return y

    def _norm(self, x, name):
        x -= x.mean(-1, keepdims=True)
        x /= numpy.sqrt(numpy.einsum("ij,ij->i", x, x)[:, None] / x.shape[-1] + 1e-12)
        x *= self.w[f"{name}.weight"]
        x += self.w[f"{name}.bias"]
        return x

    def _batch(self, rows):
        """The vectors of texts with equally many tokens."""
        n, width = len(rows), len(rows[0])
        e = "embeddings"
        x = self.w[f"{e}.word_embeddings.weight"][numpy.array(rows)] + self.w[f"{e}.position_embeddings.weight"][:width]
        x = self._norm((x + self.w[f"{e}.token_type_embeddings.weight"][0]).reshape(n * width, -1), f"{e}.LayerNorm")
        size = x.shape[-1] // HEADS
        for layer in range(6):
            at = f"encoder.layer.{layer}"
            q, k, v = (
                numpy.ascontiguousarray(self._linear(x, f"{at}.attention.self.{part}").reshape(n, width, HEADS, size).transpose(0, 2, 1, 3))
                for part in ("query", "key", "value")
            )
            q *= numpy.float32(size**-0.5)
            scores = q @ k.transpose(0, 1, 3, 2)
            scores -= scores.max(-1, keepdims=True)
            numpy.exp(scores, out=scores)
            scores /= scores.sum(-1, keepdims=True)
            context = (scores @ v).transpose(0, 2, 1, 3).reshape(n * width, -1)
            x += self._linear(context, f"{at}.attention.output.dense")
            x = self._norm(x, f"{at}.attention.output.LayerNorm")
            inner = _gelu(self._linear(x, f"{at}.intermediate.dense"))
            x += self._linear(inner, f"{at}.output.dense")
            x = self._norm(x, f"{at}.output.LayerNorm")
        pooled = x.reshape(n, width, -1).mean(1)
        return pooled / numpy.linalg.norm(pooled, axis=1, keepdims=True)

    def embed(self, texts):
        """A row a text, in their order."""
        rows = [encoded.ids for encoded in TOKENIZER.encode_batch(list(texts))]
        rows = [row if len(row) <= WINDOW else row[: WINDOW - 1] + row[-1:] for row in rows]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        found = numpy.zeros((len(rows), 384), dtype=numpy.float32)
        while order:
            width = len(rows[order[-1]])
            part = [i for i in order[-max(1, TOKENS // width) :] if len(rows[i]) == width]
            found[part] = self._batch([rows[i] for i in part])
            del order[-len(part) :]
        return found


def _gelu(x):
    """In place, with the error function by Abramowitz and Stegun 7.1.26: within 1.5e-7."""
    z = numpy.abs(x)
    z *= numpy.float32(0.5**0.5)
    t = 1.0 / (1.0 + numpy.float32(0.3275911) * z)
    tail = t * numpy.float32(1.061405429)
    for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += numpy.float32(term)
        tail *= t
    z *= z
    numpy.negative(z, out=z)
    numpy.exp(z, out=z)
    tail *= z
    erf = numpy.copysign(1.0 - tail, x)
    erf += 1.0
    x *= erf
    x *= numpy.float32(0.5)
    return x
