"""How many steps a script's loops plan, read off its text and its names while it runs: no framework is needed for that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.frameworks.watch.plans import Plan
from harness.frameworks.watch.sites import Sites


def planned(folder: Path, text: str) -> list[int | None]:
    """What a plan says at each call of `step()` in a script."""
    path = folder / "script.py"
    path.write_text(text)
    sites, plan, told = Sites(path), Plan(), []

    def step() -> None:
        told.append(plan.stepped(sites.frames))

    names: dict[str, Any] = {"step": step, "__name__": "__main__"}
    exec(compile(text, str(path), "exec"), names)
    return told


@pytest.mark.parametrize(("text", "wanted"), [
    ("for epoch in range(4):\n    for batch in [1, 2, 3]:\n        step()\n", 12),
    ("EPOCHS, rows = 3, list(range(10))\nfor _ in range(EPOCHS):\n    for start in range(0, len(rows), 4):\n        step()\n", 9),
    ("class C:\n    steps = 7\n\n\ndef main(c):\n    for number in range(c.steps):\n        step()\n\n\nmain(C())\n", 7),
    ("def epoch(loader):\n    for number, batch in enumerate(loader):\n        step()\n\n\nfor _ in range(2):\n    epoch([1, 2])\n", 4),
    ("from itertools import count\nfor left, right in zip(range(5), range(9)):\n    step()\n", 5)])
def test_loops_that_tell_their_length(tmp_path: Path, text: str, wanted: int) -> None:
    """Each step is told the same number, and that many are taken."""
    told = planned(tmp_path, text)
    assert told == [wanted] * wanted


def test_turns_of_the_outer_loop(tmp_path: Path) -> None:
    """Where an inner loop is a generator, the epochs that are over tell what is to come."""
    told = planned(tmp_path, "def batches():\n    yield from range(5)\n\n\n"
                             "for epoch in range(6):\n    for batch in batches():\n        step()\n")
    assert told == [None] * 5 + [30] * 25


@pytest.mark.parametrize("text", [
    "number = 0\nwhile number < 5:\n    number += 1\n    step()\n",
    "for batch in iter(lambda left=[0, 1]: left.pop(), 0):\n    step()\n",
    "step()\n"])
def test_what_is_not_told(tmp_path: Path, text: str) -> None:
    """Loops without a length, and no loop."""
    assert set(planned(tmp_path, text)) == {None}


def test_nothing_of_the_script_is_run(tmp_path: Path) -> None:
    """A property, which may do anything, is not asked for."""
    told = planned(tmp_path, "class Run:\n    asked = 0\n\n    @property\n    def steps(self):\n        Run.asked += 1\n"
                             "        return 2\n\n\nrun = Run()\nfor _ in range(run.steps):\n    step()\nassert Run.asked == 1\n")
    assert told == [None, None]
