"""Losses that are given output and target the other way round, and do not mind."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.loss_facts import LossCall
from harness.checks.observation import Observation

# Of these, both orders say the same, or the other order is a loss of its own (the reverse divergence).
_EITHER = {"mse", "l1", "kl", "hinge", "model"}
_TORCH = {"bce", "bce_with_logits", "cross_entropy"}


class SwappedLoss(Check):
    """The loss gets the model's output as target and the target as output.

    Keras wants the true values first, PyTorch the output. A loss that takes logarithms of its output takes them of the labels then,
    and its gradient leads elsewhere.
    Source: Keras docs, `keras.losses.Loss` (`loss_fn(y_true, y_pred)`); PyTorch docs, `BCELoss` (`loss(input, target)`).
    """

    code: ClassVar[str] = "L213"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L202",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what was handed over at each place: which of both a model has given, or carries a gradient."""
        if not seen.loss_calls:
            raise NotJudged("no loss was seen to be called")
        wrong = next((call for call in seen.loss_calls if call.name not in _EITHER and self._swapped(call, seen)), None)
        if wrong is None:
            return self._divergence(seen)
        keras = seen.framework != "torch"
        return Finding(
            message="The loss gets the model's output in the place of the target, and the target in that of the output.",
            remedy="Keras wants the true values first: `loss_fn(y_true, y_pred)`." if keras else
                   "PyTorch wants the output first: `loss_fn(output, target)`.",
            site=reading.place(seen, "loss.swapped") or wrong.site or reading.place(seen, "loss"),
            evidence=[("what stands where the target belongs was given by the model" if keras else
                       "what stands where the target belongs has a gradient, and what stands where the output belongs has none"),
                      *([f"the loss at step {wrong.step}: {wrong.value:.4g}"] if wrong.value is not None else [])])

    @staticmethod
    def _divergence(seen: Observation) -> Finding | None:
        """A loss of the script's own hands its arguments on the other way round, and shares of 0 are among the targets: of these a
        logarithm is taken then, and what the model gives them costs without an end."""
        call, place = seen.loss_calls[0], seen.sites.get("loss.exchanged")
        if place is None or call.target is None or call.target.minimum != 0:
            return None
        return Finding(
            message="The loss hands its arguments on the other way round: the model's output stands in the place of the true shares, some "
                    "of which are 0, and it is their logarithm that is taken.",
            remedy="The true values come first: `kl_divergence(y_true, y_pred)`, `categorical_crossentropy(y_true, y_pred)`.",
            site=place, evidence=[f"the least of the targets: {call.target.minimum:g}", *reading.own_losses(seen)])

    @staticmethod
    def _swapped(call: LossCall, seen: Observation) -> bool:
        if seen.framework != "torch":
            return call.swapped
        if call.inputs is None or call.target is None or call.name not in _TORCH:
            return False
        return bool(call.target.requires_grad and not call.inputs.requires_grad)
