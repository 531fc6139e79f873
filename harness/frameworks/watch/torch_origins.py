"""Where parts of a model come from: the lines that draw its weights, build its saturating activations, and build its loss."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import repeated, stored
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_DRAWING = ("uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_",
            "kaiming_normal_", "orthogonal_")
_SATURATING = ("Sigmoid", "Tanh", "Hardsigmoid", "Hardtanh", "Softsign")
_FRAMES = 6


class Origins:
    """Hooks the functions of `torch.nn.init`."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch

    def attach(self) -> None:
        for name in _DRAWING:
            self._watch.session.patches.replace(self._watch.torch.nn.init, name, self._wrap)

    def _wrap(self, original: Any) -> Any:
        session = self._watch.session

        def draw(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if session.active and getattr(tensor, "ndim", 0) > 1 and "weights_drawn" not in self._watch.seen.sites:
                place = session.sites.direct()  # layers draw their weights by the same functions
                if place is not None:
                    session.site("weights_drawn", site(place))
            return original(tensor, *args, **kwargs)

        return draw

    def loss(self) -> None:
        """A function of a loss is called: where the module that calls it was built, if one does."""
        if "criterion" in self._watch.seen.sites:
            return
        frame = sys._getframe(1)
        for _ in range(_FRAMES):
            if frame.f_back is None:
                return
            frame = frame.f_back
            if frame.f_code.co_filename.endswith("torch/nn/modules/loss.py"):
                place = self._watch.calls.place_of(frame.f_locals.get("self"))
                if place is not None:
                    self._watch.session.site("criterion", site(place))
                return

    def finish(self) -> None:
        """Where the first activation of a model that saturates at both ends was built."""
        session = self._watch.session
        repeated.of_torch(session, self._watch.roots)
        session.noted("parameters_drawn", stored.drawn_parameter(session.script, session.sites))
        modules = [module for root in self._watch.roots for module in root.modules() if type(module).__name__ in _SATURATING]
        place = next((found for module in modules if (found := self._watch.calls.place_of(module)) is not None), None)
        if place is not None:
            self._watch.session.site("saturating", site(place))
