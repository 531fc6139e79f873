"""Backward: how large gradients are on their way through the layers, and units that let none through."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading, schedules
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_labels import still_guessing
from harness.checks.model_facts import ParameterFacts
from harness.checks.observation import Observation

_CAUSES = ("F109", "L201", "L202", "L203", "L205", "L206", "L208", "L210", "G301", "G302", "G303", "G304")
_STEPS = 5
_FADE = 1e-4
_LOST = 0.3  # of the norm of gradients in float16: those that are there are rounded to a thousandth
_BLOWN = 1e4
_PATIENT = 20  # steps on one batch


def _profile(seen: Observation) -> list[tuple[ParameterFacts, float]]:
    """Root mean square gradient of each weight matrix, in the model's order. Embeddings (few of whose rows a batch uses), biases, norms
    and branches that begin at exactly zero are left out."""
    parameters = seen.model.parameters if seen.model else []
    return [(p, p.gradient_norm / math.sqrt(p.size)) for p in parameters
            if p.trainable and p.gradient_norm and math.isfinite(p.gradient_norm) and p.size > 16 and "embed" not in p.name.lower()
            and "norm" not in p.name.lower() and "bias" not in p.name.lower()]


def _ends(profile: list[tuple[ParameterFacts, float]]) -> tuple[float, float]:
    """Median gradient of the first and of the last third of the layers."""
    third = max(1, len(profile) // 3)
    return statistics.median(g for _, g in profile[:third]), statistics.median(g for _, g in profile[-third:])


def _shown(profile: list[tuple[ParameterFacts, float]]) -> list[str]:
    picked = profile if len(profile) <= 6 else [*profile[:3], *profile[-3:]]
    return [f"{parameter.name}: {size:.2e}" for parameter, size in picked]


def _not_learning(seen: Observation) -> bool:
    """Whether the probe says that this is no matter of the rate. Raises `NotJudged` where there was none."""
    if reading.script_learns(seen):
        return False
    verdict = reading.cannot_learn(seen)
    if verdict is None:
        raise NotJudged("whether the model can learn was not probed, and the size of a gradient alone says nothing")
    return verdict


def fades(seen: Observation) -> bool:
    """Whether the gradient of the first layers is a vanishing part of that of the last ones."""
    profile = _profile(seen)
    if len(profile) < 4:
        return False
    first, last = _ends(profile)
    return first < _FADE * last


class VanishingGradients(Check):
    """Gradients vanish on their way to the first layers.

    Saturating activations multiply the gradient by less than one in every layer; deep stacks of them leave the first layers as drawn. In
    float16 small gradients are none. Sources: Glorot and Bengio (2010); Hochreiter (1991); Micikevicius et al. (2018), Mixed Precision
    Training.
    """

    code: ClassVar[str] = "G305"
    stage: ClassVar[Stage] = "backward"
    requires: ClassVar[tuple[str, ...]] = (*_CAUSES, "G307")

    def check(self, seen: Observation) -> Finding | None:
        """Judges first layers against last ones, and only where the script's own rate does not learn."""
        lost = self._underflow(seen)
        if lost is not None:
            return Finding(
                message=f"{lost}: the forward pass runs in float16, and what goes back is too small for it (below 6e-8 there is nothing).",
                remedy="Scale the loss: `scaler = torch.amp.GradScaler()`, `scaler.scale(loss).backward()`, `scaler.step(optimizer)`, "
                       "`scaler.update()`; or take bfloat16, which reaches as far as float32: `torch.autocast(..., "
                       "dtype=torch.bfloat16)`.",
                site=reading.place(seen, "backward", "loss"), evidence=reading.own_losses(seen))
        profile = _profile(seen)
        if len(profile) < 4:
            raise NotJudged("fewer than four layers with a gradient were measured")
        first, last = _ends(profile)
        if first >= _FADE * last:
            return None
        pairs = reading.probe_pairs(seen)
        if not pairs:
            raise NotJudged("whether the model can learn was not probed, and the size of a gradient alone says nothing")
        guess = still_guessing(seen)
        if reading.script_learns(seen) or not all(reading.failed(own, guess) for own, _ in pairs):
            return None
        if seen.probes.overfit is not None and reading.learned(seen.probes.overfit):
            raise NotJudged("one batch can be fitted, so that the gradient is enough to learn by")
        if schedules.ends_early(seen) is not None:
            raise NotJudged("a schedule takes the rate away before the gradient had time to show what it is enough for")
        if not self._given_time(seen):
            raise NotJudged("there was no time to fit one batch for longer or at a higher rate")
        saturated = [f"{u.module} ({u.kind}): {u.dead_share:.0%} saturated" for u in (seen.model.units if seen.model else [])
                     if u.kind in {"sigmoid", "tanh"} and u.dead_share > 0.5]
        return Finding(
            message=f"The gradient fades from {last:.1e} in the last layers to {first:.1e} in the first ({last / first:.0e} times less), "
                    "and the "
                    "probe does not learn.",
            remedy="Use ReLU or GELU instead of sigmoid and tanh in the hidden layers, normalise between them (`BatchNorm1d`, "
                   "`LayerNorm`), "
                   "add residual connections, or make the stack shallower.",
            site=reading.place(seen, "saturating", "model"),
            evidence=[*_shown(profile), *saturated, reading.describe(pairs[0][0])])

    @staticmethod
    def _given_time(seen: Observation) -> bool:
        """Whether more than a few steps at the script's own rate, or a higher one, were tried on one batch."""
        own, others = seen.probes.overfit, seen.probes.overfit_scaled
        if own is None:
            return "overfit" not in seen.probes.skipped
        return len(own.losses) >= _PATIENT or any(other.learning_rate > own.learning_rate for other in others)

    @staticmethod
    def _underflow(seen: Observation) -> str | None:
        """What is lost of the gradients in float16."""
        if seen.model is not None and seen.model.half and len(seen.steps) >= _STEPS and all(step.gradient_norm == 0 for step in seen.steps):
            return f"Every gradient of {len(seen.steps)} steps is exactly 0"
        lost = seen.probes.half_lost
        return f"The gradients are off by {lost:.0%} of what a scaled loss gives" if lost is not None and lost > _LOST else None


class ExplodingGradients(Check):
    """Gradients explode, and smaller steps do not help.

    Weights drawn too wide, or a long recurrence, multiply the gradient by more than one in every layer or step.
    Source: Pascanu, Mikolov, Bengio, On the difficulty of training recurrent neural networks (2013).
    """

    code: ClassVar[str] = "G306"
    stage: ClassVar[Stage] = "backward"
    requires: ClassVar[tuple[str, ...]] = ("L201", "L203", "L205", "L206", "L208", "L210", "S403")

    def check(self, seen: Observation) -> Finding | None:
        """Judges layers against each other, steps against the first ones, and both against probes at smaller rates; and clipping that finds
        nothing to clip at any step, or comes after it."""
        if seen.optimizer is not None and seen.optimizer.clips_nothing:
            return Finding(
                message="Gradients are clipped where there are none: at every step the norm that is clipped is 0, and what the backward "
                        "pass gives after that goes into the step as it is.",
                remedy="Clip between both: `loss.backward()`, then `clip_grad_norm_(model.parameters(), max_norm)`, then "
                       "`optimizer.step()`.",
                site=reading.place(seen, "clipping", "backward"), evidence=reading.own_losses(seen))
        written = seen.sites.get("late_clipping") if seen.framework in reading.KERAS else None
        if written is not None:
            return Finding(
                message="Gradients are clipped after the step that they were for: each step goes along them as they came, and nothing is "
                        "made of what is clipped.",
                remedy="Clip before the step: `gradients, _ = tf.clip_by_global_norm(gradients, limit)`, then "
                       "`optimizer.apply_gradients(zip(gradients, variables))`.",
                site=written, evidence=reading.own_losses(seen))
        if seen.optimizer is not None and seen.optimizer.clips_late:
            return Finding(
                message="Gradients are clipped after the step that they were for: each step goes along them as they came, and what is "
                        "clipped is zeroed before the next one.",
                remedy="Clip before the step: `loss.backward()`, then `clip_grad_norm_(model.parameters(), max_norm)`, then "
                       "`optimizer.step()`.",
                site=reading.place(seen, "clipping", "step"), evidence=reading.own_losses(seen))
        signs = self._signs(seen)
        if not signs:
            return None
        if seen.births and min(b.step for b in seen.births) == 1 and not any(b.what in {"gradient", "weight"} for b in seen.births):
            return None  # born in the first forward pass: no gradient was at work yet
        if seen.births and seen.births[0].what == "input":
            return None  # the data hold it already
        if not _not_learning(seen):
            return None
        own, others = reading.probe_pairs(seen)[0]
        smaller = [other for other in others if other.learning_rate < own.learning_rate]
        if not smaller:
            raise NotJudged("no smaller learning rate was tried, so the rate may be the reason")
        clip = "Clip them: `torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)` before the step (Keras: `clipnorm=1.0`)"
        return Finding(message=f"Gradients explode: {signs[0]}. Smaller steps do not mend it.",
                       remedy=f"{clip}, and draw the weights for their width (`torch.nn.init.kaiming_normal_`), or normalise between "
                              "layers.",
                       site=reading.place(seen, "backward", "model"),
                       evidence=[*signs[1:], *[reading.describe(curve) for curve in (own, *smaller)], *_shown(_profile(seen))])

    @staticmethod
    def _signs(seen: Observation) -> list[str]:
        signs: list[str] = []
        profile = _profile(seen)
        if len(profile) >= 4:
            first, last = _ends(profile)
            if first > _BLOWN * last:
                signs.append(f"{first:.1e} in the first layers against {last:.1e} in the last")
        ratios = reading.finite(p.update_ratio for p in seen.model.parameters) if seen.model else []
        if ratios and statistics.median(ratios) > 1:
            signs.append(f"the first step changes a typical weight by {statistics.median(ratios):.1f} times its own size")
        norms = [s.gradient_norm for s in seen.steps if s.gradient_norm is not None]
        early = reading.finite(norms[:3])
        if len(norms) >= 5 and early and statistics.median(early) > 0:
            later = max((n if math.isfinite(n) else math.inf) for n in norms[3:])
            grown = list(itertools.takewhile(math.isfinite, norms))
            # What is moderate in one step and no number in the next has not grown: it was born so.
            leapt = len(grown) < len(norms) and max(grown, default=0.0) < 10 * statistics.median(early)
            if not leapt and later > 1000 * statistics.median(early) and not (seen.optimizer and seen.optimizer.clipping):
                signs.append(f"their norm grows from {statistics.median(early):.2g} to {later:.2g}")
        return signs


class DeadUnits(Check):
    """Most units of a layer are dead: zero for every row, so no gradient passes.

    A ReLU whose input is negative for all rows neither says anything nor can it recover.
    Source: Lu et al., Dying ReLU and Initialization (2019).
    """

    code: ClassVar[str] = "G307"
    stage: ClassVar[Stage] = "backward"
    requires: ClassVar[tuple[str, ...]] = (*_CAUSES, "L209")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from units that are zero for a whole batch, and only where no rate that was tried learns."""
        known = seen.model.units if seen.model else []
        units = [u for u in known if u.dead_share >= 0.9 and u.kind not in {"sigmoid", "tanh", "softmax"}]
        if not units:
            return None
        rows = max((t.shape[0] for batch in seen.batches for t in batch.columns.values() if t.shape), default=0)
        if rows and rows < 4:
            raise NotJudged("a batch of fewer than four rows cannot tell a dead unit from a quiet one")
        if seen.probes.input_matters is False and seen.probes.lost_in and not seen.probes.lost_in.startswith("relu"):
            raise NotJudged("the input is lost before these units, or beside them: see F104")
        silenced = seen.probes.input_matters is False and seen.probes.lost_in.startswith("relu") and not reading.script_learns(seen)
        if not silenced and not _not_learning(seen):
            return None
        worst = max(units, key=lambda unit: unit.dead_share)
        so = "what reaches the output is the same for every input" if silenced else "the model does not learn at any rate that was tried"
        return Finding(message=f"{worst.dead_share:.0%} of the units of {worst.module} ({worst.kind}) are zero for every row, and {so}.",
                       remedy="Draw weights for ReLU and biases at 0 (`kaiming_normal_`, `zeros_`), normalise the inputs, or use "
                              "LeakyReLU or "
                              "GELU.", site=reading.place(seen, "weights_drawn", "parameters_drawn", "model"),
                       evidence=[f"{unit.module}: {unit.dead_share:.0%}" for unit in units[:6]])
