"""The number that a loss gives: at the start, and in proportion."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.loss_facts import LossCall
from harness.checks.observation import Observation
from harness.checks.probe_facts import CurveFacts
from harness.checks.tensor_facts import Site

_SUPERVISED = {"cross_entropy", "nll", "bce", "bce_with_logits", "mse", "l1", "sparse_categorical", "categorical"}
_OF_CLASSES, _GUESSED = _SUPERVISED - {"mse", "l1"}, 0.3  # nats
_DROWNED, _OUTPULLED = 50.0, 30.0  # by value, by gradient
_LARGER, PULLING = 10.0, 8.0  # the same where the smaller one was seen to be learnt alone
_FEWEST, _LEARNT = 5, 0.9
# A gradient that is so many times as large; what is left of a loss in a third of the steps that got nowhere, and of one that did, alone.
_BEYOND_ALL, _HALTED, _FURTHER = 300.0, 0.95, 0.85
# Weight of a latent number beside a reconstructed one, above what is chosen to untangle codes; steps after which it has had its way.
_COLLAPSING, _HEAVY, _SETTLED, _FREE = 12.0, 2.0, 20, 0.8
_WATCHED, _LATE = 20, 10
# Times what answering 0 costs: at the start, and still at the end of what was watched; how large an input may be.
_BEYOND, _STILL_BEYOND, _ORDINARY = 1000.0, 3.0, 20.0
_BEYOND_CHANCE = 100.0  # times what a guess costs
_WIDE = 2.5  # times as large as what comes in, from weights that were drawn for it
# By how much a loss is more than its cross entropy before it counts as more than that.
_WHOLE = 1.1


class InitialLoss(Check):
    """The initial loss is far above that of a uniform guess.

    An untrained head knows nothing, so a cross entropy over k classes begins near ln k. Far above it, the head is drawn too
    wide or the loss is computed wrongly, and training first has to unlearn.
    Source: Karpathy, A Recipe for Training Neural Networks ("verify loss @ init").
    """

    code: ClassVar[str] = "L204"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L201", "L202", "L203", "L205", "L206", "L208", "L209", "L210", "D108")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the probe's initial loss against ln k, only for a plain mean cross entropy over a freshly drawn head."""
        by_hand = self._by_hand(seen) or self._far_out(seen)
        if by_hand is not None:
            return by_hand
        loss = seen.probes.initial_loss
        call = next((c for c in seen.loss_calls if c.name in {"cross_entropy", "nll", "sparse_categorical", "categorical", "model"}), None)
        if loss is None or call is None or seen.task not in {"classification", "language"}:
            raise NotJudged("the untrained model's loss was not probed, or it is no cross entropy over classes")
        if len(seen.loss_terms) > 1 or any(c.weighted or c.smoothing or c.reduction == "sum" or reading.summed_rows(seen, c) > 1
                                           for c in seen.loss_calls):
            raise NotJudged("weights, smoothing, a sum or several terms: ln k is no measure of this loss")
        if sum(c.step == call.step for c in seen.loss_calls) > 1:
            raise NotJudged("several losses belong to one step, each of which may have its own part in what is minimised")
        whole = next((step.loss for step in seen.steps if step.step == call.step), None)
        if whole is not None and call.value is not None and whole > _WHOLE * call.value:
            raise NotJudged("the loss holds more than its cross entropy")
        model = seen.model
        fresh = model is not None and (model.fresh_head is True or (model.fresh_head is None and model.pretrained is False))
        classes = reading.class_units(seen, call)
        if not fresh or classes is None or classes < 2 or model is None:
            raise NotJudged("the head may have been trained before, so its loss may be anything")
        if model.pretrained and "weights_drawn" not in seen.sites:
            raise NotJudged("a fresh head starts as wide as the trained features that it is given")
        if any(t.maximum is not None and t.minimum is not None and max(t.maximum, -t.minimum) > 20 and t.integral is not True
               for batch in seen.batches for t in batch.columns.values()):
            raise NotJudged("inputs of a large scale explain a large initial loss")
        chance = math.log(classes)
        if not math.isfinite(loss) or (loss <= 3 * chance) or loss - chance <= 3:
            return None
        losses = reading.finite(reading.observed_losses(seen))
        if seen.task == "language" and len(losses) < _WATCHED:
            raise NotJudged("too few steps were watched to tell whether the wide start is unlearnt at once")
        unlearnt = reading.script_learns(seen) and statistics.fmean(losses[-_LATE:]) < chance
        if unlearnt or any(reading.learned(own) and reading.start_and_end(own.losses)[1] < chance
                           for own, _ in reading.probe_pairs(seen)):
            return None  # a wide start that is unlearnt at once harms nothing
        output = call.inputs or model.output
        spread = [f"Logits range from {output.minimum:.3g} to {output.maximum:.3g}."] if output and output.minimum is not None and (
            output.maximum is not None) else []
        return Finding(
            message=f"Before any step the loss is {loss:.3g}; guessing evenly among {classes} classes costs ln {classes} = {chance:.3g}.",
            remedy="Look at how the head is drawn and how its output is scaled: the default initialisation "
                   "(`head.reset_parameters()`), or `torch.nn.init.normal_(head.weight, std=0.02)`, starts near ln k.",
            site=reading.place(seen, "weights_drawn", "parameters_drawn", "output", "model", "loss"),
            evidence=[*spread, f"Measured over {seen.probes.initial_rows} rows.", *reading.own_losses(seen)])

    @staticmethod
    def _far_out(seen: Observation) -> Finding | None:
        """Squared errors of a new model that are far beyond those of answering 0, from inputs of an ordinary scale."""
        calls = [call for call in seen.loss_calls if call.name == "mse" and call.target is not None]
        squares = [(call.target.std or 0.0) ** 2 + (call.target.mean or 0.0) ** 2 for call in calls if call.target is not None]
        losses = reading.finite(reading.observed_losses(seen))
        fresh = seen.model is not None and not seen.model.pretrained and len(seen.loss_terms) <= 1 and not reading.several_models(seen)
        if not fresh or not squares or len(losses) < _WATCHED or not min(squares) > 0 or not losses[0] > 0:
            return None
        # Of each number, where rows tell it: a sum, or a loss that is multiplied, is as large as it likes.
        loss = statistics.fmean(calls[0].row_losses) if calls[0].row_losses else seen.probes.initial_loss
        if loss is None or (calls[0].reduction == "sum" and not calls[0].row_losses):
            return None
        nothing, late = statistics.fmean(squares), loss * statistics.fmean(losses[-_LATE:]) / losses[0]
        large = any(max(facts.maximum or 0.0, -(facts.minimum or 0.0)) > _ORDINARY for batch in seen.batches
                    for facts in batch.columns.values() if "float" in facts.dtype)
        if large or loss < _BEYOND * nothing or late < _STILL_BEYOND * nothing:
            return None
        return Finding(
            message=f"Before any step the squared error is {loss:.3g}; answering 0 everywhere costs {nothing:.3g}. The weights are drawn "
                    "so wide that each layer makes what it is given larger.",
            remedy="Draw them for what comes in, with a deviation of about 1 / sqrt(inputs): `nn.init.xavier_normal_`, "
                   "`nn.init.kaiming_normal_`, or what the layers do by themselves; a deviation of 0.02 is one for hundreds of inputs.",
            site=reading.place(seen, "weights_drawn", "parameters_drawn", "model"),
            evidence=reading.own_losses(seen))

    @staticmethod
    def _by_hand(seen: Observation) -> Finding | None:
        """Weights of a loop that has no model: the first loss that was seen, beside how wide they were drawn."""
        wide = seen.wide
        call = next((c for c in seen.loss_calls if c.name in {"sparse_categorical", "categorical"}), None)
        losses = reading.finite(reading.observed_losses(seen))
        classes = reading.class_units(seen, call) if call is not None else None
        if call is None or classes is None or classes < 2 or len(losses) < _WATCHED or len(seen.loss_terms) > 1:
            return None
        chance = math.log(classes)
        if losses[0] <= 3 * chance or losses[0] - chance <= 3 or statistics.fmean(losses[-_LATE:]) < chance:
            return None
        if wide is None or wide.gain < _WIDE:
            return _grown(seen, call, losses, chance) if seen.model is None else None
        return Finding(
            message=f"Before any step the loss is {losses[0]:.3g}; guessing evenly among {classes} classes costs ln {classes} = "
                    f"{chance:.3g}. The weights are drawn too wide: `{wide.name}` {tuple(wide.shape)} makes what it is given "
                    f"{wide.gain:.1f} times as large.",
            remedy="Draw them for what comes in: a deviation of 1 / sqrt(inputs), `tf.random.normal([n_in, n_out], stddev=n_in ** -0.5)`, "
                   "or `tf.keras.initializers.GlorotUniform()`.",
            site=wide.site or reading.place(seen, "backward"), evidence=reading.own_losses(seen))


def _grown(seen: Observation, call: LossCall, losses: list[float], chance: float) -> Finding | None:
    """Outputs that are large by what the loop's own layers do, and not by their weights: sums over neighbours, over positions."""
    output = call.inputs
    if output is None or output.maximum is None or output.minimum is None or losses[0] < _BEYOND_CHANCE * chance:
        return None
    return Finding(
        message=f"Before any step the loss is {losses[0]:.3g}, where a guess costs {chance:.3g}: the outputs go from {output.minimum:.3g} "
                f"to {output.maximum:.3g}. After {len(losses)} steps it is still above that of a guess.",
        remedy="Print the deviation of what each layer gives. Where it grows, take a mean in place of a sum: a graph's adjacency divided "
               "by the degrees (`D^-1/2 (A + I) D^-1/2`), positions or features divided by their number, inputs standardised.",
        site=call.site or reading.place(seen, "loss", "backward"), evidence=reading.own_losses(seen))


@dataclass(frozen=True)
class Term:
    """A summand of the loss over the watched steps: median size (at first), gradient norm where measured, values, line."""

    name: str
    size: float
    gradient: float | None
    values: list[float]
    line: int | None


@dataclass(frozen=True)
class Pulled:
    """The term of several supervised ones that pulls most and the one that pulls least; they are far apart, by value or by gradient."""

    large: Term
    small: Term

    @property
    def falls(self) -> bool:
        """Whether the smaller one is learnt all the same."""
        start, end = reading.start_and_end(self.small.values) if len(self.small.values) >= _FEWEST else (0.0, 0.0)
        return end < _LEARNT * start

    @property
    def halts(self) -> bool:
        """Whether it came down at first, and has come to a halt beside one that is out of all proportion."""
        values, third = self.small.values, len(self.small.values) // 3
        if third < _FEWEST or (self.large.gradient or 0.0) < _BEYOND_ALL * (self.small.gradient or math.inf):
            return False
        return statistics.fmean(values[-third:]) > _HALTED * statistics.fmean(values[third:-third])


def pulled(seen: Observation) -> Pulled | None:
    """Two supervised terms of one loss of which one is far larger; None where there are none."""
    terms: dict[str, list[dict[str, Any]]] = {}
    for term in seen.loss_terms:
        where = term.get("line") or term.get("part")
        key = str(term.get("name", "other")) if where is None else f"{term.get('name', 'other')}@{where}"
        terms.setdefault(key, []).append(term)
    found = [made for key, each in terms.items() if (made := _term(key.split("@")[0], each)) is not None] if len(terms) > 1 else []
    if len(found) < 2:
        return None
    large, small = max(found, key=lambda term: term.size), min(found, key=lambda term: term.size)
    apart = small.size > 0 and (large.size >= _LARGER * small.size or (large.gradient or 0.0) >= _OUTPULLED * (small.gradient or math.inf))
    return Pulled(large, small) if apart else None


def silenced(seen: Observation) -> bool:
    """Whether the code of a variational autoencoder says nothing so far, beside a divergence that weighs more than the bound has it."""
    if len(seen.divergence) < 3:
        return False
    first, last = seen.divergence[0], seen.divergence[-1]
    steady = max(each.weight for each in seen.divergence) < 1.5 * min(each.weight for each in seen.divergence)
    return (steady and last.weight >= _HEAVY and last.step >= _SETTLED and last.value <= 0.1 * max(first.value, last.reconstruction)
            and last.reconstruction >= 0.9 * last.constant)


def _term(name: str, each: list[dict[str, Any]]) -> Term | None:
    values, gradients = (reading.finite(term.get(part) for term in each) for part in ("value", "gradient_norm"))
    if name not in _SUPERVISED or not values:
        return None
    # The first third: a term that rules in the beginning may be small in the end, and have kept the other from learning all the same.
    size = statistics.median([abs(value) for value in values][:max(5, len(each) // 3)])
    return Term(name, size, statistics.median(gradients) if gradients else None, values, each[0].get("line"))


def _improves(alone: CurveFacts) -> bool:
    """Whether a term falls by itself: afterwards, or in its steps, as it was seen beside the other (batch norms may lag behind)."""
    start, end = reading.start_and_end(alone.losses)
    afterwards = alone.final_loss is not None and alone.final_loss < _LEARNT * (alone.start_loss or 0.0)
    return afterwards or (len(alone.losses) >= _FEWEST and end < _LEARNT * start)


def _gets_further(alone: CurveFacts, small: Term) -> bool:
    """Whether a term comes far below where it halted, by itself and in as many steps."""
    third = len(small.values) // 3
    halted, ends = statistics.fmean(small.values[-third:]), alone.losses[-third:]
    return len(alone.losses) >= 2 * third and statistics.fmean(ends) < _FURTHER * halted


class DrownedTerm(Check):
    """One term of a summed loss drowns another.

    Where losses of different scales are added as they are, the gradient is that of the larger one, and the other is not learnt.
    Source: Kendall, Gal, Cipolla, Multi-Task Learning Using Uncertainty to Weigh Losses (2018).
    """

    code: ClassVar[str] = "L207"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L201", "L203", "L205", "L206", "L208", "L209")

    def check(self, seen: Observation) -> Finding | None:
        """Judges only two supervised terms, by value and by gradient, and only where the smaller one does not improve meanwhile."""
        collapsed = self._collapsed(seen)
        if collapsed is not None:
            return collapsed
        found = pulled(seen)
        if found is None:
            return None
        if reading.several_models(seen):
            raise NotJudged("several models are trained against each other; their terms are balanced on purpose")
        large, small, ratio = found.large, found.small, found.large.size / found.small.size
        alone = seen.probes.term_alone
        learnt = alone is not None and _improves(alone)
        larger, pulling = (_LARGER, PULLING) if learnt else (_DROWNED, _OUTPULLED)
        if ratio < larger and not (learnt and (large.gradient or 0.0) >= _OUTPULLED * (small.gradient or math.inf)):
            return None
        if large.gradient is None or small.gradient is None:
            raise NotJudged(f"{large.name} is {ratio:.0f} x {small.name}, but their gradients were not measured")
        if large.gradient < pulling * small.gradient:
            return None
        if len(small.values) < _FEWEST:
            raise NotJudged("too few steps to see whether the smaller term is learnt all the same")
        start, end = reading.start_and_end(small.values)
        if found.falls and not (found.halts and alone is not None and _gets_further(alone, small)):
            return None
        # A guess among classes costs more than nothing from the start; what rises from there is pushed aside.
        if end > 3 * start and not (small.name in _OF_CLASSES and start >= _GUESSED):
            raise NotJudged("the smaller term began near zero: a penalty, or one whose weight is being raised")
        site = reading.place(seen, "loss")
        evidence = [f"The smaller term went from {start:.3g} to {end:.3g} in {len(small.values)} steps."]
        if alone is not None and learnt:
            evidence.append(f"Alone, on the same batches at the same rate: {reading.describe(alone)}.")
        return Finding(
            message=f"Two losses are added, and {large.name} drowns {small.name}: its value is {large.size:.3g} against "
                    f"{small.size:.3g}, its gradient {large.gradient / small.gradient:.0f} times as large.",
            remedy=f"Bring the terms to one scale before adding: standardise the target of the larger one, or weigh it "
                   f"(`loss = small + {small.size / large.size:.1g} * large`).",
            site=Site(file=site.file, line=small.line) if site and small.line and site.line != small.line else site, evidence=evidence)

    @staticmethod
    def _collapsed(seen: Observation) -> Finding | None:
        """A divergence that is summed beside a reconstruction that is averaged: it is pushed to nothing, and with it what the code says."""
        if not silenced(seen) or reading.several_models(seen):
            return None
        first, last, alone, beside = seen.divergence[0], seen.divergence[-1], seen.probes.term_alone, seen.probes.term_beside
        # Of a weight that is not beyond doubt experiments have the word: would the reconstruction get anywhere alone, and beside it later?
        free = alone is not None and alone.final_loss is not None and alone.final_loss < _FREE * last.constant
        later = beside is not None and beside.final_loss is not None and beside.final_loss < 0.9 * last.constant
        if last.weight < _COLLAPSING and (not free or later or beside is None):
            return None
        how = ("`F.mse_loss(output, x, reduction=\"sum\") / len(x)` beside `kl.sum(dim=1).mean()`" if seen.framework == "torch" else
               f"multiply the mean over a row by its {last.numbers} numbers, beside `ops.mean(ops.sum(kl, axis=1))`")
        return Finding(
            message=f"The reconstruction is averaged over {last.rows} x {last.numbers} numbers and the divergence is not: a latent number "
                    f"weighs {last.weight:.0f} times as much as a reconstructed one, and the code is pushed to say nothing.",
            remedy=f"Sum both over a row and average both over the batch: {how}; or weigh the divergence by one over the numbers in a row.",
            site=next((call.site for call in seen.loss_calls if call.name in _SUPERVISED), None) or reading.place(seen, "loss"),
            evidence=[f"The divergence went from {first.value:.3g} to {last.value:.3g} in {last.step} steps.",
                      f"Reconstruction {last.reconstruction:.3g}; one answer for all rows gives {last.constant:.3g} at best.",
                      *([f"The reconstruction alone, on the same batches: {reading.describe(alone)}."] if free and alone else [])])


class SumInsteadOfMean(Check):
    """The loss is a sum over rows where a mean was meant.

    Gradients then grow with the batch, and a learning rate that suits a mean is too large by that factor.
    Sources: PyTorch docs, reduction; Goyal et al., Accurate, Large Minibatch SGD (2017).
    """

    code: ClassVar[str] = "L208"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L201", "L203", "L205", "L206", "L210")

    def check(self, seen: Observation) -> Finding | None:
        """Judges `reduction="sum"` only together with harm: the script's own rate fails, and a smaller one learns."""
        for call in seen.loss_calls:
            rows = reading.summed_rows(seen, call)
            if rows >= 2 and call.name != "kl":
                total = call.value if call.reduction == "sum" or call.value is None else rows * call.value
                remedy = ('`reduction="mean"` (the default), or divide the sum by the number of rows.' if call.reduction == "sum" else
                          "Average what the loss gives for each row before you differentiate it: `loss = tf.reduce_mean(loss)`.")
                return self._harms(seen, rows, total, remedy, call.site or reading.place(seen, "loss", "compile"))
        summed = seen.probes.summed
        if summed is not None:
            total = next(iter(reading.observed_losses(seen)), None)
            return self._harms(seen, summed.rows, total, "Average over the rows instead (`.mean()`, `tf.reduce_mean`), or divide the sum "
                               "by their number.", summed.site or reading.place(seen, "loss", "backward"))
        if not seen.loss_calls:
            raise NotJudged("no loss call was seen")
        return self._undivided(seen) if seen.probes.undivided else None

    @staticmethod
    def _undivided(seen: Observation) -> Finding | None:
        """Judges a step over several batches by the same steps at the rate divided by their number, which is what dividing comes to."""
        own, batches = seen.probes.train, seen.probes.undivided
        rate = seen.probes.undivided_rate or (own.learning_rate if own is not None else math.nan)
        divided = next((curve for curve in seen.probes.train_scaled
                        if math.isclose(curve.learning_rate * batches, rate, rel_tol=1e-6)), None)
        if own is None or divided is None or not reading.learned(divided) or reading.learned(own) or not reading.ends_below(divided, own):
            return None
        if seen.trainer:
            remedy = ("Divide by the number that the Trainer hands over, which counts all of them: "
                      '`cross_entropy(..., reduction="sum") / num_items_in_batch`. With a loss function of yours it does not divide.')
            site = seen.loss_calls[0].site or reading.place(seen, "loss", "trainer")
        else:
            remedy = (f"Divide what goes backward: `(loss / {batches}).backward()`." if seen.framework == "torch" else
                      f"Divide what is added up, or what is applied, by {batches}.")
            site = reading.place(seen, "backward", "loss")
        return Finding(
            message=f"Each step adds up the gradients of {batches} batches, and their losses are not divided by {batches}: a sum over "
                    f"batches where a mean was meant. Each step is {batches} times as large, which is too large here.",
            remedy=remedy, site=site,
            evidence=[f"As it is, {reading.describe(own)}.", f"Divided by {batches}, {reading.describe(divided)}."])

    @staticmethod
    def _harms(seen: Observation, rows: int, total: float | None, remedy: str, site: Site | None) -> Finding | None:
        better = reading.better_smaller_rate(seen)
        if better is None:
            if not reading.probe_pairs(seen):
                raise NotJudged("the loss is summed over rows, but whether that harms was not probed")
            return None
        own, other = better
        return Finding(
            message=f"The loss is summed over {rows} rows instead of averaged, which makes each step {rows} times as large; at this "
                    "learning rate it does not train.", remedy=remedy, site=site,
            evidence=[f"One batch's loss is {total:.4g}, {total / rows:.4g} a row." if total is not None else "",
                      f"As it is, {reading.describe(own)}.", f"With smaller steps, {reading.describe(other)}."])
