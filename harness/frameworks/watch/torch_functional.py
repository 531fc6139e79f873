"""Gradients that `torch.func` takes: no loss goes backward there, and no optimizer need step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher


class Functional:
    """Hooks `grad` and `grad_and_value` of `torch.func`, and counts their calls: what is done with these gradients is not followed."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch

    def attach(self) -> None:
        session = self._watch.session
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
