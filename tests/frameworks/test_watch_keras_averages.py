"""Running averages of a Keras model's weights that are asked in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import KERAS, watch
from tests.frameworks.watching import found

HEAD = """
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 10)).astype("float32")
y = (X[:, 0] + X[:, 1] > 0).astype("int32")
model = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
"""
CALLBACK = HEAD + """
class Shadow(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.kept = self.model.get_weights()
    def on_train_batch_end(self, batch, logs=None):
        self.kept = [DECAY * kept + (1 - DECAY) * own for kept, own in zip(self.kept, self.model.get_weights())]
    def on_train_end(self, logs=None):
        self.model.set_weights(self.kept)
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=loss, metrics=["accuracy"])
model.fit(X[:320], y[:320], epochs=5, batch_size=16, verbose=0, callbacks=[Shadow()])
print(model.evaluate(X[320:], y[320:], verbose=0))
"""
LOOP = HEAD + """
average = keras.models.clone_model(model)
average.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(1e-2)
for epoch in range(5):
    for start in range(0, 320, 16):
        with tf.GradientTape() as tape:
            value = loss(y[start:start + 16], model(X[start:start + 16], training=True))
        gradients = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        for kept, own in zip(average.trainable_variables, model.trainable_variables):
            kept.assign(DECAY * kept + (1 - DECAY) * own)
print(float(np.mean(np.argmax(average(X[320:]), 1) == y[320:])))
"""
BUILT_IN = HEAD + """
model.compile(optimizer=keras.optimizers.Adam(1e-2, use_ema=True, ema_momentum=DECAY), loss=loss, metrics=["accuracy"])
model.fit(X[:320], y[:320], epochs=5, batch_size=16, verbose=0)
print(model.evaluate(X[320:], y[320:], verbose=0))
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("text", [CALLBACK, LOOP, BUILT_IN])
@pytest.mark.parametrize(("decay", "fault"), [("0.999", True), ("0.9", False)])
def test_an_average(tmp_path: Path, name: str, text: str, decay: str, *, fault: bool) -> None:
    seen = watch(tmp_path, text.replace("DECAY", decay).replace("NAME", name), steps=200)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E528" in found(seen)) == fault, seen.evaluation.average
    if fault:
        facts = seen.evaluation.average
        assert facts is not None
        assert facts.decay == pytest.approx(0.999, abs=1e-5)
        assert facts.site is not None
