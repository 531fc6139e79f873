"""Trainings by `torch.func`, whose gradients no loss brings backward."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.diagnosis.silence import unjudged
from tests.frameworks.watching import found, watch

SCRIPT = """
import torch
from torch import nn
from torch.func import functional_call, grad_and_value
torch.manual_seed(0)
x = torch.randn(200, 4)
y = x[:, 0] - x[:, 1]
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
weights = {name: weight.detach() for name, weight in model.named_parameters()}
def loss_of(weights):
    return nn.functional.mse_loss(functional_call(model, weights, (x,)).squeeze(1), y)
for step in range(40):
    gradients, loss = grad_and_value(loss_of)(weights)
    weights = {name: weight - 0.1 * gradients[name] for name, weight in weights.items()}
"""


def test_gradients_that_are_taken_by_a_function(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, SCRIPT, probe_seconds=0.5)
    assert seen.functional == 40, seen.warnings
    assert found(seen) == []
    assert "torch.func took gradients 40 times" in (unjudged(seen, []) or "")
