"""Where a script's text fills arrays and draws parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch import stored
from harness.frameworks.watch.sites import Sites


@pytest.mark.parametrize(("text", "line"), [
    ("labels = make()\nfor i in range(3):\n    labels[i, 0] = 1\n", 3),
    ("labels[0] = 1\nlabels[1] = 2\n", None),  # which of both is not told
    ("tags[0] = 1\nx = labels[0]\n", None)])
def test_an_array_that_is_filled(tmp_path: Path, text: str, line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    place = stored.filled("labels", script, Sites(script))
    assert (place[1] if place is not None else None) == line


@pytest.mark.parametrize(("text", "line"), [
    ("import torch\nw = torch.nn.Parameter(0.1 * torch.randn(3, 4))\n", 2),
    ("class A(nn.Module):\n    def __init__(self):\n        self.b = nn.Parameter(torch.zeros(4))\n", None)])
def test_a_parameter_that_is_drawn(tmp_path: Path, text: str, line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    place = stored.drawn_parameter(script, Sites(script))
    assert (place[1] if place is not None else None) == line
