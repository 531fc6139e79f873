"""Keras under watch: where it is said how wide weights are drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import HEAD, KERAS, watch
from tests.frameworks.watching import found

DRAWN = HEAD + """
class Cross(keras.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 64), name="w", initializer=OWN)
    def call(self, inputs):
        return tf.nn.relu(tf.matmul(inputs, self.w))
wide = GIVEN
net = keras.Sequential([keras.Input((10,)), Cross(), keras.layers.Dense(64, activation="relu", kernel_initializer=wide),
                        keras.layers.Dense(2)])
net.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
net.fit(x, y, batch_size=32, epochs=1, verbose=0)
"""
NORMAL, NARROW = "keras.initializers.RandomNormal(stddev=3.0)", "keras.initializers.RandomNormal(stddev=0.1)"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("own", "given", "source"), [
    (NORMAL, '"glorot_uniform"', "self.w = self.add_weight"), ('"glorot_uniform"', NORMAL, "wide ="),
    ('"glorot_uniform"', "keras.initializers.RandomUniform(-5.0, 5.0)", "wide ="), (NARROW, NARROW, "")])
def test_the_line_that_says_how_wide(tmp_path: Path, name: str, own: str, given: str, source: str) -> None:
    seen = watch(tmp_path, DRAWN.replace("OWN", own).replace("GIVEN", given).replace("NAME", name), steps=12)
    assert not [note for note in seen.warnings if "initializer" in note]
    place = seen.sites.get("weights_drawn")
    assert (place is not None) is bool(source)
    if place is not None:
        assert source in place.source
        assert set(found(seen)) <= {"L204", "G306", "S401"}
    else:
        assert found(seen) == []
