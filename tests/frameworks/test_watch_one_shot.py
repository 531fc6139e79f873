"""Training data that is there for one pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch import one_shot
from tests.frameworks.watching import HEAD, LOOP, found, watch

STREAM = """
class Rows(torch.utils.data.IterableDataset):
    def __init__(self):
        self.rows = MADE
    def __iter__(self):
        yield from self.rows
train = DataLoader(Rows(), batch_size=16)
"""


@pytest.mark.parametrize(("made", "wrong"), [("map(lambda i: (X[i], y[i]), range(320))", True),
                                             ("list(map(lambda i: (X[i], y[i]), range(320)))", False)])
def test_stream(tmp_path: Path, made: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, HEAD + STREAM.replace("MADE", made) + LOOP, steps=60)
    assert ("D114" in found(seen)) is wrong, found(seen)
    if wrong:
        result = next(result.finding for result in walk(seen) if result.code == "D114")
        assert result is not None
        assert result.site is not None
        assert result.site.source.startswith("self.rows = map(")
        assert "3" in result.evidence[0]


@pytest.mark.parametrize(("text", "line"), [
    ("pairs = zip(xs, ys)\nfor epoch in range(3):\n    for x, y in pairs:\n        loss.backward()\n", 1),
    ("def rows():\n    yield 1\nmade = rows()\nwhile True:\n    for x in made:\n        optimizer.step()\n", 3),
    ("def main():\n    made = (x for x in xs)\n    while True:\n        for x in made:\n            model.train_on_batch(x)\n", 2),
    ("for epoch in range(3):\n    pairs = zip(xs, ys)\n    for x, y in pairs:\n        loss.backward()\n", None),
    ("pairs = list(zip(xs, ys))\nfor epoch in range(3):\n    for x, y in pairs:\n        loss.backward()\n", None),
    ("pairs = zip(xs, ys)\nfor x, y in pairs:\n    for turn in range(3):\n        loss.backward()\n", None),
    ("pairs = zip(xs, ys)\nfor epoch in range(3):\n    for x, y in pairs:\n        loss.backward()\n        break\n", None),
    ("names = iter(xs)\nfor epoch in range(3):\n    for name in names:\n        print(name)\n", None)])
def test_text(tmp_path: Path, text: str, line: int | None) -> None:
    path = tmp_path / "train.py"
    path.write_text(text)
    place = one_shot.used_up(path)
    assert (place[1] if place is not None else None) == line


GROUPS = """
def groups(model):
    params = MADE
    wide = [p for n, p in params if n.endswith("weight")]
    rest = [p for n, p in params if not n.endswith("weight")]
    return [{"params": wide, "weight_decay": 0.01}, {"params": rest}]
optimizer = torch.optim.Adam(groups(model), lr=1e-2)
"""


@pytest.mark.parametrize(("made", "wrong"), [("model.named_parameters()", True), ("list(model.named_parameters())", False)])
def test_groups(tmp_path: Path, made: str, *, wrong: bool) -> None:
    head = HEAD.replace("optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)", "")
    seen = watch(tmp_path, head + GROUPS.replace("MADE", made) + LOOP, steps=60)
    assert found(seen) == (["S405"] if wrong else [])
    if wrong:
        result = next(result.finding for result in walk(seen) if result.finding)
        assert result.site is not None
        assert result.site.source == "params = model.named_parameters()"
        assert "2 of 4" in result.message
