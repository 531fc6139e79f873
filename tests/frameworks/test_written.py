"""Places that are read off a script's text."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch import numbering, written

FUNCTION = """
def fit(model, x):
    opt = Adam(model.parameters(), lr=1e-3)
    best = copy(model)
    for epoch in range(9):
        if worse(x):
            model = copy(best)
"""
CLASS = """
class Learner:
    def __init__(self):
        self.net = build()
        self.opt = Adam(
            self.net.parameters(), lr=1e-3)
    def reset(self):
        self.net = build()
    def other(self):
        net = build()
"""
LATER = CLASS.replace("    def other(self):\n        net", "    def other(self):\n        self.net")
APART = """
class Task:
    def __init__(self):
        self.net = build()
    def configure(self):
        return Adam(self.net.parameters())
"""
BEFORE = """
model = build()
model = compiled(model)
optimizer = Adam(model.parameters())
model.head = Linear(3)
"""


@pytest.mark.parametrize(("text", "optimizer", "line"), [
    (FUNCTION, 3, 7), (CLASS, 5, 8), (LATER, 5, None), (APART, 6, None), (BEFORE, 4, None), (FUNCTION, 4, None)],
    ids=["a name", "an attribute", "in two places", "made elsewhere", "before it", "no optimizer"])
def test_rebound(tmp_path: Path, text: str, optimizer: int, line: int | None) -> None:
    """A model that takes the place of the one that an optimizer was made for."""
    path = tmp_path / "train.py"
    path.write_text(text)
    found = written.rebound((str(path), optimizer, ""))
    assert (found and found[1]) == line


@pytest.mark.parametrize(("text", "line"), [
    ("def ids(names):\n    return {name: i for i, name in enumerate(names)}", 2),
    ("def ids(names):\n    names = sorted(names)\n    return {n: k for k, n in enumerate(names)}", 3),
    ("ids = {name: i for i, name in enumerate(names)}", None),  # once, for all parts
    ("def words(texts):\n    return {word: i for i, word in enumerate(texts)}", None),
    ("def names(ids):\n    return {i: name for i, name in enumerate(ids)}", None),
    ("def a(x):\n    return {n: i for i, n in enumerate(x)}\ndef b(x):\n    return {n: i for i, n in enumerate(x)}", None),
])
def test_names_that_are_numbered_anew(tmp_path: Path, text: str, line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    found = numbering.anew(str(script))
    assert (found[1] if found is not None else None) == line
