"""Keras under watch, with small real models: the facts that checks ask for, and that watching leaves a script as it was."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.checks.base import walk
from harness.checks.observation import Observation
from harness.frameworks.watch.session import Enough, WatchBudget, WatchSession
from tests.frameworks.watching import run

pytest.importorskip("tf_keras")
pytest.importorskip("keras")
tf = pytest.importorskip("tensorflow")

HEAD = """
import random
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
x = np.random.randn(640, 10).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("int64")
"""
MODEL = """
model = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dropout(0.3),
    keras.layers.BatchNormalization(),
    keras.layers.Dense(2),
])
"""
COMPILE = """
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
"""
FIT = """
history = model.fit(x, y, batch_size=16, epochs=2, verbose=0)
results = model.evaluate(x, y, verbose=0)
"""
KERAS = ["tf_keras", "keras"]


def watch(folder: Path, text: str, **limits: Any) -> Observation:
    path = folder / "train.py"
    small = {"steps": 24, "patient_steps": 0, "onward_seconds": 0.0, "probe_seconds": 1.5, "seconds": 60}
    session = WatchSession(path, WatchBudget(**{**small, **limits}))
    session.attach()
    error, _ = run(session, text, path)
    seen = session.finish(error)
    assert error is None or isinstance(error, Enough) or seen.exception is not None
    return seen


def line(text: str, part: str) -> int:
    return next(number for number, found in enumerate(text.splitlines(), start=1) if part in found)


@pytest.mark.parametrize("name", KERAS)
def test_a_healthy_fit_is_described_whole(tmp_path: Path, name: str) -> None:
    text = (HEAD + MODEL + COMPILE + FIT).replace("NAME", name)
    seen = watch(tmp_path, text, probe_seconds=6.0)
    assert seen.warnings == []
    assert seen.exception is None
    assert (seen.framework, seen.task, seen.classes, seen.stopped) == (name, "classification", 2, "finished")
    assert (seen.truncated_at, len(seen.steps), seen.models_stepped) == (24, 24, 1)
    assert seen.model is not None
    assert (seen.model.kind, seen.model.final_units, seen.model.final_activation) == ("Sequential", 2, "linear")
    assert (seen.model.stochastic, seen.model.has_batch_norm, seen.model.pretrained) == (True, True, False)
    assert [p.trainable for p in seen.model.parameters] == [True] * 6
    assert all(p.gradient_norm is not None and p.moved for p in seen.model.parameters)
    assert seen.model.displacement is not None
    assert [unit.kind for unit in seen.model.units] == ["relu"]
    call = seen.loss_calls[0]
    assert (call.name, call.from_logits, call.by_name, call.reduction) == ("sparse_categorical", True, False, "mean")
    assert call.inputs is not None
    assert call.inputs.shape == (16, 2)
    assert call.value == pytest.approx(np.mean(call.row_losses), rel=1e-5)
    assert call.row_labels == seen.steps[0].labels
    assert seen.steps[0].loss == pytest.approx(call.value, rel=1e-5)
    assert seen.optimizer is not None
    assert (seen.optimizer.kind, seen.optimizer.rate_given, seen.optimizer.held) == ("Adam", True, 6)
    assert seen.optimizer.learning_rate == pytest.approx(0.01)
    training = seen.loaders[0]
    assert (training.kind, training.batch_size, training.rows, training.shuffled) == ("arrays", 16, 640, True)
    assert sum(training.label_counts.values()) == 640
    assert set(seen.batches[0].columns) == {"x", "y"}
    assert seen.batches[0].inputs_key == "x"
    for site, part in (("fit", "model.fit("), ("compile", "model.compile("), ("optimizer", "keras.optimizers.Adam"),
                       ("model", "keras.Sequential("), ("output", "Dense(2)"), ("loss", "SparseCategorical"), ("evaluation", "evaluate(")):
        assert seen.sites[site].line == line(text, part), site
    probes = seen.probes
    assert probes.initial_loss is not None
    assert probes.input_matters is True
    assert probes.overfit is not None
    assert probes.overfit.accuracy == 1.0
    assert probes.train is not None
    assert probes.train.start_loss is None, "beyond doubt, nothing is measured once more"
    assert probes.train.losses[-1] < 0.6 * probes.train.losses[0]
    assert probes.text_baseline is not None
    metric = seen.evaluation.metrics[-1]
    assert sum(metric.predicted_counts.values()) == sum(metric.reference_counts.values()) == 640
    assert metric.values["accuracy"] > 0.8


@pytest.mark.parametrize("name", KERAS)
def test_a_model_that_its_first_step_builds(tmp_path: Path, name: str) -> None:
    seen = watch(tmp_path, (HEAD + MODEL.replace("    keras.Input((10,)),\n", "") + COMPILE + FIT).replace("NAME", name))
    assert seen.warnings == []
    assert seen.model is not None
    assert all(p.gradient_norm is not None and p.moved for p in seen.model.parameters)
    assert seen.probes.overfit is not None, seen.probes.skipped


@pytest.mark.parametrize("name", KERAS)
def test_strings_take_their_defaults(tmp_path: Path, name: str) -> None:
    text = (HEAD + MODEL + 'model.compile(optimizer="sgd",\n  loss="sparse_categorical_crossentropy")\n' + FIT).replace("NAME", name)
    seen = watch(tmp_path, text)
    assert seen.optimizer is not None
    assert (seen.optimizer.by_name, seen.optimizer.kind) == (True, "SGD")
    call = seen.loss_calls[0]
    assert (call.by_name, call.from_logits) == (True, False)
    assert call.site is not None
    assert call.site.line == line(text, '  loss="sparse')


@pytest.mark.parametrize("name", KERAS)
def test_datasets_and_their_order(tmp_path: Path, name: str) -> None:
    body = "order = np.argsort(y)\ndata = tf.data.Dataset.from_tensor_slices((x[order], y[order]))\n"
    plain = watch(tmp_path, (HEAD + body + "data = data.batch(16)\n" + MODEL + COMPILE + "model.fit(data, verbose=0)\n"
                             ).replace("NAME", name))
    assert (plain.loaders[0].shuffled, plain.loaders[0].rows, plain.loaders[0].batch_size) == (False, 640, 16)
    assert plain.loaders[0].label_runs is not None
    assert plain.loaders[0].label_runs > 0.99
    mixed = watch(tmp_path, (HEAD + body + "data = data.shuffle(640).batch(16)\n" + MODEL + COMPILE + "model.fit(data, verbose=0)\n"
                             ).replace("NAME", name))
    assert mixed.loaders[0].shuffled is True
    late = watch(tmp_path, (HEAD + body + "data = data.batch(16).shuffle(40)\n" + MODEL + COMPILE + "model.fit(data, verbose=0)\n"
                            ).replace("NAME", name))
    assert late.loaders[0].shuffled is False  # whole batches change places, and each still holds one label


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("first", "second", "after", "apart"), [
    (".shuffle(640)", ".shuffle(640)", "", True), (".shuffle(640)", "", "", True), ("", "", ".shuffle(640)", False),
    (".shuffle(640, seed=5)", ".shuffle(640, seed=5)", "", False), (".shuffle(640, seed=5)", ".shuffle(640, seed=6)", "", True)])
def test_two_sources_in_two_orders(tmp_path: Path, name: str, first: str, second: str, after: str, apart: bool) -> None:
    body = (f"inputs = tf.data.Dataset.from_tensor_slices(x){first}\ntargets = tf.data.Dataset.from_tensor_slices(y){second}\n"
            f"data = tf.data.Dataset.zip((inputs, targets)){after}.batch(16).prefetch(1)\n")
    seen = watch(tmp_path, (HEAD + body + MODEL + COMPILE + "model.fit(data, verbose=0)\n").replace("NAME", name), steps=10)
    assert (seen.apart is not None) is apart
    assert any(result.code == "D106" and result.state == "found" for result in walk(seen)) is apart


@pytest.mark.parametrize("name", KERAS)
def test_a_nan_is_traced_to_its_layer(tmp_path: Path, name: str) -> None:
    layer = """
class Log(keras.layers.Layer):
    def call(self, x):
        return tf.math.log(x)
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(8), Log(name="log"), keras.layers.Dense(2)])
"""
    seen = watch(tmp_path, (HEAD + layer + COMPILE + FIT).replace("NAME", name))
    assert (seen.births[0].what, seen.births[0].step) == ("activation", 1)
    assert seen.births[0].name.startswith("log ")


@pytest.mark.parametrize("name", KERAS)
def test_an_exception_has_its_stage(tmp_path: Path, name: str) -> None:
    text = (HEAD + MODEL + COMPILE.replace("Sparse", "") + FIT).replace("NAME", name)
    seen = watch(tmp_path, text)
    assert seen.exception is not None
    assert seen.exception.stage == "loss"
    assert seen.exception.site is not None
    assert seen.exception.site.line == line(text, "model.fit(")


STATE = HEAD + MODEL + """
OPTIMIZER
model.compile(optimizer=optimizer, loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"], FLAGS)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640).batch(16)
history = model.fit(data, epochs=2, verbose=0)
after = [random.random(), float(np.random.rand()), tf.random.uniform(()).numpy(), tf.random.normal((3,)).numpy().tolist()]
loss = model.evaluate(x, y, verbose=0)
"""


def everything(names: dict[str, Any]) -> dict[str, Any]:
    """All that a script leaves: weights, optimizer state, metrics, what the generators say next, losses."""
    model, optimizer = names["model"], names["optimizer"]
    held = optimizer.variables
    return {"weights": [variable.numpy() for variable in model.variables],
            "optimizer": [np.array(variable.numpy()) for variable in (held() if callable(held) else held)],
            "same": model.optimizer is optimizer, "rate": float(optimizer.learning_rate), "after": names["after"],
            "history": names["history"].history, "evaluated": names["loss"], "random": random.getstate(), "numpy": np.random.get_state()[1],
            "own": [name for name in ("train_step", "test_step") if name in vars(model)]}


@pytest.mark.parametrize("flags", ["", "run_eagerly=True"])
@pytest.mark.parametrize(("optimizer", "steps"), [("Adam(0.01)", 80), ("SGD(1e-7, momentum=0.9)", 81),
                                                  ("AdamW(0.01, weight_decay=60.0)", 80)])
@pytest.mark.parametrize("name", KERAS)
def test_a_watched_script_ends_bit_for_bit_as_an_unwatched_one(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, optimizer: str, steps: int, flags: str) -> None:
    flags = flags or ("jit_compile=False" if name == "keras" else "")
    text = STATE.replace("NAME", name).replace("OPTIMIZER", f"optimizer = keras.optimizers.{optimizer}").replace("FLAGS", flags)
    error, plain = run(WatchSession(tmp_path / "plain.py"), text, tmp_path / "plain.py")
    assert error is None
    before = everything(plain)
    # Steps beyond the budget are cut by the watching; of a rate that is too low the script would be ended with its 80th step.
    session = WatchSession(tmp_path / "train.py", WatchBudget(seconds=100, steps=steps, slow_seconds=100, probe_seconds=1.5))
    monkeypatch.setattr(session, "settle", lambda **_: None)  # a fault that is found would end the script
    session.attach()
    error, watched = run(session, text, tmp_path / "train.py")
    assert error is None
    session.detach()
    rounds_in_the_script = everything(watched)
    seen = session.finish(error)
    assert seen.warnings == []
    assert seen.truncated_at is not None or len(seen.steps) == 80
    assert seen.probes.overfit is not None, seen.probes.skipped
    assert seen.probes.train is not None, seen.probes.skipped
    if "run_eagerly" not in flags:  # so many steps take longer there than there is time for
        assert bool(seen.probes.restraints) is ("weight_decay" in optimizer)
    for found in (rounds_in_the_script, everything(watched)):
        for key, value in before.items():
            if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
                # More outputs let TensorFlow order a sum differently: the last bit of a gradient may differ, as a momentum shows.
                slack = 1e-10 if key == "optimizer" else 0.0
                assert all(np.allclose(a, b, rtol=0.0, atol=slack) for a, b in zip(value, found[key], strict=True)), key
            elif isinstance(value, np.ndarray):
                assert np.array_equal(value, found[key]), key
            else:
                assert value == found[key], key


@pytest.mark.parametrize("name", KERAS)
def test_after_detaching_nothing_is_left(tmp_path: Path, name: str) -> None:
    import importlib

    keras = importlib.import_module(name)
    owners = (keras.Model, keras.layers.Layer, keras.losses.Loss, keras.optimizers.Adam, tf.GradientTape, tf.data.Dataset)
    before = [dict(vars(owner)) for owner in owners]
    watch(tmp_path, (HEAD + MODEL + COMPILE + FIT).replace("NAME", name), steps=10)
    for owner, attributes in zip(owners, before, strict=True):
        changed = [key for key, value in vars(owner).items() if attributes.get(key) is not value and callable(value)]
        assert changed == [], owner


@pytest.mark.parametrize("name", KERAS)
def test_where_a_table_that_is_too_small_was_built(name: str, tmp_path: Path) -> None:
    text = (HEAD + """
ids = np.random.default_rng(0).integers(1, 51, (640, 6))
model = keras.Sequential([
    keras.layers.Embedding(50, 8),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(2),
])
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ids, y, batch_size=32, verbose=0)
""").replace("NAME", name)
    found = next(result for result in walk(watch(tmp_path, text)) if result.state == "found")
    assert found.code == "F102"
    assert found.finding is not None
    assert found.finding.site is not None
    assert "Embedding(50, 8)" in found.finding.site.source


def test_one_label_for_many_rows_is_no_pair(tmp_path: Path) -> None:
    body = "".join(f"""
part{label} = tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(x[y == {label}]).shuffle(640),
                                   tf.data.Dataset.from_tensors(np.int64({label})).repeat()))""" for label in (0, 1))
    text = HEAD + body + "\ndata = part0.concatenate(part1).shuffle(640).batch(16)\n" + MODEL + COMPILE + "model.fit(data, verbose=0)\n"
    assert watch(tmp_path, text.replace("NAME", "keras"), steps=10).apart is None


@pytest.mark.parametrize("name", KERAS)
def test_which_of_two_tables_is_too_small(name: str, tmp_path: Path) -> None:
    text = (HEAD + """
users, films = (np.random.default_rng(0).integers(1, size + 1, 640) for size in (70, 50))
left, right = keras.Input((), dtype="int64"), keras.Input((), dtype="int64")
parts = [
    keras.layers.Embedding(71, 8)(left),
    keras.layers.Embedding(50, 8)(right),
]
model = keras.Model([left, right], keras.layers.Dense(2)(keras.layers.Concatenate()(parts)))
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit([users, films], y, batch_size=32, verbose=0)
""").replace("NAME", name)
    found = next(result for result in walk(watch(tmp_path, text)) if result.state == "found")
    assert found.code == "F102"
    assert found.finding is not None
    assert found.finding.site is not None
    assert "Embedding(50, 8)" in found.finding.site.source


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("metric", "found"), [
    ("keras.metrics.CategoricalAccuracy()", True), ("keras.metrics.SparseCategoricalAccuracy()", False), ('"accuracy"', False),
    ("keras.metrics.BinaryAccuracy()", True), ("keras.metrics.MeanSquaredError()", False)])
def test_a_metric_of_another_encoding(tmp_path: Path, name: str, metric: str, found: bool) -> None:
    text = (HEAD + MODEL + COMPILE.replace('metrics=["accuracy"]', f"metrics=[{metric}]") + FIT).replace("NAME", name)
    assert f"metrics=[{metric}]" in text
    results = {result.code: result for result in walk(watch(tmp_path, text))}
    assert (results["E501"].state == "found") is found
    if found:
        assert results["E501"].finding is not None
        assert results["E501"].finding.site is not None
        assert results["E501"].finding.site.line == line(text, f"metrics=[{metric}]")


HIDDEN = """
class Scale(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.table = tf.Variable(tf.random.normal([10, 8]){extra})
    def call(self, x):
        return tf.matmul(x, self.table)
model = keras.Sequential([keras.Input((10,)), Scale(), keras.layers.Dense(2)])
"""


@pytest.mark.parametrize(("name", "extra", "found"), [("keras", "", True), ("keras", ", trainable=False", False), ("tf_keras", "", False)])
def test_a_variable_that_no_layer_knows(tmp_path: Path, name: str, extra: str, found: bool) -> None:
    text = (HEAD + HIDDEN.format(extra=extra) + COMPILE + FIT).replace("NAME", name)
    result = next(result for result in walk(watch(tmp_path, text)) if result.code == "G303")
    assert (result.state == "found") is found
    if result.finding is not None:
        assert result.finding.site is not None
        assert "self.table" in result.finding.site.source


@pytest.mark.parametrize(("metric", "found"), [
    ("MeanIoU(num_classes=2)", True), ("BinaryIoU(threshold=0.5)", False), ("MeanIoU(num_classes=2, sparse_y_pred=False)", False)])
def test_a_metric_of_class_ids_in_segmentation(tmp_path: Path, metric: str, found: bool) -> None:
    text = HEAD.replace("NAME", "keras") + f"""
x, y = x.reshape(64, 10, 10, 1), (x.reshape(64, 10, 10, 1) > 0).astype("int64")
model = keras.Sequential([keras.Input((10, 10, 1)), keras.layers.Conv2D(1, 3, padding="same", activation="sigmoid")])
model.compile(optimizer=keras.optimizers.Adam(0.05), loss="binary_crossentropy",
              metrics=[keras.metrics.{metric}])
model.fit(x, y, batch_size=8, epochs=3, verbose=0)
"""
    result = next(result for result in walk(watch(tmp_path, text)) if result.code == "E501")
    assert (result.state == "found") is found
    if result.finding is not None:
        assert result.finding.site is not None
        assert metric in result.finding.site.source


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("built", ["keras.Input((10,)), ", ""], ids=["built", "built by its first batch"])
@pytest.mark.parametrize(("again", "found"), [("", True), ("model.compile(keras.optimizers.Adam(1e-3), LOSS)", False)])
def test_weights_that_are_thawed_without_compiling(tmp_path: Path, name: str, again: str, built: str, found: bool) -> None:
    text = """
base = keras.Sequential([BUILTkeras.layers.Dense(32, activation="relu")])
base.trainable = False
model = keras.Sequential([BUILTbase, keras.layers.Dense(2)])
LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.Adam(0.01), LOSS)
model.fit(x, y, validation_data=(x, y), batch_size=16, epochs=1, verbose=0)
base.trainable = True
AGAIN
model.fit(x, y, validation_data=(x, y), batch_size=32, epochs=1, verbose=0)
""".replace("AGAIN", again).replace("BUILT", built)
    seen = watch(tmp_path, (HEAD + text).replace("NAME", name))
    result = next(result for result in walk(seen) if result.code == "G303")
    assert (result.state == "found") is found
    if result.finding is not None:
        assert result.finding.site is not None
        assert "batch_size=32" in result.finding.site.source


@pytest.mark.parametrize("name", KERAS)
def test_the_line_that_freezes_all(tmp_path: Path, name: str) -> None:
    text = """
judge = keras.Sequential([keras.Input((10,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
judge.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy")
judge.trainable = False
for step in range(30):
    judge.train_on_batch(x[:32], y[:32].astype("float32"))
"""
    result = next(result for result in walk(watch(tmp_path, (HEAD + text).replace("NAME", name))) if result.code == "G303")
    if name == "keras":  # the Keras before it keeps what could be trained when it was compiled
        assert result.finding is not None
        assert result.finding.site is not None
        assert result.finding.site.source == "judge.trainable = False"
    else:
        assert result.state != "found"
