"""Blocks that are computed anew in the backward pass, given nothing that has a gradient: autograd leaves them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher


class Checkpointing:
    """Asks what `torch.utils.checkpoint` itself asks before it warns."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch

    def attach(self) -> None:
        session = self._watch.session
        session.when_imported("torch.utils.checkpoint",
                              lambda module: session.patches.replace(module, "check_backward_validity", self._wrap))

    def _wrap(self, original: Any) -> Any:
        session = self._watch.session

        def check_backward_validity(inputs: Any) -> None:
            inputs = list(inputs)
            given = [value for value in inputs if self._watch.torch.is_tensor(value)]
            if session.active and not any(tensor.requires_grad for tensor in given) and "recomputed" not in session.observation.sites:
                session.safely("checkpointing", session.site, "recomputed")
            original(inputs)

        return check_backward_validity
