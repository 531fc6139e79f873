"""Datasets that write into what they store when a row is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch.session import WatchBudget, WatchSession
from tests.frameworks.watching import run, watch

pytest.importorskip("torch")

SCRIPT = """
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Series(Dataset):
    def __init__(self, rows):
        self.values = STORED
        self.labels = torch.tensor([int(row[0] > 0) for row in self.values])
        self.counts = torch.zeros(rows)
        self.cache = torch.full((rows, 6), float("nan"))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, k):
        row = self.values[k]
        ROW
        return torch.as_tensor(row), self.labels[k]


rows = Series(96)
loader = DataLoader(rows, batch_size=16, shuffle=True)
model = torch.nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""
TENSOR = "torch.randn(rows, 6)"
DROP = "row[torch.rand(6) < 0.3] = 0.0"


@pytest.mark.parametrize(("stored", "row", "wrong"), [
    (TENSOR, DROP, True),
    ("np.random.default_rng(0).normal(size=(rows, 6)).astype('float32')", "row += np.float32(0.1)", True),
    ("list(torch.randn(rows, 6))", "row.mul_(0.5)", True),
    (TENSOR, "row = row.clone(); " + DROP, False),
    (TENSOR, "row.clamp_(-1, 1)", False),
    (TENSOR, "self.counts[k] += 1", False),
    (TENSOR, "self.cache[k] = row * 2; row = self.cache[k]", False)])
def test_rows_that_are_changed_where_they_are_stored(tmp_path: Path, stored: str, row: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, SCRIPT.replace("STORED", stored).replace("ROW", row))
    assert not seen.warnings
    finding = next(result.finding for result in walk(seen) if result.code == "D103")
    assert (finding is not None) == wrong
    if finding is not None:
        assert "`values`" in finding.message
        assert finding.site is not None
        assert finding.site.source == "row = self.values[k]"


def test_the_experiment_leaves_the_rows_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    session = WatchSession(path, WatchBudget(steps=24, patient_steps=0, onward_seconds=0.0, probe_seconds=0.5))
    session.attach()
    error, names = run(session, SCRIPT.replace("STORED", TENSOR).replace("ROW", DROP), path)
    before = names["rows"].values.clone()
    seen = session.finish(error)
    assert seen.overwritten is not None
    assert before.equal(names["rows"].values)
