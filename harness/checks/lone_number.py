"""Numbers that are there to be learnt and that no optimizer was given: a temperature, a gate, a weight between losses."""

from __future__ import annotations

from harness.checks import reading
from harness.checks.base import Finding
from harness.checks.model_facts import ParameterFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site

_NAMED = 6
_STEPS = 16  # that are watched before standing still says anything


def finding(seen: Observation) -> Finding | None:
    """A whole part may be left out on purpose, to stay as it is; a number beside parts that are trained was made to move with them."""
    weights = seen.model.parameters if seen.model is not None else []
    exhausted = reading.place(seen, "exhausted")
    if exhausted is not None:
        found = _exhausted(seen, weights, exhausted)
        if found is not None:
            return found
    left = [each for each in weights if each.size == 1 and each.trainable and each.in_optimizer is False and not each.moved
            and each.gradient_norm and _among_trained(each, weights)]
    if not left or len(seen.steps) < _STEPS:
        return None
    names = ", ".join(f"`{each.name}`" for each in left)
    return Finding(
        message=f"{names} {'is' if len(left) == 1 else 'are'} to be learnt and in no optimizer: in {len(seen.steps)} steps gradients came "
                "and nothing moved, while the parts beside did.",
        remedy="Give the optimizer all weights of the model, `Adam(model.parameters(), ...)`: those of its parts leave out what the model "
               "itself holds. If the number is to stay as it is, make it no parameter: `self.scale = 1.0`, or `register_buffer`.",
        site=reading.place(seen, "optimizer", "model", "step"),
        evidence=[f"gradient of {each.name}: {each.gradient_norm:.3g}" for each in left])


def _exhausted(seen: Observation, weights: list[ParameterFacts], place: Site) -> Finding | None:
    """Groups of weights that are sorted out of one generator: the first takes all that there is."""
    wanted = [each for each in weights if each.trainable]
    left = [each for each in wanted if each.in_optimizer is False and not each.moved and each.gradient_norm]
    if not left or len(seen.steps) < _STEPS:
        return None
    return Finding(
        message=f"{len(left)} of {len(wanted)} trainable weights are in no optimizer. The parameters that are sorted into groups are a "
                "generator, which is empty when it is gone through a second time.",
        remedy="Keep a list, `params = list(model.named_parameters())`, or ask the model anew for each group.",
        site=place, evidence=[f"left out, with gradients that nobody uses: {', '.join(each.name for each in left[:_NAMED])}"])


def _among_trained(number: ParameterFacts, weights: list[ParameterFacts]) -> bool:
    """Whether the module that holds it holds others as well, and one of them moves."""
    owner = number.name.rpartition(".")[0]
    beside = [each for each in weights if each is not number and (not owner or each.name.startswith(f"{owner}."))]
    return any(each.in_optimizer and each.moved for each in beside)
