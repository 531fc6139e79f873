"""States of PyTorch's recurrent layers, from one optimizer step to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import tensors, trees
from harness.frameworks.watch.carried import Carried

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher


class CarriedStates:
    """Wraps the calls of `nn.LSTM`, `nn.GRU` and `nn.RNN`; is told of the models that they are part of."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._root: RootCall | None = None
        self.carried = Carried(watch.session.sites)

    def attach(self) -> None:
        """After the calls of all modules are wrapped."""
        self._watch.session.patches.replace(self._watch.torch.nn.RNNBase, "__call__", self._wrap)

    def begins(self, call: RootCall) -> None:
        """A model is about to run. One that is given a state beside its rows may be made of cells."""
        self._root = call
        if call.grad and self._takes_more(call) and self.carried.looks and not self._watch.evaluating:
            states = [part for part in trees.leaves([call.args[1:], call.kwargs], tensors.is_tensor)
                      if part.is_floating_point() and part.dim() > 1]
            with self._watch.session.paused():  # what is read here is no cut in a graph
                self.carried.begins(call.module, states, lambda: call.args[:1], self._drawn(call), name=type(call.module).__name__)

    def ended(self, call: RootCall) -> None:
        """It has run, and something may go back through its answer."""
        if self._takes_more(call) and self.carried.looks:
            with self._watch.session.paused():
                self.carried.ended(call.module, [part for part in trees.leaves(call.output, tensors.is_tensor) if part.dim() > 1])

    @staticmethod
    def _takes_more(call: RootCall) -> bool:
        """Whether a model is given something beside its rows, be it nothing as yet."""
        return len(call.args) + len(call.kwargs) > 1

    def _drawn(self, root: RootCall | None) -> Any:
        """The batch that its rows are, where a loader shuffles them; of a layer that no model was called for, the newest one."""
        loader, batch = (root.loader, root.batch) if root is not None else (self._watch.data.current, self._watch.data.batch)
        return batch if loader is not None and loader.facts.shuffled else None

    def _wrap(self, original: Any) -> Any:
        watch = self._watch

        def __call__(layer: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            looks = watch.session.active and self.carried.looks and watch.torch.is_grad_enabled() and not watch.evaluating
            if looks:
                watch.session.safely("a recurrent state", self._begins, layer, args, kwargs)
            made = original(layer, *args, **kwargs)
            if looks:
                watch.session.safely("a recurrent state", self._ended, layer, made[1])
            return made

        return __call__

    def _begins(self, layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        root = self._root if self._watch.calls.inside else None
        given = args[:1] if root is None else [root.args, root.kwargs]
        with self._watch.session.paused():
            self.carried.begins(layer, args[1] if len(args) > 1 else kwargs.get("hx"), lambda: given,
                                self._drawn(root))

    def _ended(self, layer: Any, state: Any) -> None:
        with self._watch.session.paused():
            self.carried.ended(layer, state)
