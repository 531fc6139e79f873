"""Losses that a script adds up over the rows by itself: found where that harms, in both frameworks, and left alone where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_torch_hidden import first
from tests.frameworks.watching import HEAD, watch

TORCH = """
wanted = (X[:, 0] + 0.5 * X[:, 1] * X[:, 2]).unsqueeze(1)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=RATE, momentum=0.9)
def squares(guess, wanted):
    weights = 1 + 0.5 * (wanted.abs() > 1).float()
    each = weights * (guess - wanted) ** 2
    return each.REDUCED
for epoch in range(4):
    for at in range(0, 320, 32):
        loss = squares(net(X[at:at + 32]), wanted[at:at + 32])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
CASES = [("sum()", "0.03", "L208"), ("sum() / len(each)", "0.03", None), ("mean()", "0.03", None), ("sum()", "0.0003", None),
         ("sum(dim=1).mean()", "0.03", None)]


@pytest.mark.parametrize(("reduced", "rate", "code"), CASES)
def test_sums_by_hand(reduced: str, rate: str, code: str | None, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = HEAD + TORCH.replace("REDUCED", reduced).replace("RATE", rate)
    found = first(watch(tmp_path, text, steps=40, probe_seconds=6.0))
    assert (found[0] if found else None) == code
    if found:
        assert found[1].site is not None
        assert found[1].site.source == "return each.sum()"
        assert "summed over 32 rows" in found[1].message


KERAS = """
import numpy as np
import tensorflow as tf
import keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(640, 8)).astype("float32")
y = (x[:, :3].sum(1) + 0.5 * x[:, 3] * x[:, 4])[:, None].astype("float32")
net = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
def squares(wanted, guess):
    each = tf.square(guess - wanted)
    return tf.REDUCED(each)
"""
FIT = """
net.compile(keras.optimizers.SGD(0.02, momentum=0.9), loss=squares)
net.fit(x, y, batch_size=32, epochs=4, verbose=0)
"""
LOOP = """
optimizer = keras.optimizers.SGD(0.02, momentum=0.9)
for epoch in range(4):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640).batch(32):
        with tf.GradientTape() as tape:
            loss = squares(yb, net(xb, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
"""


@pytest.mark.parametrize("reduced", ["reduce_sum", "reduce_mean"])
@pytest.mark.parametrize("training", [FIT, LOOP], ids=["fit", "loop"])
def test_sums_by_hand_in_keras(training: str, reduced: str, tmp_path: Path) -> None:
    pytest.importorskip("keras")
    found = first(watch(tmp_path, KERAS.replace("REDUCED", reduced) + training, steps=40, probe_seconds=8.0))
    assert (found[0] if found else None) == ("L208" if reduced == "reduce_sum" else None)
    if found:
        assert found[1].site is not None
        assert found[1].site.source == "return tf.reduce_sum(each)"

