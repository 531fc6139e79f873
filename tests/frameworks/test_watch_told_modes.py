"""Modes and temperatures that are as they should be, where one look might take them for a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch import one_side
from tests.frameworks.watching import HEAD, found, watch

DISTILLED = HEAD + """
teacher, student = Net(), Net()
def train(net, weights, loss_of):
    optimizer = torch.optim.Adam(weights, lr=1e-2)
    for epoch in range(2):
        net.train()
        for xb, yb in train_rows:
            loss = loss_of(xb, yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
train_rows = DataLoader(TensorDataset(X[:320], y[:320]), batch_size=16, shuffle=True)
train(teacher, teacher.parameters(), lambda xb, yb: F.cross_entropy(teacher(xb), yb))
teacher.eval()
with torch.no_grad():
    print((teacher(X[320:]).argmax(1) == y[320:]).float().mean())
train(student, student.parameters(), lambda xb, yb: F.mse_loss(student(xb), teacher(xb)))
"""


def test_a_teacher_that_answers_with_gradients(tmp_path: Path) -> None:
    """It is in evaluation mode, was trained first, and no optimizer holds it any more."""
    pytest.importorskip("torch")
    seen = watch(tmp_path, DISTILLED, probe_seconds=0.0, steps=200)
    assert seen.exception is None, seen.exception
    assert seen.evaluation.training_in_eval_mode == 0
    assert "E503" not in found(seen)


STEP = """
import keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(320, 6)).astype("float32")
y = (x[:, 0] > 0).astype("int64")
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.norm, self.out = keras.layers.BatchNormalization(), keras.layers.Dense(2)
        self.loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    def encode(self, rows, training=False):
        return self.norm(rows, training=TRAINING)
    def call(self, rows, training=False):
        return self.out(self.encode(rows, training=training))
    def train_step(self, data):
        rows, wanted = data
        with tf.GradientTape() as tape:
            loss = self.loss_of(wanted, ASKED)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        return {"loss": loss}
net = Net()
net.compile(optimizer=keras.optimizers.Adam(0.01))
net.fit(x, y, epochs=3, batch_size=32, verbose=0)
print((net.predict(x, verbose=0).argmax(1) == y).mean())
"""


@pytest.mark.parametrize(("training", "asked", "wrong"), [
    ("training", "self.out(self.encode(rows, training=True))", False), ("True", "self(rows, training=True)", True)])
def test_layers_that_a_step_calls_by_itself(tmp_path: Path, training: str, asked: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, STEP.replace("TRAINING", training).replace("ASKED", asked))
    assert seen.exception is None, seen.exception
    assert ("E502" in found(seen)) is wrong, seen.probes.skipped


@pytest.mark.parametrize(("stored", "wrong"), [("softmax(teacher / settings.T)", False), ("softmax(teacher)", True)])
def test_a_temperature_by_two_names(tmp_path: Path, stored: str, *, wrong: bool) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"kept = {stored}\nloss = kl(log_softmax(student / self.T), kept) * self.T ** 2\n")
    assert (one_side.written(path) is not None) is wrong
