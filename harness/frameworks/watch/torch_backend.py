"""Taking the steps of a PyTorch script again, from replays of what went backward before each."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.model_facts import UnitFacts
from harness.checks.probe_facts import ProbeFacts, ShiftFacts, SumFacts
from harness.frameworks.watch import (
    dilution,
    neighbours,
    scales,
    shifts,
    sums,
    tensors,
    torch_inside,
    torch_replay,
    torch_rows,
    torch_units,
)
from harness.frameworks.watch.carry import Portion
from harness.frameworks.watch.fitting import Backend, Change
from harness.frameworks.watch.sites import Place, Sites, site
from harness.frameworks.watch.torch_state import Frozen, silent
from harness.frameworks.watch.torch_stepper import Stepper

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_replay import Replay
    from harness.frameworks.watch.torch_state import Start

_ROUNDING = 1e-6
_CLASSES = 512

# The replays that go backward before one optimizer step.
Step = list["Replay"]


class TorchBackend(Backend[Step]):
    """Runs replays. `stepper`: takes the steps, of the script's own optimizers unless something else is put there."""

    def __init__(self, torch: Any, start: Start, steps: list[Step], optimizers: list[Any], clipping: tuple[str, float] | None) -> None:
        self._torch = torch
        self._start = start
        self.stepper = Stepper(torch, optimizers, clipping)
        modules = list({id(module): module for step in steps for replay in step for module in replay.modules}.values())
        self._frozen = Frozen(torch, modules, optimizers, start.weights)
        self.rate = self.stepper.rate
        self.repeat_in_training: bool | None = None
        self._term: Callable[[Replay], int | None] | None = None

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """While inside, weights, optimizers and generators may be changed freely; everything is put back at the end."""
        with self._frozen.held(), silent(), self._torch.enable_grad():
            self._torch.manual_seed(0)
            yield

    def put(self) -> None:
        """The weights as they were before the script's first step."""
        self._start.put()

    def moved(self) -> list[float]:
        """How far every weight matrix is from the first one: norm of the change / norm before."""
        return self._start.moved()

    @contextlib.contextmanager
    def term(self, slot: Callable[[Replay], int | None]) -> Iterator[None]:
        """While inside, losses are this term's alone."""
        self._term = slot
        try:
            yield
        finally:
            self._term = None

    def _run(self, replay: Replay, change: Change | None) -> Any:
        return replay.run(change, slot=self._term(replay) if self._term is not None else None)

    @contextlib.contextmanager
    def evaluating(self) -> Iterator[None]:
        """While inside, modules are in evaluation mode, and no graph is made."""
        self._start.eval()
        try:
            with self._torch.no_grad():
                yield
        finally:
            self._start.train()

    def loss(self, step: Step, change: Change | None = None) -> float:
        """The loss of a step in evaluation mode, with the weights of now."""
        with self.evaluating():
            return sum(float(self._run(replay, change)) for replay in step)

    def losses(self, steps: list[Step], factor: float, count: int, change: Change | None = None) -> Iterator[float]:
        """Take `count` steps in turn from the weights of now, with a new optimizer at the script's rate times `factor`: their losses."""
        self._torch.manual_seed(0)
        self.stepper.renew()
        for number in range(count):
            warm = min(1.0, (number + 1) / (0.3 * count)) if self.stepper.warms_up else 1.0
            yield self._step(steps[number % len(steps)], factor * warm, change)

    def _step(self, replays: Step, factor: float, change: Change | None) -> float:
        weights, total = [weight for weight in self._start.weights if weight.requires_grad], 0.0
        for weight in weights:
            weight.grad = None
        for replay in replays:
            loss = self._run(replay, change)
            total += float(loss.detach())
            for weight, gradient in zip(weights, self._torch.autograd.grad(loss, weights, allow_unused=True), strict=True):
                if gradient is not None:
                    weight.grad = gradient if weight.grad is None else weight.grad + gradient
        self.stepper.step(weights, factor)
        return total

    def accuracy(self, steps: list[Step], change: Change | None = None) -> float | None:
        """Share of rows whose class comes out right, in evaluation mode; None where there are no classes."""
        right, rows = 0, 0
        with self.evaluating():
            for replay in (replay for step in steps for replay in step):
                if replay.logits_slot is None or replay.labels is None or replay.target is None:
                    return None
                replay.run(change, want_outputs=True)
                predicted = _classes(replay.outputs[-1][0], replay)
                if predicted is None or len(predicted) != len(replay.labels):
                    return None
                right += sum(a == b for a, b in zip(predicted, replay.labels, strict=True))
                rows += len(predicted)
        return right / rows if rows else None

    def standardiser(self, steps: list[Step]) -> Change | None:
        """What standardises the float inputs; None where they are near that already."""
        torch, given = self._torch, [tensor for step in steps for tensor in step[0].inputs() if tensor.is_floating_point()]
        found = scales.of([np.asarray(tensor.detach().float().cpu()) for tensor in given], channels=1)
        if not found:
            return None

        def change(tensor: Any) -> Any:
            scale = found.get(tuple(tensor.shape[1:])) if tensor.is_floating_point() else None
            if scale is None:
                return tensor
            mean, std = (torch.from_numpy(part).to(tensor.device, tensor.dtype) for part in scale)
            return (tensor - mean) / std

        return change

    def inputs(self, step: Step, facts: ProbeFacts) -> None:
        """Whether outputs depend on the inputs at all, and whether they repeat."""
        replay = step[0]
        with self._torch.no_grad():
            self._start.train()
            self.repeat_in_training = tensors.differ(self.outputs(replay, seed=1), self.outputs(replay, seed=2))
            self._start.put()
            self._start.eval()
            facts.repeat_differs = tensors.differ(self.outputs(replay, seed=1), self.outputs(replay, seed=2))
        facts.input_matters = self.input_matters(step)

    def input_matters(self, step: Step, change: Change | None = None) -> bool | None:
        """Whether outputs of shaken first weights depend on the (changed) inputs; None where that cannot be told."""
        replay, rows = step[0], step[0].first_rows()
        moved: list[bool] = []

        def rolled(tensor: Any, *, each: bool = False) -> Any:
            tensor = tensor if change is None else change(tensor)
            if not tensor.dim() or (tensor.shape[0] != rows and not each):
                return tensor
            # By half of them: rows may also be the words of all texts, one after the other, and neighbours among those alike.
            turned = tensor.roll(max(1, tensor.shape[0] // 2), 0)
            turned = tensor.roll(1, 0) if self._torch.equal(turned, tensor) else turned
            moved.append(not self._torch.equal(turned, tensor))
            return turned

        if rows < 2:
            return None
        self._start.put()
        self._start.eval()
        with self._torch.no_grad():
            self._shake(self._start.weights, 0.1)
            # Words that are moved together with the numbers of their texts stay words of these: then each part is moved by its own length.
            plain = self.outputs(replay, change)
            differ = tensors.differ(plain, self.outputs(replay, rolled))
            if differ is False:
                differ = tensors.differ(plain, self.outputs(replay, functools.partial(rolled, each=True)))
            if differ is False and any(isinstance(part, self._torch.nn.modules.batchnorm._BatchNorm)
                                       for module in replay.modules for part in module.modules()):
                # By the statistics that its norms began with, a deep model may answer nothing; its training steps go by those of a batch.
                self._start.train()
                differ = tensors.differ(self.outputs(replay, change), self.outputs(replay, rolled))
        self._start.put()
        return differ if any(moved) else None  # an object of the script's own was handed over whole, or all rows are alike

    def shaken(self, replay: Replay, changes: Sequence[Change | None]) -> list[list[Any]]:
        """The outputs of slightly shaken first weights in evaluation mode, by the changed inputs: what begins at zero may hide nothing."""
        self._start.put()
        self._shake(self._start.weights, 0.1)
        with self.evaluating():
            made = [self.outputs(replay, change) for change in changes]
        self._start.put()
        return made

    def _shake(self, weights: list[Any], share: float) -> None:
        """Add noise of a share of their own size to weights; to matrices that are zero of that share of what they would be drawn with: half
        precision tells that from nothing beside a bias."""
        for weight in weights:
            if weight.is_floating_point():
                size = float(weight.detach().float().pow(2).mean().sqrt())
                size = size or (weight[0].numel() ** -0.5 if weight.dim() > 1 else 0.0)
                weight.data.add_(self._torch.randn_like(weight) * (share * size + 1e-3))

    def matters(self, step: Step, weights: list[Any]) -> bool | None:
        """Whether the loss of a step changes with these weights; None where it does not repeat by itself."""
        def seeded() -> float:
            self._torch.manual_seed(0)
            return self.loss(step)

        self._start.put()
        self._shake(self._start.weights, 0.1)  # a head that begins at zero hides what is before it
        plain, again = seeded(), seeded()
        self._shake(weights, 1.0)
        changed = seeded()
        self._start.put()
        if not math.isfinite(plain) or abs(plain - again) > _ROUNDING * abs(plain):
            return None
        return abs(changed - plain) > _ROUNDING * abs(plain)

    def neighbours(self, replay: Replay, sites: Sites, facts: ProbeFacts, delivered: int | None,
                   built: Callable[[Any], Place | None]) -> None:
        """What rows of a batch do to each other, and padding to them, with the first weights in evaluation mode.

        `delivered`: rows in a batch of the loader; `built`: where a module was.
        """
        self._start.put()

        def outputs(change: Change | None) -> list[Any]:
            found, rows = self.outputs(replay, change), replay.first_rows()
            # Scores of each row against every other are made of other rows on purpose, as contrastive losses want them.
            pairs = replay.logits_slot is not None and len(found) > 1 and found[-1].dim() == 2 and found[-1].shape[-1] >= rows - 1
            return found[:-1] if pairs else found

        with self.evaluating():
            facts.padding = torch_rows.padding(self._torch, replay, sites, outputs)
            facts.real = dilution.real(replay.inputs(), replay.first_rows())
            if facts.repeat_differs is False:
                facts.rows = torch_rows.influence(replay, outputs, delivered)
            if facts.rows is not None and neighbours.suspect(facts.rows):
                torch_rows.mixing(self._torch, replay, sites, facts.rows, built)

    def shift(self, replay: Replay, ignored: int, sites: Sites, built: Callable[[Any], Place | None]) -> ShiftFacts | None:
        """Where the targets of a language model stand beside its inputs, and whether it looks ahead; asked of slightly shaken weights."""
        if replay.loss_name not in ("cross_entropy", "nll") or replay.target is None:
            return None
        target = tensors.array(replay.target.cpu())
        given = [array for tensor in replay.inputs()
                 if not tensor.is_floating_point() and tensor.dim() == 2 and (array := tensors.array(tensor.cpu())) is not None]
        if target is None or not given:
            return None
        self._start.put()
        self._shake(self._start.weights, 0.1)
        with self.evaluating():
            exchanged: list[shifts.Exchange] = []

            def outputs(exchange: shifts.Exchange | None) -> list[Any]:
                exchanged.extend([exchange] if exchange is not None else [])
                return self.arrays(replay, None if exchange is None else self._changing(exchange))

            found = shifts.measure(given, target, outputs, (ignored, -100),
                                   lambda rows, length: torch_rows.by_token(self._torch, replay, rows, length,
                                                                            self._changing(exchanged[-1]) if exchanged else None))
            if found is not None and found.causal is False:
                places = (torch_rows.ahead(self._torch, replay, sites, self._changing(one), one, built)
                          for one in exchanged)
                found.site = site(next((place for place in places if place is not None), None))
        self._start.put()
        return found

    def _changing(self, exchange: shifts.Exchange) -> Change:
        """Some ids are exchanged for others."""
        def change(tensor: Any) -> Any:
            if tensor.is_floating_point() or tuple(tensor.shape) != exchange[0].shape:
                return tensor
            same = np.array_equal(tensor.cpu().numpy(), exchange[0])
            return self._torch.from_numpy(exchange[1].copy()).to(tensor.device, tensor.dtype) if same else tensor

        return change

    def arrays(self, replay: Replay, change: Change | None) -> list[Any]:
        """The outputs as arrays."""
        # Of many classes some will tell.
        made = [tensor[..., :: max(1, tensor.shape[-1] // _CLASSES)] for tensor in self.outputs(replay, change) if tensor.dim() in (2, 3)]
        return [array for tensor in made if (array := tensors.array(tensor.cpu())) is not None]

    def lost(self, replay: Replay, sites: Sites) -> tuple[Place | None, str] | None:
        """Where the last trace of the input is lost on its way to the output, and in which operation."""
        self._start.put()
        with self.evaluating():
            return torch_rows.lost(self._torch, replay, sites)

    def outputs(self, replay: Replay, change: Change | None = None, seed: int = 0) -> list[Any]:
        self._torch.manual_seed(seed)
        replay.run(change, want_outputs=True)
        return [tensor for found in replay.outputs for tensor in found if tensor.is_floating_point() and tensor.dim()]

    def units(self, steps: list[Step]) -> list[UnitFacts]:
        """The nonlinearities of the weights of now: shares of units that never fire over these steps."""
        with self.evaluating():
            return torch_units.units(self._torch, [step[0] for step in steps])

    def cut(self, replay: Replay, sites: Sites) -> Place | None:
        """Where the script's own code goes on with a tensor that has no gradient any more: by a call, or with gradients switched off."""
        found: list[Place] = []
        off: list[Place] = []

        def look(function: Any, args: Any, kwargs: Any, result: Any, _module: str) -> None:
            if not found and torch_inside.cuts(self._torch, function, [args, kwargs], result) and (place := sites.direct()) is not None:
                found.append(place)
            if not off and not self._torch.is_grad_enabled() and self._torch.is_tensor(result) and result.is_floating_point():
                off.extend(place for place in [sites.inside(torch_replay.__file__)] if place is not None)

        self._start.put()
        with torch_inside.inside(self._torch, replay.modules, look):
            replay.run()
        return next(iter([*found, *off]), None)

    def cuts(self, replay: Replay, sites: Sites) -> list[Place]:
        """Where the script cuts tensors off that have a gradient."""
        found: dict[Place, None] = {}

        def look(function: Any, args: Any, kwargs: Any, result: Any, _module: str) -> None:
            if torch_inside.cuts(self._torch, function, [args, kwargs], result) and (place := sites.direct()) is not None:
                found[place] = None

        self._start.put()
        with torch_inside.inside(self._torch, replay.modules, look):
            replay.run()
        return list(found)

    def summed(self, steps: list[Step], sites: Sites) -> SumFacts | None:
        """Where the script adds up the rows of a batch to what is (most of) its loss."""
        found: list[sums.Sum] = []
        batches: list[tuple[float, list[sums.Sum]]] = []

        def look(function: Any, args: Any, _kwargs: Any, result: Any, _module: str) -> None:
            if getattr(function, "__name__", "") != "sum" or not self._torch.is_tensor(result) or not result.requires_grad or result.dim():
                return
            place = sites.inside(torch_replay.__file__) or replay.at
            if place is not None and self._torch.is_tensor(args[0]) and args[0].dim() and args[0].shape[0] == _rows(replay) > 1:
                found.append(sums.Sum(float(result.detach()), _rows(replay), place))

        self._start.put()
        for replay in (step[0] for step in steps[:sums.LEAST_BATCHES]):
            found = []
            with torch_inside.inside(self._torch, replay.modules, look):
                loss = float(replay.run().detach())
            batches.append((loss, found))
        return sums.whole(batches)

    def portion(self, step: Step) -> Portion:
        """Labels and contents of the rows of a step, told apart by the first input of its models."""
        labels = [label for replay in step for label in replay.labels or ()]
        marks: list[int] = []
        for replay in step:
            rows = [tensor for tensor in replay.inputs() if tensor.dim() > 1 and tensors.readable(tensor)]
            if rows and rows[0].shape[0] == len(replay.labels or ()):
                values = tensors.array(rows[0])
                marks += [hash(row.tobytes()) for row in values] if values is not None else []
        return Portion(step, labels, marks)

    def rows(self, step: Step) -> int:
        """Rows of a step; 0 where that cannot be told."""
        return sum(_rows(replay) for replay in step)

    def together(self, steps: list[Step]) -> Step:
        """One step of the rows of several."""
        return [replay for step in steps for replay in step]


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
