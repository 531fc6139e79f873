"""Fitting replays of the script's first steps with its own optimizer, at its own rate and at others."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.checks.observation import UnitFacts
from harness.checks.probe_facts import CurveFacts, ProbeFacts
from harness.frameworks.watch import tensors, torch_inside, torch_tape, torch_units
from harness.frameworks.watch.carry import Portion
from harness.frameworks.watch.session import Clock
from harness.frameworks.watch.sites import Place, Sites
from harness.frameworks.watch.torch_state import Frozen, silent

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_state import Start
    from harness.frameworks.watch.torch_tape import Replay

_SLOWER, _FASTER = 1 / 20, 20.0
_LEARNT = 0.5
_FITTED = 0.03
_FIT_STEPS = 100
_TRAIN_STEPS = 120
_EPOCHS = 60
_LEAST_STEPS = 8
_MERGED = 4
_MEASURED = 12
# How far a short training that learns moves its weights, roughly; and no rate is tried that is further from the script's than this.
_SENSIBLE, _MOST_FASTER = 0.03, 1e8
_STILL, NEAR = 0.002, 0.02  # displacements: under the first the weights stand still, under the second no rate is too high


class Fits:
    """Fits `steps` (each a list of replays that go backward before one optimizer step) within `seconds` of a clock.

    Everything but `displacement` is to be called inside `held()`, where weights and optimizers may be changed freely.
    """

    def __init__(self, torch: Any, modules: list[Any], start: Start, steps: list[list[Replay]], optimizers: list[Any],
                 clipping: tuple[str, float] | None, facts: ProbeFacts, clock: Clock, seconds: float) -> None:
        self._torch = torch
        self._start = start
        self._steps = steps
        self._optimizers = optimizers
        self._clipping = clipping
        self._facts = facts
        self._clock = clock
        self._seconds = seconds
        self._frozen = Frozen(torch, modules, optimizers, start.weights)
        self._rates = [[_rate(group) for group in optimizer.param_groups] for optimizer in optimizers]
        self._warm_up = any(float(group["lr"]) < 0.5 * _rate(group) for optimizer in optimizers for group in optimizer.param_groups)
        self.step_s = 0.0
        self._moved: float | None = None
        self.repeat_in_training: bool | None = None

    @property
    def _left(self) -> float:
        return self._seconds - self._clock.seconds()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Everything is put back at the end. The weights are those of now, until a probe asks for the first ones."""
        with self._frozen.held(), silent(), self._torch.enable_grad():
            self._torch.manual_seed(0)
            yield

    def displacement(self) -> float | None:
        """How far the weights are from the first ones: norm of the change / norm before, median over matrices."""
        found = sorted(moved for moved in self._start.moved() if moved is not None)
        self._moved = found[len(found) // 2] if found else None
        return self._moved

    def units(self) -> list[UnitFacts]:
        """The nonlinearities of the first weights, over the first batches: units that a far too large step has killed are its echo."""
        self._start.put()
        self._start.eval()
        found = torch_units.units(self._torch, [step[0] for step in self._steps[:_LEAST_STEPS]])
        self._start.train()
        return found

    # Before training

    def initial(self) -> None:
        """Loss of the first weights in evaluation mode, a mean over the batches."""
        begun = self._clock.seconds()
        self._start.put()
        first = self._mean_loss(self._steps[:1])
        self.step_s = 3 * (self._clock.seconds() - begun)
        # Of a slow model fewer batches: what is left of the time belongs to fitting.
        chosen = self._steps[:max(2, min(len(self._steps), int(0.2 * self._seconds / (self.step_s / 3 + 1e-9))))]
        self._facts.initial_loss = self._mean_loss(chosen) if len(chosen) > 1 else first
        self._facts.initial_rows = sum(_rows(replay) for step in chosen for replay in step)

    def _mean_loss(self, steps: list[list[Replay]], change: Any = None) -> float:
        """Mean loss of a step over an even choice of the steps, in evaluation mode; of the finite ones where there are some."""
        self._start.eval()
        chosen = steps[:: len(steps) // _MEASURED + 1]
        with self._torch.no_grad():
            losses = [sum(float(replay.run(change)) for replay in step) for step in chosen]
        self._start.train()
        finite = [loss for loss in losses if math.isfinite(loss)]
        return sum(finite) / len(finite) if finite else math.nan

    def inputs(self) -> None:
        """Whether outputs repeat, and whether they depend on the inputs at all."""
        replay = self._steps[0][0]
        with self._torch.no_grad():
            self._start.train()
            self.repeat_in_training = _differ(self._outputs(replay, seed=1), self._outputs(replay, seed=2))
            self._start.put()
            self._start.eval()
            self._facts.repeat_differs = _differ(self._outputs(replay, seed=1), self._outputs(replay, seed=2))
            for weight in self._start.weights:
                if weight.is_floating_point():
                    noise = self._torch.randn_like(weight) * (0.1 * float(weight.float().pow(2).mean().sqrt()) + 1e-3)
                    weight.data.add_(noise)
            rows = replay.first_rows()
            if rows > 1:
                plain = self._outputs(replay)
                rolled = self._outputs(replay, lambda tensor: tensor.roll(1, 0) if tensor.dim() and tensor.shape[0] == rows else tensor)
                self._facts.input_matters = _differ(plain, rolled)
        self._start.put()

    def _outputs(self, replay: Replay, change: Any = None, seed: int = 0) -> list[Any]:
        self._torch.manual_seed(seed)
        replay.run(change, want_outputs=True)
        return [tensor for found in replay.outputs for tensor in found if tensor.is_floating_point() and tensor.dim()]

    def cut(self, sites: Sites) -> Place | None:
        """Where the script's own code goes on with a tensor that has no gradient any more: by a call, or with gradients switched off."""
        found: list[Place] = []
        off: list[Place] = []

        def look(function: Any, args: Any, kwargs: Any, result: Any, _module: str) -> None:
            if not found and torch_inside.cuts(self._torch, function, [args, kwargs], result) and (place := sites.direct()) is not None:
                found.append(place)
            if not off and not self._torch.is_grad_enabled() and self._torch.is_tensor(result) and result.is_floating_point():
                off.extend(place for place in [sites.inside(torch_tape.__file__)] if place is not None)

        self._start.put()
        replay = self._steps[0][0]
        with torch_inside.inside(self._torch, replay.modules, look):
            replay.run()
        return next(iter([*found, *off]), None)

    # Fitting

    def overfit(self) -> None:
        """Overfit one batch at the script's rate; where that does not go, at others: lower and higher in turn, until one does."""
        facts = self._facts
        if _LEAST_STEPS * self.step_s > 2 * self._seconds:
            facts.skipped["overfit"] = f"one step takes {self.step_s:.1f} s"
            return
        batch = [self._one_batch()]
        facts.overfit_rows = sum(_rows(replay) for replay in batch[0])
        facts.overfit = self._curve(batch, 1.0, _FIT_STEPS, 0.6 * self._left, stop_early=True, measure=True)
        if _fell(facts.overfit.losses):
            return
        wanted = len(facts.overfit.losses) if all(math.isfinite(loss) for loss in facts.overfit.losses) else _FIT_STEPS
        first, last = facts.overfit.start_loss or 0.0, facts.overfit.final_loss or 0.0
        still = math.isfinite(last) and abs(last - first) < 0.02 * abs(first)
        # Weights that hardly move tell themselves how much more it would take: a movement is in proportion to the rate.
        moved = sorted(found for found in self._start.moved() if found) if still else []
        wanting = [round(_SENSIBLE / moved[len(moved) // 2], -1)] if moved and moved[len(moved) // 2] < 0.1 * _SENSIBLE else []
        guesses = [guess for found in wanting for guess in (found, 10 * found, found / 10) if 10 <= guess <= _MOST_FASTER]
        for factor in (*guesses, 10.0, 100.0, 1e3, 1e4, 0.1, 1e5, 0.01, 1e6) if still else (0.1, 0.01, 10.0, 0.001, 100.0):
            if self._left < _LEAST_STEPS * self.step_s:
                facts.skipped[f"overfit_scaled x{factor:g}"] = "no time left"
                continue
            facts.overfit_scaled.append(self._curve(batch, factor, max(wanted, 20), self._left))
            if _fell(facts.overfit_scaled[-1].losses):
                break

    def train(self, losses: list[float]) -> None:
        """Hold the script's own steps against the same batches at another rate, unless these steps learnt beyond doubt.

        `losses`: of the script's own steps, which ended at the weights of now.
        """
        facts = self._facts
        own = CurveFacts(learning_rate=self._rates[0][0], losses=losses)
        if len(losses) >= 2 * _LEAST_STEPS:
            own.final_loss = self._mean_loss(self._steps)
        self._start.put()
        begun = self._clock.seconds()
        own.start_loss = self._mean_loss(self._steps)
        self.step_s = 3 * (self._clock.seconds() - begun) / min(len(self._steps), _MEASURED)
        facts.train = own
        if len(losses) < 2 * _LEAST_STEPS:
            facts.train = self._curve(self._steps, 1.0, _TRAIN_STEPS, 0.4 * self._left, measure=True)
            own = facts.train
        if learns(own.losses):
            facts.skipped["train_scaled"] = "the script's own rate learns"
            return
        self._standardised(own)
        moved = self._moved if self._moved is not None else 1.0
        if _STILL <= moved < NEAR:
            facts.skipped["train_scaled"] = f"the steps moved the weights by {moved:.1%}: neither too far nor not at all"
            return
        # What fitted one batch is the best guess of what would train.
        fitted = [curve.learning_rate / own.learning_rate for curve in facts.overfit_scaled if _fell(curve.losses) and own.learning_rate]
        faster = max([_FASTER, *fitted])
        if not fitted and 0 < moved < _STILL:
            faster = min(max(faster, _SENSIBLE / moved), _MOST_FASTER)
        # Weights that moved by more than their own size want more than a little less; halfway (in powers) to a sensible movement.
        slower = _SLOWER if moved <= 1.0 else max(1e-4, math.sqrt(_SLOWER * min(_SLOWER, _SENSIBLE / moved)))
        for factor in (faster,) if moved < _STILL else (slower,):
            if self._left < _LEAST_STEPS * self.step_s:
                facts.skipped[f"train_scaled x{factor:g}"] = "no time left"
                continue
            count = max(len(own.losses), 2 * _LEAST_STEPS)
            # As many steps as the script's own were, or nothing is compared; a little over time for that.
            enough = count if count * self.step_s < 2 * self._seconds else _LEAST_STEPS
            half = 0.5 * sum(own.losses[-_LEAST_STEPS:]) / len(own.losses[-_LEAST_STEPS:])  # beyond doubt
            facts.train_scaled.append(self._curve(self._steps, factor, count, self._left, measure=True, least=enough, below=half))

    def carry(self, fitted: list[list[Replay]], held: list[list[Replay]], seconds: float) -> tuple[CurveFacts, float | None, float]:
        """Fit some steps again and again at the script's rate: the curve, with accuracy on their rows, and accuracy and loss on others."""
        curve = self._curve(fitted, 1.0, _EPOCHS * len(fitted), seconds, stop_early=True, measure=True)
        curve.accuracy = self._accuracy(fitted)
        return curve, self._accuracy(held), self._mean_loss(held)

    def _standardised(self, own: CurveFacts) -> None:
        """The same run with standardised float inputs, where they are of another scale than that."""
        scales = self._scales()
        if not scales or self._left < _LEAST_STEPS * self.step_s:
            return

        def change(tensor: Any) -> Any:
            found = scales.get(tuple(tensor.shape[1:])) if tensor.is_floating_point() else None
            return tensor if found is None else (tensor - found[0]) / found[1]

        count = max(len(own.losses), 2 * _LEAST_STEPS)
        self._facts.train_standardised = self._curve(self._steps, 1.0, count, 0.4 * self._left, measure=True, change=change)

    def _scales(self) -> dict[tuple[int, ...], tuple[Any, Any]]:
        """Mean and deviation of the float inputs, by their shape without rows; only of those that are far from 0 and 1."""
        given: dict[tuple[int, ...], list[Any]] = {}
        for step in self._steps:
            for tensor in step[0].inputs():
                if tensor.is_floating_point() and tensor.dim() > 1:
                    given.setdefault(tuple(tensor.shape[1:]), []).append(tensor)
        found = {}
        for shape, parts in given.items():
            rows = self._torch.cat(parts).float()
            over = [0] if rows.dim() == 2 else [0, *range(2, rows.dim())]  # features one by one, images by channel
            mean, std = rows.mean(over, keepdim=True), rows.std(over, keepdim=True)
            if bool(self._torch.isfinite(rows).all()) and (float(rows.abs().max()) > 10 or float(mean.abs().max()) > 3 or (
                    float(std.max()) > 3) or float(std.max()) < 0.05):
                found[shape] = (mean, std.clamp_min(1e-8))
        return found

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
               measure: bool = False, change: Any = None, least: int = _LEAST_STEPS, below: float = -math.inf) -> CurveFacts:
        self._start.put()
        self._torch.manual_seed(0)
        for optimizer in self._optimizers:
            optimizer.state.clear()
        curve = CurveFacts(learning_rate=self._rates[0][0] * factor)
        begun = self._clock.seconds()
        if measure:
            curve.start_loss = self._mean_loss(steps, change)
        for number in range(count):
            if number >= least and self._clock.seconds() - begun > seconds:
                break
            warm = min(1.0, (number + 1) / (0.3 * count)) if self._warm_up else 1.0
            curve.losses.append(self._step(steps[number % len(steps)], factor * warm, change))
            last = curve.losses[-3:]
            if not math.isfinite(last[-1]) or (stop_early and number >= _LEAST_STEPS and max(last) < _FITTED * curve.losses[0]):
                break
            if number >= 2 * _LEAST_STEPS and sum(curve.losses[-_LEAST_STEPS:]) / _LEAST_STEPS < below:
                break
        self.step_s = (self._clock.seconds() - begun) / max(1, len(curve.losses))
        curve.final_loss = self._mean_loss(steps, change) if measure else None
        curve.accuracy = self._accuracy(steps[:4])
        return curve

    def _step(self, replays: list[Replay], factor: float, change: Any) -> float:
        weights = [weight for weight in self._start.weights if weight.requires_grad]
        for weight in weights:
            weight.grad = None
        total = 0.0
        for replay in replays:
            loss = replay.run(change)
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


def portion_of(step: list[Replay]) -> Portion:
    """The rows of a step, told apart by the first input of its models."""
    labels = [label for replay in step for label in replay.labels or ()]
    marks: list[int] = []
    for replay in step:
        rows = [tensor for tensor in replay.inputs() if tensor.dim() > 1 and tensor.device.type == "cpu"]
        if rows and rows[0].shape[0] == len(replay.labels or ()):
            values = tensors.array(rows[0])
            marks += [hash(row.tobytes()) for row in values] if values is not None else []
    return Portion(step, labels, marks)


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


def learns(losses: list[float]) -> bool:
    """Whether the last third of a script's losses is clearly under the first third and the very first; only to save time.

    Steps that are too large throw the loss up at once: coming back from there is no learning.
    """
    third = max(1, len(losses) // 3)
    return bool(losses) and sum(losses[-third:]) < 0.8 * min(sum(losses[:third]), third * losses[0])


def _fell(losses: list[float]) -> bool:
    """Whether losses ended at half of where they began; only to save time, no verdict."""
    last = losses[-3:]
    return bool(last) and all(math.isfinite(loss) for loss in last) and sum(last) / len(last) < _LEARNT * losses[0]


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
