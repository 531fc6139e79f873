"""Rows that are drawn several times over before they are split: where the text says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch import oversampled

HELPER = """
def balance(frame):
    rare = frame[frame.failed == 1]
    return DRAWN
def main():
    frame = load()
    FIRST
    train, test = train_test_split(frame, test_size=0.2)
    AFTER
main()
"""
SAMPLE, BALANCED = "rare.sample(500, replace=True)", "frame = balance(frame)"


@pytest.mark.parametrize(("drawn", "first", "after", "line"), [
    (SAMPLE, BALANCED, "pass", BALANCED), ("resample(rare, n_samples=500)", BALANCED, "pass", BALANCED),
    ("RandomOverSampler().fit_resample(rare, rare.failed)", BALANCED, "pass", BALANCED), (SAMPLE, "pass", "train = balance(train)", None),
    ("rare.sample(500, replace=False)", BALANCED, "pass", None), ("rare.sample(500)", BALANCED, "pass", None),
    ("resample(rare, replace=False)", BALANCED, "pass", None), ("rare", "frame = frame.sample(900, replace=True)", "pass",
                                                                "frame = frame.sample(900, replace=True)")])
def test_the_line_that_comes_before_the_split(tmp_path: Path, drawn: str, first: str, after: str, line: str | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(HELPER.replace("DRAWN", drawn).replace("FIRST", first).replace("AFTER", after))
    found = oversampled.written(script)
    assert (script.read_text().splitlines()[found[1] - 1].strip() if found is not None else None) == line


def test_functions_inside_of_functions(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("def more(rare):\n    return resample(rare)\ndef prepare(frame):\n    return more(frame)\nframe = prepare(load())\n"
                      "def parts(frame):\n    return train_test_split(frame)\ntrain, test = parts(frame)\n")
    found = oversampled.written(script)
    assert found is not None
    assert found[1] == 5


def test_a_function_that_calls_itself(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("def more(rare):\n    return more(resample(rare))\ndef others(rare):\n    return more(others(rare))\n")
    assert oversampled.written(script) is None
