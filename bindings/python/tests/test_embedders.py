"""Embedders by name."""

from __future__ import annotations

import numpy as np
import pytest

import pericope


def test_vectors_are_numpy(minilm: pericope.Embedder) -> None:
    texts = ["A cat sleeps.", "A kitten naps.", "Shares fell."]
    vectors = minilm.encode_passages(texts)
    assert vectors.dtype == np.float32 and vectors.shape == (3, 384)
    assert vectors.flags["C_CONTIGUOUS"] and vectors.flags["WRITEABLE"]
    # The numbers are where the encoder put them: numpy holds them and did not copy them.
    assert not vectors.flags["OWNDATA"] and vectors.base is not None
    close, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert close > far and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(minilm.encode_queries(texts[:1])[0], vectors[0], atol=1e-5)
    assert minilm.encode_passages([]).shape == (0, 384)


def test_what_is_known_of_it(minilm: pericope.Embedder) -> None:
    assert (minilm.name, minilm.dimension, minilm.max_tokens) == ("minilm", 384, 256)
    assert minilm.count_tokens("two words") == 4 and "sha256" in minilm.fingerprint


def test_names_that_are_none() -> None:
    with pytest.raises(pericope.UsageError, match='there is no embedder "word2vec"; known: minilm'):
        pericope.Embedder("word2vec")
    with pytest.raises(pericope.UsageError, match="no vectors"):
        pericope.Embedder("none")
