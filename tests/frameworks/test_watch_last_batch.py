"""Figures of an evaluation that owe to its last batch alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, found, watch

TORCH = HEAD + """
test = DataLoader(TensorDataset(X[320:], y[320:]), batch_size=16)
for epoch in range(4):
    model.train()
    for xb, yb in train:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    kept, truth = [], []
    with torch.no_grad():
        for xb, yb in test:
            WITHIN
    AFTER
    print(epoch, accuracy)
"""
GUESS = "guess = model(xb).argmax(1)"
LATE = "accuracy = (guess == yb).float().mean().item()"


@pytest.mark.parametrize(("within", "after", "wrong"), [
    (GUESS, LATE, True), ("out = model(xb)", "guess = out.softmax(1).max(1)[1]\n    " + LATE, True),
    (f"{GUESS}\n            kept.append((guess == yb).float())", "accuracy = torch.cat(kept).mean().item()", False),
    (f"{GUESS}\n            kept.append(guess)\n            truth.append(yb)",
     "accuracy = (torch.cat(kept) == torch.cat(truth)).float().mean().item()", False),
    (f"{GUESS}\n            kept += guess.tolist()", f"{LATE}\n    accuracy = len(kept)", False),
    ("out = model(xb)\n            kept.append(F.cross_entropy(out, yb).item())\n            guess = out.argmax(1)", LATE, False),
    ("kept.append(model(xb))", "guess = torch.cat(kept).argmax(1)\n    accuracy = (guess == y[320:]).float().mean().item()", False)])
def test_answers_that_are_compared_after_the_loop(tmp_path: Path, within: str, after: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("WITHIN", within).replace("AFTER", after), steps=50, probe_seconds=0.5)
    assert seen.exception is None
    assert (seen.evaluation.last_batch is not None) is wrong, seen.warnings
    assert ("E516" in found(seen)) is wrong
    if wrong:
        told = next(result.finding for result in walk(seen) if result.finding)
        assert told is not None
        assert told.site is not None
        assert "5 batches" in told.message
        assert told.site.source == LATE


KERAS = test_watch_keras.HEAD + test_watch_keras.MODEL + """
optimizer, loss_of = keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
metric = keras.metrics.KIND
for epoch in range(4):
    metric.reset_state()
    for start in range(0, 480, 32):
        with tf.GradientTape() as tape:
            loss = loss_of(y[start:start + 32], model(x[start:start + 32], training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    BEFORE
    for start in range(480, 640, 32):
        WITHIN
        metric.update_state(y[start:start + 32], model(x[start:start + 32], training=False))
        ASKED
    print(epoch, float(metric.result()))
"""


@pytest.mark.parametrize("name", test_watch_keras.KERAS)
@pytest.mark.parametrize(("before", "within", "asked", "wrong"), [
    ("pass", "metric.reset_state()", "pass", True), ("metric.reset_state()", "pass", "pass", False),
    ("pass", "metric.reset_state()", "print(float(metric.result()))", False)])
def test_a_metric_that_is_reset_within_the_loop(tmp_path: Path, name: str, before: str, within: str, asked: str, *, wrong: bool) -> None:
    pytest.importorskip(name)
    text = KERAS.replace("NAME", name).replace("BEFORE", before).replace("WITHIN", within).replace("ASKED", asked)
    seen = watch(tmp_path, text.replace("KIND", "SparseCategoricalAccuracy()"), steps=40, probe_seconds=0.5)
    assert seen.exception is None
    assert ("E516" in found(seen)) is wrong, seen.warnings
    if wrong:
        told = next(result.finding for result in walk(seen) if result.finding)
        assert told is not None
        assert told.site is not None
        assert told.site.source == "metric.reset_state()"
        assert "32 of 160 rows" in told.message


COUNTED = HEAD + """
import collections
test = DataLoader(TensorDataset(X[320:], y[320:]), batch_size=16)
def counts(guess, yb):
    return {"right": int((guess == yb).sum()), "rows": len(yb)}
for epoch in range(4):
    model.train()
    for xb, yb in train:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    right, totals = 0, MADE
    with torch.no_grad():
        for xb, yb in test:
            WITHIN
    print(epoch, AFTER)
"""


@pytest.mark.parametrize(("made", "within", "after", "wrong"), [
    ("{}", "totals.update(counts(model(xb).argmax(1), yb))", "totals['right'] / totals['rows']", True),
    ("collections.Counter()", "totals.update(counts(model(xb).argmax(1), yb))", "totals['right'] / totals['rows']", False),
    ("{}", "totals.update({len(totals): (model(xb).argmax(1) == yb).sum()})", "sum(totals.values())", False),
    ("{}", "right = (model(xb).argmax(1) == yb).float().mean()", "right", True),
    ("{}", "right += (model(xb).argmax(1) == yb).float().sum()", "right", False),
    ("{}", "right = right + (model(xb).argmax(1) == yb).float().sum()", "right", False),
    ("{}", "right = (model(xb).argmax(1) == yb).float().mean()\n            print(right)", "right", False)])
def test_a_count_that_takes_the_place_of_the_one_before(tmp_path: Path, made: str, within: str, after: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, COUNTED.replace("MADE", made).replace("WITHIN", within).replace("AFTER", after), steps=50, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("E516" in found(seen)) is wrong, seen.sites.get("last_kept")
    assert not wrong or seen.sites["last_kept"].source == within
