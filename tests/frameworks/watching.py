"""Running small scripts under watch, in this process."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from harness import script
from harness.checks.base import FAILED, walk
from harness.checks.observation import Observation
from harness.frameworks.watch import marked
from harness.frameworks.watch.session import Enough, WatchBudget, WatchSession

HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X = torch.randn(400, 10)
y = (X[:, 0] + X[:, 1] > 0).long()
train = DataLoader(TensorDataset(X[:320], y[:320]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(X[320:], y[320:]), batch_size=40)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(10, 32)
        self.b = nn.Linear(32, 2)
        self.drop = nn.Dropout(0.1)
    def forward(self, x):
        return self.b(self.drop(torch.relu(self.a(x))))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
"""
LOOP = """
for epoch in range(4):
    model.train()
    for xb, yb in train:
        optimizer.zero_grad()
        out = model(xb)
        loss = F.cross_entropy(out, yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in test)
"""


def run(session: WatchSession, text: str, path: Path) -> tuple[BaseException | None, dict[str, Any]]:
    """Run a script's text; its exception and its names."""
    path.write_text(text)
    module = ModuleType("__main__")
    module.__file__ = str(path)
    before = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        exec(script.compile_with(text, path, {}, functools.partial(marked.mark, text=text)), module.__dict__)
    except BaseException as error:  # noqa: BLE001 - whatever ends a script is looked at by its test
        return error, module.__dict__
    finally:
        sys.modules["__main__"] = before
    return None, module.__dict__


def watch(folder: Path, text: str, **limits: Any) -> Observation:
    """The observation of a script."""
    path = folder / "train.py"
    usual = {"steps": 24, "patient_steps": 0, "onward_seconds": 0.0, "probe_seconds": 1.5}
    unhurried = {"seconds": 60.0, "slow_seconds": 20.0}  # on a machine that has other work as well
    session = WatchSession(path, WatchBudget(**{**usual, **unhurried, **limits}))
    session.attach()
    error, _ = run(session, text, path)
    seen = session.finish(error)
    assert error is None or isinstance(error, Enough) or seen.exception is not None
    return seen


def found(seen: Observation) -> list[str]:
    """The codes of what the checks find in an observation."""
    results = walk(seen)
    assert not [result for result in results if (result.reason or "").startswith(FAILED)]
    return [result.code for result in results if result.state == "found"]
