"""A loss that is multiplied before it goes backward, with gradients that are divided again and ones that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch import loss_scales
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, found, watch

TORCH = HEAD + """
SCALE = 2.0 ** 10
y = (X @ torch.randn(10, 4)).argmax(1)
train = DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    for xb, yb in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        (loss * SCALE).backward()
        DIVIDE
        optimizer.step()
"""
DIVIDED = "[weight.grad.div_(SCALE) for weight in model.parameters()]"


@pytest.mark.parametrize("divided", [True, False])
def test_a_loop(tmp_path: Path, *, divided: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("DIVIDE", DIVIDED if divided else "pass"), steps=60, probe_seconds=6)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert found(seen)[:1] == ([] if divided else ["S411"])
    assert "* SCALE" in seen.sites["scaled_loss"].source


def test_a_loss_that_learns_all_the_same(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = TORCH.replace("DIVIDE", "pass").replace("lr=0.1", "lr=1e-4")
    assert found(watch(tmp_path, text, steps=60, probe_seconds=6)) == []


KERAS = """
import numpy as np, tensorflow as tf, NAME as keras
keras.utils.set_random_seed(0)
SCALE = 1024.0
X = np.random.default_rng(0).normal(size=(640, 10)).astype("float32")
y = (X @ np.random.default_rng(1).normal(size=(10, 4))).argmax(1)
model = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(4)])
optimizer = keras.optimizers.SGD(0.1)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb, model(xb, training=True))
        scaled = loss * SCALE
    grads = tape.gradient(scaled, model.trainable_variables)
    DIVIDE
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss
for xb, yb in tf.data.Dataset.from_tensor_slices((X, y)).shuffle(640, seed=0).batch(16).repeat(3):
    step(xb, yb)
"""


@pytest.mark.parametrize("name", test_watch_keras.KERAS)
@pytest.mark.parametrize("divided", [True, False])
def test_a_tape(tmp_path: Path, name: str, *, divided: bool) -> None:
    text = KERAS.replace("NAME", name).replace("DIVIDE", "grads = [grad / SCALE for grad in grads]" if divided else "pass")
    seen = test_watch_keras.watch(tmp_path, text, steps=60, probe_seconds=6)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert found(seen)[:1] == ([] if divided else ["S411"])
    assert seen.sites["scaled_loss"].source.strip() == "scaled = loss * SCALE"


@pytest.mark.parametrize(("text", "line"), [
    ("scaled = loss * 1024", 1), ("K = 2 ** 12\nscaled = K * loss", 2),
    ("class A:\n    scale: float = 512.\n    def f(s): return s.loss * s.scale", 3),
    ("def f(loss, by=1 << 3): return loss * by", None), ("def f(loss, by=128.0):\n    return by * loss", 2), ("a = loss * 2", None),
    ("a = loss * weight", None), ("a = size * 1024", None)])
def test_where_it_is_written(tmp_path: Path, text: str, line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    assert loss_scales.written(script) == (None if line is None else (str(script), line, "<module>"))


MIXED = """
import numpy as np, tensorflow as tf, NAME as keras
keras.utils.set_random_seed(0)
keras.mixed_precision.set_global_policy("mixed_float16")
X = np.random.default_rng(0).normal(size=(640, 10)).astype("float32")
y = (X @ np.random.default_rng(1).normal(size=(10, 4))).argmax(1)
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = keras.layers.Dense(32, activation="relu"), keras.layers.Dense(4, dtype="float32")
    def call(self, x, training=False):
        return self.out(self.hidden(x))
    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)(data[1], self(data[0], training=True))
            scaled = SCALED
        grads = tape.gradient(scaled, self.trainable_variables)
        self.optimizer.apply_gradients(zip(GRADS, self.trainable_variables))
        return {"loss": loss}
net = Net()
net.compile(optimizer=keras.optimizers.SGD(0.1))
net.fit(X, y, batch_size=16, epochs=4, verbose=0)
"""
TIMES, OVER = "self.optimizer.get_scaled_loss(loss)", "self.optimizer.get_unscaled_gradients(grads)"


@pytest.mark.parametrize(("name", "scaled", "grads", "fault"), [
    ("keras", "self.optimizer.scale_loss(loss)", "grads", False), ("keras", "loss", "grads", True),
    ("tf_keras", TIMES, OVER, False), ("tf_keras", "loss", OVER, True), ("tf_keras", "loss", "grads", False)])
def test_an_optimizer_that_divides(tmp_path: Path, name: str, scaled: str, grads: str, *, fault: bool) -> None:
    text = MIXED.replace("NAME", name).replace("SCALED", scaled).replace("GRADS", grads)
    seen = test_watch_keras.watch(tmp_path, text, steps=60, probe_seconds=6)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert found(seen)[:1] == (["S411"] if fault else [])
    assert seen.steps[0].loss is not None
    assert 0.5 < seen.steps[0].loss < 5  # of the rows, not the scaled one


def test_a_fit_that_scales_by_itself(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    begin, end = MIXED.index("    def train_step"), MIXED.index("net = Net()")
    text = (MIXED[:begin] + MIXED[end:]).replace("NAME", "keras").replace(
        "SGD(0.1)", "SGD(0.1), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True)")
    seen = test_watch_keras.watch(tmp_path, text, steps=60, probe_seconds=6)
    assert found(seen) == [], seen.optimizer
