"""Gradients that a script clips, and calls for that which come when there is none."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_ENOUGH = 10


class Clipping:
    """Hooks gradient clipping. `calls`: how often a norm was clipped, `empty`: how often of these there was no gradient to clip."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._last: tuple[str, float] | None = None
        self.calls = self.empty = 0

    def attach(self) -> None:
        """Hook both functions."""
        utils = self._watch.torch.nn.utils
        for name, argument in (("clip_grad_norm_", "max_norm"), ("clip_grad_value_", "clip_value")):
            self._watch.session.patches.replace(utils, name, functools.partial(self._wrap, argument=argument))

    @property
    def limit(self) -> tuple[str, float] | None:
        """The function of `torch.nn.utils` that was called last and its limit; None where it has never found a gradient."""
        return None if self.calls and self.calls == self.empty else self._last

    @property
    def idle(self) -> bool:
        """Whether it was called again and again, and never found a gradient."""
        return self.calls == self.empty >= _ENOUGH

    def _wrap(self, original: Any, argument: str) -> Any:
        session = self._watch.session

        def clip(parameters: Any, limit: Any = None, *args: Any, **kwargs: Any) -> Any:
            if limit is None:
                limit = kwargs.pop(argument)
            if session.active:
                self._last = original.__name__, float(limit)
                session.safely("clipping", session.site, "clipping")
            with self._watch.tape.aside():
                found = original(parameters, limit, *args, **kwargs)
            if session.active and self._watch.torch.is_tensor(found):
                self.calls += 1
                self.empty += session.safely("clipping", lambda: float(found) == 0.0) is True
            return found

        return clip
