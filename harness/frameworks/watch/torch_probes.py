"""Probes: what the script's own training step does when it is tried again from the first weights.

They run on the batches that the script has trained on, so that no loader is touched, and start from the weights as they were before the
first step. Everything is put back afterwards.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.checks.observation import ParameterFacts
from harness.frameworks.watch import carry, tensors, torch_baseline, torch_inside, torch_probe_trainer, torch_tape
from harness.frameworks.watch.session import Clock
from harness.frameworks.watch.sites import site
from harness.frameworks.watch.torch_fit import NEAR, Fits, learns, portion_of
from harness.frameworks.watch.torch_state import Start

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_loss import LossRecord
    from harness.frameworks.watch.torch_tape import Replay
    from harness.frameworks.watch.torch_watch import TorchWatcher

_FIRST = 8
_KEPT_BYTES = 512 << 20
_WEIGHTS = 300_000_000
_PATIENCE_S = 4.0
_FIRST_SHARE, _SECOND_SHARE, _CARRY_SHARE = 0.4, 1.0, 1.5


class Probes:
    """Collects the training steps as replays. A first round runs after eight steps, a second when the steps have all been watched."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._facts = watch.seen.probes
        self._open: list[Replay] = []
        self._steps: list[list[Replay]] = []
        self._start: Start | None = None
        self._refused: str | None = None
        self._takes_turns = False
        self._rounds = 0
        self._repeat_in_training: bool | None = None
        self._kept_bytes = 0

    def offer(self, loss: Any, records: list[LossRecord], calls: list[RootCall]) -> None:
        """A loss is about to go backward: keep how it was made."""
        watch = self._watch
        if self._rounds > 1 or self._refused is not None or not watch.in_full or self._kept_bytes > _KEPT_BYTES:
            return
        plain = watch.losses.unscaled.get(id(loss), (None, loss))[1]
        kind = plain.device.type
        if kind not in ("cpu", "cuda"):
            self._refused = f"the device {kind} is not one to probe on"
            return
        found = watch.tape.replay_of(plain, [records[-1].inputs if records else None, watch.losses.output_of(calls)])
        if isinstance(found, str):
            self._refused = found
            return
        if records:
            found.target = records[-1].target.detach().clone() if tensors.is_tensor(records[-1].target) else None
            found.labels = tensors.whole_labels(found.target) if found.target is not None else None
            found.loss_name = records[-1].facts.name
        if self._start is None:
            self._begin(found)
        self._kept_bytes += found.constant_bytes
        self._open.append(found)

    def _begin(self, first: Replay) -> None:
        held = [weight for known in self._watch.steps.known_optimizers() for weight in known.weights()]
        size = sum(weight.numel() for weight in held)
        if size > _WEIGHTS:
            self._refused = f"{size:,} weights are too many to copy"
            return
        self._start = Start(first.modules, [*held, *first.leaf_weights])

    @property
    def over(self) -> bool:
        """Whether all rounds are done."""
        return self._rounds > 1

    @property
    def last_replay(self) -> Replay | None:
        """The last backward pass as a replay, where it was kept."""
        return self._open[-1] if self._open else None

    def other_stepped(self, *, alone: bool) -> None:
        """Another optimizer than the main one stepped; `alone`: after a backward pass of its own."""
        self._takes_turns = self._takes_turns or alone

    def stepped(self) -> None:
        """The main optimizer stepped: what went backward since belongs together. Runs a round when its time has come."""
        if self._rounds > 1:
            return
        if self._open:
            self._steps.append(self._open)
            self._open = []
        late = self._watch.session.watched_seconds
        if self._rounds == 0 and (len(self._watch.seen.steps) >= _FIRST or late > _PATIENCE_S):
            self._round(self._first_round, _FIRST_SHARE)
        budget = self._watch.session.budget
        if self._rounds == 1 and (not self._watch.in_full or late > budget.seconds - 0.7 * budget.probe_seconds):
            self._round(self._second_round, _SECOND_SHARE)
            self._end()

    def finish(self, error: BaseException | None) -> None:
        """The script is over: the rounds that did not come, on what there is, unless its device or memory is gone."""
        failed = self._facts.evaluation_error is not None
        if self._rounds < 2 and not failed and (error is None or not _fatal(error)):
            if self._rounds == 0:
                self._round(self._first_round, _FIRST_SHARE)
            if self._rounds == 1:
                self._round(self._second_round, _SECOND_SHARE)
        if self._watch.seen.evaluation.in_training_mode and self._repeat_in_training is not None:
            self._facts.repeat_differs = self._repeat_in_training
        self._end()
        self._watch.session.safely("the baseline", torch_baseline.measure, self._watch, self._facts)

    def _end(self) -> None:
        self._watch.tape.stop()
        self._open, self._steps, self._start = [], [], None

    def _round(self, run: Callable[[Clock, float], None], share: float) -> None:
        self._rounds += 1
        clock = Clock()
        try:
            with self._watch.session.paused(), _silent_warnings():
                run(clock, share * self._watch.session.budget.probe_seconds)
        except Exception as error:  # noqa: BLE001 - a probe runs the script's own code, which may raise anything
            self._facts.skipped.setdefault(f"round {self._rounds}", f"{type(error).__name__}: {error}"[:300])
        self._facts.seconds += clock.seconds()

    def _first_round(self, clock: Clock, seconds: float) -> None:
        """The first weights: their loss, whether inputs matter, the evaluation, and overfitting one batch."""
        torch_probe_trainer.evaluate_before_training(self._watch)
        fits = self._fits(clock, seconds, self._steps[:_FIRST])
        if fits is None:
            return
        with fits.held():
            fits.initial()
            fits.inputs()
            self._repeat_in_training = fits.repeat_in_training
            self._watch.session.safely("the output's place", self._output_place)
            if any(weight.trainable and weight.used and weight.gradient_norm is None for weight in self._weights()):
                place = fits.cut(self._watch.session.sites)
                if place is not None:
                    self._watch.session.site("cut", site(place))
            if self._may_fit("overfit"):
                fits.overfit()

    def _output_place(self) -> None:
        """Remember where the activation in front of the loss is applied."""
        watch, model, replay = self._watch, self._watch.seen.model, self._steps[0][0]
        activation = (model.final_activation if model is not None else None) or ""
        if not activation or replay.logits_slot is None:
            return
        found = torch_inside.output_place(watch.torch, replay, activation, watch.calls.place_of,
                                          lambda: watch.session.sites.inside(torch_tape.__file__))
        if found is not None:
            watch.session.site("output", site(found))

    def undecided(self) -> bool:
        """Whether the steps so far moved the weights far, and the loss yet has not fallen: then more of them are worth their time."""
        losses = [step.loss for step in self._watch.seen.steps if step.loss is not None]
        if self._start is None or learns(losses):
            return False
        moved = sorted(found for found in self._start.moved() if found is not None)
        return bool(moved) and moved[len(moved) // 2] >= NEAR

    def _weights(self) -> list[ParameterFacts]:
        return self._watch.seen.model.parameters if self._watch.seen.model is not None else []

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
            if self._may_fit("train"):
                fits.train(losses)  # first, while the weights are those of now
                patience = _CARRY_SHARE * self._watch.session.budget.probe_seconds
                if carry.may_tell(self._facts, fits.step_s, patience):
                    carry.measure(lambda fitted, held: fits.carry(fitted, held, patience), [portion_of(step) for step in self._steps],
                                  losses, self._facts)
            if model is not None:
                model.units = fits.units()

    def _fits(self, clock: Clock, seconds: float, steps: list[list[Replay]]) -> Fits | None:
        reason = self._refused or (None if self._start is not None and steps else "no optimizer step was seen")
        if reason is not None or self._start is None:
            self._facts.skipped |= {name: str(reason) for name in ("initial_loss", "overfit", "train")[2 * (self._rounds - 1):]}
            return None
        modules = list({id(module): module for step in steps for replay in step for module in replay.modules}.values())
        optimizers = [known.optimizer for known in self._watch.steps.stepping]
        return Fits(self._watch.torch, modules, self._start, steps, optimizers, self._watch.steps.clipping, self._facts, clock, seconds)

    def _may_fit(self, name: str) -> bool:
        reason = "several optimizers take turns" if self._takes_turns else None
        for known in self._watch.steps.stepping:
            closure = inspect.signature(type(known.optimizer).step).parameters.get("closure")
            if closure is not None and closure.default is inspect.Parameter.empty:
                reason = f"{type(known.optimizer).__name__} wants a closure"
        if reason is not None:
            self._facts.skipped[name] = reason
        return reason is None


def _fatal(error: BaseException) -> bool:
    text = f"{type(error).__name__} {error}"
    signs = ("CUDA", "CUBLAS", "AcceleratorError", "OutOfMemory", "MemoryError", "can't allocate memory", "TorchScript interpreter")
    return any(part in text for part in signs)


def _silent_warnings() -> Any:
    return warnings.catch_warnings(action="ignore")
