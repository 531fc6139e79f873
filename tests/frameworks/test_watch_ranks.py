"""Answers of yes and no that a metric is to rank."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np
from sklearn.metrics import roc_auc_score, accuracy_score
rng = np.random.default_rng(0)
x = rng.normal(size=(900, 8)).astype("float32")
y = (x @ rng.normal(size=8) + 2 * rng.normal(size=900) > 1.5).astype("int64")
"""
TORCH = DATA + """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
model = nn.Linear(8, OUT)
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.from_numpy(x[:600]), torch.from_numpy(y[:600])), 32, shuffle=True)
for epoch in range(3):
    for xb, yb in loader:
        scores = model(xb)
        loss = F.cross_entropy(scores, yb) if OUT == 2 else F.binary_cross_entropy_with_logits(scores[:, 0], yb.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    scores = model(torch.from_numpy(x[600:]))
flags = scores.argmax(1).numpy() if OUT == 2 else (torch.sigmoid(scores[:, 0]) > 0.4).long().numpy()
chances = torch.softmax(scores, 1)[:, 1].numpy() if OUT == 2 else torch.sigmoid(scores[:, 0]).numpy()
rule = (x[600:, 0] > 0).astype(int)
ASKED
"""


@pytest.mark.parametrize("out", ["1", "2"])
@pytest.mark.parametrize(("asked", "wrong"), [
    ("print(roc_auc_score(y[600:], flags))", True), ("print(roc_auc_score(y[600:], chances))", False),
    ("print(accuracy_score(y[600:], flags))", False), ("print(roc_auc_score(y[600:], rule))", False),
    ("print(roc_auc_score(y[600:], flags), roc_auc_score(y[600:], x[600:, 0]))", True),
    ("print(roc_auc_score(y[600:], flags), roc_auc_score(y[600:], chances))", False)])
def test_a_loop(tmp_path: Path, out: str, asked: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("OUT", out).replace("ASKED", asked), steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("E520" in found(seen)) is wrong, seen.evaluation.ranked
    if wrong:
        cut, scores = seen.evaluation.ranked[0].areas or (1.0, 0.0)
        assert cut + 0.02 < scores


KERAS = DATA + """
import NAME as keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy")
model.fit(x[:600], y[:600], batch_size=32, epochs=3, verbose=0)
chances = model.predict(x[600:], verbose=0)
print(roc_auc_score(y[600:], ASKED))
"""


@pytest.mark.parametrize("name", test_watch_keras.KERAS)
@pytest.mark.parametrize(("asked", "wrong"), [("(chances[:, 0] > 0.4).astype(int)", True), ("chances.round()", True), ("chances", False)])
def test_a_fit(tmp_path: Path, name: str, asked: str, *, wrong: bool) -> None:
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("NAME", name).replace("ASKED", asked), steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("E520" in found(seen)) is wrong, seen.evaluation.ranked
