"""An optimizer that gets nowhere with a model at any rate, where Adam does."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading, schedules
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.probe_facts import RestraintFacts
from harness.checks.regularization import overpowers
from harness.checks.step import RateTooLow
from harness.checks.tensor_facts import Site


class OtherOptimizer(Check):
    """Steps that learn nothing at the script's own rate nor at others, and learn when Adam takes them: plain SGD on a transformer.

    Measured, not looked up: the script's first steps are taken again, from the same weights and on the same batches. Sources: Zhang et
    al., Why are Adaptive Methods Good for Attention Models? (2020); PyTorch docs, torch.optim.
    """

    code: ClassVar[str] = "S407"
    stage: ClassVar[Stage] = "step"
    requires: ClassVar[tuple[str, ...]] = (*RateTooLow.requires, "S402")

    def check(self, seen: Observation) -> Finding | None:
        """Judges where the training is over, or would come nowhere if it went on like this; where a simple baseline can tell nothing from
        the rows, learning them by heart proves nothing."""
        found = next((one for one in seen.probes.restraints if one.kind == "optimizer" and overpowers(seen, one)), None)
        own = seen.probes.train
        if found is None or own is None or reading.script_learns(seen):
            return None
        if reading.several_models(seen):
            raise NotJudged("several models are trained against each other; no single loss has to fall")
        if seen.optimizer is not None and seen.optimizer.clips_scaled:
            raise NotJudged("the gradients are clipped while they are scaled, which any optimizer but Adam suffers from")
        if seen.optimizer is not None and seen.optimizer.tried:
            raise NotJudged("the script tries several learning rates, of which this is one")
        if seen.probes.text_baseline is not None and not reading.baseline_tells(seen):
            raise NotJudged("a simple baseline reads nothing off these inputs: rows may have been learnt by heart")
        if not (seen.stopped == "finished" and seen.truncated_at is None) and not schedules.hopeless(seen, own):
            raise NotJudged("what comes of the script's further steps is not known")
        tried = seen.probes.train_scaled or seen.probes.overfit_scaled
        rates = ", ".join(f"{curve.learning_rate:.2g}" for curve in tried)
        return Finding(
            message=f"{found.name} gets nowhere with this model: the loss of the rows stays at {found.own.final_loss:.3g} in "
                    f"{len(found.own.losses)} steps at a rate of {found.amount:g}. With Adam it falls to {found.without.final_loss:.3g} in "
                    f"{len(found.without.losses)}.",
            remedy=_remedy(seen), site=_site(seen, found),
            evidence=[f"Probe, Adam at 0.001: {reading.describe(found.without)}",
                      f"Probe, {found.name} at other rates ({rates}): nothing learnt.", *reading.own_losses(seen)])

    @classmethod
    def may_change(cls, seen: Observation) -> bool:
        """Where it is by the steps that are still to come that a training comes nowhere."""
        return RateTooLow.may_change(seen)


def _site(seen: Observation, found: RestraintFacts) -> Site | None:
    named = reading.place(seen, "training_arguments.optim") if seen.trainer else None
    return named or found.site or reading.place(seen, "optimizer", "compile", "training_arguments")


def _remedy(seen: Observation) -> str:
    why = "Adam scales every weight's step by its own gradients, which attention and embeddings need."
    if seen.framework in reading.KERAS:
        return f'`model.compile(optimizer=keras.optimizers.Adam(1e-3), ...)`: {why}'
    if seen.trainer and "training_arguments.optim" in seen.sites:
        return f'Leave `optim` out (it is AdamW then), or `optim="adamw_torch"`: {why}'
    return f"`torch.optim.Adam(model.parameters(), lr=1e-3)`: {why}"
