"""Weights that a script of TensorFlow's puts back, and that are not what it means."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch import references
from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import found

NET = small.HEAD + """
def build():
    return keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
"""
PUT = NET + """
import os, tempfile
folder = tempfile.mkdtemp()
before, after = build(), build()
step = tf.Variable(3)
path = tf.train.Checkpoint(encoder=before, step=step).save(os.path.join(folder, "kept"))
before.save_weights(os.path.join(folder, "w.weights.h5"))
RESTORE
after.compile(optimizer="adam", loss="binary_crossentropy")
after.fit(x, y, epochs=3, verbose=0)
"""
BEST = NET + """
model, best, kept = build(), 1e9, None
loss_of, optimizer = keras.losses.BinaryCrossentropy(), keras.optimizers.Adam(0.01)
for epoch in range(400):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(64):
        with tf.GradientTape() as tape:
            loss = loss_of(yb[:, None], model(xb, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    if float(loss) < best:
        best, kept = float(loss), KEEP
PUT
"""


def judged(folder: Path, text: str, **limits: int) -> list[str]:
    seen = small.watch(folder, text, **limits)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    return found(seen)


@pytest.mark.parametrize(("restore", "fault"), [
    ("tf.train.Checkpoint(backbone=after).restore(path).expect_partial()", True),
    ("tf.train.Checkpoint(backbone=after, step=step).restore(path).expect_partial()", True),
    ("tf.train.Checkpoint(encoder=after).restore(path).expect_partial()", False),
    ("tf.train.Checkpoint(step=step).restore(path).expect_partial()", False)])
def test_a_checkpoint(tmp_path: Path, restore: str, *, fault: bool) -> None:
    assert judged(tmp_path, PUT.replace("NAME", "keras").replace("RESTORE", restore)) == (["A702"] if fault else [])


WIDER = "after = keras.Sequential([keras.Input((10,)), keras.layers.Dense(24), keras.layers.Dense(1, activation='sigmoid')]); "


@pytest.mark.parametrize("keras", small.KERAS)
@pytest.mark.parametrize(("model", "option", "fault"), [(WIDER, "by_name=True, skip_mismatch=True", True), ("", "", False)])
def test_weights_of_a_file(tmp_path: Path, keras: str, model: str, option: str, *, fault: bool) -> None:
    load = f"{model}after.load_weights(os.path.join(folder, 'w.weights.h5'), {option})"
    if keras == "keras":
        load = load.replace("by_name=True, ", "")
    text = PUT.replace("NAME", keras).replace("RESTORE", load)
    assert judged(tmp_path, text) == (["A702"] if fault else [])


@pytest.mark.parametrize(("keep", "put", "fault"), [
    ("model.weights", "for own, value in zip(model.weights, kept): own.assign(value)", True),
    ("list(model.trainable_variables)", "model.set_weights(kept)", True),
    ("[v for v in model.weights]", "model.set_weights(kept)", True),
    ("{v.path: v.value for v in model.weights}", "for v in model.weights: v.assign(kept[v.path])", True),
    ("{v.path: v.numpy() for v in model.weights}", "for v in model.weights: v.assign(kept[v.path])", False),
    ("model.get_weights()", "model.set_weights(kept)", False),
    ("[v.numpy() for v in model.weights]", "for own, value in zip(model.weights, kept): own.assign(value)", False),
    ("model.weights", "for own, value in zip(other.weights, kept): own.assign(value)", False)])
def test_the_list_of_a_models_variables(tmp_path: Path, keep: str, put: str, *, fault: bool) -> None:
    path = tmp_path / "kept.py"
    path.write_text(BEST.replace("KEEP", keep).replace("PUT", put))
    assert bool(references.variables(path)) is fault


def test_a_script_that_was_not_watched_to_its_end(tmp_path: Path) -> None:
    text = BEST.replace("NAME", "keras").replace("KEEP", "model.weights").replace("PUT", "model.set_weights(kept)")
    seen = small.watch(tmp_path, text, steps=30)
    assert found(seen) == ["A702"]
    finding = next(result.finding for result in walk(seen) if result.finding)
    assert finding.site is not None
    assert finding.site.source.startswith("best, kept =")


NIGHTLY = """
import tensorflow as tf
def train(model):
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), "kept", max_to_keep=1)
    manager.save()
def report(net):
    checkpoint = tf.train.Checkpoint(WANTED=net)
    checkpoint.restore(tf.train.latest_checkpoint("kept")).expect_partial()
"""


@pytest.mark.parametrize(("wanted", "wrong"), [("net", True), ("model", False)])
def test_a_checkpoint_that_is_restored_when_nothing_is_watched_any_more(tmp_path: Path, wanted: str, *, wrong: bool) -> None:
    text = NIGHTLY.replace("WANTED", wanted)
    (tmp_path / "train.py").write_text(text)
    line = small.line(text, "checkpoint = ")
    assert references.checkpoints(tmp_path / "train.py") == ((line, ["model"], [wanted]) if wrong else None)
