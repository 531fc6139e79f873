"""Experiments with a PyTorch script: its steps are kept as replays of what went backward."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from harness.checks import loss_value
from harness.checks.probe_facts import AlikeFacts, ColumnOrderFacts, EndsReadFacts, OrderlessFacts, StraightFacts
from harness.frameworks.watch import (
    affine,
    alike,
    column_order,
    orderless,
    straight,
    tensors,
    torch_accumulation,
    torch_class_pull,
    torch_contrary,
    torch_ends_read,
    torch_half,
    torch_indifferent,
    torch_inside,
    torch_norms,
    torch_probe_trainer,
    torch_reached,
    torch_replay,
    torch_restraints,
    torch_rows,
    torch_unpadded,
)
from harness.frameworks.watch.fitting import Fits
from harness.frameworks.watch.norms import Hasty, Slow
from harness.frameworks.watch.restraints import Restraint
from harness.frameworks.watch.rounds import KEPT_BYTES, Rounds
from harness.frameworks.watch.sites import Place, site
from harness.frameworks.watch.torch_backend import Step, TorchBackend
from harness.frameworks.watch.torch_loss import LOSSES
from harness.frameworks.watch.torch_state import Start, redraw

if TYPE_CHECKING:
    from harness.checks.probe_facts import CurveFacts
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_loss import LossRecord
    from harness.frameworks.watch.torch_replay import Replay
    from harness.frameworks.watch.torch_watch import TorchWatcher

_WEIGHTS = 300_000_000
_REDRAWN = 3  # steps that are answered with weights of other draws
_LONGER = 4  # times the script's steps


class Probes(Rounds[Step]):
    """Collects the training steps as replays."""

    fatal = ("CUDA", "CUBLAS", "AcceleratorError", "OutOfMemory", "MemoryError", "can't allocate memory", "TorchScript interpreter")

    def __init__(self, watch: TorchWatcher) -> None:
        super().__init__(watch)
        self._watch = watch
        self._scaled = False  # a scaler multiplies the loss before it goes backward
        self._open: list[Replay] = []
        self._start: Start | None = None
        self._refused: str | None = None
        self._versions: dict[int, int] = {}  # of the weights of the last backward pass, unless an optimizer has stepped since
        self._takes_turns = False
        self._repeat_in_training: bool | None = None

    def offer(self, loss: Any, records: list[LossRecord], calls: list[RootCall]) -> None:
        """A loss is about to go backward: keep how it was made."""
        watch = self._watch
        if self.over or self._refused is not None or not watch.in_full or self.kept_bytes > KEPT_BYTES:
            return
        plain = watch.losses.unscaled.get(id(loss), (None, loss))[1]
        self._scaled = self._scaled or plain is not loss
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
            found.targets = torch_contrary.unlike([record.target for record in records])
        self._by_hand(found)
        if self._start is None:
            self._begin(found)
        self.kept_bytes += found.constant_bytes
        self._open.append(found)

    def _by_hand(self, found: Replay) -> None:
        """Weights that were changed since the last backward pass, and by no optimizer: what went backward before is in no step of one."""
        versions = {id(weight): weight._version for weight in found.leaf_weights}
        if self._open and any(self._versions.get(key, version) != version for key, version in versions.items()):
            self.kept_bytes -= sum(replay.constant_bytes for replay in self._open)
            self._open = []
            self._start = self._start if self.steps else None
        self._versions = versions

    def _begin(self, first: Replay) -> None:
        held = [weight for known in self._watch.steps.known_optimizers() for weight in known.weights()]
        size = sum(weight.numel() for weight in held)
        if size > _WEIGHTS:
            self._refused = f"{size:,} weights are too many to copy"
            return
        self._start = Start(first.modules, [*held, *first.leaf_weights])

    @property
    def last_replay(self) -> Replay | None:
        """The last backward pass as a replay, where it was kept."""
        return self._open[-1] if self._open else None

    def other_stepped(self, *, alone: bool) -> None:
        """Another optimizer than the main one stepped; `alone`: after a backward pass of its own."""
        self._takes_turns = self._takes_turns or alone
        self._versions = {}

    def stepped(self) -> None:
        """The main optimizer stepped: what went backward since belongs together."""
        if not self.over and self._open:
            self.steps.append(self._open)
            self._open = []
        self._versions = {}
        super().stepped()

    def finish(self, error: BaseException | None) -> None:
        """The script is over: the rounds that did not come, on what there is, unless its device or memory is gone."""
        super().finish(error)
        if self._watch.seen.evaluation.in_training_mode and self._repeat_in_training is not None:
            self.facts.repeat_differs = self._repeat_in_training

    def forget(self) -> None:
        """All rounds are done: let go of what was kept."""
        super().forget()
        self._open, self._start = [], None

    def moved(self) -> list[float]:
        """How far every weight matrix is from the first one: norm of the change / norm before; nothing where that is not known."""
        return self._start.moved() if self._start is not None else []

    def before(self) -> None:
        """Evaluate before training, where a Trainer knows how."""
        torch_probe_trainer.evaluate_before_training(self._watch)

    def backend(self, steps: list[Step]) -> TorchBackend | str:
        """What takes these steps again, or why none can."""
        if self._refused is not None or self._start is None:
            return self._refused or "no optimizer step was seen"
        optimizers = [known.optimizer for known in self._watch.steps.stepping]
        return TorchBackend(self._watch.torch, self._start, steps, optimizers, self._watch.steps.clipping.limit)

    def look(self, fits: Fits[Step], steps: list[Step]) -> None:
        """Where the activation in front of the loss is applied, and where a graph is cut."""
        backend, replay = cast("TorchBackend", fits.backend), steps[0][0]
        self._repeat_in_training = backend.repeat_in_training
        self._watch.session.safely("the output's place", self._output_place, replay)
        loader = self._watch.data.training_loader
        delivered = loader.facts.batch_size if loader is not None else None
        self._watch.session.safely("rows of a batch", backend.neighbours, replay, self._watch.session.sites, self.facts, delivered,
                                   self._watch.calls.place_of)
        call = next(iter(self._watch.seen.loss_calls), None)
        ignored = call.ignore_index if call is not None and call.ignore_index is not None else -100
        self.facts.shift = self._watch.session.safely("targets beside inputs", backend.shift, replay, ignored,
                                                     self._watch.session.sites, self._watch.calls.place_of)
        cuts = self._watch.session.safely("straight-through estimates", backend.cuts, replay, self._watch.session.sites) or []
        self._watch.session.noted("straight_through", straight.cut_whole(cuts))
        self._watch.session.noted("turned_through", straight.turned(cuts))
        self.facts.contrary = self._watch.session.safely("right answers and wrong ones", torch_contrary.measure, self._watch.torch,
                                                         [step[0] for step in steps])
        if self._watch.seen.weights is None and call is not None and call.reduction == "none":
            self._watch.seen.weights = self._watch.session.safely(
                "what classes weigh", torch_class_pull.measure, self._watch.torch, [step[0] for step in steps])
        self.facts.indifferent = self._watch.session.safely(
            "rows that a loss wants nothing of", torch_indifferent.measure, self._watch.torch, [step[0] for step in steps])
        self.facts.column_order = self._watch.session.safely(
            "numbers in an order", self._column_order, backend, [step[0] for step in steps])
        self.facts.summed = self._watch.session.safely("a sum of rows", backend.summed, steps, self._watch.session.sites)
        self._watch.session.safely("a softmax of one number", self._of_one, steps)
        self.facts.straight = self._watch.session.safely("a straight map", self._straight, backend, replay)
        if orderless.attends(self._watch.session.script):
            self.facts.orderless = self._watch.session.safely("the order of steps", self._orderless, backend, replay)
        if self.facts.input_matters is False:
            self._watch.session.safely("the input's end", self._where_lost, backend, replay)
        head = torch_reached.frozen_head(self._watch)
        if head:
            self.facts.frozen_head_matters = self._watch.session.safely("a frozen head", backend.matters, steps[0], head)
        asleep = torch_reached.asleep(self._watch)
        if asleep:
            idle = [weight for _, weight in asleep]
            matter = self._watch.session.safely("weights of parts that never run", backend.matters, steps[0], idle)
            for facts, _ in asleep if matter else []:
                facts.used = True
        unreached = torch_reached.unreached(self._watch)
        if unreached:
            self.facts.unreached_matter = self._watch.session.safely("weights without a gradient", backend.matters, steps[0], unreached)
            place = backend.cut(replay, self._watch.session.sites)
            self._watch.session.noted("cut", place)

    def further(self, fits: Fits[Step], steps: int) -> None:
        """A term of the loss that another one may drown: what becomes of it alone."""
        if loss_value.silenced(self._watch.seen):
            call = next(call for call in self._watch.seen.loss_calls if call.name in ("mse", "bce", "bce_with_logits"))
            self.facts.term_alone = self._alone(fits, steps, call.name, call.site.line if call.site is not None else None)
            self.facts.term_beside = fits.again(_LONGER * steps)
            return
        pulled = loss_value.pulled(self._watch.seen)
        if pulled is None or (pulled.falls and not pulled.halts):
            return
        if (pulled.large.gradient or 0.0) < loss_value.PULLING * (pulled.small.gradient or 0.0):
            return
        self.facts.term_alone = self._alone(fits, steps, pulled.small.name, pulled.small.line)

    def _alone(self, fits: Fits[Step], steps: int, name: str, line: int | None) -> CurveFacts | None:
        """The script's steps by one term of its loss."""
        backend = cast("TorchBackend", fits.backend)
        function = next((torch_name for torch_name, known in LOSSES.items() if known == name and all(
            replay.term(torch_name, line) is not None for step in self.steps for replay in step)), None)
        if function is None:
            return None
        with backend.term(lambda replay: replay.term(function, line)):
            return fits.again(steps)

    def restraints(self, fits: Fits[Step], steps: list[Step]) -> list[Restraint]:
        """What holds the model back: dropout, weight decay, clipping, a penalty that the script adds to its loss, and the optimizer."""
        watch, backend = self._watch, cast("TorchBackend", fits.backend)
        backend.put()
        built = watch.seen.optimizer.site if watch.seen.optimizer is not None else None
        found = [torch_restraints.dropout(watch.torch, steps[0][0], watch.session.sites, watch.calls.place_of),
                 torch_restraints.norms(watch.torch, steps[0][0], watch.calls.place_of),
                 torch_restraints.decay([known.optimizer for known in watch.steps.stepping], built),
                 torch_restraints.clipping(watch.steps.clipping, watch.seen.sites.get("clipping")),
                 torch_restraints.penalty(backend, steps),
                 torch_unpadded.padding(watch.torch, steps[0][0], watch.session.sites, self.facts.real, watch.calls.place_of),
                 torch_restraints.optimizer(watch.torch, [known.optimizer for known in watch.steps.stepping], built)]
        return [restraint for restraint in found if restraint is not None]

    def arrays(self, step: Step) -> list[Any]:
        """What models are given in a step, rows first."""
        given = [tensor for replay in step[:1] for tensor in replay.inputs() if tensor.dim()]
        return [array for array in map(tensors.array, given) if array is not None]

    def fetched(self) -> tuple[int, Place | None] | None:
        """Where a loader of several batches was begun anew for every step: how many batches it has, and where that was asked for."""
        loader = self._watch.data.training_loader
        if loader is None or (loader.facts.batches or 0) < 2 or loader.begun < len(self.steps):
            return None
        return loader.facts.batches or 0, loader.asked

    def undivided(self) -> int:
        """Of how many batches each step adds up the gradients without dividing."""
        return torch_accumulation.undivided(self._watch.torch, self._watch.seen, self.steps)

    def hasty(self, fits: Fits[Step]) -> Hasty | None:
        """Layers that normalise by what their newest batch was. What float16 loses is measured here too, by the weights of now."""
        if not self._scaled:
            replays = [step[0] for step in self.steps]
            self.facts.half_lost = self._watch.session.safely("float16", torch_half.lost, self._watch.torch, replays)
        place_of = self._watch.calls.place_of
        return torch_norms.hasty(self._watch.torch, [step[0] for step in self.steps], lambda layer: site(place_of(layer)))

    def slow(self, fits: Fits[Step], taken: int, steps: int) -> Slow | None:
        """Layers that normalise by what they began with, when all steps are taken."""
        place_of = self._watch.calls.place_of
        return torch_norms.slow(self._watch.torch, [step[0] for step in self.steps], lambda layer: site(place_of(layer)), taken, steps)

    def ends_read(self, fits: Fits[Step]) -> EndsReadFacts | None:
        """What answers owe to the filler at the ends of rows."""
        return torch_ends_read.measure(cast("TorchBackend", fits.backend), self.steps)

    def leaves_zero_out(self) -> bool:
        """Whether a table of the model's has a row of padding for the id 0."""
        parts = (part for outer in self.steps[0][0].modules for part in outer.modules())
        return any(part.padding_idx == 0 for part in parts if isinstance(part, self._watch.torch.nn.Embedding))

    def alike(self) -> AlikeFacts | None:
        """A layer whose units began alike and still are."""
        if self._start is None:
            return None
        owners = {id(weight): module for step in self.steps[:1] for outer in step[0].modules for module in outer.modules()
                  for weight in module.parameters(recurse=False)}
        pairs = ((owners.get(id(weight)), tensors.array(value), tensors.array(weight.detach())) for weight, value in self._start.pairs())
        found = alike.measure((layer, first, now) for layer, first, now in pairs if first is not None and now is not None)
        if found is None:
            return None
        layer, facts = found
        place = alike.written(self._watch.session.script) or (self._watch.calls.place_of(layer) if layer is not None else None)
        facts.site = site(place)
        return facts

    def _where_lost(self, backend: TorchBackend, replay: Replay) -> None:
        found = backend.lost(replay, self._watch.session.sites)
        if found is not None:
            self.facts.lost_in = found[1]
            if found[0] is not None:
                self._watch.session.site("lost", site(found[0]))

    def _of_one(self, steps: list[Step]) -> None:
        watch = self._watch
        found = [torch_rows.softmax_of_one(watch.torch, step[0], watch.session.sites) for step in (steps[0], steps[-1])]
        for place, shape in found[0].items():
            if place in found[1] and self.facts.softmax_of_one is None:
                self.facts.softmax_of_one = shape
                watch.session.noted("softmax_of_one", place)
        watch.session.noted("softmax_twice", torch_rows.softmax_twice(watch.torch, steps[0][0], watch.session.sites))

    def _column_order(self, backend: TorchBackend, replays: list[Replay]) -> ColumnOrderFacts | None:
        wanted = [tensors.array(replay.target) for replay in replays]
        known = [part for part in wanted if part is not None and column_order.fits(part)]
        if not known or len(known) < len(wanted) or self._start is None:
            return None
        weights = self._start.weights

        def answers(seed: int) -> Iterator[Any]:
            redraw(self._watch.torch, weights, seed)
            for replay, part in zip(replays[:_REDRAWN], known, strict=False):
                fitting = [output for output in backend.outputs(replay) if output.shape == part.shape]
                yield tensors.array(fitting[-1]) if fitting else np.zeros((1, 1))

        with backend.evaluating():
            found = column_order.measure(np.concatenate(known), answers)
        backend.put()
        return found

    def _straight(self, backend: TorchBackend, replay: Replay) -> StraightFacts | None:
        rows, torch = replay.first_rows(), self._watch.torch
        given = next((tensor for tensor in replay.inputs() if tensor.is_floating_point() and tensor.dim() > 1), None)
        if given is None or rows < affine.LEAST_ROWS:
            return None

        def rolled(tensor: Any) -> Any:
            return tensor.roll(rows // 2, 0) if tensor.is_floating_point() and tensor.dim() and tensor.shape[0] == rows else tensor

        with backend.evaluating():
            made = [backend.outputs(replay, change) for change in (None, rolled, lambda tensor: affine.halfway(tensor, rolled))]
        arrays = [array for found in made for tensor in found[-1:] if (array := tensors.array(tensor)) is not None]
        weights = [weight for module in replay.modules for weight in module.parameters()]
        shapes = [tuple(weight.shape) for weight in weights]
        count = affine.layers(shapes, given.shape[1:], arrays[0].shape[1:]) if len(arrays) == len(made) else 0
        if not count or not affine.is_straight(*arrays):
            return None
        layer = next((part for module in replay.modules for part in module.modules()
                      if isinstance(getattr(part, "weight", None), torch.nn.Parameter) and part.weight.dim() > 1), None)
        return StraightFacts(layers=count, site=site(self._watch.calls.place_of(layer)) if layer is not None else None)

    def _orderless(self, backend: TorchBackend, replay: Replay) -> OrderlessFacts | None:
        rows = replay.first_rows()
        given = next((tensor for tensor in replay.inputs() if tensor.dim() > 1 and tensor.shape[0] == rows
                      and tensor.dim() == 2 + tensor.is_floating_point()), None)
        if given is None or rows < orderless.LEAST_ROWS or given.shape[1] < orderless.LEAST_LENGTH:
            return None
        if given.is_floating_point() and orderless.placed(given.detach().float().cpu().numpy()):
            return None
        to = orderless.order(given.shape[1])

        def moved(tensor: Any) -> Any:
            if tensor.dim() < 2 or tuple(tensor.shape[:2]) != tuple(given.shape[:2]):
                return tensor
            same = tensor.dim() == 2 and not tensor.is_floating_point() and orderless.positions(tensor.cpu().numpy())
            return tensor if same else tensor[:, to]

        made = [[array for tensor in outputs if (array := tensors.array(tensor)) is not None]
                for outputs in backend.shaken(replay, (None, moved))]
        if not orderless.is_blind(made[0], made[1], to):
            return None
        return OrderlessFacts(length=len(to), site=site(orderless.embedding(self._watch.session.script)))

    def _output_place(self, replay: Replay) -> None:
        watch, model = self._watch, self._watch.seen.model
        activation = (model.final_activation if model is not None else None) or ""
        if not activation or replay.logits_slot is None:
            return
        found = torch_inside.output_place(watch.torch, replay, activation, lambda module: watch.calls.chosen(module, helped=True),
                                          lambda: watch.session.sites.inside(torch_replay.__file__))
        if found is not None:
            watch.session.site("output", site(found))

    def refusal(self) -> str | None:
        """Why optimizer steps cannot be taken again, though losses can be computed; None where they can."""
        for known in self._watch.steps.stepping:
            closure = inspect.signature(type(known.optimizer).step).parameters.get("closure")
            if closure is not None and closure.default is inspect.Parameter.empty:
                return f"{type(known.optimizer).__name__} wants a closure"
        return "several optimizers take turns" if self._takes_turns else None
