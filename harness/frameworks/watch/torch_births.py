"""Where the first NaN or infinity is born: in the input, a weight, an activation, the loss, or a gradient."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from harness.checks.model_facts import BadBirth
from harness.checks.tensor_facts import CutFacts
from harness.frameworks.watch import tensors, torch_batches, torch_replay, trees
from harness.frameworks.watch.sites import Place, site
from harness.frameworks.watch.torch_inside import inside, name_of
from harness.frameworks.watch.torch_state import Frozen, silent

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_loss import LossRecord
    from harness.frameworks.watch.torch_replay import Replay
    from harness.frameworks.watch.torch_watch import TorchWatcher

_MASKS = ("masked_fill", "masked_fill_", "where", "full", "full_like", "fill_", "triu", "tril", "new_full", "__setitem__")
# Calls that turn finite numbers into others: what prepares data divides, takes logarithms and roots.
_AXES = 3
_MAKERS = frozenset(("/", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "**", "pow", "exp", "reciprocal", "acos", "asin", "std", "var"))


# Calls that make a tensor of what numpy, pandas or Python hold.
_ARRIVING = frozenset(("tensor", "as_tensor", "from_numpy"))


class Births:
    """Told of every loss and every step; looks closer at the first that is not finite."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._torch = watch.torch

    @property
    def _known(self) -> bool:
        return bool(self._watch.seen.births)

    def loss(self, loss: Any, calls: list[RootCall], records: list[LossRecord]) -> None:
        """A loss is about to go backward."""
        if self._known or not tensors.readable(loss) or loss.numel() != 1 or math.isfinite(float(loss.detach())):
            return
        found = (self._in_weights(calls) or self._in_input(calls) or self._in_buffers(calls) or self._in_target(calls, records)
                 or self._in_derivative(loss) or self._in_replay(loss, calls, records))
        self._watch.seen.births.append(found or BadBirth(step=self._step, what="loss", name=records[-1].facts.name if records else "loss",
                                                         site=records[-1].facts.site if records else None))

    @property
    def _step(self) -> int:
        return self._watch.steps.steps + 1

    def _in_weights(self, calls: list[RootCall]) -> BadBirth | None:
        """A weight that is not finite although nothing was seen to make it so."""
        weights = ((name, weight) for call in calls for name, weight in call.module.named_parameters() if weight.is_floating_point())
        return self._in_state((name, ~weight.detach().isfinite() if weight.requires_grad else weight.isnan()) for name, weight in weights)

    def _in_buffers(self, calls: list[RootCall]) -> BadBirth | None:
        """The same of what a forward pass changes by itself, from its input as it may be. Infinities may be meant (masks)."""
        return self._in_state((name, buffer.isnan()) for call in calls for name, buffer in call.module.named_buffers()
                              if buffer.is_floating_point())

    def _in_state(self, marks: Iterable[tuple[str, Any]]) -> BadBirth | None:
        name = next((name for name, bad in marks if bool(bad.any())), None)
        return None if name is None else BadBirth(step=self._step, what="weight", name=name, site=self._watch.seen.sites.get("step"))

    def _in_input(self, calls: list[RootCall]) -> BadBirth | None:
        for call in calls:
            for name, value in torch_batches.columns_of(torch_batches.named(call.module, call.args, call.kwargs)).items():
                fact = tensors.facts(value) if tensors.is_tensor(value) else None
                if fact is not None and fact.bad_rows:
                    made = self._watch.seen.sites.get("bad_input") or site(call.place)
                    return self._rows(BadBirth(step=self._step, what="input", name=name, site=made), fact.bad_rows, call.labels)
        return None

    def _in_target(self, calls: list[RootCall], records: list[LossRecord]) -> BadBirth | None:
        """What a loss compares the outputs with."""
        for record in records:
            fact = tensors.facts(record.target) if tensors.is_tensor(record.target) and record.target.is_floating_point() else None
            if fact is not None and fact.bad_rows:
                return self._in_data(fact.bad_rows, calls, record.place)
        return None

    def _in_data(self, rows: list[int], calls: list[RootCall], place: Place | None) -> BadBirth:
        made = self._watch.seen.sites.get("bad_input") or self._watch.seen.sites.get("bad_data")
        return self._rows(BadBirth(step=self._step, what="input", name="target", site=made or site(place)), rows,
                          calls[-1].labels if calls else None)

    def prepared(self, function: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Before any training: a call that makes what is not finite of what is, such as a division by a deviation of zero; and one that
        cuts an array into other pieces where its axes should have been exchanged."""
        if self._torch.is_tensor(result) and name_of(function) in ("view", "reshape") and self._torch.is_tensor(args[0]):
            self._cut_anew(tuple(args[0].shape), tuple(result.shape))
        if name_of(function) in _ARRIVING:
            self._watch.scrambled.came(args)
        if name_of(function) in _ARRIVING and self._torch.is_tensor(result) and "bad_data" not in self._watch.seen.sites and (
                result.dim() and result.is_floating_point() and bool(result.isnan().any())):
            self._watch.session.site("bad_data")
        if "bad_input" in self._watch.seen.sites or name_of(function) not in _MAKERS or not self._torch.is_tensor(result):
            return
        if not result.is_floating_point() or result.requires_grad or not tensors.readable(result) or bool(result.isfinite().all()):
            return
        given = [tensor for tensor in trees.leaves([args, kwargs], self._torch.is_tensor) if tensor.is_floating_point()]
        if all(bool(tensor.isfinite().all()) for tensor in given):
            self._watch.session.site("bad_input")

    def _cut_anew(self, before: tuple[int, ...], after: tuple[int, ...]) -> None:
        """The same axes in another order, of three or more, are what `permute` gives; `view` gives other contents."""
        old, new = ([size for size in shape if size > 1] for shape in (before, after))
        if len(old) >= _AXES and old != new and sorted(old) == sorted(new) and self._watch.seen.cut_anew is None:
            self._watch.seen.cut_anew = CutFacts(before=list(before), after=list(after), site=self._watch.session.sites.here())

    def _in_derivative(self, loss: Any) -> BadBirth | None:
        """Where a loss is made of derivatives (forces, a residual, a penalty of gradients): the operation whose derivative is no number."""
        replay = self._watch.tape.replay_of(loss)
        if isinstance(replay, str):
            return None
        found: list[Any] = []
        places: dict[Any, Place | None] = {}

        def look(_function: Any, _args: Any, _kwargs: Any, result: Any, _module: str) -> None:
            if self._torch.is_tensor(result) and result.grad_fn is not None and result.grad_fn not in places:
                places[result.grad_fn] = self._place(replay)
                result.grad_fn.register_hook(_watched(result.grad_fn, found))

        frozen = Frozen(self._torch, replay.modules, [], replay.leaf_weights)
        with self._watch.session.paused(), frozen.held(), silent(), inside(self._torch, replay.modules, look):
            replay.run()
        return None if not found else BadBirth(step=self._step, what="gradient", site=site(places.get(found[0])),
                                               name=f"{_named(found[0])} in a derivative that the loss is made of")

    def _in_replay(self, loss: Any, calls: list[RootCall], records: list[LossRecord]) -> BadBirth | None:
        """Do the step again and look at each call: the first whose inputs are finite and whose output is not."""
        replay = self._watch.tape.replay_of(loss)
        if isinstance(replay, str):
            return None
        found: list[tuple[str, str, Any, Any]] = []
        brought: list[tuple[list[int], Place | None]] = []
        made: list[Any] = []

        def look(function: Any, args: Any, kwargs: Any, result: Any, module: str) -> None:
            made.append(result)  # held, so that no other gets its place
            if found or brought or not self._torch.is_tensor(result):
                return
            if name_of(function) in _MASKS or getattr(function, "__name__", "") in _MASKS:
                return
            if result.is_floating_point() and not bool(result.detach().isfinite().all()):
                given = [tensor for tensor in trees.leaves([args, kwargs], self._torch.is_tensor) if tensor.is_floating_point()]
                nan = bool(result.detach().isnan().any())
                # An infinity that masks attention is no fault; the NaN that a whole row of them turns into is.
                clean = all(not bool(tensor.detach().isnan().any()) if nan else bool(tensor.detach().isfinite().all()) for tensor in given)
                if clean:
                    found.append((name_of(function), module, result.detach(), self._place(replay)))
                elif not module and (rows := self._not_made_here(given, made)):
                    brought.append((rows, self._place(replay)))

        frozen = Frozen(self._torch, replay.modules, [], replay.leaf_weights)
        with self._watch.session.paused(), frozen.held(), silent(), self._torch.no_grad(), inside(self._torch, replay.modules, look):
            replay.run()
        labels = next((labels for record in records if record.facts.row_labels and (labels := record.facts.row_labels)), None)
        if brought:
            return self._in_data(brought[0][0], calls, brought[0][1])
        if not found:
            return None
        name, module, result, place = found[0]
        in_loss = any(record.function.__name__ == name for record in records) or (not module and result.dim() == 0)
        birth = BadBirth(step=self._step, what="loss" if in_loss else "activation", site=site(place),
                         name=f"{module}, {name}" if module and not in_loss else name)
        rows = next((rows for record in records if (rows := self._bad_row_losses(record))), [])
        if result.dim() and not in_loss:
            data = tensors.array(result)
            rows = tensors.bad_rows(data) if data is not None else []
        return self._rows(birth, rows, labels or (calls[-1].labels if calls else None))

    @staticmethod
    def _not_made_here(given: list[Any], made: list[Any]) -> list[int]:
        """The rows that are no numbers of a tensor which a call is given, and which no call before it has made."""
        for tensor in given:
            fresh = all(tensor is not one for one in made) and not tensor.requires_grad
            fact = tensors.facts(tensor) if fresh and tensor.dim() else None
            if fact is not None and fact.bad_rows:
                return list(fact.bad_rows)
        return []

    def _place(self, replay: Replay) -> Place | None:
        """Where the running call of a replay stands in the script: in a module of its own, or where the replay's call was made."""
        return self._watch.session.sites.inside(torch_replay.__file__) or replay.at

    @staticmethod
    def _bad_row_losses(record: LossRecord) -> list[int]:
        return [number for number, value in enumerate(record.facts.row_losses) if not math.isfinite(value)]

    @staticmethod
    def _rows(birth: BadBirth, rows: list[int], labels: list[Any] | None) -> BadBirth:
        birth.rows = rows
        if labels and rows and max(rows) < len(labels):
            birth.row_labels = [labels[row] for row in rows]
            birth.finite_row_labels = [label for row, label in enumerate(labels) if row not in set(rows)]
        return birth

    def gradients(self, norm: Any, named: list[tuple[str, Any]], replay: Replay | None) -> None:
        """A step is about to be taken after a finite loss: are its gradients finite? `norm`: over all of them, a float where known."""
        if self._known or not isinstance(norm, float) or math.isfinite(norm):
            return
        bad = [name for name, weight in named if weight.grad is not None and not bool(weight.grad.isfinite().all())]
        birth = BadBirth(step=self._step, what="gradient", name=bad[-1] if bad else "gradient", site=self._watch.seen.sites.get("backward"))
        self._watch.seen.births.append(birth)
        if replay is not None:
            self._watch.session.safely("a gradient's birth", self._backward_again, birth, replay)

    def _backward_again(self, birth: BadBirth, replay: Replay) -> None:
        """Go backward again, node by node: the first that is given finite gradients and gives one that is not."""
        found: list[Any] = []
        places: dict[Any, Place | None] = {}

        def look(_function: Any, _args: Any, _kwargs: Any, result: Any, _module: str) -> None:
            if self._torch.is_tensor(result) and result.grad_fn is not None:
                places.setdefault(result.grad_fn, self._place(replay))

        frozen = Frozen(self._torch, replay.modules, [], replay.leaf_weights)
        with self._watch.session.paused(), frozen.held(), silent():
            with inside(self._torch, replay.modules, look):
                loss = replay.run()
            for node in _nodes(loss):
                node.register_hook(_watched(node, found))
            self._torch.autograd.grad(loss, [weight for weight in frozen.weights if weight.requires_grad], allow_unused=True)
        if found:
            birth.name = f"{_named(found[0])} in the backward pass, first seen in {birth.name}"
            birth.site = site(places.get(found[0])) or birth.site


def _nodes(loss: Any, limit: int = 20_000) -> list[Any]:
    stack: list[Any] = [loss.grad_fn]
    seen: set[Any] = set()
    while stack and len(seen) < limit:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            stack.extend(inner for inner, _ in node.next_functions)
    return list(seen)


def _watched(node: Any, found: list[Any]) -> Any:
    """A hook that keeps the first node that is given finite gradients and gives one that is not."""
    def hook(made: Any, given: Any) -> None:
        if not found and _finite(given) and not _finite(made):
            found.append(node)

    return hook


def _named(node: Any) -> str:
    """`SqrtBackward0` is `Sqrt`."""
    name: str = node.name()
    return name.removesuffix("0").removesuffix("Backward")


def _finite(gradients: Any) -> bool:
    return all(bool(gradient.isfinite().all()) for gradient in gradients if gradient is not None)
