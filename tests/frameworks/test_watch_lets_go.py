"""What watches a script holds none of the tensors of its steps and evaluations for long: these take as much memory as training does."""

from __future__ import annotations

from pathlib import Path

from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import HEAD, found, watch

EVALUATION = HEAD + """
import weakref
answers, most = [], 0
for epoch in range(3):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    model.eval()
    right = 0
    for xb, yb in DataLoader(TensorDataset(X, y), batch_size=8):
        out = model(xb)
        answers.append(weakref.ref(out))
        right += (out.argmax(1) == yb).sum().item()
        most = max(most, sum(answer() is not None for answer in answers))
    model.train()
assert most < 24, most
"""
TAPES = """
import weakref
net = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
optimizer = keras.optimizers.SGD(0.1)
taken, most = [], 0
for epoch in range(3):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(8):
        with tf.GradientTape() as tape:
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)(yb, net(xb, training=True))
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables))
        taken.append(weakref.ref(gradients[0]))
        most = max(most, sum(gradient() is not None for gradient in taken))
assert most < 16, most
"""


def test_graphs_of_an_evaluation(tmp_path: Path) -> None:
    seen = watch(tmp_path, EVALUATION, steps=200)
    assert seen.exception is None, seen.exception
    assert found(seen) == []


def test_gradients_of_steps(tmp_path: Path) -> None:
    seen = small.watch(tmp_path, small.HEAD.replace("NAME", "keras") + TAPES, steps=200)
    assert seen.exception is None, seen.exception
    assert found(seen) == []
