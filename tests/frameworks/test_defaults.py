"""The line of an option's default, where a call takes its argument from there and nobody gave the option."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.frameworks.watch import defaults

TEXT = """import argparse, torch
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("-d", "--weight-decay", type=float, default=1.0)
args = parser.parse_args()
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
"""


@pytest.mark.parametrize(("argv", "line"), [([], 4), (["--lr", "1"], 4), (["--weight-decay", "2"], None), (["--weight-decay=2"], None),
                                            (["-d", "2"], None)])
def test_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str], line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(TEXT)
    monkeypatch.setattr(sys, "argv", ["train.py", *argv])
    found = defaults.of("weight_decay", script)
    assert (found[1] if found is not None else None) == line
    assert defaults.of("momentum", script) is None
