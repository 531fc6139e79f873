"""Calls of models that no loss has gone backward from yet: which of them lead to one, and which were made for something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import torch_graph, trees
from harness.frameworks.watch.torch_calls import RootCall

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_MOST = 16
_NODES = 60_000


class Pending:
    """Keeps the last of them. `overflowed`: since a loss went backward, there were more."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self.calls: list[RootCall] = []
        self.overflowed = False

    def add(self, call: RootCall) -> None:
        """A model has run, with gradients."""
        self.calls.append(call)
        if len(self.calls) > _MOST:
            left = self.calls.pop(0)
            self._watch.evaluations.forward(left)
            self.overflowed = True
            self._watch.seen.forward_without_backward += 1
            self._watch.seen.never_backward += left.training

    def leading_to(self, loss: Any, *, most: int | None = None) -> list[RootCall]:
        """Those whose answers a loss is made of, as far as its graph is followed (`most` nodes of it)."""
        return [call for call in self.calls if self._leads(call, loss, most)]

    def take(self, loss: Any) -> list[RootCall]:
        """The calls that may have led to this loss; others on another loader's batches were evaluation without `no_grad`.

        A loader that was not trained on yet may begin another training, or go beside the first: then its calls lead to the loss.
        """
        data, evaluations = self._watch.data, self._watch.evaluations
        first = data.training_loader is None
        for call in self.calls:
            if call.loader is not None and call.loader.role != "train" and self._leads(call, loss):
                data.trains(call.loader)
        calls = [call for call in self.calls if first or call.loader is None or call.loader.role == "train"]
        # Parts of a model that an evaluation has called, without `no_grad`, leave answers that no loss is made of.
        asleep = [call for call in calls if not call.training
                  and any(tensor.grad_fn is not None for tensor in trees.leaves(call.output, self._watch.torch.is_tensor))]
        led = [call for call in asleep if self._leads(call, loss, _NODES)]
        if led or len(asleep) < len(calls):
            calls = [call for call in calls if not any(call is other for other in asleep) or any(call is other for other in led)]
        for call in self.calls:
            if not any(call is taken for taken in calls):
                evaluations.forward(call)
        self.calls = []
        return calls

    def _leads(self, call: RootCall, loss: Any, most: int | None = None) -> bool:
        return torch_graph.leads_to(loss, trees.leaves(call.output, self._watch.torch.is_tensor), *([most] if most is not None else []))
