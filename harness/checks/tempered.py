"""Distillation: the answers of a student held against those of a teacher."""

from __future__ import annotations

import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_APART = 1.2  # times; a temperature that is learnt moves both sides alike
_CALLS = 3
_WARM, _FAINT, _WHOLE = 2.0, 0.2, 0.02  # a temperature; of the gradient of the labels; how near two weights are to a whole


class Tempered(Check):
    """The two sides of a distillation are softened differently.

    At a temperature T both sides are divided by it, student and teacher: the student is to give the teacher's logits. Where one side is
    left out, it is to give them divided by T, and answers as unsurely as the softened teacher does.
    Source: Hinton, Vinyals, Dean, "Distilling the Knowledge in a Neural Network" (2015), section 2.
    """

    code: ClassVar[str] = "L215"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L203", "L206")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what two models gave and what the loss was given, by which temperature one makes the other."""
        facts, one_side = seen.tempered, seen.sites.get("one_side")
        if one_side is not None and (facts is None or not facts.temperatures):
            return Finding(
                message="One side of the distillation is divided by the temperature and the other is not: the loss is multiplied by its "
                        "square, as where both are, and the student is to give the teacher's softened answers at a temperature of 1.",
                remedy="Divide the student's logits by the same temperature before their softmax, or the loss that takes it: "
                       "`loss_of(soft, logits / T) * T ** 2`.",
                site=one_side,
                evidence=["the script divides by the temperature in one place, within one softmax", *reading.own_losses(seen)])
        if facts is not None and not facts.temperatures and len(facts.softened) >= _CALLS:
            return _unsquared(seen, statistics.median(facts.softened))
        if facts is None or (len(facts.temperatures) < _CALLS and not facts.read):
            raise NotJudged("no loss was seen that holds the answers of one model against those of another")
        output, target = (statistics.median(each) for each in zip(*facts.temperatures, strict=True))
        if max(output, target) < _APART * max(1.0, min(output, target)):
            return _unsquared(seen, target)  # alike, or targets that are sharpened on purpose
        form = "KLDivergence()(tf.nn.softmax(teacher / T), tf.nn.softmax(student / T))" if seen.framework in reading.KERAS else \
            'F.kl_div(F.log_softmax(student / T, dim=-1), F.softmax(teacher / T, dim=-1), reduction="batchmean")'
        return Finding(
            message=f"The loss takes the student at a temperature of {output:.3g} and the teacher at {target:.3g}. To match "
                    f"them, the student's logits have to become {output / target:.2g} times those of the teacher.",
            remedy=f"Divide both by the same temperature, and multiply the loss by its square: `{form} * T ** 2`.",
            site=facts.site, evidence=["by the graph of a step, from the answers of both models to the softmax of each" if facts.read else
                                       f"in {len(facts.temperatures)} calls, by what the models gave and what the loss was given"])


def _unsquared(seen: Observation, temperature: float) -> Finding | None:
    """Gradients of a softened loss are smaller by the square of its temperature; weights that make a whole are meant for such as are not.

    Judged where the loss is both parts with such weights, and the teacher's pulls less than a fifth as much as the labels'.
    """
    terms = [term for term in seen.loss_terms if term.get("gradient_norm") is not None and term.get("factor") is not None]
    soft = [term for term in terms if term["name"] == "kl"]
    hard = [term for term in terms if term["name"] == "cross_entropy"]
    if temperature < _WARM or min(len(soft), len(hard)) < _CALLS or len(soft) != len(hard):
        return None
    weights = [statistics.median(term["factor"] for term in part) for part in (soft, hard)]
    pulls = [one["gradient_norm"] / other["gradient_norm"] for one, other in zip(soft, hard, strict=True) if other["gradient_norm"]]
    if min(weights) < _WHOLE or abs(sum(weights) - 1) > _WHOLE or not pulls or statistics.median(pulls) >= _FAINT:
        return None
    pull = statistics.median(pulls)
    return Finding(
        message=f"The softened loss is weighed by {weights[0]:.2g} beside {weights[1]:.2g} of the labels', and pulls {pull:.2g} times as "
                f"much as they do: at the temperature {temperature:.3g} its gradients are {temperature**2:.3g} times smaller, and "
                "nothing makes up for that.",
        remedy="Multiply it by the square of the temperature, so that the weights mean what they say: "
               '`F.kl_div(F.log_softmax(student / T, dim=-1), F.softmax(teacher / T, dim=-1), reduction="batchmean") * T ** 2`.',
        site=seen.tempered.site if seen.tempered is not None else None,
        evidence=["norm of the gradient of the weights, by the softened loss over that by the labels, first steps: "
                  + ", ".join(f"{each:.2g}" for each in pulls[:6])])
