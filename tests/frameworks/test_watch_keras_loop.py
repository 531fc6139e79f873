"""Loops of a script's own with `tf.GradientTape` under watch, compiled by `tf.function` and as plain Python, in both lines of Keras."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, MODEL, watch
from tests.frameworks.watching import found

LOOP = """
optimizer = keras.optimizers.Adam(learning_rate=0.01)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

def step(xb, yb):
    with tf.GradientTape() as tape:
        scores = model(xb, training=True)
        loss = loss_of(yb, scores)
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss

losses = []
for epoch in range(2):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640, seed=0).batch(32):
        losses.append(float(step(xb, yb)))
"""
COMPILED = LOOP.replace("def step", "@tf.function\ndef step")


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("loop", [LOOP, COMPILED], ids=["plain", "compiled"])
def test_a_healthy_loop(name: str, loop: str, tmp_path: Path) -> None:
    seen = watch(tmp_path, (HEAD + MODEL + loop).replace("NAME", name))
    assert (seen.framework, seen.task, seen.classes, len(seen.steps)) == (name, "classification", 2, 24)
    assert all(step.loss is not None and step.gradient_norm and step.backwards == 1 for step in seen.steps)
    assert seen.optimizer is not None
    assert seen.optimizer.kind == "Adam"
    assert {call.name for call in seen.loss_calls} == {"sparse_categorical"}
    assert seen.loss_calls[0].from_logits is True
    assert seen.batches[0].labels is not None
    assert seen.warnings == []
    assert found(seen) == []


@pytest.mark.parametrize(("old", "new", "code"), [
    ("keras.layers.Dense(2),", "keras.layers.Dense(2, activation='softmax'),", "L205"),
    ("loss = loss_of(yb, scores)", "loss = tf.reduce_mean(tf.square(scores[:, :1] - scores[:, 1:] - tf.cast(yb, tf.float32)))", None),
    ("loss = loss_of(yb, scores)", "loss = loss_of(yb, scores) * float('inf')", "L209"),
    ("scores = model(xb, training=True)", "scores = tf.stop_gradient(model(xb, training=True))", "G302"),
], ids=["probabilities", "a difference of two outputs", "infinite", "a cut graph"])
def test_a_fault_in_the_loop(old: str, new: str, code: str | None, tmp_path: Path) -> None:
    text = (HEAD + MODEL + COMPILED).replace("NAME", "keras")
    assert old in text
    seen = watch(tmp_path, text.replace(old, new))
    assert (code in found(seen)) if code else not {"L203"} & set(found(seen)), (found(seen), seen.exception, seen.warnings)


def test_output_and_target_that_broadcast(tmp_path: Path) -> None:
    text = (HEAD + MODEL + COMPILED).replace("NAME", "keras").replace("keras.layers.Dense(2)", "keras.layers.Dense(1)")
    loss = "loss = tf.reduce_mean((scores - tf.cast(yb, tf.float32)) ** 2)"
    text = text.replace("loss = loss_of(yb, scores)", loss)
    seen = watch(tmp_path, text)
    found = next(result for result in walk(seen) if result.code == "L203")
    assert found.finding is not None
    assert found.finding.site is not None
    assert found.finding.site.source == loss


def test_fit_is_not_watched_twice(tmp_path: Path) -> None:
    fit = "model.compile('adam', keras.losses.SparseCategoricalCrossentropy(from_logits=True))\nmodel.fit(x, y, epochs=1, verbose=0)\n"
    seen = watch(tmp_path, (HEAD + MODEL + fit).replace("NAME", "keras"))
    assert [step.step for step in seen.steps] == list(range(1, len(seen.steps) + 1))
    assert len(seen.loss_calls) == len(seen.steps)


EVALUATION = """
    right = sum(float(tf.reduce_sum(tf.cast(tf.argmax(model(x[at:at + 64]MODE), 1) == y[at:at + 64], tf.float32))) for at in (0, 64))
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("mode", "wrong"), [(", training=True", True), ("", False)])
def test_evaluation_in_training_mode(name: str, mode: str, wrong: bool, tmp_path: Path) -> None:
    loop = COMPILED.replace("range(2)", "range(6)")
    seen = watch(tmp_path, (HEAD + MODEL + loop + EVALUATION.replace("MODE", mode)).replace("NAME", name))
    assert seen.evaluation.forwards >= 2
    assert seen.evaluation.in_training_mode == (seen.evaluation.forwards if wrong else 0)
    assert ("E502" in found(seen)) is wrong


TWO = """
encode = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu")])
decide = keras.Sequential([keras.Input((16,)), keras.layers.Dense(2)])
weights = encode.trainable_variables + decide.trainable_variables
optimizer = keras.optimizers.Adam(learning_rate=0.01)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640, seed=0).batch(32):
    with tf.GradientTape() as tape:
        code = encode(xb, training=True)
        scores = decide(GIVEN, training=True)
        loss = loss_of(yb, scores)
    optimizer.apply_gradients([pair for pair in zip(tape.gradient(loss, weights), weights) if pair[0] is not None])
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("given", "fault"), [("code", False), ("np.maximum(code, 0)", True)])
def test_a_model_whose_answer_is_cut_off(tmp_path: Path, name: str, given: str, *, fault: bool) -> None:
    seen = watch(tmp_path, (HEAD + TWO.replace("GIVEN", given)).replace("NAME", name))
    assert ("G302" in found(seen)) is fault, (found(seen), seen.warnings)
    if fault:
        assert seen.idle is not None
        assert seen.idle.held == 2
        assert seen.idle.site is not None
        assert seen.idle.site.source == "code = encode(xb, training=True)"
        assert seen.idle.recorded


@pytest.mark.parametrize("name", KERAS)
def test_a_model_that_is_called_before_the_tape_records(tmp_path: Path, name: str) -> None:
    taped = "    with tf.GradientTape() as tape:\n        code = encode(xb, training=True)\n"
    assert taped in TWO
    outside = TWO.replace(taped, "    code = encode(xb, training=True)\n    with tf.GradientTape() as tape:\n")
    seen = watch(tmp_path, (HEAD + outside.replace("GIVEN", "code")).replace("NAME", name))
    assert "G302" in found(seen), (seen.idle, seen.warnings)
    assert seen.idle is not None
    assert not seen.idle.recorded
    assert seen.idle.site is not None
    assert seen.idle.site.source == "code = encode(xb, training=True)"


DRAWN = """
    draws = [model(x[:64], training=True) for _ in range(10)]
"""


def test_the_same_rows_again_and_again_are_samples_of_an_answer(tmp_path: Path) -> None:
    model = MODEL.replace("    keras.layers.BatchNormalization(),\n", "")
    seen = watch(tmp_path, (HEAD + model + COMPILED.replace("range(2)", "range(6)") + DRAWN).replace("NAME", "keras"))
    assert seen.evaluation.in_training_mode == seen.evaluation.sampled > 0
    assert "E502" not in found(seen)
