"""Answers in the scale of the training, and references in another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np
from sklearn.metrics import mean_absolute_error
rng = np.random.default_rng(0)
x = rng.normal(size=(640, 6)).astype("float32")
y = np.exp(0.3 * (x @ rng.normal(size=6)) + 0.1 * rng.normal(size=640)) * 20 + 60
middle, spread = y[:480].mean(), y[:480].std()
wanted = (WANTED).astype("float32")
"""
TORCH = DATA + """
import torch
import torch.nn as nn
torch.manual_seed(0)
x, wanted = torch.from_numpy(x), torch.from_numpy(wanted)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[:480], wanted[:480]), batch_size=32, shuffle=True)
for epoch in range(2):
    for xb, yb in loader:
        loss = ((model(xb).squeeze(1) - yb) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    answers = model(x[480:]).squeeze(1)
    COMPARED
"""
BY_HAND = "print((answers - torch.from_numpy(y[480:])).abs().mean().item())"
METRIC = "print(mean_absolute_error(y[480:], answers.numpy()))"
BACK = "answers = answers * spread + middle\n    "
SCALED, LOGARITHM = "(y - middle) / spread", "np.log1p(y)"


@pytest.mark.parametrize(("wanted", "compared", "how"), [
    (SCALED, METRIC, "moved and stretched"), (SCALED, BY_HAND, "moved and stretched"),
    (SCALED, "print(np.corrcoef(answers.numpy(), y[480:]))", "moved and stretched"),
    (SCALED, 'exec(compile("np.corrcoef(answers.numpy(), y[480:])", "/usr/lib/elsewhere.py", "exec"))', ""),  # not the script's own call
    (LOGARITHM, METRIC, "the logarithm"),
    (SCALED, BACK + METRIC, ""), (SCALED, BACK + BY_HAND, ""), (LOGARITHM, "answers = answers.expm1()\n    " + METRIC, ""),
    ("y", METRIC, ""),
    (SCALED, "print(mean_absolute_error((y[480:] - middle) / spread, answers.numpy()))", ""),
    (SCALED, "print(mean_absolute_error(rng.lognormal(5, 2, 160), answers.numpy()))", "")])
def test_a_loop(tmp_path: Path, wanted: str, compared: str, how: str) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("WANTED", wanted).replace("COMPARED", compared), steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    facts = seen.evaluation.two_scales
    assert (facts.how if facts and not facts.mapped else "") == how, facts
    assert ("E519" in found(seen)) is bool(how)


def test_a_model_that_has_hardly_learned(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = TORCH.replace("WANTED", "np.log(y)").replace("COMPARED", "answers = answers.exp()\n    " + METRIC).replace("lr=1e-2", "lr=1e-4")
    seen = watch(tmp_path, text, steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert "E519" not in found(seen), seen.evaluation.two_scales  # its answers, mapped back, are nearer to the logarithms still


def test_a_script_that_maps_its_answers_back_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    compared = METRIC + "\n    " + BACK + METRIC
    seen = watch(tmp_path, TORCH.replace("WANTED", SCALED).replace("COMPARED", compared), steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert found(seen) == []


BASELINES = ["np.full(160, 90.0)", "rng.permutation(y[480:])"]


@pytest.mark.parametrize("baseline", BASELINES)
def test_a_baseline_is_held_against_the_references_too(tmp_path: Path, baseline: str) -> None:
    pytest.importorskip("torch")
    compared = BACK + METRIC + f"\n    print(mean_absolute_error(y[480:], {baseline}))"
    text = TORCH.replace("WANTED", SCALED).replace("COMPARED", compared)
    text = text.replace("model.eval()", "model.eval()\nfor xb, yb in torch.utils.data.DataLoader(torch.utils.data.TensorDataset("
                        "x[480:], wanted[480:]), batch_size=160):\n    F = ((model(xb).squeeze(1) - yb) ** 2).mean().item()")
    seen = watch(tmp_path, text, steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.evaluation.relation is not None
    assert seen.evaluation.relation.compared is not None
    assert seen.evaluation.relation.compared > 0.5
    assert found(seen) == []


KERAS = DATA + """
import NAME as keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(1e-2), "mse")
model.fit(x[:480], wanted[:480], batch_size=32, epochs=2, verbose=0)
answers = model.predict(x[480:], verbose=0)[:, 0]
print(mean_absolute_error(y[480:], COMPARED))
"""


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
@pytest.mark.parametrize(("compared", "wrong"), [("answers", True), ("answers * spread + middle", False)])
def test_a_fit(tmp_path: Path, name: str, compared: str, *, wrong: bool) -> None:
    text = KERAS.replace("WANTED", SCALED).replace("NAME", name).replace("COMPARED", compared)
    seen = test_watch_keras.watch(tmp_path, text, steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("E519" in found(seen)) is wrong, seen.evaluation.two_scales
