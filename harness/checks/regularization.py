"""Regularization, or clipping, that leaves a model nothing to learn with."""

from __future__ import annotations

import math
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import constant_answer, raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.probe_facts import RestraintFacts
from harness.checks.tensor_facts import Site

# Parts of the first loss: above the one nothing was learnt, under the other something was.
_NOT_LEARNT, _LEARNT = 0.8, 0.7
_LONGER = 1.9  # by how many times as many steps it was tried with it as without
_SETTLED = 2.0  # steps in which a decay takes away all of a weight, so often over: what it leaves by then is what it leaves
# A share of dropout that nobody means, and how many times the loss stays that is reached without it, in a fraction of the steps.
_NEXT_TO_ALL, _THINNED = 0.8, 2.0
_RIGHT_ANGLE = 91  # degrees that a number in radians may stand for
_SHORT, _ALIKE = 0.01, 100.0  # part of a gradient that is next to nothing; times one another, of steps that count as of one size
_BLOTTED = 0.8  # of the numbers of a row; masks that help hide less than half
_USUAL = 0.1  # of a penalty beside the loss of the rows
_FREED, _FURTHER = 0.85, 0.75  # of the first loss; of the way that is come without
_ELSEWHERE = ("optimizer", "padding")  # these have checks of their own


def overpowering(seen: Observation) -> RestraintFacts | None:
    """The first of what holds the model back without which the script's own steps learn, where they do not learn with it."""
    return next((found for found in seen.probes.restraints if found.kind not in _ELSEWHERE and overpowers(seen, found)), None)


def overpowers(seen: Observation, found: RestraintFacts) -> bool:
    """Whether the script's own steps learn without it and, tried for longer, not with it."""
    numbers = constant_answer.of_numbers(seen) if reading.chance(seen) is None else None
    longer = len(found.own.losses) / max(1, len(found.without.losses))
    settled = found.kind == "decay" and not found.coupled and longer >= 1 and found.amount * len(found.own.losses) >= _SETTLED
    return (longer >= _LONGER or settled) and _learns_without(found, reading.chance(seen), numbers)


def padding(seen: Observation) -> RestraintFacts | None:
    """Padding that is read, without which the script's own steps come further than several times as many do with it."""
    for found in seen.probes.restraints:
        start, end, freed = found.own.start_loss, found.own.final_loss, found.without.final_loss
        longer = len(found.own.losses) >= _LONGER * len(found.without.losses)
        if found.kind == "padding" and longer and start is not None and end is not None and freed is not None:
            start = min(start, reading.chance(seen) or start)
            return found if freed < _FREED * start and start - end < _FURTHER * (start - freed) else None
    return None


def _learns_without(found: RestraintFacts, guess: float | None, constant: float | None = None) -> bool:
    """Whether nothing is learnt with it, and something without. `guess`: the loss of a guess among classes, `constant`: of one answer for
    all rows, where they are numbers; coming down to these is no learning."""
    start, end, freed = found.own.start_loss, found.own.final_loss, found.without.final_loss
    if start is None or end is None or freed is None:
        return False
    start = guess if guess is not None and guess < start < 2 * guess else min(start, constant or start)
    if found.kind == "dropout" and found.amount >= _NEXT_TO_ALL and _THINNED * freed <= end and freed < _LEARNT * start:
        return True  # slow by far, and by nothing else
    return end >= _NOT_LEARNT * start and freed < _LEARNT * start


class TooMuchRegularization(Check):
    """Regularization that keeps the model from learning: dropout, augmentation, weight decay, a penalty or clipping far too strong.

    Measured, not looked up: the script's own steps, taken again at its own rate without it, learn; with it, several times as many do not.
    Sources: Srivastava et al., Dropout (2014); Loshchilov, Hutter, Decoupled Weight Decay Regularization (2019); PyTorch docs, Automatic
    Mixed Precision examples (gradients are unscaled before they are clipped).
    """

    code: ClassVar[str] = "S406"
    stage: ClassVar[Stage] = "step"
    requires: ClassVar[tuple[str, ...]] = (
        "D108", "F105", "F109", "L201", "L202", "L203", "L205", "L206", "L207", "L208", "L209", "L210", "L211", "G301", "G302", "G303",
        "G304", "G305", "G306", "G307", "G308", "S401", "S403", "S404", "S405")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from both runs, and from a rotation by more than there is to turn; where a simple baseline can tell nothing from the
        rows, learning them by heart proves nothing."""
        if seen.mirrored is not None and seen.mirrored.layer:
            raise NotJudged("the augmentation makes one class of another, which is more than too much of it")
        turned = seen.model.turned if seen.model is not None else None
        if turned is not None:
            degrees = turned.factor * 360
            radians = math.degrees(turned.factor) < _RIGHT_ANGLE
            meant = f"{math.degrees(turned.factor):.3g} degrees in radians" if radians else f"{turned.factor:g} degrees"
            return Finding(
                message=f"`RandomRotation({turned.factor:.3g})` turns images by up to {degrees:.0f} degrees either way, beyond halfway "
                        f"round: the factor is a part of a whole turn, and this one looks like {meant}.",
                remedy="Give the part of a turn: `RandomRotation(30 / 360)` for 30 degrees (half a turn, 0.5, is every direction).",
                site=turned.site or reading.place(seen, "model", "compile"), evidence=reading.own_losses(seen))
        found = overpowering(seen)
        if found is None:
            return self._covered(seen) or self._shortened(seen)
        if reading.several_models(seen):
            raise NotJudged("several models are trained against each other; no single loss has to fall")
        if seen.probes.text_baseline is not None and not reading.baseline_tells(seen):
            raise NotJudged("a simple baseline reads nothing off these inputs: without it, rows may have been learnt by heart")
        return Finding(
            message=f"{_what(found)} The loss of the rows is at {found.own.final_loss:.3g} in {len(found.own.losses)} steps; without "
                    f"it, at the same rate, it falls to {found.without.final_loss:.3g} in {len(found.without.losses)}.",
            remedy=_remedy(seen, found), site=_site(seen, found),
            evidence=[f"Probe, without: {reading.describe(found.without)}", f"Both begin at a loss of {found.own.start_loss or 0.0:.3g}.",
                      *reading.own_losses(seen)])

    @staticmethod
    def _covered(seen: Observation) -> Finding | None:
        """Rows that are all but blotted out in training, and whole in the evaluation, of which little has been learnt."""
        scale, losses = seen.evaluation.scale, reading.finite(reading.observed_losses(seen))
        output = seen.model.output if seen.model is not None else None
        if scale is None or scale.zeros < _BLOTTED or scale.held_zeros > 1 - _BLOTTED or not losses:
            return None
        start, end = reading.start_and_end(losses)
        if end < _LEARNT * _LEARNT * start:
            return None
        if reading.several_models(seen) or (output is not None and list(output.shape[1:]) == scale.shape):
            return None  # such as an autoencoder that is to fill in what is hidden
        return Finding(
            message=f"Augmentation leaves next to nothing of a row: {scale.zeros:.0%} of the numbers that the model is trained on are "
                    f"0, and {scale.held_zeros:.0%} of those in the evaluation.",
            remedy="Hide less: fewer and narrower masks, a lower probability; and look at a few rows as they come out.",
            site=(seen.redrawn.site if seen.redrawn is not None else None) or reading.place(seen, "blotted", "loader", "forward", "fit"),
            evidence=[f"deviation of the numbers in training: {scale.std:.3g}; in the evaluation: {scale.held_std:.3g}",
                      *reading.own_losses(seen)])

    @staticmethod
    def _shortened(seen: Observation) -> Finding | None:
        """Clipping that leaves next to nothing of the gradients: plain SGD's steps are as short, and a rate that makes up for it learns."""
        optimizer = seen.optimizer
        better = reading.better_larger_rate(seen)
        if optimizer is None or optimizer.kind != "SGD" or (optimizer.clip_share or 1.0) > _SHORT:
            return None
        adam = next((found for found in seen.probes.restraints if found.kind == "optimizer" and overpowers(seen, found)), None)
        if optimizer.clips_scaled and adam is not None and not reading.script_learns(seen):
            # Adam makes up for steps of any length: it is that of the gradients that is at fault.
            return Finding(
                message=_clipped(optimizer.clip_share or 1.0, scaled=True), remedy=_unclipped(scaled=True),
                site=reading.place(seen, "clipping", "step"),
                evidence=[f"As it is, {len(adam.own.losses)} steps: the loss of the rows stays at {adam.own.final_loss:.3g}",
                          f"Probe, Adam, which divides by their size: {reading.describe(adam.without)}", *reading.own_losses(seen)])
        if better is None:
            return None
        own, other = better
        share, factor = optimizer.clip_share or 1.0, other.learning_rate / own.learning_rate
        if not 1 / _ALIKE < share * factor < _ALIKE:
            return None
        return Finding(
            message=_clipped(share, scaled=optimizer.clips_scaled), remedy=_unclipped(scaled=optimizer.clips_scaled),
            site=reading.place(seen, "clipping", "step"),
            evidence=[f"Probe, at a rate that makes up for it: {reading.describe(other)}", *reading.own_losses(seen)])


def _clipped(share: float, *, scaled: bool) -> str:
    return (f"Clipping leaves a part of {share:.1g} of a gradient's norm, and steps that short get nowhere."
            + (" It clips what the `GradScaler` has multiplied, which is divided again only afterwards." if scaled else ""))


def _unclipped(*, scaled: bool) -> str:
    return ("Call `scaler.unscale_(optimizer)` right before `clip_grad_norm_`." if scaled else
            "Clip at 1 or more, at what the norms of healthy steps are: print what `clip_grad_norm_` returns.")


def _what(found: RestraintFacts) -> str:
    told = {
        "dropout": f"Dropout sets {found.amount:.0%} of what it is given to zero, and the model hardly learns from what is left.",
        "norm": "Batch normalisation is given one row at a time, and takes its mean and deviation off it: what tells rows apart goes with "
                "them.",
        "augmentation": f"Augmentation (`{found.name}`) moves what it is given by {found.amount:.3g} times its standard deviation, and the "
                        "model cannot learn from what is left.",
        "penalty": f"{found.amount:.0%} of the first loss is a penalty on the weights, and the steps follow that alone.",
        "decay": f"Weight decay takes {found.amount:.2g} of each weight off it at every step, faster than the loss can build it up.",
        "clipping": _clipped(found.amount, scaled=found.name == "scaled"),
    }
    if found.coupled:
        return (f"Weight decay adds {found.amount:g} times each weight to its gradient, and pulls the weights to zero faster than the loss "
                "can move them.")
    return told[found.kind]


def _remedy(seen: Observation, found: RestraintFacts) -> str:
    factor = found.amount / max(1e-9, 1 - found.amount) / _USUAL
    usual = "0.004" if seen.framework in reading.KERAS else "1e-4" if found.coupled else "0.01"
    return {
        "dropout": "Drop less: 0.1 to 0.3, at most 0.5 in wide hidden layers; mind that the number is the share that is dropped, not kept.",
        "norm": "Give it batches of 8 rows or more (gradients that are added up do not help: each part is normalised by itself), or take a "
                "norm that goes by rows on purpose and keeps their level in its input: `GroupNorm`, or none in the first layer.",
        "augmentation": "Look at a batch that has gone through it. Tell the layer which range your inputs have, "
                        "`RandomBrightness(0.2, value_range=(0, 1))` (it takes them for 0 to 255), or turn it down.",
        "penalty": f"Divide the penalty's factor by about {float(f'{factor:.1g}'):g}: it is then a tenth of the loss of the rows at the "
                   "start.",
        "decay": f"Take the usual `weight_decay={usual}`, or leave it out, and raise it only where the model overfits.",
        "clipping": _unclipped(scaled=found.name == "scaled"),
    }[found.kind]


def _site(seen: Observation, found: RestraintFacts) -> Site | None:
    if found.kind == "decay" and seen.trainer:
        return reading.place(seen, "training_arguments.weight_decay", "training_arguments") or found.site
    if found.kind == "clipping" and seen.trainer:
        return reading.place(seen, "training_arguments.max_grad_norm") or found.site or reading.place(seen, "clipping")
    loader = raised.train_loader(seen)
    if found.kind == "norm" and loader is not None and loader.site is not None:
        return loader.site
    named = {"penalty": "loss", "decay": "optimizer", "clipping": "clipping"}.get(found.kind, "model")
    return found.site or reading.place(seen, named, "compile")
