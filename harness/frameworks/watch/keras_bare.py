"""Loops with a tape over variables of the script's own: no model of Keras, and mostly no optimizer either."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import LossCall
from harness.checks.model_facts import WideFacts
from harness.checks.training_facts import StepFacts, UnaskedFacts
from harness.frameworks.watch import alike, alive, keras_hidden, parsed
from harness.frameworks.watch.provenance import Text
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_CALLS = 60
_FAN_IN, _FOLLOWED = 4, 2000
_ALIKE, _LARGEST = (12, 40), 1 << 20  # steps after which units are compared; numbers of a matrix that is kept for it
_DRAWN = re.compile(r"(tf|tensorflow)\.random\.(truncated_normal|normal|uniform)")


class Bare:
    """Told of the gradients that a tape takes while no model is known. Where it is asked for those of the same variables again, and no
    optimizer has stepped in between, the script has changed them itself: that was a step."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._asked: frozenset[int] = frozenset()
        self._ever: dict[int, Any] = {}
        self._followed: dict[int, Any] = {}
        self._hidden: UnaskedFacts | None = None
        self._first: list[tuple[Any, Any]] = []
        self._times = 0
        self.optimized = False

    def asked(self, watched: Sequence[Any], sources: Sequence[Any]) -> None:
        """A tape, which has followed the variables `watched`, was asked for the gradients of `sources`."""
        import tensorflow as tf

        if not self._times:
            self._watch.session.safely("first weights", self._drawn, list(map(_plain, sources)))
        self._times += 1
        self._ever |= {id(source): source for source in map(_plain, sources) if isinstance(source, tf.Variable)}
        newest = max(map(_number, self._ever.values()), default=None)
        seen = self._watch.seen
        self._followed |= {id(variable): variable for variable in watched if len(self._followed) < _FOLLOWED}
        if self._times in _ALIKE:
            self._hidden = self._watch.session.safely("variables out of sight", self._out_of_sight)
        left = [variable for variable in watched if id(variable) not in self._ever and newest is not None and _number(variable) > newest]
        if not left:
            seen.unasked = self._hidden
            return
        place = seen.unasked.site if seen.unasked is not None else site(_read_at(self._watch.session.sites.place()))
        seen.unasked = UnaskedFacts(asked=len(self._ever), left=[str(variable.name) for variable in left], steps=self._times, site=place)

    def _out_of_sight(self) -> UnaskedFacts | None:
        """Variables that no gradient is asked for, in plain objects of a `tf.Module` whose own variables are asked for: it does not look
        into such."""
        import tensorflow as tf

        left = {key for key, variable in self._followed.items()
                if key not in self._ever and variable.trainable and variable.dtype.is_floating}
        modules = [found for found in alive.objects() if isinstance(found, tf.Module) and _own(found)] if left else []
        for module in modules:
            if not self._ever.keys() & set(map(id, module.trainable_variables)):
                continue
            for attribute, value in vars(module).items():
                holders = [holder for holder in (value, *keras_hidden.items(value)) if not isinstance(holder, tf.Module | tf.Variable)]
                kept = [(holder, found) for holder in holders if _own(holder) and (found := left & _inside(holder))]
                if any(len(self._followed[key].shape) > 1 for _, keys in kept for key in keys):  # else a mean and a deviation, say
                    script = str(self._watch.session.script)
                    return UnaskedFacts(asked=len(self._ever), left=[str(self._followed[key].name) for _, keys in kept for key in keys],
                                        steps=self._times, holder=type(kept[0][0]).__name__, site=site(_put(script, attribute)))
        return None

    def _drawn(self, sources: Sequence[Any]) -> None:
        """How wide the weights are before the first step."""
        import tensorflow as tf

        self._first = [(weight, weight.numpy()) for weight in sources if isinstance(weight, tf.Variable) and len(weight.shape) > 1
                       and int(np.prod(weight.shape)) <= _LARGEST and weight.dtype.is_floating]
        tables = [(str(getattr(weight, "name", "")), weight.numpy()) for weight in sources if len(getattr(weight, "shape", ())) == 2]
        gains = [(float(table.std()) * len(table) ** 0.5, name, table) for name, table in tables if len(table) >= _FAN_IN]
        if gains:
            gain, name, table = max(gains, key=lambda each: each[0])
            place = _drawn_at(str(self._watch.session.script))
            self._watch.seen.wide = WideFacts(gain=gain, name=name, shape=list(table.shape), site=site(place))

    def stepped(self, sources: Sequence[Any], losses: Sequence[float], norms: Sequence[float], calls: list[LossCall]) -> bool:
        """A tape is about to be asked for the gradients of `sources`: whether a step lies behind it. What came since the one before:
        `losses` that gradients were taken of, `norms` of these, `calls` of losses. May raise `Enough`."""
        watch, seen = self._watch, self._watch.seen
        if watch.session.out_of_time:
            watch.session.enough("time")
        if not any(map(is_variable, sources)):
            return False
        again, self._asked = self._asked == frozenset(map(id, sources)), frozenset(map(id, sources))
        if not again or not losses or self.optimized:
            return False
        if watch.in_full:
            watch.session.reach("step")
            seen.framework = "keras" if seen.framework == "none" else seen.framework
            seen.steps.append(StepFacts(step=len(seen.steps) + 1, loss=sum(losses), backwards=len(losses),
                                        gradient_norm=sum(norm * norm for norm in norms) ** 0.5))
            seen.loss_calls += calls[: max(0, _CALLS - len(seen.loss_calls))]
            if len(seen.steps) in _ALIKE:
                watch.session.safely("units that are alike", self._alike)
        return True

    def _alike(self) -> None:
        """A matrix whose units began alike and still are."""
        found = alike.measure((None, np.moveaxis(value, -1, 0), np.moveaxis(weight.numpy(), -1, 0)) for weight, value in self._first)
        facts = self._watch.seen.probes.alike = None if found is None else found[1]
        if facts is not None:
            facts.site = site(alike.written(self._watch.session.script))


def is_variable(source: Any) -> bool:
    """Whether a gradient is taken by something that can be changed, and not by an input."""
    return hasattr(source, "assign")


def _plain(variable: Any) -> Any:
    """TensorFlow's variable inside one of Keras 3."""
    return getattr(variable, "value", variable) if not hasattr(variable, "_unique_id") else variable


def _own(found: Any) -> bool:
    """Whether this is of a class of the script's."""
    module = type(found).__module__.partition(".")[0]
    return hasattr(found, "__dict__") and module not in ("builtins", "tensorflow", "keras", "tf_keras", "numpy", "collections")


def _inside(found: Any, depth: int = 4) -> set[int]:
    """The variables in what an object keeps, by their ids."""
    import tensorflow as tf

    if isinstance(found, tf.Variable):
        return {id(found)}
    parts = keras_hidden.items(found) or (list(vars(found).values()) if _own(found) else [])
    return set().union(*(_inside(part, depth - 1) for part in parts)) if depth else set()


def _put(script: str, attribute: str) -> Place | None:
    """The first line of a script that puts something into this attribute."""
    lines = [node.lineno for node in ast.walk(parsed.tree(script)) if isinstance(node, ast.Assign)
             and any(isinstance(target, ast.Attribute) and target.attr == attribute for target in node.targets)]
    return (script, min(lines), "__init__") if lines else None


def _number(variable: Any) -> int:
    """The number that TensorFlow counts variables up by as they are made."""
    found = re.search(r"(\d+)$", str(getattr(variable, "_unique_id", "")))
    return int(found[1]) if found else 0


def _drawn_at(script: str) -> Place | None:
    """The only line of a script on which TensorFlow draws numbers."""
    calls = [node for node in ast.walk(parsed.tree(script)) if isinstance(node, ast.Call)]
    lines = {call.lineno for call in calls if _DRAWN.fullmatch(ast.unparse(call.func))}
    return (script, lines.pop(), "<module>") if len(lines) == 1 else None


def _read_at(place: Place | None) -> Place | None:
    """Where the list was made that a tape is asked about on a line; the line itself where that cannot be told."""
    if place is None or not place[0].endswith(".py"):
        return place
    text = Text(parsed.tree(place[0]))
    given = [call.args[1] for call in text.calls(place[1]) if len(call.args) > 1 and getattr(call.func, "attr", "") == "gradient"]
    steps = text.steps(given[0]) if given else []
    return (place[0], steps[0].line, steps[0].function) if steps else place


def of_variable(*operands: Any) -> bool:
    """Whether a variable is among these: what is made of it is an answer of the script's own model."""
    import tensorflow as tf

    return any(isinstance(operand, tf.Variable) for operand in operands)
