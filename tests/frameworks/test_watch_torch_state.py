"""Watching leaves no trace: what a probe touches is put back bit for bit, and detaching gives torch its own functions back."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.frameworks.watch.session import WatchBudget, WatchSession
from tests.frameworks.watching import run

torch = pytest.importorskip("torch")

# Dropout, batch normalisation, momentum, a schedule, clipping, numpy and Python randomness, and a counter in the model.
SCRIPT = """
import random
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(1); np.random.seed(2); random.seed(3)
X = torch.randn(160, 6)
y = (X[:, 0] > 0).long()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b, self.drop = nn.Linear(6, 16), nn.BatchNorm1d(16), nn.Linear(16, 2), nn.Dropout(0.3)
        self.calls = 0
    def forward(self, x):
        self.calls += 1
        return self.b(self.drop(torch.relu(self.norm(self.a(x)))))
model = Net()
optimizer = torch.optim.OPTIMIZER
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40)
order = []
for epoch in range(2):
    for xb, yb in DataLoader(TensorDataset(X, y), batch_size=8, shuffle=True):
        order.append(round(float(xb.sum()), 5))
        loss = nn.functional.cross_entropy(model(xb + 0.01 * random.random() + 0.01 * float(np.random.rand())), yb)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
model(X)
final = loss
"""


def everything(names: dict[str, Any]) -> dict[str, Any]:
    """All that a script leaves: weights, buffers, optimizer state, rates, flags, random states, data order."""
    model, optimizer = names["model"], names["optimizer"]
    return {
        "weights": {name: value.clone() for name, value in model.state_dict().items()},
        "calls": model.calls, "modes": [module.training for module in model.modules()],
        "wanted": [weight.requires_grad for weight in model.parameters()],
        "state": [{key: value.clone() if torch.is_tensor(value) else value for key, value in optimizer.state[weight].items()}
                  for weight in model.parameters()],
        "groups": [{key: value for key, value in group.items() if key != "params"} for group in optimizer.param_groups],
        "attributes": sorted(vars(optimizer)), "counted": names["schedule"]._step_count,
        "torch": torch.get_rng_state(), "numpy": np.random.get_state(), "python": random.getstate(),
        "order": names["order"], "loss": float(names["final"].detach()),
        "hooks": [len(model._forward_hooks), len(model._forward_pre_hooks)],
    }


def same(a: Any, b: Any) -> bool:
    if torch.is_tensor(a):
        return bool(torch.equal(a, b))
    if isinstance(a, np.ndarray):
        return bool((a == b).all())
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


@pytest.mark.parametrize("optimizer", ["SGD(model.parameters(), lr=0.1, momentum=0.9)", "AdamW(model.parameters(), lr=0.01)",
                                       "Adam(model.parameters(), lr=1e-9)", "AdamW(model.parameters(), lr=0.01, weight_decay=60.0)"])
def test_a_watched_script_ends_bit_for_bit_as_an_unwatched_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, optimizer: str) -> None:
    text = SCRIPT.replace("OPTIMIZER", optimizer)
    error, plain = run(WatchSession(tmp_path / "plain.py"), text, tmp_path / "plain.py")
    assert error is None
    before = everything(plain)
    session = WatchSession(tmp_path / "train.py", WatchBudget(seconds=60, steps=30, probe_seconds=2))
    session.attach()
    # Steps beyond the budget are cut by the watching, so the budget is set to what the script does.
    session.budget = WatchBudget(seconds=60, steps=40, probe_seconds=2)
    monkeypatch.setattr(session, "settle", lambda: None)  # a fault that is found would end the script
    error, watched = run(session, text, tmp_path / "train.py")
    session.detach()
    assert error is None
    after = everything(watched)
    seen = session.finish(error)
    assert seen.probes.overfit is not None, seen.probes.skipped
    assert seen.probes.train is not None
    assert bool(seen.probes.restraints) is ("weight_decay" in optimizer)
    assert seen.warnings == []
    for name, value in before.items():
        assert same(value, after[name]), name


def originals() -> dict[str, Any]:
    """What torch has where hooks are set: the very objects."""
    from torch.optim import optimizer
    from torch.utils.data import dataloader

    found: dict[str, Any] = {}
    for owner in (torch, torch.nn.functional, torch.nn.Module, torch.Tensor, torch.autograd, torch.nn.utils, torch.amp.GradScaler,
                  optimizer.Optimizer, dataloader.DataLoader, dataloader._BaseDataLoaderIter):
        found |= {f"{owner.__name__}.{name}": value for name, value in vars(owner).items() if callable(value)}
    hooks = torch.nn.modules.module
    found["hooks"] = [len(hooks._global_forward_hooks), len(hooks._global_forward_pre_hooks), len(optimizer._global_optimizer_pre_hooks),
                      len(optimizer._global_optimizer_post_hooks)]
    found["modes"] = torch.overrides._get_current_function_mode_stack()
    found["finders"] = [type(finder).__name__ for finder in sys.meta_path]
    return found


def test_after_detaching_nothing_is_left(tmp_path: Path) -> None:
    before = originals()
    session = WatchSession(tmp_path / "train.py", WatchBudget(steps=10, probe_seconds=1))
    session.attach()
    assert originals() != before
    error, _ = run(session, SCRIPT.replace("OPTIMIZER", "SGD(model.parameters(), lr=0.1)"), tmp_path / "train.py")
    session.detach()
    after = originals()
    assert after.keys() == before.keys()
    assert [name for name in before if after[name] is not before[name] and name not in ("hooks", "modes", "finders")] == []
    assert [after[name] for name in ("hooks", "modes", "finders")] == [before[name] for name in ("hooks", "modes", "finders")]
    session.finish(error)


def test_a_mode_of_the_script_that_outlives_the_watching_stays(tmp_path: Path) -> None:
    session = WatchSession(tmp_path / "train.py")
    session.attach()
    with torch.device("cpu"):
        session.detach()
        assert [type(mode).__name__ for mode in torch.overrides._get_current_function_mode_stack()] == ["DeviceContext"]
    assert torch.overrides._get_current_function_mode_stack() == []
