"""Masks of attention that stand at the filler, in Keras."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import watch
from tests.frameworks.watching import found

TEXT = """
import keras, numpy as np, tensorflow as tf
from keras import layers
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
ids = rng.integers(2, 30, (400, 12)).astype("int32")
lengths = rng.integers(4, 10, 400)
label = (ids[:, 0] > 15).astype("int32")
ids[np.arange(12) >= lengths[:, None]] = 0
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = layers.Embedding(30, 16), layers.Embedding(12, 16)
        self.attention, self.head = layers.MultiHeadAttention(2, 8), layers.Dense(2)
    def call(self, ids):
        mask = COMPARED[:, None, :]
        x = self.tokens(ids) + self.places(tf.range(12))
        x = x + self.attention(x, x, attention_mask=mask)
        return self.head(x[:, 0])
model = Net()
model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ids, label, batch_size=20, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("compared", "codes"), [("tf.equal(ids, 0)", ["B102"]), ("tf.not_equal(ids, 0)", []), ("(ids == 0)", ["B102"]),
                                                 ("tf.ones_like(ids, tf.bool)", [])])
def test_a_mask(tmp_path: Path, compared: str, codes: list[str]) -> None:
    seen = watch(tmp_path, TEXT.replace("COMPARED", compared))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert [code for code in found(seen) if code == "B102"] == codes
    if codes:
        assert seen.inverted is not None
        assert seen.inverted.site is not None
        assert seen.inverted.site.source.startswith("mask = ")
