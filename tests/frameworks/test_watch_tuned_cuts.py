"""Thresholds that a script chooses: by which rows, and what they cut afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch import tuned_cuts
from tests.frameworks.watching import HEAD, LOOP, found, watch

LOOPED = """
best, best_f1 = 0.5, 0.0
for cut in np.linspace(0.1, 0.9, 81):
    value = f1_score(y_ROWS, p_ROWS >= cut)
    if value > best_f1:
        best, best_f1 = cut, value
"""
LISTED = """
cuts = np.linspace(0.1, 0.9, 81)
values = [f1_score(y_ROWS, p_ROWS > cut) for cut in cuts]
best = cuts[int(np.argmax(values))]
"""
KEYED = """
cuts = np.linspace(0.1, 0.9, 81)
best = max(cuts, key=lambda cut: f1_score(y_ROWS, p_ROWS >= cut))
"""
PAIRED = """
best_f1, best = max((f1_score(y_ROWS, p_ROWS >= cut), cut) for cut in np.linspace(0.1, 0.9, 81))
"""
CURVE = """
fpr, tpr, cuts = roc_curve(y_ROWS, p_ROWS)
best = cuts[np.argmax(tpr - fpr)]
"""
CALLED = """
def chosen(y, p):
    cuts = np.linspace(0.1, 0.9, 81)
    values = [f1_score(y, p >= cut) for cut in cuts]
    return cuts[np.argmax(values)], max(values)

best, value = chosen(y_ROWS, p_ROWS)
"""
SAME, OTHER = "print(f1_score(y_test, p_test >= best), best)", "print(f1_score(y_later, p_later >= best), best)"
HANDED = """
def report(y, p, cut):
    print(f1_score(y, p >= cut))

report(y_later, p_later, best)
"""


def place(tmp_path: Path, text: str) -> int | None:
    path = tmp_path / f"train_{len(list(tmp_path.iterdir()))}.py"  # a text is read once
    path.write_text(text)
    found_ = tuned_cuts.written(path)
    return found_[1] if found_ is not None else None


@pytest.mark.parametrize("choice", [LOOPED, LISTED, KEYED, PAIRED, CURVE, CALLED],
                         ids=["looped", "listed", "keyed", "paired", "curve", "called"])
def test_which_rows_choose(tmp_path: Path, choice: str) -> None:
    told = place(tmp_path, choice.replace("ROWS", "test") + SAME)
    assert told is not None
    assert "_test" in (choice.replace("ROWS", "test") + SAME).splitlines()[told - 1]
    assert place(tmp_path, choice.replace("ROWS", "val") + SAME) is None
    assert place(tmp_path, choice.replace("ROWS", "test") + OTHER) is None
    assert place(tmp_path, choice.replace("ROWS", "test") + HANDED) is None


def test_the_same_in_a_function(tmp_path: Path) -> None:
    inside = "".join(f"    {line}\n" for line in (LISTED.replace("ROWS", "test") + SAME).splitlines())
    assert place(tmp_path, "def main():\n" + inside) is not None
    assert place(tmp_path, "def main():\n" + inside.replace("print(", "return (")) is not None


@pytest.mark.parametrize("text", [
    "for cut in (0.3, 0.5, 0.7):\n    print(cut, f1_score(y_test, p_test >= cut))\n",  # a table, of which nothing is chosen
    "for epoch in range(9):\n    if loss_test > epoch:\n        last = epoch\n"])
def test_nothing_is_chosen(tmp_path: Path, text: str) -> None:
    assert place(tmp_path, text) is None


@pytest.mark.parametrize(("rows", "fault"), [("test", True), ("val", False)])
def test_it_is_told(tmp_path: Path, rows: str, *, fault: bool) -> None:
    text = HEAD + LOOP + """
import numpy as np
from sklearn.metrics import f1_score
with torch.no_grad():
    p_ROWS, y_ROWS = model(X[320:]).softmax(1)[:, 1].numpy(), y[320:].numpy()
""".replace("ROWS", rows) + KEYED.replace("ROWS", rows) + f"print(f1_score(y_{rows}, p_{rows} >= best))\n"
    assert ("E533" in found(watch(tmp_path, text))) == fault
