"""Where the first NaN or infinity is born in a Keras step: the input, a weight, a layer's output, the loss or a gradient."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import LossCall
from harness.checks.model_facts import BadBirth
from harness.frameworks.watch import keras_gradients, keras_mapped, keras_operations, tensors
from harness.frameworks.watch.keras_heard import Operation, listening
from harness.frameworks.watch.keras_state import Frozen
from harness.frameworks.watch.keras_trace import numpy_of, patched, recording
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_WEIGHTS = 20_000_000
_ECHOES = 8  # steps after a NaN that are watched: by then it is in every weight, or it was an accident


class Births:
    """Told of every step; looks closer at the first whose loss is not finite. Keeps the weights of the step before for that."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._before: list[tuple[Any, Any]] | None = None
        self._earlier: tuple[list[tuple[Any, Any]] | None, Any] = (None, None)

    @property
    def echo(self) -> bool:
        """Whether a NaN has been traced to where it is born, and the steps since then repeat it."""
        births = self._watch.seen.births
        if not births or self._step < births[0].step + _ECHOES:
            return False
        return all(step.loss is None or not math.isfinite(step.loss) for step in self._watch.seen.steps[-_ECHOES:])

    @property
    def _step(self) -> int:
        return self._watch.steps.taken or len(self._watch.seen.steps)  # a loop of the script's own has the latter only

    def look(self, model: Any, data: Any, columns: dict[str, Any], loss: float | None, calls: list[LossCall]) -> None:
        """A step is over."""
        if self._watch.seen.births or loss is None:
            return
        if math.isfinite(loss):
            self.passed(model, data)
            return
        step = self._step
        found = self._in_input(columns, step) or self._in_step(model, data, step)
        if found is None:
            own = self._watch.seen.sites.get("loss.function") if calls and calls[-1].name == "other" else None
            found = BadBirth(step=step, what="loss", name=calls[-1].name if calls else "loss",
                             site=own or (calls[-1].site if calls else None))
        bad = [row for call in calls for row, value in enumerate(call.row_losses) if not math.isfinite(value)]
        found.rows = found.rows or sorted(set(bad))
        labels = next((call.row_labels for call in calls if call.row_labels), None)
        if labels and found.rows and max(found.rows) < len(labels):
            found.row_labels = [labels[row] for row in found.rows]
            found.finite_row_labels = [label for row, label in enumerate(labels) if row not in set(found.rows)]
        self._watch.seen.births.append(found)

    def passed(self, model: Any, data: Any) -> None:
        """A step with a finite loss is over: keep its batch, and the weights that the next begins with."""
        self._earlier = self._before, data
        self._remember(model)

    def _remember(self, model: Any) -> None:
        start = self._watch.steps.start
        if start is None or sum(int(np.prod(variable.shape)) for variable in start.variables) > _WEIGHTS:
            return
        self._before = [(variable, np.array(variable.numpy())) for variable in start.variables]

    def _in_input(self, columns: dict[str, Any], step: int) -> BadBirth | None:
        for name, value in columns.items():
            data = tensors.array(value)
            rows = tensors.bad_rows(data) if data is not None and data.dtype.kind == "f" else []
            if rows:
                loader = self._watch.data.current
                where = loader.facts.site if loader is not None else None
                if loader is not None and "bad_input" not in self._watch.seen.sites:
                    session = self._watch.session
                    with session.paused():
                        session.noted("bad_input", session.safely("mapped", keras_mapped.born, loader.source, session.sites.place))
                return BadBirth(step=step, what="input", name=name, rows=rows, site=where or self._watch.seen.sites.get("fit"))
        return None

    def _in_step(self, model: Any, data: Any, step: int) -> BadBirth | None:
        """The step again, eagerly and with the weights that it had: the first layer that makes something not finite of what is, or the
        operation in a line of the script's own."""
        watch, heard = self._watch, list[Operation]()
        start = watch.steps.start
        if watch.steps.original is None or start is None:
            return None
        found: list[tuple[Any, Any]] = []
        frozen = Frozen(model)
        with watch.session.paused(), frozen.held():
            if self._before is None:
                start.put()
            for variable, value in self._before or ():
                variable.assign(value)
            bad = next((variable for variable in model.trainable_variables if not np.isfinite(numpy_of(variable)).all()), None)
            if bad is not None:
                return self._in_gradient(step - 1, str(bad.name)) or BadBirth(
                    step=step, what="weight", name=str(bad.name), site=watch.seen.sites.get("fit"))
            # A loss may refuse on this device what it made a NaN of in a compiled step.
            with contextlib.suppress(Exception):
                self._again(data, found, heard)
            own = keras_operations.found_in(heard, step)
        if not found:
            return own if own is not None and own.site is not None and own.site != watch.seen.sites.get("fit") else None
        layer, output = found[0]
        rows = tensors.bad_rows(numpy_of(output))
        code = getattr(type(layer).call, "__code__", None)
        inside = own.site if own is not None and code is not None and watch.session.sites.is_own(code.co_filename) else None
        place = watch.compiles.place_of(layer)
        return BadBirth(step=step, what="activation", name=f"{layer.name} ({type(layer).__name__})", rows=rows,
                        site=inside or site(place) or watch.seen.sites.get("model"))

    def _again(self, data: Any, found: list[tuple[Any, Any]], heard: list[Operation]) -> None:
        watch = self._watch
        with listening(heard, watch.session.sites.place), \
                patched(watch.keras.layers.Layer, "__call__", lambda original: _looking(original, found)), \
                recording(watch.keras, stop=True):
            watch.steps.original(data)

    def _in_gradient(self, step: int, weight: str) -> BadBirth | None:
        """The step before, eagerly and with the weights that it had: the operation whose derivative is no number."""
        watch, (weights, data) = self._watch, self._earlier
        if data is None or watch.steps.start is None:
            return None
        if weights is None:
            watch.steps.start.put()
        for variable, value in weights or ():
            variable.assign(value)
        found = keras_gradients.birth(lambda: watch.steps.original(data), watch.session.sites.place)
        if found is None:
            return None
        return BadBirth(step=step, what="gradient", name=f"{found[0]} in the backward pass, first seen in {weight}",
                        site=site(found[1]) or watch.seen.sites.get("fit"))


def _looking(original: Any, found: list[tuple[Any, Any]]) -> Any:
    import tensorflow as tf

    def wrapped(layer: Any, *args: Any, **kwargs: Any) -> Any:
        output = original(layer, *args, **kwargs)
        given = [value for value in tf.nest.flatten([args, kwargs]) if tf.is_tensor(value)]
        made = [value for value in tf.nest.flatten(output) if tf.is_tensor(value)]
        if not found and all(keras_gradients.finite(value) for value in given):
            bad = next((value for value in made if not keras_gradients.finite(value)), None)
            if bad is not None:
                found.append((layer, bad))
        return output

    return wrapped
