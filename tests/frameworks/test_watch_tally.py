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
    found = _facts(tmp_path, change)
    assert found is None or found.own  # the loader has to tell whether it goes over all of them


@pytest.mark.parametrize(("by", "wrong"), [("train.dataset", True), ("test.dataset", False)])
def test_of_a_script(tmp_path: Path, by: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    counted = "    right = 0\n    for xb, yb in test:\n        right += (model(xb).argmax(1) == yb).sum()\n    print(right / len(BY))\n"
    seen = watch(tmp_path, HEAD + LOOP[:LOOP.index("    with torch")] + counted.replace("BY", by))
    assert ("E525" in [result.code for result in walk(seen) if result.state == "found"]) == wrong


@pytest.mark.parametrize(("made", "wrong"), [
    ("sampler=torch.utils.data.SubsetRandomSampler(range(20))", True), ("drop_last=False", False), ("drop_last=True", False)])
def test_a_part_of_a_dataset(tmp_path: Path, made: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = HEAD + f"test = DataLoader(TensorDataset(X[320:], y[320:]), batch_size=10, {made})\n"
    text += LOOP[:LOOP.index("    with torch")] + "    right = 0\n    for xb, yb in test:\n"
    seen = watch(tmp_path, text + "        right += (model(xb).argmax(1) == yb).sum()\n    print(right / len(test.dataset))\n")
    told = next((each.finding for each in walk(seen) if each.code == "E525"), None)
    assert (told is not None) is wrong, seen.loaders
    assert told is None or told.site.source == "print(right / len(test.dataset))"
