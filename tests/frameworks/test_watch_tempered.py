"""Distillation: at which temperature each side of the loss is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import watch

SCRIPT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(480, 10)
teacher = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 5))
teacher[2].weight.data *= 6
student = nn.Linear(10, 5)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
T = 4.0
for epoch in range(3):
    for rows in x.split(32):
        with torch.no_grad():
            wanted = teacher(rows)
        given = student(rows)
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("loss", "fault"), [
    ("F.kl_div(F.log_softmax(given, -1), F.softmax(wanted / T, -1), reduction='batchmean') * T ** 2", True),
    ("F.kl_div(F.log_softmax(given / T, -1), F.log_softmax(wanted, -1), reduction='batchmean', log_target=True) * T ** 2", True),
    ("F.cross_entropy(given, F.softmax(wanted / T, -1))", True),
    ("F.kl_div(F.log_softmax(given / T, -1), F.softmax(wanted / T, -1), reduction='batchmean') * T ** 2", False),
    ("F.cross_entropy(given, F.softmax(wanted, -1))", False), ("F.cross_entropy(given / 0.1, F.softmax(wanted / 0.04, -1))", False),
    ("F.cross_entropy(given, F.one_hot(wanted.argmax(-1), 5).float())", False)],
    ids=["the teacher alone", "the student alone", "cross entropy", "both", "neither", "sharpened", "hard labels"])
def test_temperatures(tmp_path: Path, loss: str, *, fault: bool) -> None:
    found = {result.code: result.finding for result in walk(watch(tmp_path, SCRIPT.replace("LOSS", loss))) if result.state == "found"}
    assert ("L215" in found) is fault
    if fault:
        assert found["L215"] is not None
        assert found["L215"].site is not None
        assert loss in found["L215"].site.source


@pytest.mark.parametrize(("target", "fault"), [("F.softmax(wanted / T, -1)", True), ("F.log_softmax(wanted / T, -1)", False)])
@pytest.mark.parametrize("before", ["", """
first = torch.optim.SGD(teacher.parameters(), 1e-2)
for rows in x.split(20):
    F.cross_entropy(teacher(rows), rows[:, :5].argmax(1)).backward()
    first.step()
    first.zero_grad()
"""], ids=["at once", "in a later training"])
def test_a_target_that_is_said_to_be_logarithms(tmp_path: Path, target: str, before: str, *, fault: bool) -> None:
    loss = f"F.kl_div(F.log_softmax(given / T, -1), {target}, reduction='batchmean', log_target=True) * T ** 2"
    text = SCRIPT.replace("LOSS", loss).replace("for epoch", before + "for epoch", 1)
    found = {result.code: result.finding for result in walk(watch(tmp_path, text)) if result.state == "found"}
    assert ("L206" in found) is fault, found
    if fault:
        assert found["L206"] is not None
        assert found["L206"].site is not None
        assert loss in found["L206"].site.source


def test_two_students_of_each_other(tmp_path: Path) -> None:
    """The sides are told by the models that gave them, also where there are more of these."""
    text = SCRIPT.replace("given = student(rows)", "other = nn.Linear(10, 5)(rows)\n        given = student(rows)")
    seen = watch(tmp_path, text.replace("LOSS", "F.kl_div(F.log_softmax(given / T, -1), F.softmax(wanted / 2, -1), reduction='batchmean')"))
    assert seen.tempered is not None
    assert all(pair == pytest.approx((4.0, 2.0), rel=1e-3) for pair in seen.tempered.temperatures)


SOFT = "F.kl_div(F.log_softmax(given / T, -1), F.softmax(wanted / T, -1), reduction='batchmean')"
HARD = "F.cross_entropy(given, labels)"


@pytest.mark.parametrize("teacher", ["teacher(rows)", "answers[number]"])
@pytest.mark.parametrize(("loss", "fault"), [
    (f"0.6 * {SOFT} + 0.4 * {HARD}", True), (f"0.6 * {SOFT} * T ** 2 + 0.4 * {HARD}", False),
    (f"0.05 * {SOFT} * T ** 2 + 0.95 * {HARD}", False), (f"10 * {SOFT} + {HARD}", False), (f"0 * {SOFT} + 1.0 * {HARD}", False)],
    ids=["not squared", "squared", "little of it", "a weight of its own", "labels alone"])
def test_a_loss_that_the_temperature_makes_small(tmp_path: Path, teacher: str, loss: str, *, fault: bool) -> None:
    text = SCRIPT.replace("T = 4.0", "T = 8.0\nwith torch.no_grad():\n    answers = [teacher(rows) for rows in x.split(32)]")
    text = text.replace("for rows in x.split(32):\n        with", "for number, rows in enumerate(x.split(32)):\n        with")
    text = text.replace("wanted = teacher(rows)", f"wanted = {teacher}").replace(
        "        loss = LOSS", f"        labels = (rows[:, 0] > 0).long() + 2 * (rows[:, 1] > 0).long()\n        loss = {loss}")
    found = {result.code: result.finding for result in walk(watch(tmp_path, text)) if result.state == "found"}
    assert ("L215" in found) is fault
    if fault:
        assert found["L215"] is not None
        assert "T ** 2" in found["L215"].remedy
