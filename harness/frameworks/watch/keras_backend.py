"""Taking the steps of a Keras model again, on the batches that its script trained on."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.model_facts import UnitFacts
from harness.checks.probe_facts import PaddingFacts, ProbeFacts, RowFacts, ShiftFacts, SumFacts
from harness.frameworks.watch import dilution, keras_gradients, keras_masks, keras_model, keras_sums, neighbours, scales, shifts, sums
from harness.frameworks.watch.carry import Portion
from harness.frameworks.watch.fitting import Backend, Change
from harness.frameworks.watch.keras_changes import exchanged, in_front, inputs_of, moved_on, taken, with_inputs
from harness.frameworks.watch.keras_classes import classes_of
from harness.frameworks.watch.keras_data import class_ids, columns_of, main_input
from harness.frameworks.watch.keras_forward import Forward
from harness.frameworks.watch.keras_state import Frozen, Start, optimizers_of, shake
from harness.frameworks.watch.keras_trace import LossSeen, numpy_of, patched
from harness.frameworks.watch.sites import Place, Sites, site

if TYPE_CHECKING:
    from harness.checks.loss_facts import LossCall
    from harness.checks.tensor_facts import Site
    from harness.frameworks.watch.keras_replay import Replaying
    from harness.frameworks.watch.keras_rows import Inside
    from harness.frameworks.watch.keras_terms import Terms

_ROUNDING = 1e-6
_NEGLIGIBLE = ("sigmoid", "tanh", "relu")


@dataclass
class Step:
    """A training batch as the step was given it. `labels`: class ids of its rows. `scale`: what mixed precision multiplied its loss by."""

    data: Any
    labels: list[Any] | None
    scale: float = 1.0


class KerasBackend(Backend[Step]):
    """Runs a model's own training step. `call`: the loss that the script's steps were seen to compute; `forward`: takes `train_step` as far
    as that."""

    def __init__(self, keras: Any, model: Any, train_step: Any, replay: Replaying, start: Start, rate: float,
                 call: LossCall | None, forward: Forward | None = None) -> None:
        self._keras, self._model, self._train_step, self._replay, self._start = keras, model, train_step, replay, start
        self._forward, self._op_by_op = forward, forward or Forward(keras, train_step)
        self._name, self._logits = (call.name, bool(call.from_logits)) if call is not None else ("", False)
        self._frozen = Frozen(model)
        self._exchange: shifts.Exchange | None = None
        self.rate = rate

    def held(self) -> AbstractContextManager[None]:
        """While inside, weights, optimizers and generators may be changed freely; everything is put back at the end."""
        return self._frozen.held()

    def put(self) -> None:
        """The weights as they were before the script's first step."""
        self._start.put()

    def moved(self) -> list[float]:
        """How far every weight matrix is from the first one: norm of the change / norm before."""
        return self._start.moved()

    def _try(self, data: Any, *, evaluating: bool = True) -> tuple[float, list[LossSeen]]:
        """Loss of a batch in inference mode (or as the script asks for it), without a step, and the loss calls behind it."""
        return self._op_by_op.op_by_op(data, evaluating=evaluating)

    def _measured(self, data: Any) -> tuple[float, list[tuple[Any, Any]]]:
        """Loss of a batch in inference mode, and what its loss calls compared, (true, predicted)."""
        if self._forward is not None:
            return self._forward(data)
        loss, used = self._try(data)
        return loss, [(seen.true, seen.pred) for seen in used]

    def loss(self, step: Step, change: Change | None = None) -> float:
        """The loss of a step in evaluation mode, with the weights of now."""
        return self._measured(with_inputs(step.data, change))[0] / step.scale

    def loss_op_by_op(self, step: Step) -> float:
        """The same without a graph, for whoever listens."""
        return self._try(step.data)[0]

    def losses(self, steps: list[Step], factor: float, count: int, change: Change | None = None) -> Iterator[float]:
        """Take `count` steps in turn from the weights of now, with a new optimizer at the script's rate times `factor`: their losses."""
        batches = [with_inputs(step.data, change) for step in steps]
        for loss in islice(self._replay.losses(batches, factor), count):
            yield loss / steps[0].scale

    @contextlib.contextmanager
    def eagerly(self) -> Iterator[None]:
        """While inside, steps are taken anew: without a graph that was made before."""
        kept, attributes = (self._replay, self._forward), {name: vars(self._model)[name] for name in optimizers_of(self._model)}
        self._replay, self._forward = self._replay.eager(), None
        try:
            yield
        finally:
            self._replay, self._forward = kept
            vars(self._model).update(attributes)

    def accuracy(self, steps: list[Step], change: Change | None = None) -> float | None:
        """Share of rows whose class comes out right, in evaluation mode; None where there are no classes."""
        right, rows = 0, 0
        for step in steps:
            losses = self._measured(with_inputs(step.data, change))[1]
            if len(losses) != 1:
                return None
            true, pred = map(numpy_of, losses[0])
            found = classes_of(pred, self._name, logits=self._logits)
            labels = class_ids(true, limit=1 << 16)
            if found is None or labels is None or len(found) != len(labels):
                return None
            right += sum(a == b for a, b in zip(found, labels, strict=True))
            rows += len(found)
        return right / rows if rows else None

    def standardiser(self, steps: list[Step]) -> Change | None:
        """What standardises the numeric inputs; None where they are near that already."""
        import tensorflow as tf

        # What the model itself scales all features by has to come out standardised.
        middle, deviation, scaled = keras_model.inner_scale(self._model)
        found = scales.of([scaled(part) for step in steps for part in inputs_of(step.data) if _numeric(part)], channels=-1)
        if not found:
            return None

        def change(part: Any) -> Any:
            scale = found.get(tuple(part.shape[1:])) if _numeric(part) else None
            return part if scale is None else tf.constant(middle + deviation * (scaled(part) - scale[0]) / scale[1])

        return change

    def inputs(self, step: Step, facts: ProbeFacts) -> None:
        """Whether outputs depend on the inputs at all."""
        if self.rows(step) < 2:
            return
        self._start.put()
        shake(self._model.trainable_variables, 0.1)
        plain, rolled = self._both(step)
        facts.input_matters = _depends(plain, rolled)
        if facts.input_matters is False:
            facts.input_matters = self._matters_in_training(step)
        if facts.input_matters is not None:
            self._neighbours(step, facts, plain, rolled)
            try:
                facts.shift = facts.shift or self._shift(step)
            except Exception as error:  # noqa: BLE001 - the script's own model runs here once more, and the other experiments go on
                facts.skipped["shift"] = f"{type(error).__name__}: {error}"[:300]
        self._start.put()

    def input_matters(self, step: Step, change: Change | None = None) -> bool | None:
        """Whether outputs of shaken first weights depend on the (changed) inputs; None where that cannot be told."""
        if self.rows(step) < 2:
            return None
        self._start.put()
        shake(self._model.trainable_variables, 0.1)
        found = _depends(*self._both(step, change))
        if found is False:
            found = self._matters_in_training(step, change)
        self._start.put()
        return found

    def lost(self, step: Step, inside: Inside) -> tuple[Place | None, str] | None:
        """Where the last trace of the input is lost on its way to the output, and in which operation."""
        self._start.put()
        shake(self._model.trainable_variables, 0.1)
        found = inside.lost(lambda: self._try(step.data), self.rows(step))
        self._start.put()
        return found

    def mixing(self, step: Step, inside: Inside, facts: RowFacts) -> None:
        """Find where rows are mixed."""
        rows = self.rows(step)
        find, order = (inside.place, neighbours.moved(rows)) if neighbours.placed(facts) else (inside.mixing, neighbours.replaced(rows))
        plain, changed = (with_inputs(step.data, functools.partial(taken, rows=rows, order=to)) for to in (list(range(rows)), order))
        self._start.put()
        find(lambda: self._try(plain), lambda: self._try(changed), rows, facts)
        self._start.put()

    def ahead(self, step: Step, inside: Inside) -> Site | None:
        """Where tokens first get into what is made of earlier ones, as the last exchange of ids showed that they do."""
        exchange = self._exchange
        if exchange is None:
            return None
        self._start.put()
        shake(self._model.trainable_variables, 0.1)
        changed = with_inputs(step.data, lambda part: exchanged(part, exchange))
        found = site(inside.ahead(lambda: self._try(step.data), lambda: self._try(changed), exchange))
        self._start.put()
        return found

    def softmax_of_one(self, step: Step, inside: Inside) -> tuple[Place, list[int]] | None:
        """Where a softmax is taken of single numbers, and their shape."""
        return inside.softmax_of_one(lambda: self._try(step.data))

    def _matters_in_training(self, step: Step, change: Change | None = None) -> bool | None:
        """The same question as a training step asks it: a deep model may answer nothing by the statistics that its norms began with."""
        if not any("BatchNormalization" in type(layer).__name__ for layer in self._model._flatten_layers()):
            return False
        rows, data = self.rows(step), with_inputs(step.data, change)
        plain, again, rolled = (self.predictions(given, evaluating=False)
                                for given in (data, data, with_inputs(data, lambda part: moved_on(part, rows))))
        return None if _depends(plain, again) else _depends(plain, rolled)

    def _both(self, step: Step, change: Change | None = None) -> tuple[Any, Any]:
        """Predictions for the rows of a step, and for the same rows moved by one."""
        rows, data = self.rows(step), with_inputs(step.data, change)
        return self.predictions(data), self.predictions(with_inputs(data, lambda part: moved_on(part, rows)))

    def matters(self, step: Step, weights: list[Any]) -> bool | None:
        """Whether the loss of a step changes with these weights; None where it does not repeat by itself."""
        self._start.put()
        shake(self._model.trainable_variables, 0.1)  # a head that begins at zero hides what is before it
        plain, again = self.loss(step), self.loss(step)
        shake(weights, 1.0)
        changed = self.loss(step)
        self._start.put()
        if not math.isfinite(plain) or abs(plain - again) > _ROUNDING * abs(plain):
            return None
        return abs(changed - plain) > _ROUNDING * abs(plain)

    def terms(self, steps: list[Step], terms: Terms) -> None:
        """What each of several losses is in the sum of the first steps."""
        self._start.put()
        terms.measure(self._train_step, [step.data for step in steps], self._model.trainable_variables)
        self._start.put()

    def cut(self, step: Step, weights: list[Any], place: Callable[[], Place | None]) -> Place | None:
        """The first of the script's own lines on the way from these weights to the loss through which no gradient comes back."""
        self._start.put()
        return keras_gradients.cut(lambda: self._try(step.data), weights, place)

    def _neighbours(self, step: Step, facts: ProbeFacts, plain: Any, rolled: Any) -> None:
        """What rows of a batch do to each other, and padding to them."""
        rows = self.rows(step)
        parts = [part for part in inputs_of(step.data) if len(part.shape)]
        facts.real = dilution.real(parts, rows)
        if rows >= neighbours.LEAST and all(part.shape[0] == rows for part in parts):
            replaced = self.predictions(with_inputs(step.data, lambda part: taken(part, rows, neighbours.replaced(rows))))
            facts.rows = neighbours.measure([plain], [rolled], [replaced], rows) if replaced is not None else None
            if neighbours.suspect(facts.rows) and not np.array_equal(plain, self.predictions(step.data)):
                facts.rows = None  # it answers differently twice
        ids = next((numpy_of(part) for part in parts if neighbours.in_steps(part.shape, floats=part.dtype.is_floating)), None)
        padded = neighbours.padding(ids) if ids is not None and any(_recurrent(layer) for layer in self._model._flatten_layers()) else None
        if ids is None or padded is None:
            return
        moved = self.predictions(with_inputs(step.data, lambda part: in_front(part, ids.shape[:2], padded.order)))
        distances = [neighbours.spread([found], rows) for found in (plain, moved) if found is not None]
        if len(distances) == 2 and distances[0] is not None and distances[1] is not None:
            facts.padding = PaddingFacts(share=padded.share, longest=padded.longest, width=ids.shape[1], spread=distances[0],
                                         spread_in_front=distances[1], unit="steps" if ids.ndim > 2 else "tokens")

    def unmasked(self, step: Step) -> Any:
        """The layer at which the mask of a batch ends before a recurrent one, in training mode; None where there is none."""
        return keras_masks.lost(self._keras, lambda: self.predictions(step.data, evaluating=False), _recurrent)

    def _shift(self, step: Step) -> ShiftFacts | None:
        """Where the targets of a language model stand beside its inputs, and whether it looks ahead."""
        losses = self._try(step.data)[1]
        true = numpy_of(losses[-1].true) if len(losses) == 1 else None
        given = [numpy_of(part) for part in inputs_of(step.data) if part.dtype.is_integer]
        if not isinstance(true, np.ndarray) or self._name != "sparse_categorical" or not given or not np.array_equal(true, np.round(true)):
            return None

        def outputs(exchange: shifts.Exchange | None) -> list[Any]:
            self._exchange = exchange
            found = self.predictions(step.data if exchange is None else with_inputs(step.data, lambda part: exchanged(part, exchange)))
            return [found] if isinstance(found, np.ndarray) else []

        return shifts.measure(given, true.astype(np.int64), outputs, (-100,), lambda rows, length: self._by_token(step, rows, length))

    def _by_token(self, step: Step, rows: int, length: int) -> bool:
        """Whether no layer makes one vector of a whole row of so many tokens, and no recurrent layer reads in one direction only. What does
        not change with exchanged tokens, a table of positions say, is made of no row."""
        layers = list(self._model._flatten_layers())
        both = [layer for layer in layers if type(layer).__name__ == "Bidirectional"]
        inner = {id(part) for layer in both for part in (layer.forward_layer, layer.backward_layer)}
        if any(_recurrent(layer) and id(layer) not in inner for layer in layers if not any(layer is outer for outer in both)):
            return False
        made: list[Any] = []

        def look(original: Any) -> Any:
            def wrapped(layer: Any, *args: Any, **kwargs: Any) -> Any:
                output = original(layer, *args, **kwargs)
                if id(layer) not in inner and shifts.of_a_row(tuple(getattr(output, "shape", ())), rows, length):
                    made.append(numpy_of(output))
                return output

            return wrapped

        def run(data: Any) -> list[Any]:
            made.clear()
            with patched(self._keras.layers.Layer, "__call__", look):
                self._try(data)
            return list(made)

        plain, exchange = run(step.data), self._exchange
        if not plain or exchange is None:
            return not plain
        changed = run(with_inputs(step.data, lambda part: exchanged(part, exchange)))
        return len(plain) == len(changed) and all(map(np.array_equal, plain, changed))

    def predictions(self, data: Any, *, evaluating: bool = True) -> Any:
        """What the losses of a batch were given as predictions, `float[rows, ...]`."""
        losses = self._try(data, evaluating=evaluating)[1]
        return None if not losses else numpy_of(losses[-1].pred)

    def answers(self, step: Step) -> Any:
        """What the losses of a step are given in training."""
        return self.predictions(step.data, evaluating=False)

    def shaken(self, step: Step, changes: Sequence[Change | None]) -> list[Any]:
        """The predictions of slightly shaken first weights, by the changed inputs: what begins at zero may hide nothing."""
        self._start.put()
        shake(self._model.trainable_variables, 0.1)
        made = [self.predictions(with_inputs(step.data, change)) for change in changes]
        self._start.put()
        return made

    def units(self, steps: list[Step]) -> list[UnitFacts]:
        """The nonlinearities of the weights of now: shares of units that are zero (or saturated) for all rows of these steps."""
        counted: dict[str, tuple[str, list[Any]]] = {}

        def look(original: Any) -> Any:
            def wrapped(layer: Any, *args: Any, **kwargs: Any) -> Any:
                output = original(layer, *args, **kwargs)
                kind = getattr(getattr(layer, "activation", None), "__name__", "")
                kind = "relu" if type(layer).__name__ == "ReLU" else kind
                if kind in _NEGLIGIBLE and hasattr(output, "shape") and len(output.shape) > 1:
                    value = numpy_of(output)
                    flat = value.reshape(-1, value.shape[-1]) if value.ndim > 2 else value
                    active = (flat != 0).any(0) if kind == "relu" else (np.abs(flat - (0.5 if kind == "sigmoid" else 0.0)) < (
                        0.49 if kind == "sigmoid" else 0.98)).any(0)
                    counted.setdefault(layer.name, (kind, []))[1].append(active)
                return output

            return wrapped

        with patched(self._keras.layers.Layer, "__call__", look):
            for step in steps:
                self._try(step.data)
        return [UnitFacts(module=name, kind=kind, dead_share=float(1 - np.any(np.stack(found), axis=0).mean()))
                for name, (kind, found) in counted.items() if len({part.shape for part in found}) == 1][:200]

    def summed(self, steps: list[Step], sites: Sites) -> SumFacts | None:
        """Where the script adds up the rows of a batch to what is (most of) its loss."""
        def run(step: Step) -> float:
            return self._try(step.data)[0]

        self.put()
        here = functools.partial(sites.inside, __file__)
        return sums.whole([keras_sums.of(functools.partial(run, step), self.rows(step), here) for step in steps[:sums.LEAST_BATCHES]])

    def portion(self, step: Step) -> Portion:
        """Labels and contents of the rows of a step, told apart by its main input."""
        columns = columns_of(step.data)
        rows = columns.get(main_input(columns) or "")
        marks = [hash(row.tobytes()) for row in rows] if isinstance(rows, np.ndarray) and rows.ndim > 1 else []
        return Portion(step, list(step.labels or ()), marks)

    def rows(self, step: Step) -> int:
        """Rows of a step; 0 where that cannot be told."""
        return next((int(part.shape[0]) for part in inputs_of(step.data) if len(part.shape)), 0)

    def together(self, steps: list[Step]) -> Step | None:
        """One step of the rows of several; None where their rows differ in shape."""
        import tensorflow as tf

        def joined(*tensors: Any) -> Any:
            return tf.concat(tensors, 0) if tf.is_tensor(tensors[0]) else tensors[0]

        try:
            merged = tf.nest.map_structure(joined, *(step.data for step in steps))
        except (ValueError, TypeError, tf.errors.InvalidArgumentError):
            return None
        return Step(merged, [label for step in steps for label in step.labels or ()], steps[0].scale)


def _depends(plain: Any, rolled: Any) -> bool | None:
    """Whether predictions change with the order of the inputs; None where they cannot be compared."""
    if plain is None or rolled is None or plain.shape != rolled.shape or not np.isfinite(plain).all():
        return None
    return bool(np.abs(plain - rolled).max() > _ROUNDING * (float(np.abs(plain).max()) or 1.0))


def _recurrent(layer: Any) -> bool:
    return any(cls.__name__ in ("RNN", "Bidirectional") for cls in type(layer).__mro__)


def _numeric(part: Any) -> bool:
    return bool(part.dtype.is_floating) or part.dtype.name == "uint8"
