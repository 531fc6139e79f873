"""What a schedule of PyTorch comes to in the steps that the script's loops plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import HEAD, found, watch

pytest.importorskip("torch")
pytest.importorskip("transformers")

PLANNED = """
from transformers import get_linear_schedule_with_warmup
schedule = get_linear_schedule_with_warmup(optimizer, 4, LENGTH)
for epoch in range(12):
    for number, (xb, yb) in enumerate(train):
        F.cross_entropy(model(xb), yb).backward()
        if (number + 1) % TURN == 0:
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
"""


@pytest.mark.parametrize(("length", "turn", "used_up"), [(40, 1, (41, 240)), (240, 1, None), (60, 4, None), (15, 4, (16, 60))])
def test_a_rate_that_is_used_up_before_the_steps_are(tmp_path: Path, length: int, turn: int, used_up: tuple[int, int] | None) -> None:
    text = HEAD + PLANNED.replace("LENGTH", str(length)).replace("TURN", str(turn))
    seen = watch(tmp_path, text, steps=14, probe_seconds=1)
    assert seen.optimizer is not None
    assert seen.optimizer.used_up == used_up, seen.warnings
    assert ("S402" in found(seen)) is (used_up is not None)


def test_a_schedule_that_is_stepped_with_every_batch(tmp_path: Path) -> None:
    """Its length is in the optimizer's steps, of which each takes four batches."""
    text = HEAD + PLANNED.replace("LENGTH", "60").replace("TURN", "4").replace("            schedule.step()", "        schedule.step()")
    seen = watch(tmp_path, text, steps=14, probe_seconds=1)
    assert seen.optimizer is not None
    assert seen.optimizer.often == pytest.approx(4, abs=0.4)
    assert seen.optimizer.used_up is not None
    assert seen.optimizer.used_up[0] == pytest.approx(16, abs=1)
    told = next(each.finding for each in walk(seen) if each.code == "S402")
    assert told is not None
    assert told.site is not None
    assert told.site.source == "schedule.step()"
    assert "beside the optimizer" in told.remedy


RESUMED = """
def made():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    return net, optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.8 ** epoch)
def run(net, optimizer, schedule, epochs):
    for epoch in range(epochs):
        for xb, yb in train:
            optimizer.zero_grad()
            F.cross_entropy(net(xb), yb).backward()
            optimizer.step()
        schedule.step()
state = STATE
net, optimizer, schedule = made()
schedule.load_state_dict(state)
optimizer.param_groups[0]["lr"] = schedule.get_last_lr()[0]
run(net, optimizer, schedule, 4)
"""


def test_a_schedule_that_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    state = "{**made()[2].state_dict(), 'last_epoch': 30, '_step_count': 31, '_last_lr': [0.5 * 0.8 ** 30]}"
    seen = watch(tmp_path, HEAD + RESUMED.replace("STATE", state), steps=60)
    assert seen.optimizer is not None
    assert seen.optimizer.climb is None
    assert "S402" not in found(seen)


@pytest.mark.parametrize("steps", [21, 22])
def test_a_schedule_whose_first_step_comes_after_an_epoch(tmp_path: Path, steps: int) -> None:
    """Where watching ends within few steps of it, nothing says that it will be stepped with each batch."""
    text = HEAD + """
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.1)
for epoch in range(8):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    schedule.step()
"""
    seen = watch(tmp_path, text, steps=steps, probe_seconds=0.0)
    assert seen.optimizer is not None
    assert seen.optimizer.used_up is None
    assert "S402" not in found(seen)
