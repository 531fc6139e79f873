"""Returns that are summed up over the ends of episodes: rewards, marks of ends and sums of one shape, and what holds between them.

Where `sum[t] = a * reward[t] + g * sum[t + 1] + b` holds for all steps, with one `g` below 1, the sums are
discounted; if it holds where episodes end as well, the next episode's rewards are in them. Advantages and their targets have terms of a
critic's values, `v * value[t] + w * value[t + 1]`, besides. Only what is called by a word for an end is a mark of ends: the actions of an
episode are numbers 0 and 1 as well.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from harness.checks.loss_facts import EndingFacts
from harness.checks.observation import Observation
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.endings import STEPS
from harness.frameworks.watch.sites import Sites, names_of, site

_LEAST, _LARGEST = 24, 1 << 18  # numbers in one of them
_ENDS, _MOST_ENDS = 4, 0.5  # ends with a step behind them; share of the steps
_CANDIDATES = 16  # of each kind
_CRITIC_STEPS, _CRITIC_NAMES, _CRITIC_SIZE = 3, 8, 4096
_DISCOUNT = (0.3, 0.9995)
_EXACT, _TOLD = 1e-3, 0.05  # of the spread of the sums

_ENDING = re.compile("done|end|term|trunc|fin|over|last|stop|reset|fall|fell|down|crash|dead|died|alive|lost|lives|cont|mask|bound|cut",
                     re.IGNORECASE)

Array = np.ndarray[Any, Any]


def note(seen: Observation, sites: Sites, array: Callable[[Any], Array | None]) -> None:
    """A gradient is about to be taken of a loss. `array`: numbers of a tensor, None of what is none."""
    known = seen.ending
    if not len(seen.steps) < STEPS or (known is not None and (not known.sums or known.steps >= STEPS)):
        return
    line = _recurrence(str(sites.script))
    if line is None:
        return
    ends, numbers = _candidates(sites, array)
    for name, marks in ends.items():
        # What is cut into batches is often laid flat before.
        fitting = {other: part.reshape(marks.shape) for other, part in numbers.items()
                   if part.size == marks.size and (part.shape == marks.shape or part.ndim == 1)}
        found = next((reward for reward, sums in itertools.permutations(fitting, 2)
                      if _runs_over(fitting[reward], fitting[sums], marks, None)), None)
        if found is None and len(seen.steps) < _CRITIC_STEPS:
            found = _with_critic(dict(itertools.islice(fitting.items(), _CRITIC_NAMES)), marks)
        if found is None or (known is not None and known.name != name):
            continue
        if known is None:
            known = seen.ending = EndingFacts(name=name, reward=found, rows=int(marks.size), sums=True,
                                              site=site((str(sites.script), line, "<module>")))
        known.steps += 1
        known.marked += int(marks.sum())
        return


def _with_critic(fitting: dict[str, Array], marks: Array) -> str | None:
    """The same where values of a critic are among the terms: all three of them are looked for, so that of large ones a part will do."""
    part = slice(0, max(_LEAST, _CRITIC_SIZE * len(marks) // marks.size))
    cut = {name: one[part] for name, one in fitting.items()}
    return next((reward for reward, sums, values in itertools.permutations(cut, 3)
                 if _runs_over(cut[reward], cut[sums], marks[part], cut[values])), None)


def _candidates(sites: Sites, array: Callable[[Any], Array | None]) -> tuple[dict[str, Array], dict[str, Array]]:
    """What the script's own frames name, and their objects and dicts: marks of 0 and 1, some of each, and numbers with decimals."""
    ends: dict[str, Array] = {}
    numbers: dict[str, Array] = {}
    for frame in sites.frames():
        for name, value in _named(names_of(frame)):
            plain = _plain(value, array)
            if plain is None or name in ends or name in numbers:
                continue
            if np.isin(plain, (0, 1)).all() and plain.any() and not plain.all():
                marks: Array = plain.astype(bool)
                if len(ends) < _CANDIDATES and _ENDING.search(name):
                    ends[name] = ~marks if marks.mean() > _MOST_ENDS else marks
            elif plain.dtype.kind == "f" and np.isfinite(plain).all() and len(numbers) < _CANDIDATES:
                numbers[name] = plain.astype(np.float64)
    return ends, numbers


def _named(names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in names.items():
        yield name, value
        inner = value if isinstance(value, dict) else vars(value) if type(value).__module__ == "__main__" and hasattr(
            value, "__dict__") else {}
        yield from ((f"{name}.{key}" if inner is not value else f'{name}["{key}"]', part)
                    for key, part in itertools.islice(inner.items(), _CANDIDATES) if isinstance(key, str))


def _plain(value: Any, array: Callable[[Any], Array | None]) -> Array | None:
    """`[steps]` or `[steps, episodes side by side]` of a tensor, an array or a list of numbers."""
    if isinstance(value, list) and _LEAST <= len(value) <= _LARGEST and all(isinstance(one, int | float | np.number | np.bool_)
                                                                           for one in value[:_LEAST]):
        try:
            made = np.asarray(value)
        except ValueError:
            return None
    else:
        shape = getattr(value, "shape", None)
        if not isinstance(shape, tuple) or len(shape) not in (1, 2) or not (tensors.is_tensor(value) or isinstance(value, np.ndarray)):
            return None
        plain = value if isinstance(value, np.ndarray) else array(value)
        if plain is None:
            return None
        made = plain
    return made if made.ndim in (1, 2) and _LEAST <= made.size <= _LARGEST and made.dtype.kind in "biuf" else None


def _runs_over(rewards: Array, sums: Array, marks: Array, values: Array | None) -> bool:
    """Whether the sums go on from the next step's, discounted, wherever there is one; along the first axis or the last."""
    if not sums.std() or (values is not None and not values.std()):
        return False
    parts = (rewards, sums, marks, *(() if values is None else (values,)))
    return any(_carried(*(np.moveaxis(part, axis, 0) for part in parts)) for axis in range(sums.ndim))


def _carried(rewards: Array, sums: Array, marks: Array, values: Array | None = None) -> bool:
    # Rows that are filled up have nothing behind their ends, or are marked as ended from there on.
    inner = marks[:-1] & ~marks[1:] & np.logical_or.accumulate(rewards[:0:-1] != 0)[::-1]
    if inner.sum() < _ENDS:
        return False
    own, later, reward = sums[:-1].ravel(), sums[1:].ravel(), rewards[:-1].ravel()
    varied = rewards.std() > _EXACT * abs(rewards).max()
    of_now = [np.ones_like(own), *([reward] if varied else []), *([] if values is None else [values[:-1].ravel()])]
    to_come = [later, *([] if values is None else [values[1:].ravel()])]
    table = np.stack([*to_come, *of_now], 1)
    weights = np.linalg.lstsq(table, own, rcond=None)[0]
    if not any(_DISCOUNT[0] < weight < _DISCOUNT[1] for weight in weights[:len(to_come)]) or (
            varied and abs(weights[len(to_come) + 1]) * reward.std() < _EXACT * sums.std()):
        return False
    if values is not None and abs(weights[1]) * values.std() < _EXACT * sums.std():
        return False  # no critic's: of those the next one counts
    if abs(own - table @ weights).max() >= _EXACT * sums.std():
        return False
    # What is told by the same step alone, as a copy of the sums is, has nothing of the next one.
    alone = np.stack(of_now, 1)
    return bool(abs(own - alone @ np.linalg.lstsq(alone, own, rcond=None)[0]).max() > _TOLD * sums.std())


@functools.lru_cache(maxsize=16)
def _recurrence(script: str) -> int | None:
    """The first line on which a name, or an entry of one, becomes something and a multiple of itself, in a loop: `g = r + gamma * g`,
    `a[t] = d + gamma * a[t + 1]`."""
    loops = [node for node in ast.walk(parsed.tree(script)) if isinstance(node, ast.For | ast.While)]
    lines = [node.lineno for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Assign) and len(node.targets) == 1
             and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add)
             and any(_multiple(side, _base(node.targets[0])) for side in (node.value.left, node.value.right))]
    return min(lines, default=None)


def _multiple(side: ast.expr, name: str) -> bool:
    return isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult) and any(
        isinstance(part, ast.Name | ast.Attribute) and ast.unparse(part) == name for part in ast.walk(side))


def _base(target: ast.expr) -> str:
    return ast.unparse(target.value if isinstance(target, ast.Subscript) else target)
