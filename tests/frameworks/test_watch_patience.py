"""How long a training is watched: longer where it has not left a guess and nothing explains it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.checks.data_labels import still_guessing
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import HEAD, watch

TORCH = """
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0 if step >= WAIT else 1e-3)
for epoch in range(20):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
        schedule.step()
"""
KERAS = """
import numpy as np
import keras
keras.utils.set_random_seed(0)
x = np.random.randn(640, 10).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("int64")
class Wait(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        self.model.optimizer.learning_rate = 0.02 if int(self.model.optimizer.iterations) >= WAIT else 2e-5
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
model.compile(optimizer=keras.optimizers.Adam(0.02), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=5, verbose=0, callbacks=[Wait()])
"""


@pytest.mark.parametrize(("wait", "longer"), [(50, True), (0, False)])
@pytest.mark.parametrize("framework", ["torch", "keras"])
def test_a_plateau_is_waited_for(tmp_path: Path, framework: str, wait: int, longer: bool) -> None:
    pytest.importorskip(framework)
    text, run = (HEAD + TORCH, watch) if framework == "torch" else (KERAS, watch_keras)
    seen = run(tmp_path, text.replace("WAIT", str(wait)), steps=40, patient_steps=120)
    assert [result.code for result in walk(seen) if result.state == "found"] == []
    assert still_guessing(seen) is None
    assert (len(seen.steps) > 50) is longer, len(seen.steps)
    assert len(seen.steps) < 120


def test_patience_ends(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = HEAD.replace("y = (X[:, 0] + X[:, 1] > 0).long()", "y = torch.arange(400) % 2")
    seen = watch(tmp_path, text + TORCH.replace("WAIT", "0"), steps=40, patient_steps=46)
    assert len(seen.steps) == 46
