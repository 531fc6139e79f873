"""Backward passes that are written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import HEAD, LOOP, found, watch

FUNCTION = """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return FORWARD
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        s = torch.sigmoid(x)
        return BACKWARD
class Inner(nn.Module):
    def forward(self, x):
        return Own.apply(x)
model = nn.Sequential(nn.Linear(10, 32), Inner(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
"""


@pytest.mark.parametrize(("forward", "backward", "wrong"), [
    ("x * torch.sigmoid(x)", "grad * s * (1 + x * (1 - s))", False),
    ("x * torch.sigmoid(x)", "grad * (s - x * s * (1 - s))", True),
    ("x * torch.sigmoid(x)", "-grad * s * (1 + x * (1 - s))", True),
    ("x.clamp(min=0)", "grad * (x < 0)", True),
    ("x.clamp(min=0)", "grad * (x > 0)", False),
    ("x.clamp(-0.5, 0.5)", "grad", False),  # straight through, on purpose
    ("x.sign()", "grad * (x.abs() < 1)", False),
    ("torch.round(x * 4) / 4", "grad", False),
    ("x.clone()", "-0.1 * grad", False),  # a gradient that is turned round
    ("x + 0.01 * torch.randn_like(x)", "grad", False)])
def test_a_derivative_by_hand(tmp_path: Path, forward: str, backward: str, wrong: bool) -> None:
    text = HEAD + FUNCTION.replace("FORWARD", forward).replace("BACKWARD", backward) + LOOP
    seen = watch(tmp_path, text)
    codes = found(seen)
    assert ("G310" in codes) is wrong
    if wrong:
        assert codes == ["G310"]
        facts = seen.own_backwards[0]
        assert facts.site is not None
        assert facts.site.source == "def backward(ctx, grad):"


def test_two_tensors(tmp_path: Path) -> None:
    text = HEAD + """
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.T
    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight, grad.T @ x / len(x)
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(0.3 * torch.randn(2, 10))
    def forward(self, x):
        return Product.apply(x, self.weight)
model = Inner()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
""" + LOOP
    seen = watch(tmp_path, text)
    assert found(seen) == ["G310"]
    assert seen.own_backwards[0].argument == 1
    assert all(abs(ratio - 1 / 16) < 1e-6 for ratio in seen.own_backwards[0].ratios)
