"""Fitting replays of the script's first steps with its own optimizer, at its own rate and at others."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from harness.checks.observation import CurveFacts, ProbeFacts

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_state import Start
    from harness.frameworks.watch.torch_tape import Replay

_SLOWER = 1 / 20
_LEARNT = 0.5
_FITTED = 0.03
_FIT_STEPS = 100
_TRAIN_STEPS = 120
_LEAST_STEPS = 8
_MERGED = 4


class Fits:
    """Works inside `Frozen.held()`: weights and optimizers may be changed freely. `until`: monotonic time at which to end."""

    def __init__(self, torch: Any, start: Start, steps: list[list[Replay]], optimizers: list[Any], clipping: tuple[str, float] | None,
                 facts: ProbeFacts, until: float) -> None:
        self._torch = torch
        self._start = start
        self._steps = steps
        self._optimizers = optimizers
        self._clipping = clipping
        self._facts = facts
        self._until = until
        self._rates = [[_rate(group) for group in optimizer.param_groups] for optimizer in optimizers]
        self._warm_up = any(float(group["lr"]) < 0.5 * _rate(group) for optimizer in optimizers for group in optimizer.param_groups)
        self._step_s = 0.0

    # Before training

    def initial(self) -> None:
        """Loss of the first weights in evaluation mode, a mean over the batches; whether a repeat gives the same outputs."""
        self._start.put()
        self._start.eval()
        losses, rows = [], 0
        begun = time.monotonic()
        for step in self._steps:
            for replay in step:
                with self._torch.no_grad():
                    losses.append(float(replay.run()))
                rows += _rows(replay)
        finite = [loss for loss in losses if math.isfinite(loss)]
        self._facts.initial_loss = sum(finite) / len(finite) if finite else math.nan
        self._facts.initial_rows = rows
        self._step_s = 3 * (time.monotonic() - begun) / max(1, len(self._steps))

    def inputs(self) -> None:
        """Whether outputs repeat, and whether they depend on the inputs at all."""
        replay = self._steps[0][0]
        with self._torch.no_grad():
            first, second = self._outputs(replay), self._outputs(replay)
            self._facts.repeat_differs = _differ(first, second)
            for weight in self._start.weights:
                if weight.is_floating_point():
                    noise = self._torch.randn_like(weight) * (0.1 * float(weight.float().pow(2).mean().sqrt()) + 1e-3)
                    weight.data.add_(noise)
            rows = _rows(replay)
            if rows > 1:
                plain = self._outputs(replay)
                rolled = self._outputs(replay, lambda tensor: tensor.roll(1, 0) if tensor.dim() and tensor.shape[0] == rows else tensor)
                self._facts.input_matters = _differ(plain, rolled)
        self._start.put()

    def _outputs(self, replay: Replay, change: Any = None) -> list[Any]:
        self._torch.manual_seed(0)
        replay.run(change, want_outputs=True)
        return [tensor for found in replay.outputs for tensor in found if tensor.is_floating_point() and tensor.dim()]

    # Fitting

    def fit(self) -> None:
        """Overfit one batch and train over all of them at the script's rate; then other rates, as the outcome and the time ask."""
        facts = self._facts
        left = self._until - time.monotonic()
        if left < _LEAST_STEPS * self._step_s:
            facts.skipped["overfit"] = facts.skipped["train"] = f"one step takes {self._step_s:.1f} s"
            return
        batch = [self._one_batch()]
        facts.overfit = self._curve(batch, 1.0, _FIT_STEPS, 0.25 * left, stop_early=True)
        facts.overfit_rows = sum(_rows(replay) for replay in batch[0])
        left = self._until - time.monotonic()
        facts.train = self._curve(self._steps, 1.0, _TRAIN_STEPS, 0.32 * left)
        facts.train_scaled = [self._curve(self._steps, _SLOWER, len(facts.train.losses), 0.5 * left, least=len(facts.train.losses))]
        self._others(batch)

    def _others(self, batch: list[list[Replay]]) -> None:
        """Other rates on the one batch, where the script's own did not learn it: lower and higher in turn, until one does."""
        facts = self._facts
        assert facts.overfit is not None
        if _fell(facts.overfit) and facts.overfit.losses[-1] < _LEARNT * facts.overfit.losses[0]:
            return
        wanted = len(facts.overfit.losses) if all(math.isfinite(loss) for loss in facts.overfit.losses) else _FIT_STEPS
        for factor in (0.1, 10.0, 0.01, 100.0, 1000.0, 0.001):
            left = self._until - time.monotonic()
            if left < _LEAST_STEPS * self._step_s:
                facts.skipped[f"overfit_scaled x{factor:g}"] = "no time left"
                continue
            facts.overfit_scaled.append(self._curve(batch, factor, max(wanted, 20), left))
            if _fell(facts.overfit_scaled[-1]):
                break

    def _one_batch(self) -> list[Replay]:
        """The batches of one step that holds every label of the first steps, several steps' put together where none does."""
        every = {label for step in self._steps for replay in step for label in replay.labels or ()}
        chosen: list[Replay] = []
        held: set[Any] = set()
        if len(every) > 32:
            return self._steps[0]
        for _ in range(_MERGED):
            best = max(self._steps, key=lambda step: len({label for replay in step for label in replay.labels or ()} - held))
            gained = {label for replay in best for label in replay.labels or ()} - held
            if chosen and not gained:
                break
            chosen += best
            held |= gained
            if held == every:
                break
        return chosen

    def _curve(self, steps: list[list[Replay]], factor: float, count: int, seconds: float, *, stop_early: bool = False,
               least: int = _LEAST_STEPS) -> CurveFacts:
        self._start.put()
        self._torch.manual_seed(0)
        for optimizer in self._optimizers:
            optimizer.state.clear()
        curve = CurveFacts(learning_rate=self._rates[0][0] * factor)
        begun = time.monotonic()
        for number in range(count):
            spent = time.monotonic() - begun
            if number >= least and spent > seconds:
                break
            warm = min(1.0, (number + 1) / (0.3 * count)) if self._warm_up else 1.0
            loss = self._step(steps[number % len(steps)], factor * warm)
            curve.losses.append(loss)
            if not math.isfinite(loss) or (stop_early and number >= _LEAST_STEPS and max(curve.losses[-3:]) < _FITTED * curve.losses[0]):
                break
        self._step_s = (time.monotonic() - begun) / max(1, len(curve.losses))
        curve.accuracy = self._accuracy(steps[:4])
        return curve

    def _step(self, replays: list[Replay], factor: float) -> float:
        weights = [weight for weight in self._start.weights if weight.requires_grad]
        for weight in weights:
            weight.grad = None
        total = 0.0
        for replay in replays:
            loss = replay.run()
            total += float(loss.detach())
            for weight, gradient in zip(weights, self._torch.autograd.grad(loss, weights, allow_unused=True), strict=True):
                if gradient is not None:
                    weight.grad = gradient if weight.grad is None else weight.grad + gradient
        if self._clipping is not None:
            clip = getattr(self._torch.nn.utils, self._clipping[0])
            clip([weight for weight in weights if weight.grad is not None], self._clipping[1])
        for optimizer, rates in zip(self._optimizers, self._rates, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            type(optimizer).step(optimizer)  # not through the instance, on which a schedule counts the steps
        return total

    def _accuracy(self, steps: list[list[Replay]]) -> float | None:
        """Share of rows whose class comes out right, in evaluation mode; None where there are no classes."""
        right, rows = 0, 0
        self._start.eval()
        for replay in (replay for step in steps for replay in step):
            if replay.logits_slot is None or replay.labels is None or replay.target is None:
                return None
            with self._torch.no_grad():
                replay.run(want_outputs=True)
            predicted = _classes(replay.outputs[-1][0], replay)
            if predicted is None or len(predicted) != len(replay.labels):
                return None
            right += sum(a == b for a, b in zip(predicted, replay.labels, strict=True))
            rows += len(predicted)
        self._start.train()
        return right / rows if rows else None


def _rate(group: dict[str, Any]) -> float:
    """The rate that a script asks for: what a schedule starts from, where there is one."""
    return float(group.get("initial_lr", group["lr"]))


def _rows(replay: Replay) -> int:
    target = replay.target
    return int(target.shape[0]) if target is not None and target.dim() else replay.first_rows()


def _classes(logits: Any, replay: Replay) -> list[int] | None:
    if replay.loss_name in ("cross_entropy", "nll") and logits.dim() == 2:
        return [int(found) for found in logits.argmax(-1).tolist()]
    if replay.loss_name in ("bce", "bce_with_logits") and logits.numel() == len(replay.labels or ()):
        threshold = 0.5 if replay.loss_name == "bce" else 0.0
        return [int(found > threshold) for found in logits.reshape(-1).tolist()]
    return None


def _fell(curve: CurveFacts) -> bool:
    """Whether a loss ended at half of where it began; only to save time, no verdict."""
    last = curve.losses[-3:]
    return bool(last) and all(math.isfinite(loss) for loss in last) and sum(last) / len(last) < _LEARNT * curve.losses[0]


def _differ(first: list[Any], second: list[Any]) -> bool | None:
    """Whether two lists of outputs differ by more than rounding; None where there are none."""
    if not first or len(first) != len(second):
        return None
    for a, b in zip(first, second, strict=True):
        if a.shape != b.shape:
            return None
        scale = float(a.float().abs().max()) or 1.0
        if float((a.float() - b.float()).abs().max()) > 1e-6 * scale:
            return True
    return False
