"""What a schedule of PyTorch comes to in the steps that the script's loops plan."""

from __future__ import annotations

from pathlib import Path

import pytest

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
