"""An optimizer that takes no step."""

from __future__ import annotations

import math
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.training_facts import ThrownFacts

_WITHOUT, _COUNTED = 100, 8  # steps


class NoStep(Check):
    """`optimizer.step()` is never called, although gradients are computed.

    Source: PyTorch docs, Optimizing model parameters.
    """

    code: ClassVar[str] = "S404"
    stage: ClassVar[Stage] = "step"
    requires: ClassVar[tuple[str, ...]] = ("G302", "G303", "G308")

    def check(self, seen: Observation) -> Finding | None:
        """Judges many backward passes, an optimizer that never steps, and weights that do not move otherwise; of Keras' `fit`, the
        optimizer's own counter; and steps before which the gradients of all batches but the last were zeroed."""
        if _waits(seen):
            return self._fitted(seen)
        if seen.thrown is not None:
            return self._thrown(seen, seen.thrown)
        if seen.steps or not seen.backward_without_step or "step" in seen.sites:
            return None  # the last: a step was begun, and L-BFGS goes backward many times in one
        if seen.exception is not None:
            raise NotJudged("the script ended before it could step")
        moved = [p.moved for p in seen.model.parameters if p.moved is not None] if seen.model else []
        if any(moved):
            return None  # moved by hand, as in a first tutorial
        if seen.optimizer is None and not moved:
            raise NotJudged("no optimizer was seen: gradients may be what the script is after")
        if seen.backward_without_step < 2 or (seen.stopped != "finished" and seen.backward_without_step < _WITHOUT):
            raise NotJudged("too few backward passes to tell a missing step from gradient accumulation")
        return Finding(message=f"{seen.backward_without_step} backward passes and not one optimizer step: the weights stay as they were "
                               "drawn.",
                       remedy="Call `optimizer.apply_gradients(zip(gradients, model.trainable_variables))` after `tape.gradient`; where "
                              "gradients are added up first, it has to come within each epoch." if seen.framework in reading.KERAS else
                              "Call `optimizer.step()` after `loss.backward()`, then `optimizer.zero_grad()`.",
                       site=reading.place(seen, "uncalled.step", "step_written", "backward", "optimizer", "loss"),
                       evidence=[*reading.uncalled(seen, "step"), *reading.own_losses(seen)])

    @staticmethod
    def _thrown(seen: Observation, found: ThrownFacts) -> Finding:
        """A step that stands behind the loop over the batches, or comes once in some of them, and zeroing in each."""
        passes, lost = sum(found.backwards), sum(found.thrown)
        loader, each = raised.train_loader(seen), round(passes / len(found.backwards))
        if seen.framework in reading.KERAS:
            return Finding(
                message=f"Each step is made of {each} batches, and by the gradients of the last one alone: those of the {each - 1} before "
                        "it have no part in what the optimizer is given.",
                remedy="Begin the sums once for each step, before the loop over its batches, `sums = [tf.zeros_like(v) for v in "
                       "variables]`, and add to them in it.",
                site=found.site or reading.place(seen, "backward"), evidence=reading.own_losses(seen))
        adds = each < (loader.batches or 0) if loader is not None else found.now_and_then
        return Finding(
            message=f"Of {passes} backward passes {lost} were for nothing: their gradients are set to zero before the optimizer steps, "
                    f"which it does once in {each} batches.",
            remedy=("To add gradients up over batches, zero them after each step only, under the same condition: `optimizer.step(); "
                    "optimizer.zero_grad()`." if adds else
                    "Step in the loop over the batches, right after `loss.backward()`: look at how far `optimizer.step()` is indented. To "
                    "add gradients up over batches, zero them after each step only."),
            site=(reading.place(seen, "zero_grad") if adds else None) or found.site or reading.place(seen, "step", "backward"),
            evidence=[(f"{len(found.backwards)} steps; backward passes before each: {', '.join(map(str, found.backwards[:8]))}; lost: "
                       f"{', '.join(map(str, found.thrown[:8]))}"), *reading.own_losses(seen)])

    @staticmethod
    def _fitted(seen: Observation) -> Finding:
        """A step of the script's own that adds gradients up, and never comes to use them."""
        counted, optimizer = seen.counted, seen.optimizer
        steps = optimizer.unstepped if optimizer is not None else 0
        evidence = ["the weights are what they were before training", *reading.own_losses(seen)]
        if counted is None:
            return Finding(
                message=f"{steps} training steps have gone by, and the optimizer has not taken one of them"
                        + (": the graph of the step has no call of it." if optimizer is not None and optimizer.uncalled else "."),
                remedy="Have `train_step` call `self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))`; where gradients "
                       "are added up first, look at the condition for it.",
                site=reading.place(seen, "accumulated", "step", "backward", "fit"), evidence=evidence)
        return Finding(
            message=f"The optimizer has taken none of {steps} training steps: they count with `self.{counted.name}`, a number of Python. "
                    "Python runs while TensorFlow traces the step, and not when the graph does: the number stands still.",
            remedy=f"Let the graph count: `self.{counted.name} = tf.Variable(0, trainable=False)`, and "
                   f"`self.{counted.name}.assign_add(1)` in the step.",
            site=counted.site, evidence=[f"steps with one and the same number: {counted.steps}", *evidence])


def _waits(seen: Observation) -> bool:
    """Whether Keras' `fit` goes on without a step of the optimizer, for longer than anybody adds gradients up, or by a counter that stands
    still."""
    optimizer, model = seen.optimizer, seen.model
    if optimizer is None or model is None or model.displacement != 0 or optimizer.unstepped < max(_COUNTED, len(seen.steps)):
        return False
    if not all(step.gradient_norm and math.isfinite(step.gradient_norm) for step in seen.steps):
        return False
    whole = seen.stopped == "finished" and seen.truncated_at is None
    return seen.counted is not None or optimizer.uncalled or whole or optimizer.unstepped >= _WITHOUT
