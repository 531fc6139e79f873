"""Steps of weights that are kept in 16 bits: how much of them arrives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, found, watch

LOOP = HEAD + """
model = Net()HALF
optimizer = torch.optim.OPTIMIZER
for epoch in range(4):
    for xb, yb in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb.to(next(model.parameters()).dtype)).float(), yb)
        loss.backward()
        optimizer.step()
"""
OWN = """
class Own(torch.optim.AdamW):
    def step(self, closure=None):
        return super().step(closure)
"""
TEXT = HEAD + """
torch.set_default_dtype(torch.bfloat16)
model = Net()
torch.set_default_dtype(torch.float32)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for xb, yb in train:
    optimizer.zero_grad()
    F.cross_entropy(model(xb.bfloat16()).float(), yb).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("half", "optimizer", "wrong"), [
    (".to(torch.bfloat16)", "AdamW(model.parameters(), lr=1e-4)", True), (".bfloat16()", "SGD(model.parameters(), lr=1e-4)", True),
    (".bfloat16()", "Adam(model.parameters(), lr=1e-2)", False), ("", "AdamW(model.parameters(), lr=1e-5)", False)])
def test_a_loop(tmp_path: Path, half: str, optimizer: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, LOOP.replace("HALF", half).replace("OPTIMIZER", optimizer), steps=40, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("S410" in found(seen)) is wrong, seen.rounded
    assert (seen.rounded is not None) is bool(half)
    if seen.rounded is not None:
        assert seen.rounded.dtype == "bfloat16"
        assert half in seen.sites["halved"].source


def test_a_step_that_calls_its_parents(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = OWN + LOOP.replace("HALF", ".bfloat16()").replace("torch.optim.OPTIMIZER", "Own(model.parameters(), lr=1e-2)")
    seen = watch(tmp_path, "import torch\n" + text, steps=40, probe_seconds=0.5)
    assert seen.warnings == []
    assert seen.rounded is not None
    assert seen.rounded.lost < 0.5


def test_a_default_of_the_whole_script(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TEXT, steps=20, probe_seconds=0.5)
    assert "S410" in found(seen)
    assert seen.sites["halved"].source == "torch.set_default_dtype(torch.bfloat16)"


KERAS = """
import numpy as np, tensorflow as tf, keras
keras.utils.set_random_seed(0)
keras.config.set_dtype_policy("POLICY")
x = np.random.default_rng(0).normal(size=(640, 10)).astype("float32")
y = (x[:, :1] + x[:, 1:2]).astype("float32")
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(1, dtype="POLICY")])
optimizer = keras.optimizers.OPTIMIZER
"""
FIT = """
model.compile(optimizer=optimizer, loss="mse")
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""
TAPE = """
@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.cast(model(xb, training=True), "float32") - yb) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(16).repeat(2):
    step(xb, yb)
"""


@pytest.mark.parametrize("training", [FIT, TAPE])
@pytest.mark.parametrize(("policy", "optimizer", "wrong"), [
    ("bfloat16", "Adam(1e-4)", True), ("bfloat16", "Lion(1e-5)", True), ("bfloat16", "Adam(1e-2, beta_2=0.99)", False),
    ("mixed_bfloat16", "Adam(1e-4)", False)])
def test_keras(tmp_path: Path, training: str, policy: str, optimizer: str, *, wrong: bool) -> None:
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("POLICY", policy).replace("OPTIMIZER", optimizer) + training, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("S410" in found(seen)) is wrong, seen.rounded
    assert (seen.rounded is not None) is (policy == "bfloat16")
    if wrong:
        assert seen.rounded is not None
        assert seen.rounded.nothing is ("Adam" in optimizer)  # beta_2 is 1 in bfloat16
        assert seen.sites["halved"].source.startswith("keras.config.set_dtype_policy")


@pytest.mark.parametrize("training", [FIT, TAPE])
def test_what_experiments_step_is_not_the_scripts(tmp_path: Path, training: str) -> None:
    text = KERAS.replace("POLICY", "bfloat16").replace("OPTIMIZER", "Lion(1e-5)") + training
    seconds = (0.0, 0.3, 3.0)
    for part in seconds:
        (tmp_path / str(part)).mkdir()
    first, *others = [test_watch_keras.watch(tmp_path / str(part), text, probe_seconds=part).rounded for part in seconds]
    assert first is not None
    assert all(other is not None and other.lost == pytest.approx(first.lost) and other.still == pytest.approx(first.still)
               for other in others)
