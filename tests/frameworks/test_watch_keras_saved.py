"""Keras models that are saved, loaded and asked again, under watch."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tf_keras")
pytest.importorskip("tensorflow")

SCRIPT = HEAD + """
def own(true, pred):
    return tf.reduce_mean(tf.square(tf.cast(tf.reshape(true, (-1, 1)), pred.dtype) - pred))
model = keras.Sequential([keras.Input(x.shape[1:]), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(0.01), loss=LOSS)
kept = keras.callbacks.ModelCheckpoint("best.keras", monitor="val_loss", save_best_only=True)
model.fit(x, y, batch_size=32, epochs=2, validation_split=0.2, verbose=0, callbacks=[kept])
again = keras.models.load_model("best.keras", custom_objects=GIVEN)
score = again.evaluate(x, y, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("loss", "given", "codes"), [
    ('"mse"', "None", []), ("own", '{"own": own}', []), ("own", "None", ["A702"])])
def test_a_model_that_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, loss: str, given: str,
                                 codes: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    text = SCRIPT.replace("NAME", name).replace("LOSS", loss).replace("GIVEN", given)
    seen = watch(tmp_path, text, steps=200)
    assert (seen.exception is None) is (not codes), seen.exception
    assert found(seen) == codes
    if codes:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "`own`" in finding.message
        assert finding.site is not None
        assert "load_model" in finding.site.source
