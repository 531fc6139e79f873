"""What is followed to choose the best model, under watch: callbacks of Keras, a Trainer, a schedule of PyTorch."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_torch_trainer import TRAINER
from tests.frameworks.watching import HEAD, LOOP, found, watch

KERAS = """
import NAME as keras
import numpy as np
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 8)).astype("float32")
y = (x[:, 0] > 0).astype("float32")
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=[keras.metrics.AUC(name="auc")])
follow = keras.callbacks.CALLBACK
model.fit(x, y, epochs=2, validation_split=0.2, verbose=0, callbacks=[follow])
"""
CASES = [('EarlyStopping(monitor="val_loss", mode="max")', True), ('EarlyStopping(monitor="val_loss")', False),
         ('ReduceLROnPlateau(monitor="val_auc", mode="min")', True), ('ReduceLROnPlateau(monitor="val_auc", mode="max")', False),
         ('ModelCheckpoint("best.weights.h5", monitor="val_auc", mode="min", save_best_only=True, save_weights_only=True)', True),
         ('ModelCheckpoint("last.weights.h5", monitor="val_auc", mode="min", save_weights_only=True)', False)]


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
@pytest.mark.parametrize(("callback", "wrong"), CASES)
def test_callbacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, callback: str, *, wrong: bool) -> None:
    pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    seen = watch(tmp_path, KERAS.replace("NAME", name).replace("CALLBACK", callback), probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert ("E507" in found(seen)) is wrong, (seen.evaluation.monitors, seen.warnings)
    if wrong:
        result = next(result for result in walk(seen) if result.code == "E507")
        assert result.finding is not None
        assert result.finding.site is not None
        assert "follow = keras.callbacks." in result.finding.site.source


def test_a_default_that_does_not_know_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tf_keras")
    monkeypatch.chdir(tmp_path)
    text = KERAS.replace("CALLBACK", 'ModelCheckpoint("best.weights.h5", monitor="val_auc", save_best_only=True, save_weights_only=True)')
    assert "E507" in found(watch(tmp_path, text.replace("NAME", "tf_keras"), probe_seconds=0.0))
    importlib.import_module("keras")
    assert "E507" not in found(watch(tmp_path, text.replace("NAME", "keras"), probe_seconds=0.0))


@pytest.mark.parametrize(("given", "wrong"), [
    ('metric_for_best_model="rmse"', True), ('metric_for_best_model="rmse", greater_is_better=False', False),
    ('metric_for_best_model="accuracy"', False), ('metric_for_best_model="accuracy", greater_is_better=False', True), ("", False)])
def test_a_trainer(tmp_path: Path, given: str, *, wrong: bool) -> None:
    pytest.importorskip("transformers")
    more = f'load_best_model_at_end=True, eval_strategy="epoch", save_strategy="epoch"{", " * bool(given)}{given}'
    text = TRAINER.replace('save_strategy="no"', more).replace('{"accuracy":', '{"rmse": 1.0, "accuracy":')
    seen = watch(tmp_path, text, probe_seconds=0.0)
    assert ("E507" in found(seen)) is wrong, (seen.evaluation.monitors, seen.exception, seen.warnings)


@pytest.mark.parametrize(("mode", "wrong"), [("max", True), ("min", False)])
def test_a_plateau(tmp_path: Path, mode: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    made = f'schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="{mode}")\n'
    loop = LOOP.replace("    model.eval()", "    val_loss = loss.item()\n    schedule.step(val_loss)\n    model.eval()")
    seen = watch(tmp_path, HEAD + made + loop, probe_seconds=0.0, steps=60)
    assert ("E507" in found(seen)) is wrong, (seen.evaluation.monitors, seen.warnings)


OVERFIT = """
import NAME as keras
import numpy as np
rng = np.random.default_rng(0)
x = rng.normal(size=(120, 20)).astype("float32")
y = np.where(rng.random(120) < 0.35, rng.integers(0, 2, 120), x[:, 0] > 0).astype("float32")
model = keras.Sequential([keras.layers.Input((20,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy")
follow = keras.callbacks.EarlyStopping(patience=25MORE)
model.fit(x, y, epochs=40, batch_size=16, validation_split=0.4, verbose=0, callbacks=[follow])
KEPT
"""


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
@pytest.mark.parametrize(("more", "kept", "wrong"), [
    ("", "print(model.evaluate(x, y, verbose=0))", True), (", restore_best_weights=True", "", False),
    ("", "model.load_weights('best.weights.h5') if rng.random() > 2 else None", False)])
def test_early_stopping_that_leaves_the_last_weights(tmp_path: Path, name: str, more: str, kept: str, *, wrong: bool) -> None:
    pytest.importorskip(name)
    text = OVERFIT.replace("NAME", name).replace("MORE", more).replace("KEPT", kept)
    seen = watch(tmp_path, text, probe_seconds=0.0, steps=4000)
    assert seen.exception is None, seen.exception
    assert ("E527" in found(seen)) is wrong, (seen.evaluation.monitors, seen.warnings)
