"""How answers go with what is wanted, on rows that were trained on and on others: numbers by their correlation, classes by their share."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.checks.evaluation_facts import DilutedFacts, RelationFacts, TwoScalesFacts
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import dilution, two_scales

_BATCHES, _ROWS, _LEAST, _LOOSE, _COMPARED, _TRIED, _LAST = 32, 50_000, 100, 200, 60, 8, 6
# How far the shares of classes, and quantiles (in deviations) of numbers, may be from those of the model's answers.
_ALIKE, _ALIKE_NUMBERS, _LEVELS = 0.02, 0.5, (0.1, 0.25, 0.5, 0.75, 0.9)

Array = np.ndarray[Any, Any]
# Answers and what is wanted, a number a row: float64 for numbers, int64 for classes.
Pair = tuple[Array, Array]


class Relations:
    """Of training the last batches count, of evaluations the last one."""

    def __init__(self) -> None:
        self._trained: deque[Pair] = deque(maxlen=_BATCHES)
        self._held: list[Pair] = []
        self._shares: dict[bool, deque[tuple[Pair, Array]]] = {held: deque(maxlen=_BATCHES) for held in (False, True)}
        self._over, self._unpadded = False, 0  # batches without padding, one after the other
        self._compared: list[tuple[Pair, Site | None]] = []
        self._loose: list[Pair] = []  # what was held against references while no evaluation was heard
        self.two_scales: TwoScalesFacts | None = None
        self.loader: Site | None = None  # of the others

    def trained(self, pair: Pair | None, given: Sequence[Any] = ()) -> None:
        """A batch was trained on, for which the model was `given` these inputs; None where its answers could not be read."""
        self._over = True
        if pair is not None:
            self._trained.append(pair)
            self._padded(pair, given, held=False)

    def _padded(self, pair: Pair, given: Sequence[Any], *, held: bool) -> None:
        if pair[0].dtype.kind != "f" or self._unpadded > _TRIED:
            return
        share = dilution.shares(given, len(pair[0]))
        if share is not None:
            self._shares[held].append((pair, share))
        self._unpadded = 0 if share is not None else self._unpadded + 1

    def held(self, pair: Pair | None, given: Sequence[Any] = ()) -> None:
        """A batch of an evaluation."""
        if self._over:
            self._held, self._over = [], False
            self._shares[True].clear()
        if pair is not None:
            self._padded(pair, given, held=True)
        if pair is not None and sum(len(answers) for answers, _ in self._held) < _ROWS:
            self._held.append(pair)

    def compared(self, answers: Any, references: Any, place: Site | None) -> None:
        """The script holds answers against references, row by row."""
        if not self._trained or len(self._compared) >= _COMPARED:
            return
        sides = [np.asarray(side.detach().cpu() if hasattr(side, "detach") else side) for side in (answers, references)]
        if all(side.dtype.kind in "iuf" and side.ndim for side in sides):
            pair = numbers(*sides)
            if pair is not None and not self._held and len(pair[1]) >= max(_LOOSE, 2 * len(self._trained[-1][1])):
                self._loose.append(pair)
            self._compared += [(pair, place)] if pair is not None and self._held else []
            known = [each for each in self._trained if each[1].dtype.kind == "f"]
            if pair is not None and known and (self.two_scales is None or not self.two_scales.mapped):
                last, wanted = (np.concatenate([each[side] for each in part]) for side, part in enumerate((known[-_LAST:], known)))
                facts = two_scales.measure(wanted, last, *pair, place)
                self.two_scales = facts if self.two_scales is None or (facts is not None and facts.mapped) else self.two_scales

    def facts(self) -> RelationFacts | None:
        """None where one of both was not seen, or they are of different kinds."""
        known, other = _joined(list(self._trained)), _joined(self._held)
        if known is None or other is None or known[1].dtype.kind != other[1].dtype.kind:
            return None
        classes = known[1].dtype.kind == "i"
        measure, share = (_right, _commonest) if classes else (_correlation, _none)
        found = RelationFacts(trained=measure(*known), trained_rows=len(known[1]), held=measure(*other), rows=len(other[1]),
                              classes=classes, trained_majority=share(known[1]), majority=share(other[1]), answered=share(other[0]),
                              by_chance=_by_chance(*other) if classes else None, loader=self.loader,
                              errors=None if classes else (_error(*known), _error(*other)))
        found.diluted = self._diluted(held=True) or self._diluted(held=False)
        for pair, place in reversed(self._compared):
            whole = all((side % 1 == 0).all() for side in pair)
            fits = len(other[1]) % len(pair[1]) == 0 and len(pair[1]) >= _LEAST and (whole or not classes) and np.ptp(pair[0]) > 0
            if fits and _same_answers(pair[0], other[0], classes=classes):
                value = measure(*pair)
                if found.compared is None or value > found.compared:  # a baseline is held against the references as well
                    found.compared, found.place = value, place
        return found

    def loose(self) -> RelationFacts | None:
        """The same of classes that the script holds against each other by itself, the best of them; None where an evaluation was heard."""
        known = _joined(list(self._trained))
        if known is None or self._held or not self._loose or known[1].dtype.kind != "i":
            return None
        best = max(self._loose[:_COMPARED], key=lambda pair: _right(*pair))
        return RelationFacts(trained=_right(*known), trained_rows=len(known[1]), held=_right(*best), rows=len(best[1]), classes=True,
                             trained_majority=_commonest(known[1]), majority=_commonest(best[1]), answered=_commonest(best[0]))

    def _diluted(self, *, held: bool) -> DilutedFacts | None:
        known = list(self._shares[held])
        if not known:
            return None
        answers, wanted, share = (np.concatenate(parts) for parts in zip(*((*pair, share) for pair, share in known), strict=True))
        finite = np.isfinite(answers) & np.isfinite(wanted)
        return dilution.measure(answers[finite], wanted[finite], share[finite])


def classes(answers: list[int] | None, wanted: list[Any] | None) -> Pair | None:
    """A pair of class ids; None where there are none, or not as many."""
    return (np.array(answers), np.array(wanted)) if answers and wanted and len(answers) == len(wanted) else None


def numbers(answers: Array, wanted: Array) -> Pair | None:
    """A pair of numbers, one a row; None where there are more, or other shapes."""
    fits = wanted.ndim and answers.ndim and wanted.size == answers.size == len(wanted) == len(answers)
    return (answers.reshape(-1).astype(np.float64), wanted.reshape(-1).astype(np.float64)) if fits else None


def _by_chance(answers: Array, wanted: Array) -> float:
    """The share that is right of answers that know nothing of what is wanted, each given as often as it was."""
    return float(sum((answers == kind).mean() * (wanted == kind).mean() for kind in np.unique(wanted)))


def _same_answers(compared: Array, answers: Array, *, classes: bool) -> bool:
    """Whether these may be the model's answers in another order (classes by other names, numbers on another scale), and not those of a rule
    that is held against the same references."""
    if classes:
        shares = [np.sort(np.unique(side, return_counts=True)[1])[::-1] / len(side) for side in (compared, answers)]
        return len(shares[0]) == len(shares[1]) and bool(np.abs(shares[0] - shares[1]).max() <= _ALIKE)
    levels = [np.quantile((side - side.mean()) / side.std(), _LEVELS) for side in (compared, answers) if side.std() > 0]
    return len(levels) == 2 and min(float(np.abs(levels[0] - side).max()) for side in (levels[1], -levels[1][::-1])) <= _ALIKE_NUMBERS


def _joined(pairs: list[Pair]) -> Pair | None:
    """All rows; None where they are few, of two kinds, or not finite."""
    if sum(len(answers) for answers, _ in pairs) < _LEAST or len({part.dtype.kind for pair in pairs for part in pair}) > 1:
        return None
    answers, wanted = (np.concatenate([pair[part] for pair in pairs]) for part in (0, 1))
    return (answers, wanted) if np.isfinite(answers).all() and np.isfinite(wanted).all() else None


def _right(answers: Array, wanted: Array) -> float:
    return float((answers == wanted).mean())


def _error(answers: Array, wanted: Array) -> float:
    return float(np.sqrt(np.square(answers - wanted).mean()))


def _commonest(wanted: Array) -> float:
    return float(np.unique(wanted, return_counts=True)[1].max() / len(wanted))


def _correlation(answers: Array, wanted: Array) -> float:
    """0 where one side is the same for all rows."""
    return float(np.corrcoef(answers, wanted)[0, 1]) if answers.std() > 0 and wanted.std() > 0 else 0.0


def _none(_wanted: Array) -> float:
    return 0.0
