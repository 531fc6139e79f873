"""Trackers of a script's own that add up over all evaluations."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

SCRIPT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(320, 4)
y = (x[:, 0] > 0).long()
class Tracker:
    def __init__(self):
        self.reset()
    def reset(self):
        self.right, self.seen = 0, 0
    def update(self, answers, labels):
        self.right += int((answers == labels).sum())
        self.seen += len(labels)
    def value(self):
        return self.right / self.seen
net = nn.Linear(4, 2)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
MADE
@torch.no_grad()
def evaluate():
    net.eval()
    BEGIN
    for rows in torch.arange(240, 320).split(20):
        tracker.update(net(x[rows]).argmax(1), y[rows])
    return tracker.value()
def train():
    net.train()
    for rows in torch.randperm(240).split(20):
        optimizer.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        optimizer.step()
for epoch in range(3):
    train()
    LOOP
"""
MADE, ASKED = "tracker = Tracker()", "print(evaluate())"


@pytest.mark.parametrize(("made", "begin", "loop", "wrong"), [
    (MADE, "pass", ASKED, True), (MADE, "tracker.reset()", ASKED, False), (MADE, "pass", "tracker.reset()\n    print(evaluate())", False),
    (MADE, "global tracker; tracker = Tracker()", ASKED, False), (MADE + "\nkept = [tracker]; kept.append(tracker)", "pass", ASKED, False),
    (MADE, "pass", "pass", False)])
def test_an_object(tmp_path: Path, made: str, begin: str, loop: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = SCRIPT.replace("MADE", made).replace("BEGIN", begin).replace("LOOP", loop)
    seen = watch(tmp_path, text, steps=36, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("E524" in found(seen)) is wrong, seen.running_on
    if wrong:
        assert seen.running_on is not None
        assert seen.running_on.site is not None
        assert "tracker.update" in seen.running_on.site.source


DEFAULT = SCRIPT[:SCRIPT.index("MADE")] + """
@torch.no_grad()
def evaluate(PARAMETER):
    net.eval()
    BEGIN
    for rows in torch.arange(240, 320).split(20):
        guess = net(x[rows]).argmax(1)
        ADD
    return VALUE
""" + SCRIPT[SCRIPT.index("def train"):]
KEPT = ("kept=[]", "kept.extend((guess == y[rows]).tolist())", "sum(kept) / len(kept)")


@pytest.mark.parametrize(("parameter", "add", "value", "begin", "loop", "wrong"), [
    ("meter=Tracker()", "meter.update(guess, y[rows])", "meter.value()", "pass", ASKED, True),
    ("meter=Tracker()", "meter.update(guess, y[rows])", "meter.value()", "pass", "print(evaluate(Tracker()))", False),
    ("meter=Tracker()", "meter.update(guess, y[rows])", "meter.value()", "meter.reset()", ASKED, False),
    ("*, " + KEPT[0], *KEPT[1:], "pass", ASKED, True), (*KEPT, "pass", ASKED, True), (*KEPT, "kept = []", ASKED, False),
    (*KEPT, "pass", "pass\nprint(evaluate())", False)])
def test_a_default_value(tmp_path: Path, parameter: str, add: str, value: str, begin: str, loop: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = DEFAULT.replace("PARAMETER", parameter).replace("BEGIN", begin).replace("ADD", add).replace("VALUE", value)
    seen = watch(tmp_path, text.replace("LOOP", loop), steps=36, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("E524" in found(seen)) is wrong, seen.running_on
    assert not wrong or f"def evaluate({parameter})" in seen.running_on.site.source
