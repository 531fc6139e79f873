"""Fitting the script's own batches again with the model's own step, at its own rate and at others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.checks.observation import UnitFacts
from harness.checks.probe_facts import CurveFacts, ProbeFacts
from harness.frameworks.watch.carry import Portion
from harness.frameworks.watch.keras_data import class_ids, columns_of, main_input
from harness.frameworks.watch.keras_evaluation import classes_of
from harness.frameworks.watch.keras_replay import Replay
from harness.frameworks.watch.keras_state import Frozen, Start
from harness.frameworks.watch.keras_trace import LossSeen, Stop, numpy_of, patched, recording
from harness.frameworks.watch.session import Clock

_SLOWER, _FASTER = 1 / 20, 20.0
_LEARNT = 0.5
_FITTED = 0.03
_FIT_STEPS = 100
_TRAIN_STEPS = 120
_EPOCHS = 60
_LEAST_STEPS = 8
_MERGED = 4
# How far a short training that learns moves its weights, roughly; and no rate is tried that is further from the script's than this.
_SENSIBLE, _MOST_FASTER = 0.03, 1e8
_MEASURED, _FEWEST = 12, 3
_MEASURING = 0.06  # share of the time that one measurement over several batches may take
_STILL, NEAR = 0.002, 0.02  # displacements: under the first the weights stand still, under the second no rate is too high
_NEGLIGIBLE = ("sigmoid", "tanh", "relu")


@dataclass
class Step:
    """A training batch as the step was given it. `labels`: class ids of its rows. `scale`: what mixed precision multiplied its loss by."""

    data: Any
    labels: list[Any] | None
    scale: float = 1.0


class Fits:
    """Fits `steps` within `seconds` of a clock. All but `displacement` is to be called inside `held()`."""

    def __init__(self, keras: Any, model: Any, train_step: Any, replay: Replay, start: Start, steps: list[Step], rate: float, name: str,
                 logits: bool, facts: ProbeFacts, clock: Clock, seconds: float) -> None:
        self._keras, self._model, self._train_step, self._start = keras, model, train_step, start
        self._steps, self._rate, self._name, self._logits = steps, rate, name, logits
        self._facts, self._clock, self._seconds = facts, clock, seconds
        self._frozen = Frozen(model)
        self._replay = replay
        self._forward_s = 0.0
        self.step_s = 0.0
        self._moved: float | None = None

    @property
    def _left(self) -> float:
        return self._seconds - self._clock.seconds()

    def held(self) -> Any:
        """Everything is put back at the end."""
        return self._frozen.held()

    def displacement(self) -> float | None:
        """How far the weights are from the first ones: norm of the change / norm before, median over matrices."""
        found = sorted(self._start.moved())
        self._moved = found[len(found) // 2] if found else None
        return self._moved

    # Before training

    def initial(self) -> None:
        """Loss of the first weights in evaluation mode, a mean over the batches."""
        self._start.put()
        self._mean_loss(self._steps[:1])  # what is built once is not what a forward pass takes
        first = self._mean_loss(self._steps[:1])
        self.step_s = 3 * self._forward_s
        chosen = self._steps[:max(2, min(len(self._steps), int(0.1 * self._seconds / (self._forward_s + 1e-9))))]
        self._facts.initial_loss = self._mean_loss(chosen) if len(chosen) > 1 else first
        self._facts.initial_rows = sum(rows_of(step.data) for step in chosen)

    def inputs(self) -> None:
        """Whether outputs depend on the inputs at all."""
        data = self._steps[0].data
        rows = rows_of(data)
        if rows < 2:
            return
        self._start.put()
        generator = np.random.default_rng(0)
        for variable in self._model.trainable_variables:
            value = numpy_of(variable).astype(np.float32)
            noise = generator.normal(size=value.shape) * (0.1 * float(np.sqrt(np.mean(value**2))) + 1e-3)
            variable.assign((value + noise).astype(value.dtype))
        plain = self._forward(data)
        rolled = self._forward(changed_inputs(data, lambda part: _rolled(part, rows)))
        if plain is not None and rolled is not None and plain.shape == rolled.shape and np.isfinite(plain).all():
            scale = float(np.abs(plain).max()) or 1.0
            self._facts.input_matters = bool(np.abs(plain - rolled).max() > 1e-6 * scale)
        self._start.put()

    def _forward(self, data: Any) -> Any:
        """What the losses of a batch were given as predictions, `float[rows, ...]`."""
        losses = self._try(data)[1]
        return None if not losses else numpy_of(losses[-1].pred)

    def units(self) -> list[UnitFacts]:
        """The nonlinearities of the model of now, over the first batches: units that are zero (or saturated) for all rows."""
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
            begun = self._clock.seconds()
            for step in self._steps[:_LEAST_STEPS]:
                self._try(step.data)
                if self._clock.seconds() - begun > _MEASURING * self._seconds:
                    break
        return [UnitFacts(module=name, kind=kind, dead_share=float(1 - np.any(np.stack(found), axis=0).mean()))
                for name, (kind, found) in counted.items() if len({part.shape for part in found}) == 1][:200]

    # One step

    def _try(self, data: Any, *, training: bool = False) -> tuple[float, list[LossSeen]]:
        """Loss of a batch (in inference mode unless `training`) without a step, and the loss calls behind it."""
        with recording(self._keras, evaluating=not training, stop=True) as record:
            try:
                self._train_step(data)
            except Stop:
                return float(numpy_of(record.targets[0])), record.used()
        used = record.used()
        return (float(np.mean(numpy_of(used[-1].value))) if used else math.nan), used

    def _mean_loss(self, steps: list[Step], change: Callable[[Any], Any] | None = None) -> float:
        """Mean loss over an even choice of the batches, in evaluation mode; of the finite ones where there are some."""
        # Of a slow model fewer: what is left of the time belongs to fitting.
        most = max(_FEWEST, min(_MEASURED, int(_MEASURING * self._seconds / (self._forward_s + 1e-9))))
        begun = self._clock.seconds()
        losses = [self._try(step.data if change is None else changed_inputs(step.data, change))[0] / step.scale
                  for step in steps[:: (len(steps) - 1) // most + 1]]
        self._forward_s = (self._clock.seconds() - begun) / len(losses)
        finite = [loss for loss in losses if math.isfinite(loss)]
        return sum(finite) / len(finite) if finite else math.nan

    # Fitting

    def overfit(self) -> None:
        """Overfit one batch at the script's rate; where that does not go, at others: lower and higher in turn, until one does."""
        facts = self._facts
        if _LEAST_STEPS * self.step_s > 2 * self._seconds:
            facts.skipped["overfit"] = f"one step takes {self.step_s:.1f} s"
            return
        batch = self._one_batch()
        facts.overfit_rows = rows_of(batch[0].data)
        facts.overfit = self._curve(batch, 1.0, _FIT_STEPS, 0.6 * self._left, stop_early=True, measure=True)
        if _fell(facts.overfit.losses):
            return
        wanted = len(facts.overfit.losses) if all(math.isfinite(loss) for loss in facts.overfit.losses) else _FIT_STEPS
        first, last = facts.overfit.start_loss or 0.0, facts.overfit.final_loss or 0.0
        still = math.isfinite(last) and abs(last - first) < 0.02 * abs(first)
        # Weights that hardly move tell themselves how much more it would take: a movement is in proportion to the rate.
        moved = sorted(found for found in self._start.moved() if found) if still else []
        wanting = [round(_SENSIBLE / moved[len(moved) // 2], -1)] if moved and moved[len(moved) // 2] < 0.1 * _SENSIBLE else []
        guesses = [guess for found in wanting for guess in (found, 10 * found, found / 10) if 10 <= guess <= _MOST_FASTER]
        for factor in (*guesses, 10.0, 100.0, 1e3, 1e4, 0.1, 1e5, 0.01, 1e6) if still else (0.1, 0.01, 10.0, 0.001, 100.0):
            if self._left < _LEAST_STEPS * self.step_s:
                facts.skipped[f"overfit_scaled x{factor:g}"] = "no time left"
                continue
            facts.overfit_scaled.append(self._curve(batch, factor, max(wanted, 20), self._left))
            if _fell(facts.overfit_scaled[-1].losses):
                break

    def train(self, losses: list[float]) -> None:
        """Hold the script's own steps (`losses`, which ended at the weights of now) against the same batches at another rate.

        Not where these steps learnt beyond doubt.
        """
        facts = self._facts
        own = CurveFacts(learning_rate=self._rate, losses=losses)
        if len(losses) >= 2 * _LEAST_STEPS:
            own.final_loss = self._mean_loss(self._steps)
        self._start.put()
        own.start_loss = self._mean_loss(self._steps)
        self.step_s = self._replay.step_s or 3 * self._forward_s
        facts.train = own
        if len(losses) < 2 * _LEAST_STEPS:
            own = facts.train = self._curve(self._steps, 1.0, _TRAIN_STEPS, 0.4 * self._left, measure=True)
        if learns(own.losses):
            facts.skipped["train_scaled"] = "the script's own rate learns"
            return
        self._standardised(own)
        moved = self._moved if self._moved is not None else 1.0
        if _STILL <= moved < NEAR:
            facts.skipped["train_scaled"] = f"the steps moved the weights by {moved:.1%}: neither too far nor not at all"
            return
        fitted = [curve.learning_rate / own.learning_rate for curve in facts.overfit_scaled if _fell(curve.losses) and own.learning_rate]
        faster = max([_FASTER, *fitted])
        if not fitted and 0 < moved < _STILL:
            faster = min(max(faster, _SENSIBLE / moved), _MOST_FASTER)
        for factor in (faster,) if moved < _STILL else (_SLOWER,):
            if self._left < _LEAST_STEPS * self.step_s:
                facts.skipped[f"train_scaled x{factor:g}"] = "no time left"
                continue
            count = max(len(own.losses), 2 * _LEAST_STEPS)
            enough = count if count * self.step_s < 2 * self._seconds else _LEAST_STEPS
            half = 0.5 * sum(own.losses[-_LEAST_STEPS:]) / len(own.losses[-_LEAST_STEPS:])  # beyond doubt
            facts.train_scaled.append(self._curve(self._steps, factor, count, self._left, measure=True, least=enough, below=half))

    def carry(self, fitted: list[Step], held: list[Step], seconds: float) -> tuple[CurveFacts, float | None, float]:
        """Fit some steps again and again at the script's rate: the curve, with accuracy on their rows, and accuracy and loss on others."""
        curve = self._curve(fitted, 1.0, _EPOCHS * len(fitted), seconds, stop_early=True, measure=True)
        curve.accuracy = self._accuracy(fitted, None)
        return curve, self._accuracy(held, None), self._mean_loss(held)

    def _standardised(self, own: CurveFacts) -> None:
        """The same run with standardised inputs, where they are of another scale than that."""
        scales = self._scales()
        if not scales or self._left < _LEAST_STEPS * self.step_s:
            return

        def change(part: Any) -> Any:
            found = scales.get(tuple(part.shape[1:]))
            return part if found is None or not _numeric(part) else _tensor((numpy_of(part).astype(np.float32) - found[0]) / found[1])

        count = max(len(own.losses), 2 * _LEAST_STEPS)
        self._facts.train_standardised = self._curve(self._steps, 1.0, count, 0.4 * self._left, measure=True, change=change)

    def _scales(self) -> dict[tuple[int, ...], tuple[Any, Any]]:
        """Mean and deviation of the numeric inputs, by their shape without rows; only of those that are far from 0 and 1."""
        given: dict[tuple[int, ...], list[Any]] = {}
        for step in self._steps:
            for part in inputs_of(step.data):
                if _numeric(part) and len(part.shape) > 1:
                    given.setdefault(tuple(part.shape[1:]), []).append(numpy_of(part))
        found = {}
        for shape, parts in given.items():
            rows = np.concatenate(parts).astype(np.float32)
            over = (0,) if rows.ndim == 2 else tuple(range(rows.ndim - 1))  # features one by one, images by channel
            mean, std = rows.mean(over, keepdims=True), rows.std(over, keepdims=True)
            if np.isfinite(rows).all() and (np.abs(rows).max() > 10 or np.abs(mean).max() > 3 or std.max() > 3 or std.max() < 0.05):
                found[shape] = (mean, np.maximum(std, 1e-8))
        return found

    def _one_batch(self) -> list[Step]:
        """One batch that holds every label of the first steps, several put together where none does."""
        every = {label for step in self._steps for label in step.labels or ()}
        chosen: list[Step] = []
        held: set[Any] = set()
        if len(every) > 32:
            return self._steps[:1]
        for _ in range(_MERGED):
            best = max(self._steps, key=lambda step: len(set(step.labels or ()) - held))
            gained = set(best.labels or ()) - held
            if chosen and not gained:
                break
            chosen.append(best)
            held |= gained
            if held == every:
                break
        if len(chosen) == 1:
            return chosen
        merged = _merged([step.data for step in chosen])
        labels = [label for step in chosen for label in step.labels or ()]
        return chosen[:1] if merged is None else [Step(merged, labels, chosen[0].scale)]

    def _curve(self, steps: list[Step], factor: float, count: int, seconds: float, *, stop_early: bool = False, measure: bool = False,
               change: Callable[[Any], Any] | None = None, least: int = _LEAST_STEPS, below: float = -math.inf) -> CurveFacts:
        self._start.put()
        curve = CurveFacts(learning_rate=self._rate * factor)
        if measure:
            curve.start_loss = self._mean_loss(steps, change)
        batches = [step.data if change is None else changed_inputs(step.data, change) for step in steps]
        begun, timed = self._clock.seconds(), self._clock.seconds()
        for number, loss in enumerate(self._replay.losses(batches, factor), start=1):
            curve.losses.append(loss / steps[0].scale)
            if number == 1:
                begun = timed = self._clock.seconds()  # the first step of all includes building the function
            last = curve.losses[-3:]
            if number >= count or not math.isfinite(last[-1]) or (number >= least and self._clock.seconds() - begun > seconds):
                break
            if stop_early and number > _LEAST_STEPS and max(last) < _FITTED * curve.losses[0]:
                break
            if number > 2 * _LEAST_STEPS and sum(curve.losses[-_LEAST_STEPS:]) / _LEAST_STEPS < below:
                break
        if len(curve.losses) > 1:
            self.step_s = self._replay.step_s = (self._clock.seconds() - timed) / (len(curve.losses) - 1)
        curve.final_loss = self._mean_loss(steps, change) if measure else None
        curve.accuracy = self._accuracy(steps[:4], change)
        return curve

    def _accuracy(self, steps: list[Step], change: Callable[[Any], Any] | None) -> float | None:
        """Share of rows whose class comes out right, in evaluation mode; None where there are no classes."""
        right, rows = 0, 0
        for step in steps:
            losses = self._try(step.data if change is None else changed_inputs(step.data, change))[1]
            if len(losses) != 1:
                return None
            found = classes_of(numpy_of(losses[0].pred), self._name, logits=self._logits)
            labels = class_ids(numpy_of(losses[0].true), limit=1 << 16)
            if found is None or labels is None or len(found) != len(labels):
                return None
            right += sum(a == b for a, b in zip(found, labels, strict=True))
            rows += len(found)
        return right / rows if rows else None


def portion_of(step: Step) -> Portion:
    """The rows of a step, told apart by its main input."""
    columns = columns_of(step.data)
    rows = columns.get(main_input(columns) or "")
    marks = [hash(row.tobytes()) for row in rows] if isinstance(rows, np.ndarray) and rows.ndim > 1 else []
    return Portion(step, list(step.labels or ()), marks)


def inputs_of(data: Any) -> list[Any]:
    """The tensors of a batch's first part."""
    import tensorflow as tf

    x = data[0] if isinstance(data, tuple) else data
    return [part for part in tf.nest.flatten(x) if tf.is_tensor(part)]


def changed_inputs(data: Any, change: Callable[[Any], Any]) -> Any:
    """A batch with the tensors of its first part changed."""
    import tensorflow as tf

    def changed(part: Any) -> Any:
        return change(part) if tf.is_tensor(part) else part

    if isinstance(data, tuple):
        return (tf.nest.map_structure(changed, data[0]), *data[1:])
    return tf.nest.map_structure(changed, data)


def rows_of(data: Any) -> int:
    """Rows of a batch."""
    return next((int(part.shape[0]) for part in inputs_of(data) if len(part.shape)), 0)


def _merged(parts: list[Any]) -> Any:
    """Batches one below the other; None where their rows differ in shape."""
    import tensorflow as tf

    def joined(*tensors: Any) -> Any:
        return tf.concat(tensors, 0) if tf.is_tensor(tensors[0]) else tensors[0]

    try:
        return tf.nest.map_structure(joined, *parts)
    except (ValueError, TypeError, tf.errors.InvalidArgumentError):
        return None


def _rolled(part: Any, rows: int) -> Any:
    import tensorflow as tf

    return tf.roll(part, 1, 0) if len(part.shape) and part.shape[0] == rows else part


def _tensor(value: Any) -> Any:
    import tensorflow as tf

    return tf.constant(value)


def _numeric(part: Any) -> bool:
    return bool(part.dtype.is_floating) or part.dtype.name == "uint8"


def learns(losses: list[float]) -> bool:
    """Whether the last third of a script's losses is clearly under the first third and the very first; only to save time.

    Steps that are too large throw the loss up at once: coming back from there is no learning.
    """
    third = max(1, len(losses) // 3)
    return bool(losses) and sum(losses[-third:]) < 0.8 * min(sum(losses[:third]), third * losses[0])


def _fell(losses: list[float]) -> bool:
    """Whether losses ended at half of where they began; only to save time, no verdict."""
    last = losses[-3:]
    return bool(last) and all(math.isfinite(loss) for loss in last) and sum(last) / len(last) < _LEARNT * losses[0]
