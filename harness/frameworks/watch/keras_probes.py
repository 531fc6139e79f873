"""Probes of a Keras model: what its own training step does when it is tried again from the first weights.

They run between two steps, on batches that the script has trained on, so that no dataset is touched. Everything is put back afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from harness.frameworks.watch import carry, torch_baseline
from harness.frameworks.watch.keras_fit import NEAR, Fits, Step, learns, portion_of
from harness.frameworks.watch.keras_replay import Replay
from harness.frameworks.watch.session import Clock

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_FIRST = 8
_KEPT_BYTES = 512 << 20
_PATIENCE_S = 4.0
_FIRST_SHARE, _SECOND_SHARE, _CARRY_SHARE = 0.4, 1.0, 1.5


class Probes:
    """Keeps the batches. A first round runs after eight steps, a second when the steps have all been watched."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._facts = watch.seen.probes
        self._steps: list[Step] = []
        self._rounds = 0
        self._kept_bytes = 0
        self._replay: Replay | None = None

    @property
    def over(self) -> bool:
        """Whether all rounds are done."""
        return self._rounds > 1

    def offer(self, data: Any, labels: list[Any] | None, scale: float) -> None:
        """A batch that was trained on."""
        import tensorflow as tf

        if self._rounds > 1 or self._kept_bytes > _KEPT_BYTES:
            return
        self._kept_bytes += sum(int(part.shape.num_elements() or 0) * 4 for part in tf.nest.flatten(data) if tf.is_tensor(part))
        self._steps.append(Step(data, labels, scale))

    def stepped(self) -> None:
        """A step is over. Runs a round when its time has come."""
        if self._rounds > 1:
            return
        late = self._watch.session.watched_seconds
        if self._rounds == 0 and (len(self._watch.seen.steps) >= _FIRST or late > _PATIENCE_S):
            self._round(self._first_round, _FIRST_SHARE)
        budget = self._watch.session.budget
        if self._rounds == 1 and (not self._watch.in_full or late > budget.seconds - 0.7 * budget.probe_seconds):
            self._round(self._second_round, _SECOND_SHARE)
            self._steps = []

    def finish(self, error: BaseException | None) -> None:
        """The script is over: the rounds that did not come, on what there is, unless its memory is gone."""
        if self._rounds < 2 and (error is None or not _fatal(error)):
            if self._rounds == 0:
                self._round(self._first_round, _FIRST_SHARE)
            if self._rounds == 1:
                self._round(self._second_round, _SECOND_SHARE)
        self._rounds, self._steps = 2, []
        self._facts.skipped.pop("baseline", None)
        self._watch.session.safely("the baseline", torch_baseline.measure, cast("Any", self._watch), self._facts)

    def _round(self, run: Callable[[Clock, float], None], share: float) -> None:
        self._rounds += 1
        clock = Clock()
        try:
            with self._watch.session.paused():
                run(clock, share * self._watch.session.budget.probe_seconds)
        except Exception as error:  # noqa: BLE001 - a probe runs the script's own code, which may raise anything
            self._facts.skipped.setdefault(f"round {self._rounds}", f"{type(error).__name__}: {error}"[:300])
        self._facts.seconds += clock.seconds()

    def _first_round(self, clock: Clock, seconds: float) -> None:
        """The first weights: their loss, whether inputs matter, and overfitting one batch."""
        fits = self._fits(clock, seconds, self._steps[:_FIRST])
        if fits is None:
            return
        with fits.held():
            fits.initial()
            fits.inputs()
            if self._may_fit("overfit"):
                fits.overfit()

    def undecided(self) -> bool:
        """Whether the steps so far moved the weights far, and the loss yet has not fallen: then more of them are worth their time."""
        losses = [step.loss for step in self._watch.seen.steps if step.loss is not None]
        start = self._watch.steps.start
        if start is None or learns(losses):
            return False
        moved = sorted(start.moved())
        return bool(moved) and moved[len(moved) // 2] >= NEAR

    def _second_round(self, clock: Clock, seconds: float) -> None:
        """All watched steps: what they made of the weights, and what they would have at another rate."""
        fits = self._fits(clock, seconds, self._steps)
        if fits is None:
            return
        model = self._watch.seen.model
        if model is not None:
            model.displacement = fits.displacement()
        losses = [step.loss for step in self._watch.seen.steps if step.loss is not None]
        with fits.held():
            if model is not None:
                model.units = fits.units()
            if self._may_fit("train"):
                fits.train(losses)
                patience = _CARRY_SHARE * self._watch.session.budget.probe_seconds
                if carry.may_tell(self._facts, fits.step_s, patience):
                    carry.measure(lambda fitted, held: fits.carry(fitted, held, patience), [portion_of(step) for step in self._steps],
                                  losses, self._facts)

    def _fits(self, clock: Clock, seconds: float, steps: list[Step]) -> Fits | None:
        watch = self._watch
        taken = watch.steps
        reason = None
        if not steps:
            reason = "no step was seen"
        elif taken.start is None or taken.original is None:
            reason = "the first weights were not kept"
        elif watch.seen.births:
            reason = "the loss is no number any more"
        if reason is not None or taken.start is None:
            self._facts.skipped |= {name: str(reason) for name in ("initial_loss", "overfit", "train")[2 * (self._rounds - 1):]}
            return None
        optimizer = watch.seen.optimizer
        call = watch.seen.loss_calls[-1] if watch.seen.loss_calls else None
        if self._replay is None:
            self._replay = Replay(watch.keras, taken.model, taken.original, taken.inner, taken.spec)
        rate = (optimizer.learning_rate if optimizer else None) or 0.0
        return Fits(watch.keras, taken.model, taken.original, self._replay, taken.start, steps, rate,
                    call.name if call else "", bool(call and call.from_logits), self._facts, clock, seconds)

    def _may_fit(self, name: str) -> bool:
        reason = "several models take steps" if self._watch.seen.models_stepped > 1 else None
        if self._watch.seen.optimizer is None:
            reason = "the model has no optimizer of its own"
        if reason is not None:
            self._facts.skipped[name] = reason
        return reason is None


def _fatal(error: BaseException) -> bool:
    text = f"{type(error).__name__} {error}"
    return any(part in text for part in ("ResourceExhausted", "OOM", "MemoryError", "bad_alloc"))
