"""Can anything be learnt from these rows? A plain baseline, on the rows as they are and with their labels shuffled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from harness.checks.probe_facts import EvenFacts, ProbeFacts, TwinFacts, WholeFacts
from harness.frameworks.watch import ahead, orderless, weak

_FOLDS = 5
_LEAST = 60
_CLASSES = 50
_HASHED = 2048
_RANDOM = 256
# Rows beyond this change a weak signal's significance little and cost their cube.
_MOST = 900
_SHUFFLES = 3
_RARE, _MANY = 100, 0.6  # rows of the rarer of two classes, and the share of the other, where as many of both are looked at
_TOLD_ALL = 0.99  # of the rows: then no other kernel is needed
_TOLD = 0.95  # of the rows: then nothing that counts is lost


class Rows(Protocol):
    """Keeps the rows that were trained on."""

    def rows_seen(self) -> tuple[str, list[Any], Any]:
        """Kind of the rows (tokens, numbers), the rows, and their labels `int[rows]` or targets `float[rows]` or
        `float[rows, columns]`."""


def measure(seen: Rows, facts: ProbeFacts, cut: Callable[[list[Any], Any], WholeFacts | None]) -> None:
    """Fill the baseline of the rows trained on so far, by their classes or, where these are too many, by their numbers. `cut`: asked about
    rows of ids and their classes `int[rows]`."""
    kind, rows, labels = seen.rows_seen()
    if len(labels) < _LEAST:
        facts.skipped["baseline"] = f"only {len(labels)} labelled rows were seen"
        return
    many = labels.ndim > 1 or len(np.unique(labels)) > _CLASSES
    facts.twins = None if many else _twins(rows, labels)
    if len(labels) > _MOST:
        facts.weak = weak.measure(rows, labels) if kind != "tokens" else None
        chosen = np.sort(np.random.default_rng(1).permutation(len(labels))[:_MOST])
        rows, labels = [rows[number] for number in chosen], labels[chosen]
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) < 2:
        facts.skipped["baseline"] = "the labels are constant"
        return
    if many:
        facts.skipped["baseline"] = "too many classes"
        kernels = [_linear(_bags(rows))] if kind == "tokens" else _of_numbers(rows)
        columns = labels.reshape(len(labels), -1)
        facts.number_baseline = max(_correlation(kernel, columns, np.random.default_rng(0)) for kernel in kernels)
        _bends(facts, rows, facts.number_baseline, lambda kernel: _correlation(kernel, columns, np.random.default_rng(0)))
        _ordered(facts, kind, rows, lambda kernel: _correlation(kernel, columns, np.random.default_rng(0)))
        facts.ahead = ahead.measure(rows, labels) if kind != "tokens" else None
        facts.number_baseline_rows, facts.number_baseline_columns = columns.shape
        return
    kernels = [_linear(_bags(rows))] if kind == "tokens" else _of_numbers(rows)
    generator = np.random.default_rng(0)
    labellings = [labels, *[generator.permutation(labels) for _ in range(_SHUFFLES)]]
    # The better of the kernels, for the labels as they are and for each shuffling alike.
    found = [cross_validated(kernels[0], labellings, np.random.default_rng(0))]
    if found[0][0] < _TOLD_ALL:
        found += [cross_validated(kernel, labellings, np.random.default_rng(0)) for kernel in kernels[1:]]
    facts.text_baseline, *shuffled = np.max(found, axis=0).tolist()
    facts.text_baseline_shuffled = float(np.mean(shuffled))
    facts.text_baseline_rows = len(labels)
    facts.even_baseline = _even(kernels, labels, counts)
    _bends(facts, rows, facts.text_baseline, lambda kernel: cross_validated(kernel, [labels], np.random.default_rng(0))[0])
    _ordered(facts, kind, rows, lambda kernel: cross_validated(kernel, [labels], np.random.default_rng(0))[0])
    facts.whole = cut(rows, labels) if kind == "tokens" and facts.text_baseline < _TOLD else None


def _even(kernels: list[Any], labels: Any, counts: Any) -> EvenFacts | None:
    """The same on as many rows of each of two classes, where one of them has most: of all rows, its share is an accuracy as well."""
    rare = int(counts.min())
    if len(counts) != 2 or rare < _RARE or counts.max() < _MANY * counts.sum():
        return None
    generator = np.random.default_rng(2)
    kept = np.sort(np.concatenate([generator.permutation(np.flatnonzero(labels == label))[:rare] for label in np.unique(labels)]))
    labellings = [labels[kept], *[generator.permutation(labels[kept]) for _ in range(_SHUFFLES)]]
    found = [cross_validated(kernel[np.ix_(kept, kept)], labellings, np.random.default_rng(0)) for kernel in kernels]
    told, *shuffled = np.max(found, axis=0).tolist()
    return EvenFacts(told=told, shuffled=float(np.mean(shuffled)), rows=len(kept))


def _bends(facts: ProbeFacts, rows: list[Any], told: float, ask: Callable[[Any], float]) -> None:
    """What straight lines tell of rows of numbers, where the model draws no other; beside what the baseline, which bends, has `told`."""
    if facts.straight is not None:
        facts.straight.told, facts.straight.bent, facts.straight.rows = ask(_linear(_standardised(rows))), told, len(rows)


def _ordered(facts: ProbeFacts, kind: str, rows: list[Any], ask: Callable[[Any], float]) -> None:
    """What is told of rows without the order of their steps and with it, where the model cannot tell in which they come."""
    if facts.orderless is None or (kind != "tokens" and any(row.ndim != 2 or row.shape != rows[0].shape for row in rows)):
        return
    if kind == "tokens":
        without, with_order = map(_linear, orderless.of_tokens(rows))
        kernels = [with_order, _linear(_bags(rows))]
    else:
        without, kernels = _linear(orderless.of_steps(rows)), _of_numbers(rows)
    facts.orderless.told, facts.orderless.ordered, facts.orderless.rows = ask(without), max(map(ask, kernels)), len(rows)


def of_tokens(rows: list[Any], labels: Any) -> float:
    """Cross-validated accuracy for rows of ids, int64 of any lengths, and their classes `int[rows]`."""
    return cross_validated(_linear(_bags(rows)), [labels], np.random.default_rng(0))[0]


def _twins(rows: list[Any], labels: Any) -> TwinFacts | None:
    groups: dict[Any, Counter[Any]] = {}
    for row, label in zip(rows, labels.tolist(), strict=True):
        groups.setdefault((row.tobytes(), row.shape), Counter())[label] += 1
    shared = [counts for counts in groups.values() if counts.total() > 1]
    if not shared:
        return None
    same = sum(count * (count - 1) for counts in shared for count in counts.values())
    pairs = sum(counts.total() * (counts.total() - 1) for counts in shared)
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return TwinFacts(rows=sum(counts.total() for counts in shared), agree=same / pairs, chance=float((shares**2).sum()),
                     inputs=len(shared))


def _bags(rows: list[Any]) -> Any:
    """Token ids and pairs of neighbours, counted in hashed columns, by their logarithm."""
    bags: Any = np.zeros((len(rows), _HASHED), dtype=np.float32)
    for number, row in enumerate(rows):
        ids = np.asarray(row, dtype=np.int64)
        np.add.at(bags[number], ids * 7919 % _HASHED, 1)
        if len(ids) > 1:
            np.add.at(bags[number], (ids[:-1] * 104729 + ids[1:] * 1299709) % _HASHED, 1)
    return np.log1p(bags)


def _of_numbers(rows: list[Any]) -> list[Any]:
    """Kernels of standardised numbers: with random ReLU features beside them, and of all products of up to three of them.

    So that more than straight lines can be found: a boundary that bends, an exclusive or.
    """
    plain = _standardised(rows)
    mixed = np.random.default_rng(0).normal(size=(plain.shape[1], _RANDOM)).astype(np.float32) / np.sqrt(plain.shape[1])
    products = 1 + (plain @ plain.T).astype(np.float64) / plain.shape[1] ** 0.5
    return [_linear(np.hstack([plain, np.maximum(plain @ mixed, 0)])), products ** 3]


def _standardised(rows: list[Any]) -> Any:
    plain = np.stack([np.asarray(row, dtype=np.float32).reshape(-1) for row in rows])
    if plain.shape[1] > _HASHED:
        plain = plain[:, :: plain.shape[1] // _HASHED + 1]
    plain = np.nan_to_num(plain, nan=0.0, posinf=0.0, neginf=0.0)
    return (plain - plain.mean(0)) / (plain.std(0) + 1e-6)


def _linear(features: Any) -> Any:
    centred = features - features.mean(0)
    return (centred @ centred.T).astype(np.float64)


def cross_validated(kernel: Any, labellings: list[Any], generator: Any) -> list[float]:
    """Accuracy of kernel ridge regression on one-hot labels over rows that it was not fitted on, for each labelling of the same rows."""
    classes = np.unique(labellings[0])
    numbers = np.stack([np.searchsorted(classes, labels) for labels in labellings])
    wanted = np.eye(len(classes), dtype=np.float64)[numbers].transpose(1, 0, 2)
    scores = _held_out(kernel, wanted.reshape(len(wanted), -1), generator).reshape(wanted.shape)
    return [float(share) for share in (scores.argmax(2) == numbers.T).mean(0)]


def _correlation(kernel: Any, targets: Any, generator: Any) -> float:
    """Of kernel ridge regression's answers, for rows that it was not fitted on, with their targets, float[rows, columns]: of the column
    that is told best, by rank, since a few numbers may be huge."""
    ranks = np.apply_along_axis(_ranks, 0, targets)
    answers = _held_out(kernel, ranks, generator)
    pairs = [(answers[:, column], ranks[:, column]) for column in range(ranks.shape[1])]
    return float(max((np.corrcoef(one, other)[0, 1] for one, other in pairs if one.std() > 0 and other.std() > 0), default=0.0))


def _ranks(column: Any) -> Any:
    """The mean rank of each number among all, equal ones alike."""
    _, which, counts = np.unique(column, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[which]


def _held_out(kernel: Any, wanted: Any, generator: Any) -> Any:
    """What kernel ridge regression answers for rows of float[rows, n] that it was not fitted on. In float32, which is half the work: the
    ridge keeps the systems far from singular, and answers differ by less than a thousandth."""
    order, scores = generator.permutation(len(wanted)), np.empty_like(wanted)
    kernel = kernel.astype(np.float32)
    for fold in range(_FOLDS):
        held = order[fold::_FOLDS]
        fitted = np.setdiff1d(order, held)
        inner = kernel[np.ix_(fitted, fitted)]
        inner[np.diag_indices(len(fitted))] += 0.1 * np.trace(inner) / len(fitted) + 1e-9
        offset = wanted[fitted].mean(0)
        weights = np.linalg.solve(inner, (wanted[fitted] - offset).astype(np.float32))
        scores[held] = kernel[np.ix_(held, fitted)] @ weights + offset
    return scores
