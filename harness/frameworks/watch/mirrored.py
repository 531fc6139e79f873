"""Pictures, or series, that are mirrored or turned in training, and what is wanted of them is not.

A plain baseline learns from the rows of the evaluation, which stand as they are meant to, what belongs to a picture. Where a training row
does not fit it, and fits once the picture is moved back, the row was moved without its target.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.checks.data_facts import MirrorFacts
from harness.frameworks.watch import landmarks, motions, moves, tensors
from harness.frameworks.watch.label_maps import LabelMaps
from harness.frameworks.watch.picture_judges import Array, Judge, OfClasses, filters_of, judges, margin

_KEPT, _LEAST = 512, 80
_SIDE = 32  # larger pictures are made smaller
_COLUMNS, _POINTS = 16, 160  # numbers of a row that are judged each for itself; that are kept
_SECONDS = 4.0
_ASTRAY, _OFTEN, _FEW = 0.12, 2.0, 24  # share of training rows that do not fit; times that of the evaluation; and number of them
_CROSSED = 0.2  # share of a class' training rows that are taken for its mirror image, of which half may have been moved
_HEALED = 0.75  # of these rows, that fit once they are moved back
_RATHER = 0.3  # by which the best move heals more of them than the worst does
_NEAREST = 0.25  # times the median error after any other move
_EACH = 0.15  # of them, by each of several moves that are drawn from
_TAKEN = 0.7  # of a class' rows, mirrored, that are taken for one other class
_KNOWN, _ALL = 0.4, 0.9  # of a class' rows, mirrored, that are taken for any class at all, and of these for one
_SURE = 0.5  # of the usual lead of the best class


@dataclass
class _Rows:
    """Pictures `float32[rows, height, width, channels]`, or series of height 1, and what came with them, by name."""

    pictures: list[Array] = field(default_factory=list)
    beside: dict[str, list[Array]] = field(default_factory=dict)
    count: int = 0
    seen: set[int] = field(default_factory=set)

    def add(self, given: Sequence[Any], columns: Mapping[str, Any]) -> None:
        if self.count >= _KEPT:
            return
        found = next(((value, made) for value in given if (made := _pictures(value)) is not None), None)
        if found is None:
            return
        source, pictures = found
        # A row that comes again, in a later evaluation say, would vouch for itself.
        keys = [hash(picture.tobytes()) for picture in pictures]
        new = [number for number, key in enumerate(keys) if key not in self.seen]
        if not new:
            return
        pictures = pictures[new]
        others = {name: made for name, value in columns.items()
                  if value is not source and (made := _wanted(value, pictures, new)) is not None}
        if others and (not self.beside or set(others) == set(self.beside)) and (
                not self.pictures or pictures.shape[1:] == self.pictures[0].shape[1:]):
            self.pictures.append(pictures)
            self.count += len(pictures)
            self.seen.update(keys)
            for name, value in others.items():
                self.beside.setdefault(name, []).append(value)

    def whole(self, name: str) -> Array | None:
        parts = self.beside.get(name, [])
        alike = parts and all(part.shape[1:] == parts[0].shape[1:] and part.dtype.kind == parts[0].dtype.kind for part in parts)
        return np.concatenate(parts)[:_KEPT] if alike else None


class Mirrored:
    """Told of the pictures that a model is given, in training and in evaluation, and of the columns that came with them."""

    def __init__(self) -> None:
        self._trained, self._held, self.maps = _Rows(), _Rows(), LabelMaps()
        self._flips: list[str] = []

    def trained(self, given: Sequence[Any], columns: Mapping[str, Any]) -> None:
        """A training step runs a model on these."""
        self.maps.trained(columns)
        self._trained.add(given, columns)

    def held(self, given: Sequence[Any], columns: Mapping[str, Any]) -> None:
        """An evaluation does."""
        self._held.add(given, columns)

    def flips(self, modes: Sequence[str]) -> None:
        """Layers of the model itself move pictures so while it is trained: the `modes` of its `RandomFlip`s."""
        self._flips += [how for mode in modes for name, how in (("horizontal", "mirrored"), ("vertical", "upside down")) if name in mode]

    def measure(self) -> MirrorFacts | None:
        """What a baseline says; None where pictures or targets were not seen on both sides, or it has no say."""
        trained, held, begun = self._trained, self._held, time.monotonic()
        found = self._named() if trained.count >= _LEAST else None
        if found is not None:
            return found
        if held.count < _LEAST or trained.count < _LEAST or trained.pictures[0].shape[1:] != held.pictures[0].shape[1:]:
            return None
        fixed, moving = (np.concatenate(part.pictures)[:_KEPT] for part in (held, trained))
        crossed = next((facts for name in held.beside if (facts := _crossed(held.whole(name), trained.whole(name), name))), None)
        if crossed is not None:
            return crossed
        middle, spread = fixed.mean(), fixed.std() + 1e-6
        fixed, moving = (fixed - middle) / spread, (moving - middle) / spread
        filters = filters_of(fixed)
        for name in held.beside:
            wanted, target = held.whole(name), trained.whole(name)
            if wanted is None or target is None or wanted.shape[1:] != target.shape[1:] or time.monotonic() - begun > _SECONDS:
                continue
            for judge in judges(fixed, wanted, filters) if wanted.shape[-1] <= _COLUMNS or wanted.ndim != 2 else ():
                found = (self._inside(judge, fixed, name) or _outside(judge, moving, target, name)
                         or _exchanged(judge, fixed, moving, target, name))
                if found and (found.layer or not _stays(judge, fixed, wanted, filters, moving, target, found.how)):
                    return found
        return None

    def _named(self) -> MirrorFacts | None:
        """Named points that keep their numbers where pictures are mirrored."""
        pictures = np.concatenate(self._trained.pictures)[:_KEPT]
        pictures = (pictures - pictures.mean()) / (pictures.std() + 1e-6)
        points = {name: made for name in self._trained.beside if (made := self._trained.whole(name)) is not None and made.ndim == 2}
        found = (landmarks.swapped(pictures, made, filters_of(pictures), name) for name, made in points.items())
        return next((facts for facts in found if facts is not None), None)

    def _inside(self, judge: Judge, fixed: Array, name: str) -> MirrorFacts | None:
        """Classes that are each other's mirror image, where the model's own layers mirror."""
        if not isinstance(judge, OfClasses):
            return None
        for how in self._flips:
            for first, other, rows in _images(judge, fixed, how):
                return MirrorFacts(how=how, name=name, rows=len(rows), astray=int((rows == other).sum()), healed=0, layer=True,
                                   classes=[int(judge.classes[first]), int(judge.classes[other])])
        return None


def _images(judge: OfClasses, fixed: Array, how: str) -> Iterator[tuple[int, int, Array]]:
    """Pairs of classes that are taken for each other where their rows are moved, by their places; and what is said of the first one's."""
    if how not in moves.single(fixed):
        return
    scores, told = judge.scores(moves.single(fixed)[how](fixed)), judge.wanted
    # What stands for nothing that the baseline knows is no picture of another class.
    answers = np.where(margin(scores) > _SURE * np.median(margin(judge.apart)), scores.argmax(1), len(judge.classes))
    for first in np.unique(told):
        rows = answers[(told == first) & judge.right]
        if len(rows) < _FEW // 2:
            continue
        known = rows[rows < len(judge.classes)]
        other = int(np.bincount(known).argmax()) if len(known) else int(first)
        back = answers[(told == other) & judge.right]
        if other != first and len(back) and (_taken(rows, other, len(judge.classes)) and _taken(back, int(first), len(judge.classes))):
            yield int(first), other, rows


def _exchanged(judge: Judge, fixed: Array, moving: Array, target: Array, name: str) -> MirrorFacts | None:
    """Training rows of two classes that are each other's mirror image, many of which are taken for the other one and for their own once
    they are moved back. What else is done to a row, such as a shift, may well blur what the baseline says of other classes."""
    if not isinstance(judge, OfClasses):
        return None
    wanted = np.searchsorted(judge.classes, target.reshape(-1)).clip(0, len(judge.classes) - 1)
    known = judge.classes[wanted] == target.reshape(-1)
    answers, own = judge.scores(moving).argmax(1), judge.apart.argmax(1)
    for how in moves.single(fixed):
        for first, other, _ in _images(judge, fixed, how):
            sides = [(known & (wanted == one), judge.wanted == one, there) for one, there in ((first, other), (other, first))]
            shares = [(float((answers[rows] == there).mean()), float((own[held] == there).mean())) if rows.any() else (0.0, 0.0)
                      for rows, held, there in sides]
            if any(share < max(_CROSSED, _OFTEN * usual) for share, usual in shares):
                continue
            astray = np.logical_or.reduce([rows & (answers == there) for rows, _, there in sides])
            healed = judge.errors(moves.single(moving)[how](moving[astray]), target[astray]) < judge.beyond
            if astray.sum() >= _FEW and healed.mean() > _HEALED:
                return MirrorFacts(how=how, name=name, rows=int(sum(rows.sum() for rows, _, _ in sides)), astray=int(astray.sum()),
                                   healed=int(healed.sum()), usual=float(np.mean([usual for _, usual in shares])),
                                   classes=[int(judge.classes[first]), int(judge.classes[other])])
    return None


def _taken(answers: Array, other: int, unknown: int) -> bool:
    """Whether rows are taken for one other class: most of them, or nearly all of those that are taken for any, which are many."""
    known = answers[answers != unknown]
    if (answers == other).mean() > _TAKEN:
        return True
    return len(known) >= _FEW // 2 and len(known) >= _KNOWN * len(answers) and bool((known == other).mean() > _ALL)


def _outside(judge: Judge, moving: Array, target: Array, name: str) -> MirrorFacts | None:
    """Training rows that do not fit what the evaluation's rows teach, and do once they are moved back."""
    errors = judge.errors(moving, target)
    beyond, usual = judge.beyond, float((judge.own > judge.beyond).mean())
    astray = errors > beyond
    if astray.sum() < _FEW or astray.mean() < max(_ASTRAY, _OFTEN * usual):
        return None
    healed = _healed(judge, moving[astray], target[astray], errors[astray])
    heals = {how: float(rows.mean()) for how, rows in healed.items()}
    best = max(heals, key=lambda how: heals[how])
    # Where the baseline merely wavers, rows that it is far off at come closer however they are moved.
    least = min(heals.values())
    groups = moves.drawn(moving)
    if heals[best] <= _HEALED and groups:
        drawn = {name: np.logical_or.reduce([healed[how] for how in parts]) for name, parts in groups.items()}
        best = max(drawn, key=lambda how: float(drawn[how].mean()))
        if min(heals[how] for how in groups[best]) < _EACH:
            return None
        heals[best] = float(drawn[best].mean())
        # One of three moves fits by chance more often than one alone: so often does it with what is wanted of other rows.
        others = _healed(judge, moving[astray], np.roll(target[astray], 1, axis=0), errors[astray])
        least = float(np.logical_or.reduce([others[how] for how in groups[best]]).mean())
    rather = heals[best] - least >= _RATHER or _nearest(judge, moving[astray], target[astray], best)
    if heals[best] <= _HEALED or not rather:
        return None
    return MirrorFacts(how=best, name=name, rows=len(moving), astray=int(astray.sum()), healed=round(heals[best] * int(astray.sum())),
                       usual=usual, series=moves.in_line(moving))


def _nearest(judge: Judge, moving: Array, target: Array, best: str) -> bool:
    """Whether the rows, moved back by the best move, are told much better than by any other: of numbers that lie around 0, most moves bring
    some nearer."""
    medians = {how: float(np.median(judge.errors(move(moving), target))) for how, move in moves.single(moving).items()}
    others = [median for how, median in medians.items() if how != best]
    return best in medians and bool(others) and medians[best] < _NEAREST * min(others)


def _healed(judge: Judge, moving: Array, target: Array, wrong: Array) -> dict[str, Array]:
    """By the move, which of the rows the baseline is half as far off at, `wrong` before, once they are moved."""
    limits = np.maximum(0.5 * wrong, 1e-9)
    return {how: judge.errors(move(moving), target) < limits for how, move in moves.single(moving).items()}


def _crossed(wanted: Array | None, target: Array | None, name: str) -> MirrorFacts | None:
    """Boxes whose corners have changed sides: everywhere in the evaluation the first is left of the second, and above it."""
    if wanted is None or target is None or wanted.shape[1:] != (4,) or target.shape[1:] != (4,):
        return None
    if not all((wanted[:, first] < wanted[:, first + 2]).all() for first in (0, 1)):
        return None
    astray = [int((target[:, first] > target[:, first + 2]).sum()) for first in (0, 1)]
    if max(astray) < max(_FEW, _ASTRAY * len(target)):
        return None
    first = int(np.argmax(astray))
    return MirrorFacts(how="upside down" if first else "mirrored", name=name, rows=len(target), astray=astray[first], healed=0,
                       crossed=[first, first + 2])


def _stays(judge: Judge, fixed: Array, wanted: Array, filters: Array, moving: Array, target: Array, how: str) -> bool:
    """Whether what is wanted may well stay as it is when a picture is moved so: learnt from the evaluation's pictures both ways, it is told
    as before, and the training rows fit. Pictures that lie to one side only are strange to a baseline once they are moved, no more."""
    moved = [move(fixed) for move in moves.parts(fixed, how)]
    both, twice = np.concatenate([fixed, *moved]), np.concatenate([wanted] * (1 + len(moved)))
    other = next((one for one in judges(both, twice, filters) if type(one) is type(judge) and one.column == judge.column), None)
    return other is not None and bool((other.errors(moving, target) > other.beyond).mean() < _ASTRAY)


def _pictures(value: Any) -> Array | None:
    """Rows of pictures, small enough and with their channels last, or of series."""
    plain = tensors.array(value) if len(getattr(value, "shape", ())) in (3, 4) else None
    if plain is None or plain.dtype.kind not in "fu" or not len(plain):
        return None
    line = moves.series(plain[:_KEPT])
    if line is not None:
        return line if np.isfinite(line).all() else None
    if motions.picture(plain[0]) is None:
        return None
    rows: Array = np.stack([made for row in plain[:_KEPT] if (made := motions.picture(row)) is not None])
    return _smaller(rows) if np.isfinite(rows).all() else None


def _smaller(rows: Array) -> Array:
    factor = max(1, -(-max(rows.shape[1:3]) // _SIDE))
    height, width = (side // factor for side in rows.shape[1:3])
    cut = rows[:, : height * factor, : width * factor].reshape(len(rows), height, factor, width, factor, rows.shape[3])
    made: Array = cut.mean((2, 4), dtype=np.float32)
    return made


def _wanted(value: Any, pictures: Array, which: list[int]) -> Array | None:
    """Of the rows `which`: classes `int[rows]`, numbers `float[rows, columns]` or pictures of the same size; None for anything else."""
    plain = tensors.array(value)
    if plain is None or plain.ndim < 1 or plain.dtype.kind not in "iubf" or len(plain) <= max(which) or not np.isfinite(plain).all():
        return None
    plain = plain[which]
    if plain.dtype.kind in "iub" and plain.size == len(plain):
        classes: Array = plain.reshape(-1)
        return classes
    points = plain.ndim == 3 and plain.shape[2] == 2
    if (plain.ndim <= 2 or points) and plain.size <= _POINTS * len(plain):
        numbers: Array = plain.reshape(len(plain), -1).astype(np.float32)
        return numbers
    made = _pictures(plain.astype(np.float32)) if plain.ndim in (3, 4) else None
    return made if made is not None and made.shape[:3] == pictures.shape[:3] else None
