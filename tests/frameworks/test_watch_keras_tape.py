"""Experiments with the steps of loops with `tf.GradientTape`: what they find, when they are refused, and that they leave all as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.checks.base import walk
from harness.frameworks.watch.session import WatchBudget, WatchSession
from tests.frameworks.test_watch_keras import HEAD, KERAS, MODEL, watch
from tests.frameworks.watching import found, run

LOOP = """
optimizer = keras.optimizers.OPTIMIZER
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

def step(xb, yb):
    with tf.GradientTape() as tape:
        scores = model(xb, training=True)
        loss = loss_of(yb, scores)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

losses = []
for epoch in range(4):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640, seed=0).batch(32):
        losses.append(float(step(xb, yb)))
after = [float(np.random.rand()), tf.random.uniform(()).numpy(), tf.random.normal((3,)).numpy().tolist()]
"""
COMPILED = LOOP.replace("def step", "@tf.function\ndef step")
STEP = """
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = model
    def call(self, x, training=None):
        return self.inner(x, training=training)
    def train_step(self, data):
        xb, yb = data
        with tf.GradientTape() as tape:
            scores = model(xb, training=True)
            loss = loss_of(yb, scores)
        optimizer = self.optimizer
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return {"loss": loss}

own = Own()
own.compile(optimizer=keras.optimizers.OPTIMIZER)
own.fit(x, y, batch_size=32, epochs=4, verbose=0)
"""


def text(name: str, loop: str = LOOP, optimizer: str = "Adam(0.01)", **changes: str) -> str:
    made = (HEAD + MODEL + loop).replace("OPTIMIZER", optimizer).replace("NAME", name)
    for old, new in changes.items():
        assert LINES[old] in made
        made = made.replace(LINES[old], new)
    return made


LINES = {"loss": "loss = loss_of(yb, scores)", "forward": "scores = model(xb, training=True)", "last": "keras.layers.Dense(2)",
         "norm": "keras.layers.BatchNormalization()",
         "apply": "optimizer.apply_gradients(zip(gradients, model.trainable_variables))"}


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("loop", "optimizer", "code"), [
    (LOOP, "Adam(30.0)", "S401"), (COMPILED, "SGD(1e-6)", "S402"), (COMPILED, "Adam(0.01)", None)])
def test_a_rate_is_tried_in_a_loop(tmp_path: Path, name: str, loop: str, optimizer: str, code: str | None) -> None:
    seen = watch(tmp_path, text(name, loop, optimizer), steps=60, probe_seconds=4)
    assert seen.probes.overfit is not None, seen.probes.skipped
    assert seen.probes.train is not None, seen.probes.skipped
    assert seen.probes.initial_loss == pytest.approx(np.log(2), abs=0.5)
    assert seen.optimizer is not None
    assert not seen.optimizer.by_name
    assert found(seen) == ([code] if code else [])


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("loop", [COMPILED, STEP], ids=["loop", "train_step"])
@pytest.mark.parametrize(("told", "layer", "fault"), [
    ("model(xb)", "BatchNormalization()", True), ("model(xb, training=True)", "BatchNormalization()", False),
    ("model(xb)", "BatchNormalization(trainable=False)", False), ("model(xb)", "LayerNormalization()", False)])
def test_a_step_that_does_not_say_that_it_trains(tmp_path: Path, name: str, loop: str, told: str, layer: str, *, fault: bool) -> None:
    made = text(name, loop, forward=f"scores = {told}", norm=f"keras.layers.{layer}")
    seen = watch(tmp_path, made, steps=40)
    assert len(seen.steps) > 20
    assert (found(seen) == ["E503"]) is fault, found(seen)
    if fault:
        assert seen.sites["untold"].source == "scores = model(xb)"


TESTED = """
    def test_step(self, data):
        xb, yb = data
        return {"loss": loss_of(yb, self(xb, MODE))}

own = Own()"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("mode", "fault"), [("training=True", True), ("training=False", False)])
def test_a_test_step_in_training_mode(tmp_path: Path, name: str, mode: str, *, fault: bool) -> None:
    made = text(name, STEP.replace("\nown = Own()", TESTED.replace("MODE", mode)).replace("epochs=4", "epochs=4, validation_data=(x, y)"))
    seen = watch(tmp_path, made, steps=60)
    assert seen.evaluation.forwards
    assert (found(seen) == ["E502"]) is fault, (found(seen), seen.evaluation)
    if fault:
        assert seen.sites["train_mode"].source == 'return {"loss": loss_of(yb, self(xb, training=True))}'


@pytest.mark.parametrize(("name", "optimizer"), [("tf_keras", "legacy.Adam"), ("tf_keras", "Adam"), ("keras", "Adam")])
@pytest.mark.parametrize(("length", "fault"), [(8, True), (200, False)])
def test_a_schedule_that_uses_up_the_rate(tmp_path: Path, name: str, optimizer: str, length: int, *, fault: bool) -> None:
    made = (HEAD + MODEL + STEP).replace("model(xb", "self(xb").replace("OPTIMIZER", f"{optimizer}(learning_rate=PolynomialDecay)")
    made = made.replace("PolynomialDecay", f"keras.optimizers.schedules.PolynomialDecay(0.01, {length}, 0.0)").replace("NAME", name)
    seen = watch(tmp_path, made, steps=60)
    assert seen.optimizer is not None
    assert seen.optimizer.scheduled
    assert seen.optimizer.learning_rate == pytest.approx(0.01)
    assert (found(seen) == ["S402"]) is fault, found(seen)


@pytest.mark.parametrize("loss", [
    "loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=yb, logits=scores))",
    "loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(yb, scores)) / 32.0",
    "loss = loss_of(yb, scores, sample_weight=tf.ones((32,)))",
    "loss = 0.5 * loss_of(yb[:, None], tf.reshape(scores, (-1, 2)))",
    "loss = tf.reduce_mean(tf.square(scores - tf.one_hot(yb, 2)))", "loss = tf.reduce_sum(tf.abs(tf.one_hot(yb, 2) - scores)) / 64"])
def test_losses_that_can_be_computed_again(tmp_path: Path, loss: str) -> None:
    seen = watch(tmp_path, text("keras", COMPILED, loss=loss))
    assert seen.probes.overfit is not None, seen.probes.skipped
    assert seen.probes.overfit.start_loss is not None
    assert seen.steps[0].loss == pytest.approx(seen.probes.overfit.losses[0], rel=0.5)
    assert found(seen) == []


@pytest.mark.parametrize("norm", [0.05, 1.0, 1e6])
def test_gradients_that_are_clipped_together(tmp_path: Path, norm: float) -> None:
    seen = watch(tmp_path, text("keras", apply=f"""gradients, _ = tf.clip_by_global_norm(gradients, {norm})
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))"""))
    assert seen.probes.overfit is not None, seen.probes.skipped
    assert seen.steps[0].loss == pytest.approx(seen.probes.overfit.losses[0], rel=0.5)
    assert seen.probes.overfit.losses[-1] < seen.probes.overfit.losses[0]
    assert found(seen) == []


@pytest.mark.parametrize(("change", "reason"), [
    ({"apply": "optimizer.apply_gradients(zip([tf.clip_by_norm(g, 1.0) for g in gradients], model.trainable_variables))"}, "changed"),
    ({"loss": "loss = tf.reduce_mean(tf.sqrt(1e-3 + (tf.one_hot(yb, 2) - scores) ** 2))"}, "by hand"),
    ({"loss": "loss = loss_of(yb, scores) + 0.1 * loss_of(1 - yb, scores)"}, "several"),
    ({"forward": "scores = 2.0 * model(xb, training=True)"}, "not what the model gives"),
    ({"forward": "scores = model(xb, training=True)\n        scores = scores + model(xb)"}, "several")])
def test_steps_that_cannot_be_taken_again(tmp_path: Path, change: dict[str, str], reason: str) -> None:
    seen = watch(tmp_path, text("keras", **change))
    assert seen.probes.overfit is None
    assert reason in seen.probes.skipped["overfit"]
    assert found(seen) == []


def test_a_regularised_loss_is_made_in_more_than_one_way(tmp_path: Path) -> None:
    penalty = "loss = loss_of(yb, scores) + 0.01 * tf.add_n([tf.reduce_sum(w * w) for w in model.trainable_variables])"
    seen = watch(tmp_path, text("keras", loss=penalty))
    assert "one way" in seen.probes.skipped["overfit"]


@pytest.mark.parametrize(("rate", "codes"), [("SGD(3.0)", ["L208"]), ("SGD(0.003)", [])])
def test_a_loss_that_nobody_reduces_is_summed_by_its_tape(tmp_path: Path, rate: str, codes: list[str]) -> None:
    loss = "loss = keras.losses.sparse_categorical_crossentropy(yb, scores, from_logits=True)"
    made = text("keras", optimizer=rate, loss=loss).replace("float(step(xb, yb))", "float(tf.reduce_mean(step(xb, yb)))")
    seen = watch(tmp_path, made, seconds=90, probe_seconds=30)
    assert found(seen)[:1] == codes, (found(seen), [step.loss for step in seen.steps], seen.probes)
    if codes:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "tf.reduce_mean" in finding.remedy
        assert finding.site is not None
        assert finding.site.source == loss


@pytest.mark.parametrize("name", KERAS)
def test_a_derivative_that_is_no_number_in_a_loop(tmp_path: Path, name: str) -> None:
    layer = """
class Length(keras.layers.Layer):
    def call(self, x):
        return tf.sqrt(tf.reduce_sum(tf.square(tf.nn.relu(x - 2.5)), axis=1, keepdims=True))
"""
    made = text(name, last="Length(), keras.layers.Dense(2)").replace("\nmodel = ", layer + "\nmodel = ")
    seen = watch(tmp_path, made)
    assert "L209" in found(seen)
    assert seen.births[0].what == "gradient"
    assert seen.births[0].site is not None
    assert "tf.sqrt" in seen.births[0].site.source


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("optimizer", ["Adam(0.01)", "SGD(0.02, momentum=0.9)", "AdamW(0.01, weight_decay=60.0)"])
def test_a_watched_loop_ends_bit_for_bit_as_an_unwatched_one(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, optimizer: str) -> None:
    made = text(name, optimizer=optimizer)
    error, plain = run(WatchSession(tmp_path / "plain.py"), made, tmp_path / "plain.py")
    assert error is None
    session = WatchSession(tmp_path / "train.py", WatchBudget(seconds=100, steps=40, probe_seconds=1.5))
    monkeypatch.setattr(session, "settle", lambda **_: None)  # a fault that is found would end the loop
    session.attach()
    error, watched = run(session, made, tmp_path / "train.py")
    seen = session.finish(error)
    assert error is None
    assert seen.probes.overfit is not None, seen.probes.skipped
    assert seen.probes.train is not None, seen.probes.skipped
    assert bool(seen.probes.restraints) is ("weight_decay" in optimizer)
    assert (plain["losses"], plain["after"]) == (watched["losses"], watched["after"])
    for kept in ("model", "optimizer"):
        before, after = ([np.array(variable.numpy()) for variable in _variables(names[kept])] for names in (plain, watched))
        assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True)), kept


def _variables(part: Any) -> list[Any]:
    return list(part.variables() if callable(part.variables) else part.variables)


KEEPING = """
class Keeps(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.calls = tf.Variable(0.0, trainable=False)
    def call(self, x):
        self.calls.assign_add(1.0)
        self.last = x
        return x
keeps = Keeps()
"""


@pytest.mark.parametrize("name", KERAS)
def test_what_a_layer_keeps_is_left_as_it_was(tmp_path: Path, name: str) -> None:
    made = text(name, last="keeps, keras.layers.Dense(2)").replace("\nmodel = ", KEEPING + "\nmodel = ", 1)
    kept = "losses.append((float(step(xb, yb)), float(keeps.calls), keeps.last.shape[0]))"
    made = made.replace("losses.append(float(step(xb, yb)))", kept)
    _, plain = run(WatchSession(tmp_path / "plain.py"), made, tmp_path / "plain.py")
    session = WatchSession(tmp_path / "train.py", WatchBudget(seconds=100, steps=40, probe_seconds=1.5))
    session.attach()
    error, watched = run(session, made, tmp_path / "train.py")
    seen = session.finish(error)
    assert error is None
    assert seen.probes.train is not None, seen.probes.skipped
    assert plain["losses"] == watched["losses"]


def test_sparse_inputs_leave_the_losses_alone(tmp_path: Path) -> None:
    sparse = """
inner = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
class Both(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = inner
    def call(self, inputs, training=False):
        x, links = inputs
        return self.inner(tf.sparse.sparse_dense_matmul(links, x), training=training)
model = Both()
"""
    made = text("keras", forward="scores = model((xb, tf.sparse.eye(32)), training=True)")
    made = made.replace(MODEL, sparse)
    seen = watch(tmp_path, made)
    assert "sparse" in seen.probes.skipped["overfit"]
    assert all(step.backwards == 1 for step in seen.steps)
    assert seen.loss_calls


def test_another_optimizer_is_another_way(tmp_path: Path) -> None:
    second = "other = keras.optimizers.Adam(0.01)\nother.build(model.trainable_variables)"
    apply = "(optimizer if len(losses) < 12 else other).apply_gradients(zip(gradients, model.trainable_variables))"
    seen = watch(tmp_path, text("keras", apply=apply).replace("losses = []", f"losses = []\n{second}"))
    assert "one way" in seen.probes.skipped["train"]


STREAM = """
def rows():
    for length in [3, 3, 5, 4] * 20:
        yield np.ones(length, "float32"), 1
stream = tf.data.Dataset.from_generator(rows, output_signature=(tf.TensorSpec((None,)), tf.TensorSpec((), tf.int32)))
whole = stream.padded_batch(8)
ready = (stream
         .batch(8))
for xb, yb in ready.prefetch(2):
    pass
"""


def test_rows_that_do_not_fit_are_placed_where_they_are_batched(tmp_path: Path) -> None:
    made = text("keras") + STREAM
    finding = next(result.finding for result in walk(watch(tmp_path, made)) if result.code == "B101")
    assert finding is not None
    assert finding.site is not None
    assert finding.site.source in ("ready = (stream", ".batch(8))")


@pytest.mark.parametrize("loop", [LOOP, COMPILED], ids=["eager", "compiled"])
@pytest.mark.parametrize(("order", "shuffled"), [(".shuffle(640, seed=0)", True), ("", False)])
def test_the_dataset_that_a_loop_reads(tmp_path: Path, loop: str, order: str, *, shuffled: bool) -> None:
    seen = watch(tmp_path, text("keras", loop.replace(".shuffle(640, seed=0)", order)))
    assert [(loader.kind, loader.shuffled, loader.batch_size, loader.rows) for loader in seen.loaders] == [
        ("tf.data.Dataset", shuffled, 32, 640)]
    assert seen.loaders[0].site is not None
    assert "from_tensor_slices" in seen.loaders[0].site.source
