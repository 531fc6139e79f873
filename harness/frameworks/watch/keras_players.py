"""Two models of Keras of which one judges what the other makes: what each loss asks of the score, in steps of `fit` and in loops with a
tape."""

from __future__ import annotations

import ast
import contextlib
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.players_facts import PlayersFacts
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_trace import Recording
    from harness.frameworks.watch.keras_watch import KerasWatcher

_CALLS, _OUTPUTS, _LEAST = 12, 8, 2
_NEAR = 1e-4  # of a row's sum, which another order of adding changes
_SQUASHES = ("tanh", "sigmoid")


@dataclass(frozen=True)
class _Asked:
    """A call of a judge behind a loss. `through`: the loss trains others than the judge; `cut`: and no gradient leads from the score to
    what it trains."""

    judge: int
    through: bool
    cut: bool
    squashed: str
    place: Site | None


@dataclass
class Graph:
    """What one tracing of a step showed: `asked` beside the tensors that leave it in `values`, and what other models made in `made`."""

    asked: list[_Asked] = field(default_factory=list)
    values: list[dict[str, Any]] = field(default_factory=list)
    made: list[tuple[int, Any]] = field(default_factory=list)

    def leaving(self, here: Callable[[Any], bool]) -> dict[str, Any]:
        """The tensors, as Keras wants what a step gives: tuples and dicts."""
        tensors = [*(tensor for known in self.values for tensor in known.values()), *(made for _, made in self.made)]
        if not self.asked or not all(map(here, tensors)):
            return {}
        return {"asked": tuple(self.values), "made": tuple(made for _, made in self.made)}


class Players:
    """Follows models with one score a row, as long as two groups of weights are trained."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._calls: deque[tuple[Any, Any, Any, Site | None]] = deque(maxlen=_OUTPUTS)
        self._known: dict[int, PlayersFacts] = {}
        self._graph = Graph()

    @property
    def wanting(self) -> bool:
        """Whether there is a judge of whom too few calls are known."""
        return any(len(known.real) + len(known.made) < _CALLS or 0 < len(known.through) < _CALLS for known in self._known.values())

    def ran(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], found: Any) -> None:
        """A model has run in a loop of the script's own."""
        if self._watch.in_full:
            self._calls.append((model, _given(args, kwargs), found, self._watch.session.sites.here()))

    def went_back(self, tape: Any, target: Any, sources: list[Any]) -> None:
        """A tape of such a loop was asked for gradients."""
        if not tape._persistent or not self._watch.in_full or not _are_weights(sources):
            return
        judged = [call for call in self._calls if _is_judged(call[1], call[2])]
        if not judged or len({id(model) for model, *_ in self._calls}) < _LEAST:
            return
        with self._watch.session.paused():
            pulls = tape.gradient(target, [found for _, _, found, _ in judged])
            cut = [all(part is None for part in tape.gradient(found, sources)) for _, _, found, _ in judged]
        made = [(id(model), _print(found)) for model, _, found, _ in self._calls if _is_rows(found)]
        widths = _widths(found for _, _, found, _ in self._calls)
        for (model, given, _, place), pull, apart in zip(judged, pulls, cut, strict=True):
            if pull is not None:
                asked = _Asked(id(model), _trains_others(model, sources), apart, _squashed(given, self._calls), place)
                self._note(asked, {name: numpy_of(part) for name, part in _values(given, pull, widths).items()},
                           [(maker, np.asarray(numpy_of(rows))) for maker, rows in made])

    def traced(self, record: Recording) -> None:
        """A step of `fit` was traced."""
        self._graph = record.rivals = _graph(record)

    def stepped(self, read: dict[str, Any]) -> None:
        """A step of `fit` is over, with these values for the tensors of its graph."""
        made = [(maker, np.asarray(numpy_of(rows)))
                for (maker, _), rows in zip(self._graph.made, read.get("made", ()), strict=False)]
        for asked, values in zip(self._graph.asked, read.get("asked", ()), strict=False):
            self._note(asked, {name: numpy_of(part) for name, part in values.items()}, made)

    def _note(self, asked: _Asked, values: dict[str, Any], made: list[tuple[int, np.ndarray[Any, Any]]]) -> None:
        pull, rows = np.sign(values["pull"].reshape(-1)), values["rows"]
        if not pull.any():
            return
        facts = self._known.setdefault(asked.judge, PlayersFacts())
        others = [known for maker, known in made if maker != asked.judge]
        theirs = np.logical_or.reduce([_theirs(values[name], others) for name in values if name.startswith("rows")])
        if asked.through and asked.cut:
            facts.cut += bool(theirs.any())
            facts.cut_site = facts.cut_site or site(_stopped(str(self._watch.session.script))) or asked.place
        elif asked.through:
            if len(facts.through) < _CALLS:
                facts.through.append(float(pull.mean()))
                facts.squashed, facts.site = facts.squashed or asked.squashed, facts.site or asked.place
                facts.below = max(facts.below, float(values["below"]))
        else:
            for kind, part in ((facts.made, theirs), (facts.real, ~theirs)):
                if part.any() and len(kind) < _CALLS:
                    kind.append(float(pull[part].mean()))
            if (~theirs).any():
                facts.real_low = min(facts.real_low, float(rows[~theirs, 0].min()))
                facts.real_high = max(facts.real_high, float(rows[~theirs, 1].max()))
        found = [known for known in self._known.values() if (known.through or known.cut) and known.real and known.made]
        self._watch.seen.players = found[0] if len(found) == 1 else None


def _graph(record: Recording) -> Graph:
    """Read a step that was traced: which loss goes through which call of a judge. Derivatives are added behind all that the step does."""
    import tensorflow as tf

    found = Graph()
    calls = [(model, _rows_of(given), output, place) for model, (given, place), output
             in zip(record.models, record.given, record.outputs, strict=False)]
    models = {id(model) for model in record.models}
    if tf.executing_eagerly() or len(record.targets) < _LEAST or len(models) < _LEAST:
        return found
    judged = [call for call in calls if _is_judged(call[1], call[2])]
    widths = _widths(output for _, _, output, _ in calls)
    for target, sources, begun in zip(record.targets, record.sources, record.begun, strict=False):
        if not _are_weights(sources):
            continue
        wanted = {id(weight) for weight in sources}
        makers = [output for model, _, output, _ in calls[begun:] if wanted & {id(weight) for weight in model.trainable_variables}]
        for model, given, output, place in judged:
            pull = None
            with contextlib.suppress(Exception):  # graphs can hold what no derivative goes through
                pull = tf.gradients(target, [output])[0]
            if pull is not None:
                cut = not makers
                with contextlib.suppress(Exception):
                    cut = cut or all(part is None for part in tf.gradients(output, tf.nest.flatten(makers)))
                found.asked.append(_Asked(id(model), _trains_others(model, sources), cut, _squashed(given, calls), place))
                found.values.append(_values(given, pull, widths))
    if found.asked:
        found.made = [(id(model), _print(output)) for model, _, output, _ in calls if _is_rows(output)]
    return found


def _given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _rows_of(args[0] if args else next(iter(kwargs.values()), None))


def _rows_of(given: Any) -> Any:
    """The first rows of numbers: a condition comes beside them, if there is one."""
    if not isinstance(given, list | tuple | dict):
        return given
    return next((part for part in (given.values() if isinstance(given, dict) else given) if _is_rows(part)), None)


def _widths(outputs: Iterable[Any]) -> list[int]:
    """Of what models give by rows of several numbers."""
    return sorted({int(output.shape[1]) for output in outputs
                   if _is_rows(output) and output.shape.rank == 2 and (output.shape[1] or 1) > 1})


def _stopped(script: str) -> Place | None:
    """The only line of a script that stops a gradient."""
    lines = {call.lineno for call in ast.walk(parsed.tree(script)) if isinstance(call, ast.Call) and name_of(call.func) == "stop_gradient"}
    return (script, lines.pop(), "") if len(lines) == 1 else None


def _is_rows(tensor: Any) -> bool:
    kind, shape = getattr(tensor, "dtype", None), getattr(tensor, "shape", None)
    return bool(getattr(kind, "is_floating", False)) and shape is not None and shape.rank is not None and shape.rank > 1


def _is_judged(rows: Any, score: Any) -> bool:
    """Whether a model has answered with one number a row."""
    shape = getattr(score, "shape", None)
    return _is_rows(rows) and shape is not None and shape.rank is not None and all(size == 1 for size in shape[1:]) and (
        shape.rank > 0) and shape[0] in (None, rows.shape[0])


def _are_weights(sources: list[Any]) -> bool:
    """Whether a derivative trains something: that by the rows, as a penalty on it asks for, does not."""
    return any(hasattr(source, "assign") for source in sources)


def _trains_others(model: Any, sources: list[Any]) -> bool:
    return not {id(weight) for weight in model.trainable_variables} & {id(weight) for weight in sources}


def _squashed(rows: Any, calls: Any) -> str:
    """The bounded function that the last layer of the rows' maker ends in."""
    maker = next((model for model, _, output, _ in calls if output is rows), None)
    layers = [layer for layer in getattr(maker, "layers", []) if type(layer).__name__ not in ("Reshape", "Flatten")]
    name = getattr(getattr(layers[-1], "activation", None) or layers[-1], "__name__", "") if layers else ""
    return name if name in _SQUASHES else ""


def _values(rows: Any, pull: Any, widths: list[int]) -> dict[str, Any]:
    """`rows`: as a whole, and what may be of one of the `widths` in them, a condition joined in front of it or behind."""
    import tensorflow as tf

    joined = {f"rows {width} {side}": _print(part) for width in widths if rows.shape.rank == 2 and width < (rows.shape[1] or 0)
              for side, part in (("first", rows[:, :width]), ("last", rows[:, -width:]))}
    return joined | {"pull": tf.cast(pull, tf.float32), "rows": _print(rows), "below": tf.reduce_mean(tf.cast(rows < 0, tf.float32))}


def _print(rows: Any) -> Any:
    """float32[rows, 3]: least, largest and sum of each row, by which it is known again."""
    import tensorflow as tf

    flat = tf.cast(tf.reshape(rows, [tf.shape(rows)[0], -1]), tf.float32)
    return tf.stack([tf.reduce_min(flat, 1), tf.reduce_max(flat, 1), tf.reduce_sum(flat, 1)], 1)


def _theirs(rows: np.ndarray[Any, Any], made: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """bool[rows]: those that a model has made."""
    known = {(float(low), float(high)): float(total) for part in made for low, high, total in part}
    found = [known.get((float(low), float(high))) for low, high, _ in rows]
    theirs: np.ndarray[Any, Any] = np.array([total is not None and abs(total - own) <= _NEAR * (1 + abs(own))
                                             for total, own in zip(found, rows[:, 2], strict=True)], dtype=bool)
    return theirs
