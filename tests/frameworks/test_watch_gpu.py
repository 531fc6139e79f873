"""What is on a GPU is read as if it were on the CPU: once the GPU is done, and not after something failed there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from harness.frameworks.watch import tensors
from tests.frameworks.watching import HEAD, found, watch

pytestmark = pytest.mark.filterwarnings("ignore")
DEVICE = HEAD.replace("model = Net()", "model = Net().cuda()")
LOOP = """
for epoch in range(4):
    for xb, yb in train:
        loss = {loss}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


class Card:
    """Stands for `torch.cuda`: says when it was waited for, and fails from then on when told to."""

    def __init__(self, *, capturing: bool = False) -> None:
        self.waits, self.broken, self.capturing = 0, False, capturing

    def is_current_stream_capturing(self) -> bool:
        return self.capturing

    def synchronize(self, device: Any) -> None:
        self.waits += 1
        if self.broken:
            raise RuntimeError(f"CUDA error: device-side assert triggered on {device}")


def on_card(monkeypatch: pytest.MonkeyPatch, card: Card) -> Any:
    """A tensor that says that it is on that card."""
    monkeypatch.setattr(torch, "cuda", card)
    monkeypatch.setattr(tensors, "_GPU", tensors._Waiting())
    return SimpleNamespace(device=SimpleNamespace(type="cuda"), grad_fn=None, layout=torch.strided, detach=lambda: torch.ones(2))


def test_what_is_read_was_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    card = Card()
    assert np.array_equal(tensors.array(on_card(monkeypatch, card)), [1, 1])
    assert card.waits == 1


def test_nothing_is_read_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    card = Card()
    tensor = on_card(monkeypatch, card)
    card.broken = True
    assert not tensors.readable(tensor)
    card.broken = False
    assert tensors.array(tensor) is None
    assert card.waits == 1


def test_nothing_is_read_while_a_graph_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    card = Card(capturing=True)
    assert not tensors.readable(on_card(monkeypatch, card))
    assert card.waits == 0


def test_other_devices_are_left_alone() -> None:
    assert not tensors.readable(torch.ones(2, device="meta"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_two_terms_are_weighed_on_a_gpu(tmp_path: Path) -> None:
    loss = "F.cross_entropy(model(xb.cuda()), yb.cuda()) + F.mse_loss(model(xb.cuda()).sum(1), 1e4 * xb.cuda()[:, 0])"
    seen = watch(tmp_path, DEVICE + LOOP.format(loss=loss))
    assert seen.device == "cuda"
    assert all(step.loss is not None for step in seen.steps)
    assert found(seen)[0] == "L207"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_healthy_loop_on_a_gpu(tmp_path: Path) -> None:
    seen = watch(tmp_path, DEVICE + LOOP.format(loss="F.cross_entropy(model(xb.cuda()), yb.cuda())"))
    assert found(seen) == []
    assert seen.loss_calls[0].value is not None


ELSEWHERE = DEVICE.replace(".cuda()", '.to("meta")')
ASKED = """
for _ in range(3):
    loss = model({given}).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_inputs_are_placed_where_a_model_is_called_with_them(tmp_path: Path) -> None:
    seen = watch(tmp_path, ELSEWHERE + ASKED.format(given='X.to("meta")') + "scores = model(X)\n")
    assert found(seen)[0] == "F103"
    assert seen.exception is not None
    assert seen.exception.called is not None
    assert seen.exception.called.source == "scores = model(X)"


def test_a_tensor_made_inside_a_model_is_its_own(tmp_path: Path) -> None:
    inside = ELSEWHERE.replace("torch.relu(self.a(x))", "torch.relu(self.a(x)) + torch.ones(32)")
    seen = watch(tmp_path, inside + ASKED.format(given='X.to("meta")'))
    assert found(seen)[0] == "F103"
    assert seen.exception is not None
    assert seen.exception.called is None
