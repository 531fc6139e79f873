"""A loss that is no number any more, and where that comes from."""

from __future__ import annotations

import math
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.loss_facts import LossCall
from harness.checks.model_facts import BadBirth
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site

_OF_NOTHING = ("A softmax over nothing is no number: mask with a large negative number instead of `-inf` (`torch.finfo(x.dtype).min`), or "
               "leave each row something to look at, such as itself.")


class NotANumber(Check):
    """The loss becomes NaN or infinite.

    Named is the place where finite numbers went in and others came out first; everything after it is contagion.
    Source: PyTorch docs, Anomaly Detection; the course's step "which rows have a NaN loss".
    """

    code: ClassVar[str] = "L209"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L201", "L206", "L208", "L210", "G306", "S403")
    messages: ClassVar[tuple[str, ...]] = (r"returned nan values in its \d+th output", r"[Ii]nput contains NaN", r"contains? nan values")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from losses that are no numbers; a lone bad gradient is what mixed precision scales away."""
        step = reading.turned_bad(seen)
        call = next((c for c in seen.loss_calls if c.value is not None and not math.isfinite(c.value)), None)
        weights = [p.name for p in seen.model.parameters if p.bad] if seen.model else []
        birth = self._first(seen)
        error = reading.matching(seen, *self.messages)
        if step is None and call is None and not weights and (birth is None or birth.what not in {"loss", "weight"}):
            return None if error is None else self._finding(seen, birth, f"{error.type}: {reading.first_line(error.message)}", error.site)
        known = birth.step if birth else step.step if step else call.step if call else reading.first_bad_gradient(seen)
        first = known or 1
        better = reading.better_smaller_rate(seen)
        outgrown = birth is None or birth.what in {"weight", "gradient", "loss"} or reading.ran_off(seen, first)
        if first > 1 and better is not None and outgrown:
            raise NotJudged(f"the numbers run away at this learning rate and not at {better[1].learning_rate:g}: see S401")
        when = _when(seen, step.step if step else call.step if call else known)
        return self._finding(seen, birth, f"The loss is no number any more {when}",
                             reading.place(seen, "loss", "backward", "step", "fit"))

    @staticmethod
    def _first(seen: Observation) -> BadBirth | None:
        """The earliest birth; within a step, in the order that data takes."""
        order = {"input": 0, "activation": 1, "loss": 2, "gradient": 3, "weight": 4}
        return min(seen.births, key=lambda birth: (birth.step, order[birth.what]), default=None)

    @staticmethod
    def _nothing_counted(seen: Observation) -> LossCall | None:
        """The first call of a loss that is no number, where its targets are all left out."""
        call = next((c for c in seen.loss_calls if c.value is not None and not math.isfinite(c.value)), None)
        target = call.target if call is not None else None
        nothing = call is not None and target is not None and call.ignore_index is not None and (
            target.minimum == target.maximum == call.ignore_index)
        return call if nothing else None

    def _finding(self, seen: Observation, birth: BadBirth | None, what: str, site: Site | None) -> Finding:
        losses = reading.observed_losses(seen)
        curve = [f"Losses: {', '.join(f'{loss:.3g}' for loss in losses[:8])}"] if losses else []
        if birth is None:
            return Finding(message=f"{what}; where it is born was not seen.", site=site, evidence=curve,
                           remedy="Run once with `torch.autograd.set_detect_anomaly(True)` (TensorFlow: "
                                  "`tf.debugging.enable_check_numerics()`).")
        empty = self._nothing_counted(seen) if birth.what == "loss" else None
        if empty is not None:
            return Finding(
                message=f"{what}: every target of that batch is {empty.ignore_index}, which this loss leaves out, and the mean of nothing "
                        "is no number.",
                remedy="Look at how the labels are made: most of them say that nothing is to be answered, or lie outside of what the "
                       "model is given (positions beyond the text are taken for such).",
                site=reading.place(seen, "collator.labels", "getitem.labels", "map.labels")
                or raised.made_by(seen, "start_positions", "end_positions", *raised.LABELS) or sourcing.line(seen, "labels", "made")
                or birth.site or site,
                evidence=[*curve, f"targets of that call: {list(empty.target.shape) if empty.target else []}, all {empty.ignore_index}"])
        rows = f", rows {', '.join(map(str, birth.rows[:8]))}" if birth.rows else ""
        labels = f" with the labels {sorted(set(map(str, birth.row_labels)))[:8]}" if birth.row_labels else ""
        made = seen.sites.get("bad_input") if birth.what == "input" else None
        masked = birth.what == "activation" and "softmax" in birth.name.lower()
        how = "rows go in of which everything is masked" if masked else "finite numbers go in, others come out"
        remedies = {
            "input": (f"The data itself holds NaN or infinity in `{birth.name}`: drop or fill those rows (`numpy.isfinite`, `df.dropna()`)."
                      if made is None else "Guard the line that makes it: a column that never changes has a deviation of 0, "
                      "`(x - mean) / (std + 1e-8)`; logarithms and roots want numbers above 0."),
            "activation": _OF_NOTHING if masked else (
                f"Guard what `{birth.name}` computes: no division by zero, `log(x + 1e-8)`, `sqrt(x + 1e-8)`, or a stable form such as "
                "`log_softmax`."),
            "loss": "Guard the loss: use the form that takes logits, or clamp what goes into `log` and into denominators (`x + 1e-8`).",
            "gradient": f"The value of `{birth.name}` is finite but its derivative is not (square root or norm at 0, `where` over a NaN): "
                        "add 1e-8 inside the root, or clamp before it.",
            "weight": f"The step itself made `{birth.name}` infinite: lower the learning rate or clip gradients "
                      + ("(`keras.optimizers.Adam(..., clipnorm=1.0)`)." if seen.framework in reading.KERAS else
                         "(`torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)`)."),
        }
        came = f"It comes with the data: the {_named(birth)}{rows} holds NaN or infinity at step {birth.step}."
        born = (came if birth.what == "input" else
                f"It is born {_when(seen, birth.step)} in the {birth.what} `{birth.name}`{rows}{labels}: {how}.")
        return Finding(message=f"{what}. {born}",
                       remedy=remedies[birth.what], evidence=curve,
                       site=(made or _arrived(seen, birth) if birth.what == "input" else None) or birth.site or site)


def _when(seen: Observation, step: int | None) -> str:
    """At which step, or after those that were watched, which were sound."""
    watched = len(seen.steps)
    within = not watched or (step is not None and step <= watched)
    return f"at step {step or 1}" if within else f"after the {watched} steps that were watched"


def _side(birth: BadBirth) -> str:
    return "target" if birth.name == "target" or birth.name in raised.LABELS else "input"


def _named(birth: BadBirth) -> str:
    return birth.name if birth.name == _side(birth) else f"{_side(birth)} `{birth.name}`"


def _arrived(seen: Observation, birth: BadBirth) -> Site | None:
    """Where data that holds no numbers came in; what made the targets is known already, where anything is."""
    return sourcing.line(seen, "inputs", "made") if _side(birth) == "input" else None
