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


FOLDS = """
import keras
import numpy as np
import tensorflow as tf
rng = np.random.default_rng(0)
x = rng.normal(size=(256, 6)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
def new():
    made = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
    optimizer = keras.optimizers.Adam(1e-2)
    optimizer.build(made.trainable_variables)
    return made, optimizer
DECORATED
def stepped(GIVENrows, wanted):
    with tf.GradientTape() as tape:
        loss = loss_of(wanted, model(rows, training=True))
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss
for fold in range(3):
    model, optimizer = new()
    BEFORE
    for epoch in range(4):
        for at in range(0, 256, 32):
            step(HANDEDtf.constant(x[at:at + 32]), tf.constant(y[at:at + 32]))
    print(float(np.mean(np.argmax(model(x), 1) == y)))
"""
ONCE = {"DECORATED": "@tf.function", "BEFORE": "step = stepped", "GIVEN": "", "HANDED": ""}
ANEW = {"DECORATED": "", "BEFORE": "step = tf.function(stepped)", "GIVEN": "", "HANDED": ""}
ARGUMENTS = {"DECORATED": "@tf.function", "BEFORE": "step = stepped", "GIVEN": "model, optimizer, ", "HANDED": "model, optimizer, "}


def folds(folder: Path, parts: dict[str, str]) -> list[str]:
    text = FOLDS
    for name, part in parts.items():
        text = text.replace(name, part)
    return found(watch(folder, text, steps=24, onward_seconds=0.0))


def test_a_compiled_function_keeps_its_first_model(tmp_path: Path) -> None:
    assert folds(tmp_path, ONCE) == ["S405"]
    for number, parts in enumerate((ANEW, ARGUMENTS)):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert folds(folder, parts) == []


def test_what_a_compiled_function_keeps_is_true() -> None:
    """The models of later folds stay as they were drawn."""
    import tensorflow as tf

    text, names = FOLDS.replace("print(", "kept.append("), {"kept": []}
    for name, part in ONCE.items():
        text = text.replace(name, part)
    tf.keras.utils.set_random_seed(0)
    exec(text, names)
    assert names["kept"][0] > 0.85
    assert max(names["kept"][1:]) < names["kept"][0] - 0.1


FROZEN = """
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=4, verbose=0)
other = keras.Sequential([model, keras.layers.Dense(3)])
for layer in other.layers:
    layer.trainable = False

other.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

other.build((None, *x.shape[1:]))
other.fit(x, y, batch_size=32, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
def test_a_second_model_that_is_frozen_whole(tmp_path: Path, name: str) -> None:
    pytest.importorskip(name)
    seen = watch(tmp_path, HEAD.replace("NAME", name) + MODEL + FROZEN)
    assert found(seen) == ["G303"]
    assert seen.frozen_later is not None
    assert seen.frozen_later.source == "layer.trainable = False"
