"""What a metric says of a model that is always right."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.checks.metric_facts import RightFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place, Sites
from harness.frameworks.watch.torch_batches import IGNORED

_FAR, _LEAST, _VALUES = 10.0, 40, 3
_NARROW, _WIDE = 0.1, 3.0  # of the labels' deviation

Array = np.ndarray[Any, Any]
Ask = Callable[[Any, Any], dict[str, float]]


def measure(ask: Ask, scores: Any, labels: Any) -> RightFacts | None:
    """Asks about scores whose largest is the label, at every place that has one: for the labels, and for the same labels in another order.
    Scores are float[..., classes] beside labels int[...], of which those that are -100 are left as they are; None for others.
    Of numbers, float[...] beside as many, those that are wanted are given as the answers.

    A language model answers at each place with the next one's label: of labels int[rows, places] both are tried, and what is better counts.
    """
    if _of_numbers(scores, labels):
        return _numbers(ask, scores, labels)
    if getattr(scores, "ndim", 0) != getattr(labels, "ndim", -1) + 1 or scores.shape[:-1] != labels.shape or scores.dtype.kind != "f":
        return None
    kept = labels != IGNORED
    if labels.dtype.kind not in "iu" or kept.sum() < _LEAST or scores.shape[-1] < 2:
        return None
    known = labels[kept]
    if known.min() < 0 or known.max() >= scores.shape[-1] or known.min() == known.max():
        return None
    other = labels.copy()
    other[kept] = np.random.default_rng(0).permutation(known)
    found = [_best([ask(made, wanted) for made in _made(scores, wanted)]) for wanted in (labels, other)]
    return RightFacts(values=found[0], shuffled=found[1], classes=int(scores.shape[-1]), present=len(np.unique(known)), places=len(known),
                      shape=list(scores.shape))


def _of_numbers(scores: Any, labels: Any) -> bool:
    """Whether these are as many numbers, of one scale: a model may answer in another one than its references have, and be mapped to it."""
    kinds = [getattr(getattr(side, "dtype", None), "kind", "") for side in (scores, labels)]
    if kinds != ["f", "f"] or not scores.size == labels.size >= _LEAST or len(np.unique(labels)) < _VALUES:
        return False
    spread = float(labels.std())
    return abs(float(scores.mean() - labels.mean())) < spread and _NARROW * spread < float(scores.std()) < _WIDE * spread


def _numbers(ask: Ask, scores: Array, labels: Array) -> RightFacts:
    other = np.random.default_rng(0).permutation(labels)
    found = [ask(wanted.reshape(scores.shape).astype(scores.dtype), wanted) for wanted in (labels, other)]
    return RightFacts(values=found[0], shuffled=found[1], classes=0, present=len(np.unique(labels)), places=int(labels.size),
                      shape=list(scores.shape))


def _made(scores: Array, wanted: Array) -> list[Array]:
    made = [_of(scores, wanted)]
    if wanted.ndim == 2:
        ahead = np.full_like(wanted, IGNORED)
        ahead[:, :-1] = wanted[:, 1:]
        made.append(_of(scores, ahead))
    return made


def _of(scores: Array, wanted: Array) -> Array:
    """Scores that are far above all others for what is wanted; where nothing is, those that there are."""
    kept, made = wanted != IGNORED, scores.copy()
    rows = np.full((int(kept.sum()), scores.shape[-1]), -_FAR, scores.dtype)
    rows[np.arange(len(rows)), wanted[kept]] = _FAR
    made[kept] = rows
    return made


def _best(said: list[dict[str, float]]) -> dict[str, float]:
    return {name: max(values.get(name, value) for values in said) for name, value in said[0].items()}


def taken(code: Any, sites: Sites) -> Place | None:
    """The first line on which a function of the script's own takes the largest of something along another axis than the last one."""
    if not hasattr(code, "co_filename") or not sites.is_own(code.co_filename):
        return None
    written = parsed.function(parsed.tree(code.co_filename), code.co_name, code.co_firstlineno)
    lines = [call.lineno for call in ast.walk(written) if isinstance(call, ast.Call) and name_of(call.func) == "argmax"
             and any(ast.unparse(value) != "-1" for value in [*call.args, *(word.value for word in call.keywords)][-1:])] if written else []
    return (code.co_filename, min(lines), code.co_name) if lines else None
