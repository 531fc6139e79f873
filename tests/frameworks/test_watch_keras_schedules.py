"""Schedules of a Keras optimizer: what they make of the rate within a training, and experiments beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, MODEL, watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tf_keras")
pytest.importorskip("tensorflow")

RISING = """
class Rising(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, steps):
        self.steps = steps
    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        return 0.03 * tf.minimum(step / self.steps, tf.math.rsqrt(step + 1.0))
model.compile(keras.optimizers.Adam(Rising(LENGTH)), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
FIT
"""
ONCE = "model.fit(x, y, batch_size=32, epochs=4, verbose=0)"
AGAIN = """
for epoch in range(4):
    model.fit(x, y, batch_size=32, epochs=1, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("length", "fit", "codes"), [("20000.0", ONCE, ["S402"]), ("10.0", ONCE, []), ("30.0", AGAIN, [])])
def test_a_schedule_that_cannot_tell_its_options(tmp_path: Path, name: str, length: str, fit: str, codes: list[str]) -> None:
    text = (HEAD + MODEL + RISING).replace("NAME", name).replace("LENGTH", length).replace("FIT", fit)
    seen = watch(tmp_path, text, steps=60, probe_seconds=4)
    assert seen.exception is None
    assert seen.probes.overfit is not None, seen.probes.skipped
    assert found(seen) == codes, (seen.optimizer, [step.loss for step in seen.steps])
    assert seen.optimizer is not None
    assert (seen.optimizer.planned_steps is not None) is (fit == ONCE)
    if codes:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "longer than the whole training" in finding.message
        assert finding.site is not None
        assert "Rising(" in finding.site.source


TURNED = """
model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
def turned(epoch, rate):
    print("a turn")
    return RATE
model.fit(x, y, batch_size=32, epochs=20, verbose=0, callbacks=[keras.callbacks.LearningRateScheduler(turned)])
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("rate", "codes"), [("rate * 0.8 ** epoch", ["S402"]), ("0.01 * 0.8 ** epoch", []), ("rate * 0.9", []),
                                             ("rate if epoch < 10 else rate * 0.5", []), ("rate / (1 + 0.0005 * epoch)", [])])
def test_factors_of_the_first_rate_that_pile_up(
        tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, rate: str, codes: list[str]) -> None:
    text = (HEAD + MODEL + TURNED).replace("NAME", name).replace("RATE", rate)
    seen = watch(tmp_path, text, steps=60, probe_seconds=4)
    assert found(seen) == codes, (seen.optimizer, [step.loss for step in seen.steps])
    assert capfd.readouterr().out.count("a turn") <= 20, "what is followed in advance is not heard"
    if codes:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "meant for the first one" in finding.message
        assert finding.site is not None
        assert finding.site.source == "return rate * 0.8 ** epoch"


LOOP = """
optimizer = keras.optimizers.SGD(keras.optimizers.schedules.PolynomialDecay(0.05, decay_steps=LENGTH, end_learning_rate=0.0))
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
for epoch in range(20):
    summed = None
    for batch in range(12):
        with tf.GradientTape() as tape:
            loss = loss_of(y[batch * 32:batch * 32 + 32], model(x[batch * 32:batch * 32 + 32], training=True))
        new = tape.gradient(loss, model.trainable_variables)
        summed = new if summed is None else [one + other for one, other in zip(summed, new)]
        if (batch + 1) % TURN == 0:
            optimizer.apply_gradients(zip(summed, model.trainable_variables))
            summed = None
"""


@pytest.mark.parametrize(("length", "turn", "used_up"), [(40, 1, (41, 240)), (240, 1, None), (60, 4, None), (15, 4, (16, 60))])
def test_a_rate_that_is_used_up_before_the_steps_are(tmp_path: Path, length: int, turn: int, used_up: tuple[int, int] | None) -> None:
    text = (HEAD + MODEL + LOOP).replace("NAME", "keras").replace("LENGTH", str(length)).replace("TURN", str(turn))
    seen = watch(tmp_path, text, steps=12, probe_seconds=1)
    assert seen.exception is None
    assert seen.optimizer is not None
    assert seen.optimizer.used_up == used_up, seen.warnings
    assert ("S402" in found(seen)) is (used_up is not None)
