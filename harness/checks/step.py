"""The optimizer's step: its rate, what it holds, and what is done before it."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import added_up, lone_number, opposed, reading, regularization, schedules
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.probe_facts import CurveFacts
from harness.checks.tensor_facts import Site
from harness.checks.training_facts import LaterFacts, LeftOutFacts, StaleFacts, StepFacts, UnzeroedFacts

_SWAPPED = 3  # steps
_WHOLE = 40  # steps of a training that was watched to its end
# What keeps a loss up and is no matter of the rate.
_CAUSES = ("F105", "F109", "L201", "L202", "L203", "L205", "L206", "L207", "L208", "L209", "L210", "L211", "G301", "G302", "G303",
           "G304", "G305", "G306", "G307", "G308", "S403", "S404", "S405", "S410", "S411")
# Keras says so: of an optimizer that has met a model, and meets another.
_OTHER_WEIGHTS = (r"can only be called for the variables it was originally built with", r"The optimizer cannot recognize variable")
_STEADY, _CAME_DOWN = 8, 0.1
_DEEP, _OFTEN = 0.6, 0.2  # of the loss at the start; of the later steps
_STILL = 1e-3  # change of the weights by their own size, over the whole training that was watched


class RateTooHigh(Check):
    """The learning rate is too high for this model.

    Measured, not looked up: on copies of the model, the script's own rate fails on rows that a smaller one learns.
    Sources: Smith, Cyclical Learning Rates (2017), range test; Mosbach et al., On the Stability of Fine-tuning BERT (2021).
    """

    code: ClassVar[str] = "S401"
    stage: ClassVar[Stage] = "step"
    requires: ClassVar[tuple[str, ...]] = _CAUSES

    def check(self, seen: Observation) -> Finding | None:
        """Judges from probes at the script's own rate and at smaller ones."""
        _can_be_judged(seen)
        if reading.script_learns(seen) or regularization.overpowering(seen) is not None:
            return None
        better = reading.better_smaller_rate(seen)
        if better is None:
            return None
        own, other = better
        if _comes_back(own.losses):
            raise NotJudged("the loss came down, was thrown up, and is on its way down again: more steps would have to be seen")
        factor = own.learning_rate / other.learning_rate
        return Finding(message=f"The learning rate {own.learning_rate:g}{_hidden(seen)} is too high for this model: it does not learn, "
                               f"and at {other.learning_rate:g} ({factor:g} times less) it does.",
                       remedy=_set_rate(seen, other.learning_rate), site=_rate_site(seen),
                       evidence=_evidence(seen, better))

    @classmethod
    def may_change(cls, seen: Observation) -> bool:
        """Where the loss swings, and comes far below that of a guess on its way: a rate that a schedule lowers, or momentum that has gone
        too far, may have it learn yet."""
        losses = reading.observed_losses(seen)
        own = seen.probes.train
        start = own.start_loss if own is not None and own.start_loss is not None else losses[0] if losses else 0.0
        late = losses[len(losses) // 2:]
        deep = sum(loss < _DEEP * start for loss in late)
        return len(losses) >= _WHOLE and all(map(math.isfinite, losses)) and deep >= _OFTEN * len(late)


class RateTooLow(Check):
    """The learning rate is too low: weights hardly move.

    Measured, not looked up: on copies of the model, the script's own rate leaves the loss where it is, and a rate far above it learns.
    Source: Smith, Cyclical Learning Rates (2017), range test.
    """

    code: ClassVar[str] = "S402"
    stage: ClassVar[Stage] = "step"
    requires: ClassVar[tuple[str, ...]] = (*_CAUSES, "S401", "S406")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from probes; a rate that is merely slow, or that a schedule is going to raise, is none of its business."""
        starved = schedules.finding(seen)
        if starved is not None:
            return starved
        if reading.script_learns(seen) and reading.probe_pairs(seen):
            return None
        _can_be_judged(seen)
        better = reading.better_larger_rate(seen)
        if better is None:
            return None
        own, other = better
        weights = [p for p in seen.model.parameters if p.trainable] if seen.model else []
        # What no gradient reaches stands still at any rate.
        ratios = reading.finite(p.update_ratio for p in [p for p in weights if p.gradient_norm] or weights)
        ratio = statistics.median(ratios) if ratios else None
        outpaced = schedules.outpaced(seen, own, other)
        if not outpaced and not self._stays(seen, own, other, ratio):
            return None
        moved = [f"The first step changes a typical weight by {ratio:.0e} of its size."] if ratio is not None else []
        goes = (f"at the pace of its first steps the whole training gains less than {len(other.losses)} steps at {other.learning_rate:g}"
                if outpaced else f"the loss stays where it is, and at {other.learning_rate:g} it falls")
        return Finding(message=f"The learning rate {own.learning_rate:g}{_hidden(seen)} is too low for this model: {goes}.",
                       remedy=_set_rate(seen, other.learning_rate), site=_rate_site(seen),
                       evidence=[*_evidence(seen, better), *moved])

    @classmethod
    def may_change(cls, seen: Observation) -> bool:
        """Where it is by the steps that are still to come that a training comes nowhere: something may raise the rate yet."""
        own, better = seen.probes.train, reading.better_larger_rate(seen)
        return own is not None and (schedules.hopeless(seen, own) or (better is not None and schedules.outpaced(seen, *better)))

    @staticmethod
    def _stays(seen: Observation, own: CurveFacts, other: CurveFacts, ratio: float | None) -> bool:
        """Whether loss and weights stay where they are, with no more to come."""
        start, end = reading.start_and_end(own.losses)
        if own.start_loss is not None and own.final_loss is not None:
            start, end = own.start_loss, own.final_loss  # free of the noise of single batches
        displacement = seen.model.displacement if seen.model else None
        if abs(start - end) > 0.02 * abs(start) and (displacement is None or displacement > _STILL):
            return False  # it moves: slow is not wrong (beside weights that stand still, running statistics move a loss)
        rates = reading.finite(step.learning_rate for step in seen.steps)
        rises = not rates or rates[-1] > rates[0]
        if seen.optimizer is not None and seen.optimizer.scheduled and rises and not schedules.far_below(seen, own, other):
            raise NotJudged("a schedule changes the rate, and the first steps may be a warm-up")
        pairs = [others for first, others in reading.probe_pairs(seen) if first is own]
        tenfold = [c for others in pairs for c in others if own.learning_rate < c.learning_rate <= 11 * own.learning_rate]
        # A rate that falls and has come to half will not do more than it has done.
        spent = len(rates) > 1 and rates[-1] < rates[-2] and rates[-1] <= 0.5 * max(rates)
        over = seen.stopped == "finished" and (seen.truncated_at is None or spent) and len(seen.steps) >= _WHOLE
        if ratio is not None and ratio >= 1e-5 and not (over and own is seen.probes.train) and not schedules.hopeless(seen, own):
            return False  # slow, and how long the script would have gone on is not known
        if ratio is None and (not tenfold or any(reading.learned(curve) for curve in tenfold)):
            raise NotJudged("ten times the rate learns as well: it may only be slow")
        return True


class GradientsNotZeroed(Check):
    """`zero_grad()` is missing, or in the wrong place: gradients of earlier steps are still there.

    PyTorch adds to `.grad`; without zeroing, each step follows the sum of all gradients so far. Accumulation on purpose calls
    backward() several times, steps, and zeroes.
    Source: PyTorch docs, Zeroing out gradients.
    """

    code: ClassVar[str] = "S403"
    stage: ClassVar[Stage] = "step"
    requires: ClassVar[tuple[str, ...]] = ("G302", "G303", "G304", "G308")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the gradients that are there before a step's first backward pass, over all steps."""
        if seen.framework in reading.KERAS:
            return added_up.finding(seen)
        if seen.unzeroed is not None:
            return self._one_of_several(seen.unzeroed)
        if reading.several_models(seen):
            raise NotJudged("several models take steps; gradients of one loss may lie on another's weights by design")
        wiped = self._wiped(seen)
        if wiped is not None:
            return wiped
        # Once the numbers have run away, nothing can be held against anything.
        later = [(before, step) for before, step in zip(seen.steps, seen.steps[1:], strict=False)
                 if step.gradients_before is not None and math.isfinite(step.gradients_before)]
        if len(later) < 3:
            raise NotJudged("fewer than three steps whose gradients were measured")
        if not all(self._carried(before, step) for before, step in later):
            return None
        outside = [p for p in seen.model.parameters if p.trainable and p.in_optimizer is False and p.gradient_norm] if seen.model else []
        if outside and not all(self._same(before, step) for before, step in later):
            raise NotJudged("weights outside the optimizer keep their gradients, which does no harm")
        norms = [step.gradient_norm for step in seen.steps if step.gradient_norm is not None]
        shown = [f"Gradient norm before each step: {', '.join(f'{norm:.3g}' for norm in norms[:8])}"] if norms else []
        first = later[0][1]
        return Finding(
            message=f"Gradients are never zeroed: before the backward pass of step {first.step} a gradient of norm "
                    f"{first.gradients_before:.3g} "
                    f"is still there, and so in all {len(later)} steps that followed.",
            remedy="Call `optimizer.zero_grad()` once per step, after `optimizer.step()` or before `loss.backward()`; check that it is "
                   "this "
                   "optimizer's, and this model's.",
            site=reading.place(seen, "uncalled.zero_grad", "zero_grad", "step", "backward", "optimizer"),
            evidence=[*reading.uncalled(seen, "zero_grad"), *shown])

    @staticmethod
    def _one_of_several(found: UnzeroedFacts) -> Finding:
        """Whatever the losses of several models leave on each other's weights: it is gone once in a while where it is zeroed at all."""
        where = f" of line {found.optimizer.line}" if found.optimizer is not None else ""
        return Finding(
            message=f"The gradients of one of the optimizers, {found.kind}{where}, are never zeroed: in all {len(found.before)} steps that "
                    "followed its first one, those of the last were still there when a loss went backward.",
            remedy="Call this optimizer's own `zero_grad()` before the backward pass that it steps for; a call of another optimizer's "
                   "leaves these gradients as they are.",
            site=found.site, evidence=[f"Gradient norm that was left at each: {', '.join(f'{norm:.3g}' for norm in found.before[:8])}"])

    @staticmethod
    def _carried(before: StepFacts, step: StepFacts) -> bool:
        """Whether most of the last step's gradient is still there at this one."""
        if step.gradients_before is None or step.gradients_before <= 0 or not step.backwards:
            return False
        return before.gradient_norm is None or step.gradients_before >= 0.5 * before.gradient_norm

    @staticmethod
    def _same(before: StepFacts, step: StepFacts) -> bool:
        return before.gradient_norm is not None and step.gradients_before is not None and (
            abs(step.gradients_before - before.gradient_norm) <= 0.01 * before.gradient_norm)

    @staticmethod
    def _wiped(seen: Observation) -> Finding | None:
        """zero_grad() between backward() and step(): gradients came, and are gone when the optimizer looks."""
        steps = [s for s in seen.steps if s.backwards]
        weights = [p for p in seen.model.parameters if p.trainable and p.in_optimizer is not False] if seen.model else []
        groups = len(seen.optimizer.learning_rates) if seen.optimizer is not None else 0
        # Those of another optimizer come behind these groups.
        came = any(p.gradient_norm for p in weights if p.group is None or p.group < groups)
        if len(steps) < 3 or not came or any(s.gradient_norm != 0 for s in steps):
            return None
        decays = bool(seen.optimizer and seen.optimizer.weight_decay)
        if any(p.moved for p in weights) and not decays:
            return None  # an optimizer that makes its gradients itself, in a closure
        return Finding(message=f"Gradients are zeroed between backward() and step(): in all {len(steps)} steps nothing was left to step "
                               "along.",
                       remedy="Move `optimizer.zero_grad()` behind `optimizer.step()`, or before `loss.backward()`.",
                       site=reading.place(seen, "zero_grad", "step", "backward"), evidence=["Gradient norm at the step: 0"])


class OtherWeights(Check):
    """The optimizer holds other weights than the model that is trained.

    Made before the model was replaced, copied, or given a new head, it goes on stepping the old ones.
    Source: PyTorch docs, torch.optim ("constructing it").
    """

    code: ClassVar[str] = "S405"
    stage: ClassVar[Stage] = "step"
    requires: ClassVar[tuple[str, ...]] = ("G302", "G303", "G304", "S403", "S404")
    messages: ClassVar[tuple[str, ...]] = _OTHER_WEIGHTS

    def check(self, seen: Observation) -> Finding | None:
        """Judges what the optimizer holds, and that the weights it lacks get gradients and do not move."""
        if seen.later is not None:
            return self._later(seen, seen.later)
        if seen.stale is not None:
            return self._stale(seen.stale)
        swapped = seen.swapped
        if swapped.still and _SWAPPED <= swapped.steps == swapped.of:
            return Finding(message="The gradients of some weights are applied to others: those of the loss stay as they are, and the "
                                   "others move in directions that are not theirs.",
                           remedy="Name the same weights twice: `grads = tape.gradient(loss, net.trainable_variables)`, "
                                  "`optimizer.apply_gradients(zip(grads, net.trainable_variables))`.",
                           site=swapped.site or reading.place(seen, "step"),
                           evidence=[f"At {swapped.steps} of {swapped.of} steps.", *reading.own_losses(seen)])
        if swapped.names is not None and swapped.crossed >= _SWAPPED:
            weight, other = swapped.names
            return Finding(message=f"Gradients are applied to other weights than their own: `{weight}` is given that of `{other}`, which "
                                   "has the same shape, so nothing raises.",
                           remedy="Take the gradients and apply them with one and the same list: `grads = tape.gradient(loss, weights)`, "
                                  "`optimizer.apply_gradients(zip(grads, weights))`.",
                           site=swapped.site or reading.place(seen, "step"),
                           evidence=[f"At {swapped.crossed} steps of the first ones.", *reading.own_losses(seen)])
        if seen.left_out is not None and (
                seen.left_out.told or seen.left_out.late or not reading.script_learns(seen)):
            return self._left_out(seen.left_out)
        error = reading.matching(seen, *_OTHER_WEIGHTS)
        if error is not None:
            return Finding(message="The optimizer was built for the weights of another model, and is given to this one.",
                           remedy="Make a new optimizer for every model: put it where the model is made, or give `compile()` its name and "
                                  "not the object.",
                           site=reading.place(seen, "optimizer") or error.site,
                           evidence=[f"{error.type}: {reading.first_line(error.message)}"])
        against = opposed.finding(seen)
        if against is not None:
            return against
        optimizer, model = seen.optimizer, seen.model
        if optimizer is None or model is None or optimizer.held is None:
            raise NotJudged("what the optimizer holds was not seen")
        if reading.several_models(seen):
            raise NotJudged("several models take steps")
        if not seen.steps:
            return None
        wanted = [p for p in model.parameters if p.trainable]
        left = [p for p in wanted if p.in_optimizer is False and not p.moved and p.gradient_norm]
        remedy = "Make the optimizer last, after the model has its final layers and device: `optimizer = ...(model.parameters(), lr=...)`."
        site = reading.place(seen, *(("rebound",) if not optimizer.held else ()), "optimizer", "model", "step")
        if optimizer.held == 0 and wanted and not any(p.moved for p in wanted):
            return Finding(message=f"The optimizer holds none of the {len(wanted)} weights of the model that is trained"
                                   + (f"; its {optimizer.foreign} belong to something else." if optimizer.foreign else "."),
                           remedy=remedy, site=site, evidence=[f"No weight moved in {len(seen.steps)} steps.", *reading.own_losses(seen)])
        if optimizer.foreign and left:
            names = ", ".join(p.name for p in left[:6])
            return Finding(message=f"{len(left)} of {len(wanted)} trainable weights are not in the optimizer, which holds "
                                   f"{optimizer.foreign} "
                                   "that the model does not have: layers were replaced after it was made.",
                           remedy=remedy, site=site, evidence=[f"Left out, with gradients that nobody uses: {names}"])
        return lone_number.finding(seen)

    @staticmethod
    def _left_out(found: LeftOutFacts) -> Finding:
        """A loop with a tape that lists the weights of one model, and computes with those of another as well."""
        return Finding(
            message=f"{found.weights} trainable weights that the loss is computed with are in no list that a tape is asked about: in "
                    f"{found.steps} steps none of them has moved, "
                    + ("although their model is called with `training=True`." if found.told else
               "and they came when the list had been made." if found.late else "and the loss does not fall."),
            remedy="Ask about the weights of all parts, and apply to the same list: `weights = front.trainable_variables + "
                   "head.trainable_variables`. If a part is to stay as it is drawn, say so: `front.trainable = False`.",
            site=found.site, evidence=[f"Left out: {', '.join(found.names)}"])

    @staticmethod
    def _stale(stale: StaleFacts) -> Finding:
        """A compiled function keeps what it was traced with: the model and the optimizer of its first call."""
        made = [f"The new model is made on line {stale.model.line}: {stale.model.source[:100]}"] if stale.model is not None else []
        return Finding(message=f"`{stale.function}` is compiled once, with the model that it found at its first call. In a later "
                               "training another model is meant, and TensorFlow goes on training the first.",
                       remedy="Make the function anew wherever a model is made (`step = tf.function(_step)` after it), or give it the "
                              "model and the optimizer as arguments: for another object TensorFlow traces it again.",
                       site=stale.site, evidence=["A graph keeps the variables that were read while it was traced.", *made])

    @staticmethod
    def _later(seen: Observation, later: LaterFacts) -> Finding:
        """A later training, of another model or after new layers, goes on with an optimizer from before."""
        if later.thawed:
            return Finding(message=f"{later.lacking} weights were set free before step {later.step} of an optimizer that was made without "
                                   "them: they get gradients, and nothing moves them.",
                           remedy="Give the optimizer all weights and freeze them afterwards (a Trainer takes those that are trainable "
                                  "when `train()` begins, so freeze in `on_train_begin`), or hand them over where they are set free: "
                                  "`optimizer.add_param_group({\"params\": ...})`.",
                           site=later.site or reading.place(seen, "optimizer", "step"),
                           evidence=[f"With gradients that nobody uses: {', '.join(later.left)}"])
        since = f"From its step {later.step} on, the optimizer" if later.step > 1 else "In a later training, the optimizer"
        holds = f"only {later.held} weights" if later.held else "no weight"
        return Finding(message=f"{since} holds {holds} of the model that is trained then, and {later.foreign} that get no gradient any "
                               "more: it was made before the model was.",
                       remedy="Make a new optimizer wherever a model or a layer is made anew, and after it: "
                              "`optimizer = ...(model.parameters(), lr=...)`.",
                       site=later.site or reading.place(seen, "optimizer", "step"),
                       evidence=["The first training is in order.",
                                 f"{later.lacking} with gradients that nobody uses: {', '.join(later.left)}"])


def _comes_back(losses: list[float]) -> bool:
    """Whether a loss had been learnt beyond doubt, and falls steadily again after momentum has carried the weights past that."""
    if len(losses) < 4 * _STEADY or not all(map(math.isfinite, losses)):
        return False
    lowest = min(max(losses[number:number + 3]) for number in range(len(losses) - 2))
    last = losses[-_STEADY:]
    falls = sum(after < before for before, after in itertools.pairwise(last)) >= 0.8 * (len(last) - 1)
    return lowest < _CAME_DOWN * losses[0] and falls and last[-1] < 0.5 * max(losses[-4 * _STEADY:])


def _can_be_judged(seen: Observation) -> None:
    """Raises `NotJudged` where there are no probes to compare."""
    if reading.several_models(seen):
        raise NotJudged("several models are trained against each other; no single loss has to fall")
    if seen.optimizer is not None and seen.optimizer.tried:
        raise NotJudged("the script tries several learning rates, of which this is one")
    if not reading.probe_pairs(seen):
        why = next(iter(seen.probes.skipped.values()), "no steps were tried at other learning rates")
        raise NotJudged(f"the learning rate was not probed: {why}")


def _hidden(seen: Observation) -> str:
    optimizer = seen.optimizer
    if optimizer is None or not (optimizer.by_name or optimizer.rate_given is False):
        return ""
    named = f'the string "{optimizer.kind.lower()}"' if optimizer.by_name else f"{optimizer.kind} without a rate"
    return f" (the default that {named} takes unasked)"


def _rate_site(seen: Observation) -> Site | None:
    """Where the rate was given: a Trainer that makes its optimizer itself takes it from its arguments."""
    built = reading.place(seen, "optimizer")
    if seen.trainer and "training_arguments" in seen.sites and (built is None or ".train(" in built.source):
        return reading.place(seen, "training_arguments.learning_rate", "training_arguments")
    return built or reading.place(seen, "compile", "step", "fit")


def _set_rate(seen: Observation, rate: float) -> str:
    kind = seen.optimizer.kind if seen.optimizer and seen.optimizer.kind else "Adam"
    if seen.framework in reading.KERAS:
        made = f"keras.optimizers.{kind}(learning_rate={rate:g})"
        return f"Give it yourself: `model.compile(optimizer={made}, ...)`." if "compile" in seen.sites else f"`optimizer = {made}`."
    if seen.trainer:
        return f"`TrainingArguments(..., learning_rate={rate:g})`."
    return f"`torch.optim.{kind}(model.parameters(), lr={rate:g})`."


def _evidence(seen: Observation, better: tuple[CurveFacts, CurveFacts]) -> list[str]:
    own, other = better
    return [f"Probe, {reading.describe(own)}", f"Probe, {reading.describe(other)}", *reading.own_losses(seen)]
