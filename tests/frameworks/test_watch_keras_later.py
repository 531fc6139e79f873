"""What a second model's losses are given, and outputs that a loop puts together with a number for each row."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, MODEL, watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tensorflow")

STUDENT = """
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=4, verbose=0)
teacher, student = model, keras.models.clone_model(model)

class Distiller(keras.Model):
    def __init__(self):
        super().__init__()
        self.student = student
        self.divergence = keras.losses.KLDivergence()

    def call(self, rows, training=None):
        return self.student(rows, training=training)

    def train_step(self, data):
        wanted = tf.nn.softmax(teacher(data, training=False) / 2)
        with tf.GradientTape() as tape:
            scores = self.student(data, training=True)
            loss = self.divergence(wanted, GIVEN)
        weights = self.student.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return {"loss": loss}

distiller = Distiller()
distiller.compile(optimizer=keras.optimizers.Adam(1e-2))
distiller.fit(tf.data.Dataset.from_tensor_slices(x).batch(32), epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("given", "codes"), [("scores / 2", ["L206"]), ("tf.nn.softmax(scores / 2)", [])])
def test_the_loss_of_a_model_that_is_fitted_after_another(name: str, given: str, codes: list[str], tmp_path: Path) -> None:
    seen = watch(tmp_path, (HEAD + MODEL + STUDENT).replace("NAME", name).replace("GIVEN", given))
    assert {call.name for call in seen.later_calls} == {"kl"}
    assert found(seen) == codes


CRITIC = """
critic = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(learning_rate=0.01)
rewards = x[:, 0] + 0.1

@tf.function
def update(rows, after, reward):
    target = reward + 0.9 * VALUE(after)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.stop_gradient(target) - VALUE(rows)))
    weights = critic.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss

for epoch in range(3):
    for start in range(0, 640, 64):
        rows = slice(start, start + 64)
        update(x[rows], x[::-1][rows], rewards[rows])
"""
RANKED = """
scorer = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(learning_rate=0.01)
for epoch in range(3):
    for start in range(0, 640, 64):
        wanted = tf.constant(x[start:start + 64, 0])
        with tf.GradientTape() as tape:
            scores = scorer(x[start:start + 64])
            apart = scores - scores[:, 0]
            above = tf.cast(wanted[:, None] > wanted, tf.float32)
            loss = tf.reduce_mean(above * tf.nn.softplus(-apart))
        weights = scorer.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
"""


@pytest.mark.parametrize(("loop", "value", "codes"), [
    (CRITIC, "critic", ["L203"]), (CRITIC, "(lambda rows: critic(rows)[:, 0])", []), (RANKED, "", []),
    (RANKED.replace("scores[:, 0]", "tf.transpose(scores)"), "", [])], ids=["critic", "column", "pairs", "a table"])
def test_an_output_that_meets_a_number_for_each_row(loop: str, value: str, codes: list[str], tmp_path: Path) -> None:
    text = (HEAD + loop).replace("NAME", "keras").replace("VALUE", value)
    seen = watch(tmp_path, text)
    assert len(seen.broadcasts) == (3 if codes else 0), seen.warnings
    assert found(seen) == codes
    site = next((result.finding.site for result in walk(seen) if result.finding is not None), None)
    assert (site.source.startswith("target = reward") if site is not None else None) is (True if codes else None)
