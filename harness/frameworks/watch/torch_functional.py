"""Gradients that `torch.func` takes: no loss goes backward there, and no optimizer need step. And those by weights that are themselves
differentiated: of a model that is adapted to a task before it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher


class Functional:
    """Hooks `grad` and `grad_and_value` of `torch.func`, and counts their calls: what is done with these gradients is not followed. Of
    `torch.autograd.grad` those by weights, with a graph of their own, are told of."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch

    def attach(self) -> None:
        session = self._watch.session
        session.patches.replace(self._watch.torch.autograd, "grad", self._wrap_grad)
        session.when_imported("torch._functorch.eager_transforms",
                              lambda module: session.patches.replace(module, "grad_and_value_impl", self._wrap))

    def _wrap(self, original: Any) -> Any:
        session = self._watch.session

        def grad_and_value_impl(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            if session.active:
                session.reach("backward")
                self._watch.seen.functional += 1
            return made

        return grad_and_value_impl

    def _wrap_grad(self, original: Any) -> Any:
        session = self._watch.session

        def grad(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            if session.active and kwargs.get("create_graph"):
                given, weight = (inputs if isinstance(inputs, list | tuple) else [inputs]), self._watch.torch.nn.Parameter
                self._watch.seen.adapts = self._watch.seen.adapts or any(isinstance(one, weight) for one in given)
            return original(outputs, inputs, *args, **kwargs)

        return grad
