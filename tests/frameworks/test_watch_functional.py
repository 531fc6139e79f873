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


BY_HAND = """
import torch
import torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(400, 10)
y = (x[:, 0] > 0).long()
weights = torch.zeros(10, 2, requires_grad=True)
for number in range(STEPS):
    loss = F.cross_entropy(x @ weights, y)
    (gradient,) = torch.autograd.grad(loss, [weights])
    with torch.no_grad():
        weights -= RATE * gradient
"""


def test_steps_by_hand(tmp_path: Path) -> None:
    """The losses are the script's own: where they fall it has learnt, though no optimizer has stepped."""
    seen = watch(tmp_path, BY_HAND.replace("STEPS", "120").replace("RATE", "0.5"))
    assert seen.backward_without_step >= 60
    assert found(seen) == []
    assert unjudged(seen, []) is None
    idle = watch(tmp_path, BY_HAND.replace("STEPS", "120").replace("RATE", "0.0"))
    assert "no optimizer stepped" in (unjudged(idle, []) or "")
