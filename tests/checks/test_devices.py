"""Tensors on different devices, wherever they meet: messages that a GPU gave, and PyTorch's own with the device `meta`."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.observation import Observation
from harness.frameworks.stages import frames_of, stage_of
from tests.checks.made import error, finding, judge

NAMED = ("Expected all tensors to be on the same device, but got {} is on cpu, different from other tensors on cuda:0 (when checking "
         "argument in method wrapper_CUDA_nll_loss_forward)")
TWO = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
INDEXED = "indices should be either on cpu or on the same device as the indexed tensor (cpu)"


@pytest.mark.parametrize(("message", "stage", "said", "mended"), [
    (NAMED.format("weight"), "loss", "weights of the loss lie on cpu, the other tensors on cuda:0.", "CrossEntropyLoss(weight=weights)"),
    (NAMED.format("target"), "loss", "The target lies on cpu", "device=logits.device"),
    (TWO, "loss", "The tensors of the loss lie on different devices (cuda:0 and cpu).", "target.to(logits.device)"),
    (INDEXED, "loss", "A tensor on cpu is indexed by one on another device.", "register_buffer"),
    ("Calculated loss must be on the original device: cuda:0 but device in use is cpu", "setup", "lies on cpu, the model on cuda:0.",
     "without a way through NumPy"),
    (TWO, "forward", "The model and its input are on different devices (cuda:0 and cpu).", "inputs.to(device)"),
    (TWO, "setup", "Tensors on different devices are combined (cuda:0 and cpu).", "copy.deepcopy"),
    ("Tensor on device cpu is not on the expected device meta!", "forward", "different devices (cpu and meta)", "model.to(device)"),
])
def test_each_place_has_its_own_remedy(message: str, stage: str, said: str, mended: str) -> None:
    found = finding("F103", Observation(exception=error("RuntimeError", message, stage)))
    assert said in found.message
    assert mended in found.remedy
    assert found.stage == stage


def test_a_probe_of_the_diagnosis_accuses_nobody() -> None:
    raised = error("RuntimeError", TWO, "forward")
    raised.during = "probe"
    assert judge("F103", Observation(exception=raised)) != "found"


def _apart(where: str) -> Exception:
    torch: Any = pytest.importorskip("torch")
    logits, labels = torch.randn(4, 3, device="meta"), torch.zeros(4, dtype=torch.long, device="meta")
    try:
        if where == "forward":
            torch.nn.Linear(3, 3, device="meta")(torch.randn(4, 3))
        elif where == "weight":
            torch.nn.CrossEntropyLoss(weight=torch.ones(3))(logits, labels)
        else:
            torch.nn.functional.mse_loss(logits, torch.ones(4, 3))
    except (RuntimeError, ValueError) as raised:
        return raised
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(("where", "stage"), [("forward", "forward"), ("weight", "loss"), ("target", "loss")])
def test_what_pytorch_raises_today(where: str, stage: str) -> None:
    raised = _apart(where)
    facts = error(type(raised).__name__, str(raised), stage_of(raised, frames_of(raised, raised.__traceback__)))
    assert finding("F103", Observation(exception=facts)).stage == stage


def test_a_live_model_gets_its_batches_where_it_is() -> None:
    torch: Any = pytest.importorskip("torch")
    from harness.live import _moved

    pair, device = [torch.ones(2), {"mask": torch.ones(2), "name": "a"}], torch.device("meta")
    moved = _moved(pair, device)
    assert (moved[0].device, moved[1]["mask"].device, moved[1]["name"]) == (device, device, "a")
    assert _moved(pair, torch.device("cpu")) is pair
