"""Windows that were standardised column by column: which of those held out are windows of the training but for a few steps."""

from __future__ import annotations

import numpy as np
import pytest

from harness.frameworks.watch.near_windows import NearWindows
from harness.frameworks.watch.shared_rows import SharedRows


def cut(series: np.ndarray, starts: list[int], *, flat: bool) -> np.ndarray:
    """float32[windows, steps, channels], or channel by channel in a row, each column standardised."""
    windows = np.stack([series[start:start + 24] for start in starts])
    windows = (windows - windows.mean(0)) / windows.std(0)
    return (windows.transpose(0, 2, 1).reshape(len(windows), -1) if flat else windows).astype("float32")


def series(kind: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    if kind == "repeats":
        return np.stack([np.sin(np.arange(900) * np.pi / 6), np.cos(np.arange(900) * np.pi / 6)], 1)
    slow = np.stack([np.convolve(rng.normal(size=930), np.ones(31) / 5, "valid") for _ in range(2)], 1)
    return slow + 0.1 * rng.normal(size=slow.shape)


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize(("kind", "shuffled", "share"), [("drifts", True, 0.9), ("drifts", False, 0.0), ("repeats", True, 0.0)])
def test_which_overlap(kind: str, shuffled: bool, share: float, *, flat: bool) -> None:
    rows = cut(series(kind), list(range(870)), flat=flat)
    order = np.random.default_rng(1).permutation(870) if shuffled else np.arange(870)
    windows = NearWindows()
    windows.trained(rows[order[:600]])
    windows.held(rows[order[640:]])
    looked, overlapping = windows.facts()
    assert looked == 48
    assert overlapping >= share * looked if share else not overlapping


def test_another_model_has_other_rows() -> None:
    """Of two folds each holds out what the other one is trained on."""
    rows = cut(series("drifts"), list(range(870)), flat=True)

    class Model:
        pass

    known, first, second = SharedRows(), Model(), Model()
    for model, trained, held in ((first, rows[:400], rows[430:]), (second, rows[430:], rows[:400])):
        known.trained(model, [trained])
        known.held(model, [held])
    facts = known.facts()
    assert facts is not None
    assert facts.overlapping == 0


def test_pictures_that_are_mostly_empty_are_no_windows() -> None:
    """Digits of eight by eight pixels, from which each one's own mean is taken."""
    digits = pytest.importorskip("sklearn.datasets").load_digits().data / 16
    rows = (digits - digits.mean(1, keepdims=True)).astype("float32")
    order = np.random.default_rng(2).permutation(len(rows))
    windows = NearWindows()
    windows.trained(rows[order[:1200]])
    windows.held(rows[order[1200:]])
    assert windows.facts() == (48, 0)


def test_counts_are_alike_by_chance() -> None:
    """Of how many of twenty kinds there are in a row."""
    rng = np.random.default_rng(3)
    rows = np.stack([np.bincount(rng.integers(0, 20, 14), minlength=20) for _ in range(1600)]).astype("float32") / 2
    windows = NearWindows()
    windows.trained(rows[:1200])
    windows.held(rows[1200:])
    assert windows.facts() == (48, 0)
