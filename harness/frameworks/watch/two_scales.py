"""Answers in the scale of the training's targets, and references in another: is what they are held against the same numbers, moved and
stretched, or their logarithm's?"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.evaluation_facts import TwoScalesFacts
from harness.checks.tensor_facts import Site

_ROWS, _KNOWN, _POINTS = 40, 100, 19
_SAME, _OFF, _TINY = 0.985, 0.3, 1e-9  # correlation of quantiles; in standard deviations
_APART, _WIDER, _NEARER = 3.0, 3.0, 0.5  # in standard deviations; as a factor; of the way to what it may have been mapped to

Array = np.ndarray[Any, Any]


def measure(trained: Array, given: Array, answers: Array, references: Array, site: Site | None) -> TwoScalesFacts | None:
    """`trained`: what was wanted in training, float[rows]; `given`: the model's last answers there, float[rows]; `answers`, `references`:
    what the script holds against each other, float[rows]. None unless the references are in another scale than what it was trained on,
    and the answers as the model gives them, or `mapped` to that scale."""
    if len(references) < _ROWS or len(trained) < _KNOWN or not all(np.isfinite(part).all() for part in (trained, answers, references)):
        return None
    middle, spread = float(trained.mean()), float(trained.std())
    wanted, wide = float(references.mean()), float(references.std())
    if min(spread, wide) <= 0 or len(np.unique(trained)) < _POINTS or len(np.unique(references)) < _POINTS:
        return None
    if abs(wanted - middle) <= _APART * max(spread, wide) and 1 / _WIDER < wide / spread < _WIDER:
        return None
    if float(references.min()) >= 0 and any(_agree(trained, made) for made in (np.log1p(references), np.log(references + _TINY))):
        how = "the logarithm"
    elif float(trained.min()) >= 0 and any(_agree(references, made) for made in (np.log1p(trained), np.log(trained + _TINY))):
        how = "the exponential"
    elif _alike(trained, references):
        how = "moved and stretched"
    else:
        return None
    straight = given * wide / spread + (wanted - middle * wide / spread)
    mapped = _mapped(answers, given, [straight] if how == "moved and stretched" else [straight, np.exp(given), np.expm1(given)])
    if mapped is None:
        return None
    return TwoScalesFacts(how=how, rows=len(references), trained=(middle, spread), answers=(float(answers.mean()), float(answers.std())),
                          mapped=mapped, references=(wanted, wide), site=site)


def _mapped(answers: Array, given: Array, mapped: list[Array]) -> bool | None:
    """Whether answers are distributed as what they may have been mapped to, rather than as a model gave them; None where that is not
    clear."""
    points = np.linspace(0.1, 0.9, 9)

    def far(other: Array) -> float:
        return float(np.abs(np.quantile(answers, points) - np.quantile(other, points)).mean())

    if not float(answers.std()):
        return None
    plain, other = far(given), min(far(other) for other in mapped if np.isfinite(other).all())
    return False if plain < _NEARER * other else True if other < _NEARER * plain else None


def _agree(one: Array, other: Array) -> bool:
    """Whether two samples are of one distribution."""
    spread = float(one.std())
    return _alike(one, other) and abs(float(one.mean() - other.mean())) < _OFF * spread and abs(float(other.std()) - spread) < _OFF * spread


def _alike(one: Array, other: Array) -> bool:
    """Whether two samples are of one distribution but for place and width: their quantiles lie on a line."""
    points = np.linspace(0.05, 0.95, _POINTS)
    first, second = np.quantile(one, points), np.quantile(other, points)
    return bool(first.std() > 0 and second.std() > 0 and np.corrcoef(first, second)[0, 1] > _SAME)
