"""Language models of Keras under watch: the line in which later tokens get into the answers to earlier ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("tensorflow")

SCRIPT = """
import keras, numpy as np
from keras import layers
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
V, T = 30, 12
follow = rng.integers(0, V, (V, 3))
ids = [rng.integers(0, V, 640)]
for _ in range(T):
    ids.append(follow[ids[-1], rng.integers(0, 3, 640)])
data = np.stack(ids, 1)

class Block(layers.Layer):
    def __init__(self):
        super().__init__()
        self.norm, self.read = layers.LayerNormalization(), READ
    def call(self, x):
        h = self.norm(x)
        return x + CALLED

given = keras.Input((T,), dtype="int32")
scores = layers.Dense(V)(Block()(layers.Embedding(V, 32)(given)))
model = keras.Model(given, scores)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data[:, :-1], data[:, 1:], batch_size=64, epochs=3, verbose=0)
"""


@pytest.mark.parametrize(("read", "called", "fault"), [
    ("layers.MultiHeadAttention(2, 16)", "self.read(h, h)", True),
    ("layers.MultiHeadAttention(2, 16)", "self.read(h, h, use_causal_mask=True)", False),
    ('layers.Conv1D(32, 3, padding="same")', "self.read(h)", True),
    ('layers.Conv1D(32, 3, padding="causal")', "self.read(h)", False)], ids=["attention", "masked", "a convolution", "a causal one"])
def test_where_later_tokens_get_in(tmp_path: Path, read: str, called: str, *, fault: bool) -> None:
    seen = watch(tmp_path, SCRIPT.replace("READ", read).replace("CALLED", called), seconds=60)
    assert (found(seen)[:1] == ["L211"]) is fault, found(seen)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source == (f"return x + {called}" if "Attention" in read else
                                       f"self.norm, self.read = layers.LayerNormalization(), {read}")
