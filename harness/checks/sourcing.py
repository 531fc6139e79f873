"""The lines that labels and inputs come from, as far as a script's text tells."""

from __future__ import annotations

import ast
import re

from harness.checks.data_facts import SourceFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site

_PARTS = re.compile(r"split\w*\(")
_LATER = r"\[(?:[^\[\]]*,)?\s*[1-9]\s*:[^\[\]]*\]|\broll\(|\bshift\("
_BEHIND, _BEFORE = r"\[\s*:\s*,\s*[1-9]\d*\s*:", r"\[\s*:\s*,\s*:\s*-"  # `ids[:, 1:]`, `ids[:, :-1]`


def line(seen: Observation, what: str, *kinds: str) -> Site | None:
    """The latest line of one of these kinds that `labels` or `inputs` went through."""
    return next((step.site for step in seen.sources.get(what, []) if step.kind in kinds), None)


def lines(seen: Observation, what: str) -> list[Site]:
    """All lines on which `labels` or `inputs` are made or converted, the latest first."""
    return [step.site for step in seen.sources.get(what, []) if step.kind in ("made", "converted")]


def parted(seen: Observation, place: Site) -> Site:
    """The line on which labels go their own way, where a place is still on the way of both; else the place itself."""
    inputs = {(step.site.file, step.site.line): step.kind for step in seen.sources.get("inputs", [])}
    own = [step.site for step in seen.sources.get("labels", []) if (step.site.file, step.site.line) not in inputs]
    together = inputs.get((place.file, place.line)) in ("made", "converted") and not _side_by_side(place.source)
    return own[-1] if own and together else place


def _side_by_side(source: str, *, unread: bool = True) -> bool:
    """Whether a line makes several values, each by an expression of its own: `x, y = read(), read_labels()`; `unread` where it is part of a
    longer statement."""
    try:
        statement = ast.parse(source).body[0]
    except (SyntaxError, IndexError):
        return unread
    return isinstance(getattr(statement, "value", None), ast.Tuple)


def of_others(seen: Observation) -> Site | None:
    """The latest line on which inputs of the evaluation are made or converted that the training's do not go through as well."""
    shared = {(step.site.file, step.site.line) for step in seen.sources.get("inputs", [])}
    return next((step.site for step in seen.sources.get("held", []) if step.kind in ("made", "converted", "called")
                 and (step.site.file, step.site.line) not in shared), None)


def common(seen: Observation) -> Site | None:
    """The latest line on which the rows of training and evaluation are made, called for or put into an order, both at once, before their
    ways part: helpers that both go through stand after that."""
    inputs = seen.sources.get("inputs", [])
    shared = {(step.site.file, step.site.line, step.by) for step in inputs}
    lines = {(step.site.file, step.site.line) for step in inputs}
    held = seen.sources.get("held", [])
    parted = max((number for number, step in enumerate(held) if (step.site.file, step.site.line) in lines and (
        _PARTS.search(step.site.source) if step.kind == "taken" else (step.site.file, step.site.line, step.by) not in shared)), default=-1)
    together = [step.site for step in held if step.kind in ("made", "called", "reordered")
                and (step.site.file, step.site.line, step.by) in shared and not _side_by_side(step.site.source, unread=False)]
    return next((place for place in together if any(place is step.site for step in held[parted + 1:])), next(iter(together), None))


def reshuffled(seen: Observation) -> Site | None:
    """Where a dataset of `tf.data` that training and evaluation are both parts of is shuffled, anew for each pass."""
    shared = {(step.site.file, step.site.line) for step in seen.sources.get("inputs", [])}
    return next((step.site for step in seen.sources.get("held", []) if step.kind == "reordered" and ".shuffle(" in step.by
                 and "reshuffle_each_iteration=False" not in step.by and (step.site.file, step.site.line) in shared), None)


def shifted(seen: Observation) -> Site | None:
    """Where labels begin later than what they are cut from: `ids[:, 1:]`, a roll."""
    return next((step.site for step in seen.sources.get("labels", []) if re.search(_LATER, step.site.source)), None)


def sliced(seen: Observation) -> Site | None:
    """Where rows of ids are cut along their length the wrong way round: what a model is given without its first, or what is wanted of it
    without its last."""
    ways = [(step, _BEHIND) for step in seen.sources.get("inputs", [])] + [(step, _BEFORE) for step in seen.sources.get("labels", [])]
    return next((step.site for step, wrong in ways if step.kind == "taken" and re.search(wrong, step.site.source)), None)


def apart(seen: Observation) -> Site | None:
    """Where rows of the labels, or of the inputs, are put into an order that the others are not put into."""
    return next((step.site for _, step in _alone(seen)), None)


def orders(seen: Observation) -> list[str]:
    """What is put into an order of its own, and on which line."""
    told = (f"only the {what} are put into this order, line {step.site.line}: {step.site.source[:100]}" for what, step in _alone(seen))
    return list(dict.fromkeys(told))[:2]


def _handed(order: str, source: str) -> bool:
    """Whether an order is handed to a function, which may well put its rows into it."""
    return re.search(rf"[(,=]\s*{re.escape(order)}\s*[,)]", source) is not None


def _alone(seen: Observation) -> list[tuple[str, SourceFacts]]:
    """Calls that reorder one of both come before indices by a name, which may pick columns. Both are to be known to where they are made."""
    found = {what: [step for step in seen.sources.get(what, []) if step.kind == "reordered"] for what in ("labels", "inputs")}
    if not all(any(step.kind == "made" for step in seen.sources.get(what, [])) for what in found):
        return []
    shared = {step.by for step in found["labels"]} & {step.by for step in found["inputs"]}
    alone = [(what, step) for what, steps in found.items() for step in steps if step.by not in shared
             and not any(_handed(step.by, other.site.source) for other in seen.sources["inputs" if what == "labels" else "labels"])]
    return sorted(alone, key=lambda entry: re.fullmatch(r"\w+", entry[1].by) is not None)
