"""Experiments with a Keras model: its own training step, taken again."""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from harness.checks.model_facts import UnmaskedFacts
from harness.checks.probe_facts import AlikeFacts, ColumnOrderFacts, EndsReadFacts, OrderlessFacts, StraightFacts
from harness.frameworks.watch import (
    affine,
    alike,
    column_order,
    filler_weights,
    keras_ends_read,
    keras_fillers,
    keras_key_masks,
    keras_norms,
    keras_restraints,
    keras_teachers,
    keras_unpadded,
    neighbours,
    orderless,
    written,
)
from harness.frameworks.watch.fitting import Fits
from harness.frameworks.watch.keras_backend import KerasBackend, Step
from harness.frameworks.watch.keras_changes import inputs_of, with_inputs
from harness.frameworks.watch.keras_forward import Forward
from harness.frameworks.watch.keras_model import flat_layers
from harness.frameworks.watch.keras_replay import Replay
from harness.frameworks.watch.keras_rows import Inside
from harness.frameworks.watch.keras_state import optimizers_of, redraw
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.norms import Hasty, Slow
from harness.frameworks.watch.restraints import Restraint
from harness.frameworks.watch.rounds import KEPT_BYTES, Rounds
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_REDRAWN = 3  # steps that are answered with weights of other draws


class Probes(Rounds[Step]):
    """Keeps the batches."""

    fatal = ("ResourceExhausted", "OOM", "MemoryError", "bad_alloc")

    def __init__(self, watch: KerasWatcher) -> None:
        super().__init__(watch)
        self._watch = watch
        self._replay: Replay | None = None
        self._forward: Forward | None = None

    def offer(self, data: Any, labels: list[Any] | None, scale: float) -> None:
        """A batch that was trained on."""
        import tensorflow as tf

        if self.over or self.kept_bytes > KEPT_BYTES:
            return
        self.kept_bytes += sum(int(part.shape.num_elements() or 0) * 4 for part in tf.nest.flatten(data) if tf.is_tensor(part))
        self.steps.append(Step(data, labels, scale))

    def moved(self) -> list[float]:
        """How far every weight matrix is from the first one: norm of the change / norm before; nothing where that is not known."""
        start = self._watch.steps.start
        return start.moved() if start is not None else []

    def backend(self, steps: list[Step]) -> KerasBackend | str:
        """What takes these steps again, or why none can."""
        watch, taken = self._watch, self._watch.steps
        if taken.start is None or taken.original is None:
            return "the first weights were not kept"
        if watch.seen.births and watch.seen.births[0].step <= 1:
            return "the loss is no number any more"
        if self._replay is None:
            self._replay = Replay(watch.keras, taken.model, taken.original, taken.inner, taken.spec)
            self._forward = Forward(watch.keras, taken.original) if self._replay.compiled else None
        optimizer = watch.seen.optimizer
        call = watch.seen.loss_calls[-1] if watch.seen.loss_calls else None
        return KerasBackend(watch.keras, taken.model, taken.original, self._replay, taken.start,
                            (optimizer.learning_rate if optimizer else None) or 0.0, call, self._forward)

    def step_seconds(self) -> float:
        """What a step will take that is taken again: with the script's own graph as long as the script's, the first two left out."""
        found = sorted(step.seconds for step in self._watch.seen.steps[2:] if step.seconds is not None)
        return found[len(found) // 2] if found and self._replay is not None and self._replay.compiled else 0.0

    def look(self, fits: Fits[Step], steps: list[Step]) -> None:
        """Where the graph between the loss and some weights is cut."""
        session, backend = self._watch.session, cast("KerasBackend", fits.backend)
        session.safely("the terms of a loss", backend.terms, steps, self._watch.terms)
        self.facts.summed = session.safely("a sum of rows", backend.summed, steps, session.sites)
        if any(batch.filled_labels for batch in self._watch.seen.batches):
            self.facts.fillers_counted = session.safely("labels of padding", keras_fillers.counted, backend, steps[0])
        self.facts.column_order = session.safely("numbers in an order", self._column_order, backend, steps)
        inside = Inside(self._watch.keras, session.sites, self._watch.compiles.place_of)
        if self.facts.rows is not None and neighbours.suspect(self.facts.rows):
            session.safely("rows of a batch", backend.mixing, steps[0], inside, self.facts.rows)
        if self._watch.seen.model is not None and self._watch.seen.model.has_batch_norm:
            self._watch.seen.evaluation.normalised = site(session.safely(
                "batch normalisation", keras_norms.training, self._watch.keras, lambda: backend.loss_op_by_op(steps[0]),
                session.sites.place))
        self._watch.seen.teacher = session.safely("a teacher", keras_teachers.measure, self._watch.keras, backend, self._watch.steps.model,
                                                  steps[0], session.sites.place)
        session.safely("a softmax of one number", self._of_one, backend, steps, inside)
        session.safely("weights of the filler", self._weights, backend, steps)
        self.facts.straight = session.safely("a straight map", self._straight, backend, steps[0])
        if orderless.attends(session.script):
            self.facts.orderless = session.safely("the order of steps", self._orderless, backend, steps[0])
            if keras_key_masks.wanted(session.script):
                session.safely("masks of attention", self._masks, backend, steps)
        if self.facts.padding is not None:
            session.safely("a mask", self._mask_ends, backend, steps[0])
        shift = self.facts.shift
        if shift is not None and shift.causal is False:
            shift.site = session.safely("tokens ahead", backend.ahead, steps[0], inside)
        if self.facts.input_matters is False:
            found = session.safely("the input's end", backend.lost, steps[0], inside)
            self.facts.lost_in = found[1].lower() if found else ""
            session.site("lost", site(found[0])) if found and found[0] else None
        unreached = self._watch.models.unreached()
        if unreached:
            self.facts.unreached_matter = session.safely("weights without a gradient", backend.matters, steps[0], unreached)
        if self.facts.unreached_matter:
            place = session.safely("a cut", backend.cut, steps[0], unreached, session.sites.place)
            session.site("cut", site(place)) if place is not None else None

    def optimizers(self) -> list[Any]:
        """Those that step."""
        model = self._watch.steps.model
        return [getattr(vars(model)[name], "inner_optimizer", vars(model)[name]) for name in optimizers_of(model)]

    def arrays(self, step: Step) -> list[Any]:
        """What the model is given in a step, rows first."""
        return [numpy_of(part) for part in inputs_of(step.data) if part.shape.rank]

    def restraints(self, fits: Fits[Step], steps: list[Step]) -> list[Restraint]:
        """What holds the model back: dropout, augmentation, weight decay, regularizers, clipping, and the optimizer."""
        backend, model = cast("KerasBackend", fits.backend), self._watch.steps.model
        place_of = self._watch.compiles.place_of
        backend.put()
        found = [keras_restraints.dropout(model, place_of),
                 keras_restraints.augmentation(self._watch.keras, backend, model, steps[0], place_of),
                 keras_restraints.decay(self.optimizers(), place_of), keras_restraints.penalty(backend, model, steps[0], place_of),
                 keras_restraints.clipping(self.optimizers(), [taken.gradient_norm for taken in self._watch.seen.steps], place_of),
                 keras_unpadded.padding(self._watch.keras, backend, steps[0], self.facts.real, place_of),
                 keras_restraints.optimizer(self._watch.keras, model, place_of)]
        return [restraint for restraint in found if restraint is not None]

    def fetched(self) -> tuple[int, Place | None] | None:
        """Where `fit` asks an object of the script's own for its batches by their number: how many it has, and where it makes them."""
        loader = self._watch.data.current
        if loader is None or not loader.numbered or (loader.facts.batches or 0) < 2:
            return None
        made = self._watch.session.observation.sites.get("getitem")
        return loader.facts.batches or 0, (made.file, made.line, made.function) if made is not None else None

    def hasty(self, fits: Fits[Step]) -> Hasty | None:
        """Layers that normalise by what their newest batch was."""
        backend, place_of = cast("KerasBackend", fits.backend), self._watch.compiles.place_of
        passes = [functools.partial(backend.answers, step) for step in self.steps]
        return keras_norms.hasty(self._watch.steps.model, passes, lambda layer: site(place_of(layer)))

    def slow(self, fits: Fits[Step], taken: int, steps: int) -> Slow | None:
        """Layers that normalise by what they began with, when all steps are taken."""
        backend, place_of = cast("KerasBackend", fits.backend), self._watch.compiles.place_of
        passes = [functools.partial(backend.answers, step) for step in self.steps]
        return keras_norms.slow(self._watch.steps.model, passes, lambda layer: site(place_of(layer)), taken, steps)

    def ends_read(self, fits: Fits[Step]) -> EndsReadFacts | None:
        """What answers owe to the filler at the ends of rows."""
        return keras_ends_read.measure(cast("KerasBackend", fits.backend), self.steps)

    def leaves_zero_out(self) -> bool:
        """Whether a table of the model's masks the id 0."""
        return any(getattr(layer, "mask_zero", False) for layer in flat_layers(self._watch.steps.model))

    def alike(self) -> AlikeFacts | None:
        """A layer whose units began alike and still are."""
        start, model = self._watch.steps.start, self._watch.steps.model
        if start is None:
            return None
        owners = {id(weight): layer for layer in flat_layers(model) for weight in layer.trainable_variables}
        found = alike.measure((owners.get(id(variable)), np.moveaxis(value, -1, 0), np.moveaxis(variable.numpy(), -1, 0))
                              for variable, value in start.pairs() if value.ndim > 1 and value.dtype.kind == "f")
        if found is None:
            return None
        layer, facts = found
        place = alike.written(self._watch.session.script) or (self._watch.compiles.place_of(layer) if layer is not None else None)
        facts.site = site(place)
        return facts

    def _of_one(self, backend: KerasBackend, steps: list[Step], inside: Inside) -> None:
        sites = self._watch.session.sites
        calls = [getattr(type(layer).call, "__code__", None) for layer in flat_layers(self._watch.steps.model)]
        files = {str(sites.script), *(code.co_filename for code in calls if code is not None and sites.is_own(code.co_filename))}
        text = "".join(line for file in files for line in linecache.getlines(file)).lower()
        if "softmax" in text:  # looking at operations takes time
            self._watch.session.noted("softmax_twice", inside.softmax_twice(lambda: backend.loss_op_by_op(steps[0])))
        if "softmax(" not in text:
            return
        found = [backend.softmax_of_one(step, inside) for step in (steps[0], steps[-1])]
        if found[0] is not None and found[1] is not None and found[0][0] == found[1][0]:
            self.facts.softmax_of_one = found[0][1]
            self._watch.session.noted("softmax_of_one", found[0][0])

    def _straight(self, backend: KerasBackend, step: Step) -> StraightFacts | None:
        import tensorflow as tf

        first = step.data[0] if isinstance(step.data, tuple) else step.data
        given = next((part for part in tf.nest.flatten(first) if tf.is_tensor(part) and part.dtype.is_floating and part.ndim > 1), None)
        if given is None or backend.rows(step) < affine.LEAST_ROWS:
            return None

        def rolled(tensor: Any) -> Any:
            return tf.roll(tensor, tensor.shape[0] // 2, 0) if tensor.dtype.is_floating and tensor.ndim else tensor

        backend.put()
        plain, other, between = (backend.predictions(with_inputs(step.data, change))
                                 for change in (None, rolled, lambda tensor: affine.halfway(tensor, rolled)))
        if plain is None or other is None or between is None:
            return None  # the loss is written out, and what it was made of is not known
        model = self._watch.steps.model
        count = affine.layers([tuple(weight.shape) for weight in model.trainable_variables], given.shape[1:], plain.shape[1:])
        if not count or not affine.is_straight(plain, other, between):
            return None
        layer = next((layer for layer in flat_layers(model) if any(len(weight.shape) > 1 for weight in layer.trainable_variables)), None)
        return StraightFacts(layers=count, site=site(self._watch.compiles.place_of(layer)) if layer is not None else None)

    def _masks(self, backend: KerasBackend, steps: list[Step]) -> None:
        """Masks that stand at the filler, in the first step and the last of some."""
        self._twice([keras_key_masks.inverted(self._watch.keras, functools.partial(backend.loss_op_by_op, step), self.arrays(step))
                     for step in (steps[0], steps[-1])], keras_key_masks.made)

    def _weights(self, backend: KerasBackend, steps: list[Step]) -> None:
        """The same, where the script takes softmaxes of its own."""
        text = "".join(linecache.getlines(str(self._watch.session.script))).lower()
        if "softmax(" in text and "mask" in text:
            self._twice([keras_key_masks.weighed(functools.partial(backend.loss_op_by_op, step), self.arrays(step))
                         for step in (steps[0], steps[-1])], filler_weights.hidden)

    def _twice(self, found: list[UnmaskedFacts | None], made: Callable[[Path], Place | None]) -> None:
        """A mask that is the wrong way round in each of these steps, and where it was `made`."""
        seen = self._watch.seen
        if seen.inverted is None and found[0] is not None and None not in found:
            seen.inverted = found[0]
            seen.inverted.batches = seen.inverted.padded = len(found)
            seen.inverted.site = site(made(self._watch.session.script)) or seen.sites.get("forward")

    def _orderless(self, backend: KerasBackend, step: Step) -> OrderlessFacts | None:
        import tensorflow as tf

        rows = backend.rows(step)
        given = next((part for part in inputs_of(step.data)
                      if part.shape.rank == 2 + part.dtype.is_floating and part.shape[0] == rows), None)
        if given is None or rows < orderless.LEAST_ROWS or given.shape[1] < orderless.LEAST_LENGTH:
            return None
        if given.dtype.is_floating and orderless.placed(given.numpy()):
            return None
        to = orderless.order(given.shape[1])

        def moved(part: Any) -> Any:
            if part.shape.rank < 2 or tuple(part.shape[:2]) != tuple(given.shape[:2]):
                return part
            same = part.shape.rank == 2 and part.dtype.is_integer and orderless.positions(part.numpy())
            return part if same else tf.gather(part, to, axis=1)

        plain, other = backend.shaken(step, (None, moved))
        if plain is None or other is None or not orderless.is_blind([plain], [other], to):
            return None
        return OrderlessFacts(length=len(to), site=site(orderless.embedding(self._watch.session.script)))

    def _column_order(self, backend: KerasBackend, steps: list[Step]) -> ColumnOrderFacts | None:
        wanted = [numpy_of(step.data[1]) for step in steps if isinstance(step.data, tuple) and len(step.data) > 1 and hasattr(
            step.data[1], "shape")]
        if not wanted or not all(column_order.fits(part) for part in wanted):
            return None
        weights = self._watch.steps.model.trainable_variables

        def answers(seed: int) -> Iterator[Any]:
            redraw(weights, seed)
            yield from (backend.predictions(step.data) for step in steps[:_REDRAWN])

        found = column_order.measure(np.concatenate(wanted), answers)
        backend.put()
        return found

    def _mask_ends(self, backend: KerasBackend, step: Step) -> None:
        facts, layer = self.facts.padding, backend.unmasked(step)
        if layer is not None and facts is not None:
            facts.ends = f"{layer.name}: {type(layer).__name__}"
            facts.site = site(written.constructor(type(layer), self._watch.session.sites) or self._watch.compiles.place_of(layer))

    def refusal(self) -> str | None:
        """Why optimizer steps cannot be taken again, though losses can be computed; None where they can."""
        if self._watch.seen.optimizer is None:
            return "the model has no optimizer of its own"
        return "several models take steps" if self._watch.seen.models_stepped > 1 else None
