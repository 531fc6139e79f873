"""Right answers that are divided by a number of something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch import tally
from tests.frameworks.watching import HEAD, LOOP, watch

COUNTED = """
def accuracy(model, loader):
    right = 0
    for xb, yb in loader:
        right += (model(xb).argmax(1) == yb).sum().item()
    return right / len(loader.dataset)
"""
WRONG = {"batches": ("loader.dataset)", "loader)"), "rows of the training": ("loader.dataset)", "train.dataset)"),
         "a whole": ("return right / len(loader.dataset)", "share = float(right) / len(loader)\n    return share")}
RIGHT = {"rows": ("", ""), "shares": (".sum().item()", ".float().mean().item()"), "rows counted": ("len(loader.dataset)", "rows"),
         "shares of batches": (".sum().item()", ".sum().item() / len(yb)"), "a list of rows": ("loader", "rows"),
         "batches times rows": ("len(loader.dataset)", "(len(loader) * 16)")}


def _facts(folder: Path, change: tuple[str, str]) -> tally.TallyFacts | None:
    text = COUNTED.replace(*change) if change[0] else COUNTED
    if "mean()" in change[1] or "len(yb)" in change[1]:
        text = text.replace("len(loader.dataset)", "len(loader)")
    if change[1] == "rows":
        text = text.replace("rows.dataset", "rows")
    (folder / "train.py").write_text(text)
    return tally.facts(folder / "train.py")


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_divided_by_something_else(tmp_path: Path, change: tuple[str, str]) -> None:
    found = _facts(tmp_path, change)
    assert found is not None
    assert found.batches == (change != WRONG["rows of the training"])
    assert found.counted == "right"


@pytest.mark.parametrize("change", RIGHT.values(), ids=RIGHT)
def test_divided_by_what_was_counted(tmp_path: Path, change: tuple[str, str]) -> None:
    assert _facts(tmp_path, change) is None


@pytest.mark.parametrize(("by", "wrong"), [("train.dataset", True), ("test.dataset", False)])
def test_of_a_script(tmp_path: Path, by: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    counted = "    right = 0\n    for xb, yb in test:\n        right += (model(xb).argmax(1) == yb).sum()\n    print(right / len(BY))\n"
    seen = watch(tmp_path, HEAD + LOOP[:LOOP.index("    with torch")] + counted.replace("BY", by))
    assert ("E525" in [result.code for result in walk(seen) if result.state == "found"]) == wrong
