"""Backward: whether gradients are asked for, and whether they reach the weights."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.backward_words import NO_GRAPH, NO_KERAS_GRADIENTS, listed, names
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_labels import still_guessing
from harness.checks.observation import Observation
from harness.checks.training_facts import ExceptionFacts

_NO_TARGET = r"Target data is missing\. Your model was compiled with loss"
_NO_VALUES = r"^None values not supported\.$"
_NO_WEIGHTS = r"optimizer got an empty parameter list"
_SECOND_TIME = r"Trying to backward through the graph a second time"
_IN_PLACE = r"modified by an inplace operation"
# Weights changed by optimizer.step() show up as the transposed view that a linear or recurrent layer multiplied by.
_WEIGHTS_VIEW = r"output \d+ of (AsStrided|T)(Backward\d*)?,"
_LABEL_KEYS = ("labels", "label")
_MEANT = 20  # losses with gradients, asked for in training mode: nobody computes so many in passing
_LATE = 4  # steps
_KERAS_LOSSES = {"sparse_categorical", "categorical", "bce", "mse", "l1", "other"}


class KerasLossWithoutTarget(Check):
    """A Keras `loss=` was given while the labels sit inside the input dict.

    `compile(loss=...)` compares the output with a separate target; labels in the dict are seen by the model's own loss alone.
    Older versions then had no gradient at all; newer ones copy the labels across, and the named loss takes its own defaults.
    Source: Transformers docs, TensorFlow fine-tuning ("compile without a loss").
    """

    code: ClassVar[str] = "G301"
    stage: ClassVar[Stage] = "backward"
    messages: ClassVar[tuple[str, ...]] = (NO_KERAS_GRADIENTS, _NO_TARGET, _NO_VALUES)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from Keras' exceptions, or from a probability loss on a model that computes its own."""
        if seen.framework not in reading.KERAS:
            return None
        inside = any(key in batch.columns for batch in seen.batches for key in _LABEL_KEYS) and not any(
            batch.columns.get("y") or batch.columns.get("target") for batch in seen.batches)
        own = seen.model is not None and any(key in seen.model.accepts for key in _LABEL_KEYS)
        site = reading.place(seen, "compile", "fit", "loss")
        error = reading.matching(seen, NO_KERAS_GRADIENTS)
        if error is not None and own and (inside or not seen.batches):
            return self._finding(seen, error, "No weight gets a gradient: compile() was given a loss, which looks for a separate target, "
                                              "but "
                                 "the labels are inside the input dict.", own=True)
        error = reading.matching(seen, _NO_TARGET)
        if error is None:
            nothing = reading.matching(seen, _NO_VALUES, within=r"keras/src/backend/.*:convert_to_tensor$")
            # Keras strips its own frames, so that only the user's line tells that it was training.
            fitting = nothing is not None and nothing.site is not None and ".fit(" in nothing.site.source
            error = nothing if inside or fitting else None
        if error is not None:
            where = "the labels are inside the input dict" if inside else "fit() was given no second part with the labels"
            return self._finding(seen, error, f"compile() was given a loss, which looks for a separate target, but {where}.", own=own)
        call = next((c for c in seen.loss_calls if c.name in _KERAS_LOSSES), None)
        if not (inside and own) or call is None or call.inputs is None or not reading.wants_probabilities(call):
            return None
        low, high = call.inputs.minimum, call.inputs.maximum
        if low is None or high is None or (low >= -1e-3 and high <= 1.001):
            return None
        by = "named by a string, so with its default from_logits=False" if call.by_name else "with from_logits=False"
        return Finding(
            message=f"compile() was given a loss ({call.name}, {by}) although the labels are inside the input dict and the model has a "
                    "loss of "
                    f"its own; the one given reads logits from {low:.3g} to {high:.3g} as probabilities.",
            remedy="Leave the loss out: `model.compile(optimizer=optimizer)`; the model then uses its own.", site=site,
            evidence=[f"First losses: {', '.join(f'{loss:.3g}' for loss in reading.observed_losses(seen)[:5])}"] if seen.steps else [])

    @staticmethod
    def _finding(seen: Observation, error: ExceptionFacts, message: str, *, own: bool) -> Finding:
        remedy = ("Leave the loss out: `model.compile(optimizer=optimizer)`; the model then uses its own." if own else
                  "Give fit() pairs of inputs and labels: `dataset.map(lambda batch: (batch, batch.pop(\"labels\")))`.")
        line = next((part.strip() for part in error.message.splitlines() if re.search(r"No gradients|Target data|None values", part)), "")
        return Finding(message=message, remedy=remedy, site=reading.place(seen, "compile") or error.site,
                       evidence=[f"{error.type}: {reading.first_line(line)}"])


class FrozenWeights(Check):
    """Weights that should learn are frozen, or the model does not know them.

    A plain list or dict hides layers from `parameters()`; `requires_grad=False` or `trainable=False` on everything leaves
    nothing to train. A frozen pretrained body under a head that learns is left alone.
    Source: PyTorch docs, ModuleList; Keras docs, Transfer learning.
    """

    code: ClassVar[str] = "G303"
    stage: ClassVar[Stage] = "backward"
    requires: ClassVar[tuple[str, ...]] = ("G301",)
    messages: ClassVar[tuple[str, ...]] = (_NO_WEIGHTS,)

    def check(self, seen: Observation) -> Finding | None:
        """Judges layers that are no parameters and in no optimizer, models without anything trainable, and frozen new heads."""
        model = seen.model
        error = reading.matching(seen, _NO_WEIGHTS)
        if error is not None and model is not None and model.unregistered:
            return self._hidden(seen, [f"{error.type}: {reading.first_line(error.message)}", listed(model.unregistered)])
        if error is not None and model is not None and any(p.trainable for p in model.parameters):
            return Finding(message=f"The optimizer was handed an empty list, although the model has {len(model.parameters)} weights.",
                           remedy="Hand it `model.parameters()` directly: a generator can be read only once (`list(...)` keeps its items), "
                                  "and a filter by name may match nothing.", site=error.site or reading.place(seen, "optimizer"),
                           evidence=[f"{error.type}: {reading.first_line(error.message)}", names(model.parameters)])
        if error is not None and model is not None and model.parameters:
            return Finding(message=f"The optimizer has nothing to train: all {len(model.parameters)} weights are frozen.",
                           remedy=self._thaw(seen, "the head"), site=reading.place(seen, "freeze") or error.site,
                           evidence=[f"{error.type}: {reading.first_line(error.message)}", names(model.parameters)])
        if error is not None:
            return Finding(message="The model has no parameters to give to the optimizer.",
                           remedy="Assign layers to `self` in `__init__`, lists of them as `torch.nn.ModuleList([...])`, tensors as "
                                  "`torch.nn.Parameter`.", site=error.site or reading.place(seen, "optimizer", "model"),
                           evidence=[f"{error.type}: {reading.first_line(error.message)}"])
        later = self._later(seen)
        if later is not None:
            return later
        if model is None or not model.parameters:
            raise NotJudged("the model's weights were not seen")
        if model.unregistered and not (seen.optimizer and seen.optimizer.foreign) and not reading.several_models(seen):
            return self._hidden(seen, [listed(model.unregistered)])
        trainable = [p for p in model.parameters if p.trainable]
        asked = seen.steps or seen.backward_without_step or reading.matching(seen, NO_GRAPH, NO_KERAS_GRADIENTS)
        if not trainable and asked and not reading.several_models(seen):
            return Finding(message=f"All {len(model.parameters)} weights are frozen: training cannot change anything.",
                           remedy=self._thaw(seen, "the head"), site=reading.place(seen, "freeze", "model"),
                           evidence=[names(model.parameters)])
        zeros = [p for p in model.parameters if p.zeros and p.used is not False]
        if zeros and trainable:
            return Finding(message=f"{len(zeros)} weight matrices are all zeros and frozen: what they multiply stays zero, whatever comes "
                                   "in, and nothing in front of them can learn.",
                           remedy="Let new layers learn (`p.requires_grad_(True)`): where names decide what is trained, print those that "
                                  "are, `[name for name, p in model.named_parameters() if p.requires_grad]`.",
                           site=reading.place(seen, "freeze", "model"), evidence=[names(zeros)])
        layers = [p for p in model.parameters if not p.table]  # what is looked up is not what answers, wherever it stands
        head = [p for p in layers if p.name.rpartition(".")[0] == layers[-1].name.rpartition(".")[0]]
        fresh = model.fresh_head is True or (model.fresh_head is None and model.pretrained is False)
        fresh = fresh and seen.probes.frozen_head_matters is not False
        if seen.framework == "torch" and trainable and fresh and not model.tied and head and not any(p.trainable for p in head) and all(
                p.used is not False and p.recorded is not False for p in head):
            return Finding(message=f"The last layer ({head[0].name}) was drawn at random and is frozen, so it stays random.",
                           remedy=self._thaw(seen, "it"), site=reading.place(seen, "freeze", "model"), evidence=[names(head)])
        frozen = [p for p in model.parameters if not p.trainable and p.used is not False]
        if seen.framework == "torch" and model.pretrained is False and len(frozen) > len(trainable) and trainable and still_guessing(
                seen) is not None and seen.restored is None and not reading.several_models(seen):
            return Finding(message=f"{len(frozen)} of {len(model.parameters)} weights are frozen as they were drawn, at random: the few "
                                   "that learn get nothing to learn from, and the loss stays that of a guess.",
                           remedy="Freeze only what was pretrained: load it (`from_pretrained(...)`), or let it learn.",
                           site=reading.place(seen, "freeze", "model"), evidence=[names(frozen), *reading.own_losses(seen)])
        return None

    @staticmethod
    def _later(seen: Observation) -> Finding | None:
        """Weights of Keras that came too late, or were frozen or set free too late, for what trains them."""
        if seen.frozen_later is not None:
            return Finding(message="The second model is fitted although all its weights are frozen: that training cannot change anything.",
                           remedy=FrozenWeights._thaw(seen, "the new layers"), site=seen.frozen_later, evidence=[])
        if seen.thawed is not None:
            return Finding(message=f"{seen.thawed.lacking} weights were made trainable after `compile`, and this `fit` goes on with the "
                                   f"{seen.thawed.held} that were trainable then.",
                           remedy="Call `model.compile(...)` again after `trainable` was changed, and before `fit`.", site=seen.thawed.site,
                           evidence=[f"left as they are: {', '.join(seen.thawed.left)}"])
        unasked = seen.unasked
        if unasked is None or unasked.steps < _LATE:
            return None
        told = [f"never asked for: {', '.join(unasked.left[:6])}"]
        if unasked.holder:
            return Finding(message=f"{len(unasked.left)} variables take part in every step and are never trained: they are kept in objects "
                                   f"of `{unasked.holder}`, a plain class, and `tf.Module` does not look into such for its variables.",
                           remedy=f"Make it a module as well: `class {unasked.holder}(tf.Module)`, with `super().__init__()`.",
                           site=unasked.site or reading.place(seen, "backward"), evidence=told)
        return Finding(message=f"{len(unasked.left)} variables take part in every step, and the tape is asked for the gradients of "
                               f"{unasked.asked} others only: they were made after the list of weights was read.",
                       remedy="A layer has its weights once it has been built: call it, or `layer.build(shape)`, before "
                              "`trainable_variables` is read; or read it anew in every step.",
                       site=unasked.site or reading.place(seen, "backward"), evidence=told)

    @staticmethod
    def _hidden(seen: Observation, evidence: list[str]) -> Finding:
        count = len(seen.model.unregistered) if seen.model else 0
        if seen.framework in reading.KERAS:
            return Finding(
                message=f"{count} variables are computed with, and no model knows them as its weights, so no step has changed them.",
                remedy="Keep layers in attributes of the model, or in lists and dicts there: Keras does not look into other objects. In "
                       "Keras 3 make single weights with `self.add_weight(...)`; where one is to stay as it is, say so: "
                       "`tf.Variable(..., trainable=False)`.", site=reading.place(seen, "unregistered", "model"), evidence=evidence)
        if "drawn_inside" in seen.sites:
            return Finding(
                message=f"{count} weights belong to layers that are built while the model runs: each forward pass draws them anew, and no "
                        "optimizer holds them.",
                remedy="Build every layer once, in `__init__`, and keep it there, `self.head = nn.Linear(...)`; `nn.LazyLinear(units)` "
                       "takes its width from what comes first.", site=reading.place(seen, "drawn_inside"), evidence=evidence)
        return Finding(
            message=f"{count} weights that the model keeps are not known as its own, so no optimizer holds them.",
            remedy="Keep layers in `torch.nn.ModuleList` or `ModuleDict` instead of a list or dict, and single tensors in "
                   "`torch.nn.Parameter`.", site=reading.place(seen, "unregistered", "model"), evidence=evidence)

    @staticmethod
    def _thaw(seen: Observation, what: str) -> str:
        if seen.framework in reading.KERAS:
            return f"Set `layer.trainable = True` for {what} before `compile`."
        return f"Let {what} learn: `for p in model.classifier.parameters(): p.requires_grad_(True)` before the optimizer is made."


class NoBackward(Check):
    """`backward()` is never called, although the optimizer steps.

    Without it there is nothing to step along; optimizers skip weights that have no gradient, and say nothing.
    Source: PyTorch docs, Optimizing model parameters.
    """

    code: ClassVar[str] = "G304"
    stage: ClassVar[Stage] = "backward"

    def check(self, seen: Observation) -> Finding | None:
        """Judges several steps without any backward pass, and weights that did not move."""
        if seen.framework in reading.KERAS:
            return None
        counts = [s.backwards for s in seen.steps if s.backwards is not None]
        if not seen.steps and not seen.backward_without_step and not seen.losses_by_hand:
            return self._only_forward(seen)
        if len(counts) < 2:
            raise NotJudged("fewer than two optimizer steps were seen")
        if any(counts) or seen.backward_without_step:
            return None
        moved = [p.moved for p in seen.model.parameters if p.moved is not None] if seen.model else []
        if any(moved):
            return None  # gradients come from elsewhere: autograd.grad, forward mode, by hand
        if not moved and any(s.gradient_norm for s in seen.steps):
            return None
        return Finding(message=f"The optimizer took {len(counts)} steps without a single backward pass before them; no weight moved.",
                       remedy="Call `loss.backward()` between the loss and `optimizer.step()`.",
                       site=reading.place(seen, "uncalled.backward", "training_step", "step", "loss", "optimizer", "model"),
                       evidence=[*reading.uncalled(seen, "backward"), f"{seen.forward_without_backward} forward passes, 0 backward passes"])

    @staticmethod
    def _only_forward(seen: Observation) -> Finding | None:
        """A script that asks for losses with gradients, in training mode, over and over: it means to train, and never does."""
        asked = [call for call in seen.loss_calls if call.inputs is not None and call.inputs.requires_grad]
        passes = seen.never_backward
        if passes < _MEANT or len(asked) < len(seen.loss_calls) or not asked or seen.exception is not None:
            raise NotJudged("no optimizer step was seen")
        optimizer = "" if seen.optimizer is not None else " No optimizer is made either."
        return Finding(message=f"The model computed its loss in at least {passes} forward passes in training mode, and none went backward: "
                               f"nothing is trained.{optimizer}",
                       remedy="After each loss: `optimizer.zero_grad()`, `loss.backward()`, `optimizer.step()`, with an optimizer of the "
                              "model's parameters.",
                       site=reading.place(seen, "uncalled.backward", "forward", "loss", "model"),
                       evidence=reading.uncalled(seen, "backward"))


def _retained(error: ExceptionFacts) -> bool:
    """Whether a weight itself has changed, and the line goes backward through what it has kept of the steps before."""
    return "which is output" not in error.message and error.site is not None and "retain_graph=True" in error.site.source


class GraphKeptAlive(Check):
    """A step's graph is kept alive into the next.

    A hidden state, a running loss or a memory that is carried on as a tensor drags every earlier step along: memory grows, and
    backward() fails because the earlier part is already freed, or because the step has changed its weights.
    Source: PyTorch docs, FAQ ("my model reports out of memory"); truncated backpropagation through time.
    """

    code: ClassVar[str] = "G308"
    stage: ClassVar[Stage] = "backward"
    messages: ClassVar[tuple[str, ...]] = (_SECOND_TIME, f"{_IN_PLACE}.*{_WEIGHTS_VIEW}")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from backward's exceptions (after at least one step for the second kind) and from graphs that were seen to grow."""
        error = reading.matching(seen, _SECOND_TIME)
        if error is None:
            inplace = reading.matching(seen, _IN_PLACE)
            error = inplace if inplace and seen.steps and (re.search(_WEIGHTS_VIEW, inplace.message) or _retained(inplace)) else None
        if error is not None:
            first = "a second time" in error.message and not seen.steps
            remedy = ("Call backward() once: add the losses first (`(a + b).backward()`)." if first else
                      "Cut what is carried from step to step: `hidden = hidden.detach()`; add up `loss.item()`, not `loss`.")
            if "kept" in seen.sites and "carried" not in seen.sites:
                remedy = ("Compute it in forward(), anew in every pass: what is made of weights once belongs to the graph of the first "
                          "one. (A state that is carried on purpose is cut: `self.state = state.detach()`.)")
            return Finding(message="backward() runs into the graph of an earlier pass, which is freed "
                                   "already." if "second time" in error.message
                           else "backward() runs into the graph of an earlier step, whose weights the optimizer has changed since.",
                           remedy=remedy, site=reading.place(seen, "carried", "kept") or error.site,
                           evidence=[f"{error.type}: {reading.first_line(error.message)}", f"Optimizer steps before it: {len(seen.steps)}"])
        if seen.memory.graph_grows:
            growth = seen.memory.growth_per_step
            size = [f"Memory grows by {growth / 2**20:.2f} MiB a step."] if growth and growth > 0 else []
            return Finding(message="Each step keeps the graphs of all steps before it: something that carries a history is added up.",
                           remedy="Add up numbers, not tensors: `total += loss.item()` (or `loss.detach()`).",
                           site=reading.place(seen, "carried", "loss", "backward"), evidence=size)
        kept, steps = seen.memory.losses_kept or 0, len(seen.steps)
        if steps >= 20 and kept >= 0.8 * min(steps, 60):
            return Finding(message=f"The losses of {kept} steps are kept with their graphs: tensors are added up, or put into a list.",
                           remedy="Keep numbers, not tensors: `total += loss.item()`, `losses.append(loss.item())` (or `loss.detach()`).",
                           site=reading.place(seen, "carried", "loss", "backward"),
                           evidence=[f"Optimizer steps that were watched: {steps}"])
        return None
