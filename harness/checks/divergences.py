"""What goes into the two sides of a KL divergence: probabilities, their logarithms, or scores that are neither."""

from __future__ import annotations

from typing import NamedTuple

from harness.checks import reading
from harness.checks.loss_facts import LossCall
from harness.checks.observation import Observation
from harness.checks.tensor_facts import TensorFacts

_BELOW, _ABOVE = -0.01, 0.01


class Told(NamedTuple):
    """A finding's message and remedy."""

    message: str
    remedy: str


def told(seen: Observation, call: LossCall, same: list[LossCall]) -> Told | None:
    """What is wrong with a divergence, from all calls of it, and what to do: in Keras both sides are to be probabilities, in PyTorch the
    first one is to be their logarithm, and the second one too where `log_target` says so."""
    if call.name != "kl":
        return None
    inputs, targets = [c.inputs for c in same if c.inputs is not None], [c.target for c in same if c.target is not None]
    if len(targets) < len(same):
        targets = []
    if seen.framework in reading.KERAS:
        return _keras(inputs, targets)
    return _output(inputs, targets) or _target(call, targets)


def _keras(inputs: list[TensorFacts], targets: list[TensorFacts]) -> Told | None:
    ranges = [(each.minimum, each.maximum) for each in inputs if each.minimum is not None and each.maximum is not None]
    outside = any(low < _BELOW or high > 1 + _ABOVE for low, high in ranges)
    if not outside or len(ranges) < len(inputs) or not _distributions(targets):
        return None
    return Told("KLDivergence takes probabilities on both sides and gets logits: what lies outside 0 to 1 is clipped and has no gradient.",
                "Pass the softmax of the output, `tf.nn.softmax(logits / temperature)`, as it is done for the target.")


def _output(inputs: list[TensorFacts], targets: list[TensorFacts]) -> Told | None:
    remedy = "Pass `log_softmax(output, dim=-1)`; the target stays a probability."
    if _distributions(inputs):
        return Told("KLDivLoss wants log-probabilities as its first argument and gets probabilities.", remedy)
    if no_log(inputs) and _distributions(targets):
        return Told("KLDivLoss wants log-probabilities as its first argument and gets raw logits: the loss has no lower end, and falls by "
                    "making the logits larger.", remedy)
    return None


def _target(call: LossCall, targets: list[TensorFacts]) -> Told | None:
    if call.log_target and _distributions(targets) and all(each.shape[-1] > 1 for each in targets):
        return Told("KLDivLoss is told that its target is log-probabilities (`log_target=True`) and gets probabilities: it takes the "
                    "exponential of each, so that all classes weigh nearly the same.",
                    "Pass `F.log_softmax(teacher / T, dim=-1)` as the target, or leave `log_target=True` out.")
    if call.log_target is False and targets and all(each.minimum is not None and each.minimum < _BELOW for each in targets):
        kind = "log-probabilities" if all(each.log_probabilities for each in targets) else "scores below 0"
        return Told(f"KLDivLoss takes probabilities as its target and gets {kind}, whose logarithm is not a number.",
                    "Pass `F.softmax(teacher / T, dim=-1)` as the target, or `F.log_softmax(...)` with `log_target=True`.")
    return None


def _distributions(sides: list[TensorFacts]) -> bool:
    return bool(sides) and all(each.rows_sum_to_one for each in sides)


def no_log(inputs: list[TensorFacts]) -> bool:
    """None of the inputs are log-probabilities; beyond two dimensions only a value above zero proves it."""
    if any(len(i.shape) > 2 for i in inputs):
        return any(i.maximum is not None and i.maximum > _ABOVE for i in inputs)
    if any(i.log_probabilities or i.minimum is None for i in inputs) or not inputs:
        return False
    return all(i.rows_sum_to_one for i in inputs) or any((i.maximum or 0.0) > _ABOVE for i in inputs)
