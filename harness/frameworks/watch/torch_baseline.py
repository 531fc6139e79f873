"""Can anything be learnt from these rows? A plain baseline, on the rows as they are and with their labels shuffled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.observation import ProbeFacts

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_FOLDS = 5
_LEAST = 60
_HASHED = 2048
_RANDOM = 256


def measure(watch: TorchWatcher, facts: ProbeFacts) -> None:
    """Fill the baseline of the rows trained on so far, where they have classes."""
    kind, rows, labels = watch.data.rows_seen()
    if len(labels) < _LEAST:
        facts.skipped["baseline"] = f"only {len(labels)} labelled rows were seen"
        return
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) < 2 or len(counts) > 50:
        facts.skipped["baseline"] = "the labels are constant" if len(counts) < 2 else "too many classes"
        return
    features = _bags(rows) if kind == "tokens" else _expanded(rows)
    generator = np.random.default_rng(0)
    facts.text_baseline = cross_validated(features, labels, generator)
    shuffled = [cross_validated(features, generator.permutation(labels), generator) for _ in range(3)]
    facts.text_baseline_shuffled = float(np.mean(shuffled))
    facts.text_baseline_rows = len(labels)


def _bags(rows: list[Any]) -> Any:
    """Token ids and pairs of neighbours, counted in hashed columns, by their logarithm."""
    bags: Any = np.zeros((len(rows), _HASHED), dtype=np.float32)
    for number, row in enumerate(rows):
        ids = np.asarray(row, dtype=np.int64)
        np.add.at(bags[number], ids * 7919 % _HASHED, 1)
        if len(ids) > 1:
            np.add.at(bags[number], (ids[:-1] * 104729 + ids[1:] * 1299709) % _HASHED, 1)
    return np.log1p(bags)


def _expanded(rows: list[Any]) -> Any:
    """Standardised numbers, with random ReLU features beside them, so that more than straight lines can be found."""
    plain = np.stack([np.asarray(row, dtype=np.float32).reshape(-1) for row in rows])
    if plain.shape[1] > _HASHED:
        plain = plain[:, :: plain.shape[1] // _HASHED + 1]
    plain = np.nan_to_num(plain, nan=0.0, posinf=0.0, neginf=0.0)
    plain = (plain - plain.mean(0)) / (plain.std(0) + 1e-6)
    mixed = np.random.default_rng(0).normal(size=(plain.shape[1], _RANDOM)).astype(np.float32) / np.sqrt(plain.shape[1])
    return np.hstack([plain, np.maximum(plain @ mixed, 0)])


def cross_validated(features: Any, labels: Any, generator: Any) -> float:
    """Accuracy of ridge regression on one-hot labels over rows that it was not fitted on."""
    classes, numbers = np.unique(labels, return_inverse=True)
    wanted = np.eye(len(classes), dtype=np.float64)[numbers]
    order = generator.permutation(len(labels))
    right = 0
    for fold in range(_FOLDS):
        held = order[fold::_FOLDS]
        fitted = np.setdiff1d(order, held)
        mean = features[fitted].mean(0)
        x, z = (features[fitted] - mean).astype(np.float64), (features[held] - mean).astype(np.float64)
        kernel = x @ x.T
        strength = 0.1 * np.trace(kernel) / len(fitted) + 1e-9
        offset = wanted[fitted].mean(0)
        weights = np.linalg.solve(kernel + strength * np.eye(len(fitted)), wanted[fitted] - offset)
        scores = z @ (x.T @ weights) + offset
        right += int((scores.argmax(1) == numbers[held]).sum())
    return right / len(labels)
