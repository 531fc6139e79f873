"""Functions that a model calls more often with every step."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.frameworks.watch import growing
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, LOOP, found, watch

HOOK = """
seen = []
def look(module, args, output):
    seen.append(output.detach().mean())
"""
REGISTERED = LOOP.replace("        out = model(xb)\n", "        model.a.register_forward_hook(look)\n        out = model(xb)\n")


def test_a_hook_in_every_step(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + HOOK + REGISTERED, steps=60)
    assert found(seen) == ["R604"]
    facts = seen.growing
    assert facts is not None
    assert facts.function == "look"
    assert [count for _, count in facts.counts] == [step + 1 for step, _ in facts.counts]
    assert facts.site is not None
    assert facts.site.source == "model.a.register_forward_hook(look)"


@pytest.mark.parametrize("loop", [
    LOOP.replace("for epoch", "model.a.register_forward_hook(look)\nfor epoch"),
    LOOP.replace("        out = model(xb)\n", "        handle = model.a.register_forward_hook(look)\n        out = model(xb)\n"
                                             "        handle.remove()\n"),
    LOOP.replace("        loss.backward()\n", "        loss.backward()\n        seen.append(loss.item())\n        mean(seen)\n")])
def test_hooks_that_do_not_pile_up(tmp_path: Path, loop: str) -> None:
    mean = "\ndef part(value):\n    return float(value)\ndef mean(values):\n    return sum(map(part, values)) / len(values)\n"
    seen = watch(tmp_path, HEAD + HOOK + mean + loop, steps=60)
    assert found(seen) == []


WRAPPED = """
class Watch:
    def __init__(self):
        self.rows = []
    def attach(self, layer):
        inner = layer.call
        def told(*args, **kwargs):
            output = inner(*args, **kwargs)
            self.rows.append(float(keras.ops.mean(output)))
            return output
        layer.call = told
watch = Watch()
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(1e-2)
BEFORE
for step in range(60):
    xb, yb = X[:32], y[:32]
    INSIDE
    with tf.GradientTape() as tape:
        loss = loss_of(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""
LAYERED = """
import numpy as np
X = np.random.default_rng(0).normal(size=(64, 10)).astype("float32")
y = (X[:, 0] > 0).astype("int32")
head = keras.layers.Dense(16, activation="relu")
model = keras.Sequential([head, keras.layers.Dense(2)])
model(X[:1])
"""


@pytest.mark.parametrize(("before", "inside", "codes"), [("", "watch.attach(head)", ["R604"]), ("watch.attach(head)", "", [])])
def test_a_layer_that_is_wrapped_in_every_step(tmp_path: Path, before: str, inside: str, codes: list[str]) -> None:
    text = "import keras\nimport tensorflow as tf\n" + LAYERED + WRAPPED.replace("BEFORE", before).replace("INSIDE", inside or "pass")
    seen = test_watch_keras.watch(tmp_path, text, steps=60)
    assert found(seen) == codes
    if codes:
        assert seen.growing is not None
        assert seen.growing.site is not None
        assert seen.growing.site.source == "watch.attach(head)"


def test_what_follows_a_training_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "_LONGEST", 20)
    assert watch(tmp_path, HEAD + HOOK + REGISTERED, steps=60).growing is None
    assert sys.getprofile() is None


def test_counts_on_one_line() -> None:
    assert growing._line([(8, 9), (16, 17), (24, 60), (32, 33), (40, 41)]) == [(8, 9), (16, 17), (32, 33), (40, 41)]
    assert growing._line([(8, 5), (16, 5), (24, 5), (32, 5)]) == []
    assert growing._line([(8, 9), (16, 30), (24, 11), (32, 90)]) == []
