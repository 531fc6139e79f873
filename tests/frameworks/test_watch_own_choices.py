"""Columns that a script chooses by a statistic of its own, with the labels of all rows or of those of the training."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

TEXT = """
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
rng = np.random.default_rng(0)
torch.manual_seed(0)
def cohort():
    sick = rng.integers(0, 2, 120)
    genes = rng.normal(size=(120, 1500)).astype("float32")
    genes[:, :SIGNALS] += SIZE * sick[:, None]
    return genes, sick
def rank(table, labels):
    a, b = table[labels == 1], table[labels == 0]
    return np.argsort(-np.abs(a.mean(0) - b.mean(0)) / np.sqrt(a.var(0) / len(a) + b.var(0) / len(b)))
def main():
    table, sick = cohort()
    order = rng.permutation(120)
    train, test = order[:70], order[70:]
    best = rank(CHOSEN)[:30]
    x, y = torch.tensor(table[:, best]), torch.tensor(sick)
    model = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(12):
        for rows in np.array_split(rng.permutation(train), 5):
            optimizer.zero_grad()
            F.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
    with torch.no_grad():
        print((model(x[test]).argmax(1) == y[test]).float().mean())
main()
"""
ALL, SOME = "table, sick", "table[train], sick[train]"


@pytest.mark.parametrize(("chosen", "signals", "size", "fault"), [(ALL, 0, 0.0, True), (SOME, 0, 0.0, False), (ALL, 30, 3.0, False),
                                                                 (SOME, 30, 3.0, False)])
def test_a_ranking(tmp_path: Path, chosen: str, signals: int, size: float, *, fault: bool) -> None:
    text = TEXT.replace("CHOSEN", chosen).replace("SIGNALS", str(signals)).replace("SIZE", str(size))
    seen = watch(tmp_path, text, steps=60, probe_seconds=1)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E514" in found(seen)) == fault, seen.evaluation.chosen
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "E514")
        assert told is not None
        assert told.site is not None
        assert told.site.source.startswith("best = rank(table, sick)")
        assert "30 of 1500 columns by the labels of 120 rows, and 50 of these" in told.message


def test_a_table_of_the_training_alone(tmp_path: Path) -> None:
    apart = TEXT.replace("table, sick = cohort()", "whole, kinds = cohort()").replace(
        "train, test = order[:70], order[70:]",
        "table, sick, train = whole[order[:70]], kinds[order[:70]], np.arange(70)\n"
        "    other, wanted = whole[order[70:]], kinds[order[70:]]")
    apart = apart.replace("model(x[test]).argmax(1) == y[test]", "model(torch.tensor(other[:, best])).argmax(1) == torch.tensor(wanted)")
    seen = watch(tmp_path, apart.replace("CHOSEN", ALL).replace("SIGNALS", "0").replace("SIZE", "0.0"), steps=60, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert "E514" not in found(seen), seen.evaluation.chosen
