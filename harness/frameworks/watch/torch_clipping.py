"""Gradients that a script clips, and calls for that which come when there is none, or when the step has been taken."""

from __future__ import annotations

import functools
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.checks.model_facts import OptimizerFacts
    from harness.frameworks.watch.torch_watch import TorchWatcher

_ENOUGH, _RECENT = 10, 200


class Clipping:
    """Hooks gradient clipping. `calls`: how often a norm was clipped, `empty`: how often of these there was no gradient to clip, `late`:
    how often the only optimizer had taken its step along it.

    `scale`: what a `GradScaler` has multiplied the gradients by that were clipped last, if nothing has divided them again before.
    """

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._last: tuple[str, float] | None = None
        self.calls = self.empty = self.late = 0
        self.scale = 1.0
        self._before = 0  # backward passes before the first call
        self._held = 1.0  # the scale of the gradients of now
        self._shares: deque[float] = deque(maxlen=_RECENT)

    def attach(self) -> None:
        """Hook both functions."""
        utils = self._watch.torch.nn.utils
        for name, argument in (("clip_grad_norm_", "max_norm"), ("clip_grad_value_", "clip_value")):
            self._watch.session.patches.replace(utils, name, functools.partial(self._wrap, argument=argument))
        scaler = getattr(self._watch.torch.amp, "GradScaler", None)
        if scaler is not None:
            self._watch.session.patches.replace(scaler, "scale", functools.partial(self._wrap_scaler, scales=True))
            self._watch.session.patches.replace(scaler, "unscale_", functools.partial(self._wrap_scaler, scales=False))

    @property
    def limit(self) -> tuple[str, float] | None:
        """The function of `torch.nn.utils` that was called last and its limit, for gradients that nothing has scaled; None where it has
        never found a gradient."""
        if self._last is None or (self.calls and self.calls == self.empty):
            return None
        return self._last[0], self._last[1] / self.scale

    @property
    def share(self) -> float | None:
        """What clipping leaves of a gradient's norm, as a part of it (0 to 1): median of the calls; None where no norm was clipped."""
        found = sorted(self._shares)
        return found[len(found) // 2] if found and self._last is not None and self._last[0] == "clip_grad_norm_" else None

    @property
    def idle(self) -> bool:
        """Whether it was called again and again, and never found a gradient, although losses went backward meanwhile."""
        return self.calls == self.empty >= _ENOUGH and self._watch.steps.backwards - self._before >= self.calls // 2

    @property
    def too_late(self) -> bool:
        """Whether every step is taken before its gradients are clipped."""
        return self.calls == self.late >= _ENOUGH

    def finish(self, facts: OptimizerFacts) -> None:
        """What was seen of it."""
        facts.clips_late = self.too_late
        facts.clips_nothing, facts.clip_share, facts.clips_scaled = self.idle, self.share, self.scale > 1

    def _wrap_scaler(self, original: Any, *, scales: bool) -> Any:
        def scaled(scaler: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(scaler, *args, **kwargs)
            if self._watch.session.active:
                self._held = (self._watch.session.safely("a scale", scaler.get_scale) or 1.0) if scales else 1.0
            return made

        return scaled

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
                self._before = self._before if self.calls else self._watch.steps.backwards
                self.calls, self.scale = self.calls + 1, self._held
                session.safely("clipping", lambda: self._shares.append(min(1.0, float(limit) / (float(found) + 1e-12))))
                steps = self._watch.steps
                self.late += bool(steps.steps) and len(steps.stepping) == 1 and steps.since_last == 0
                self.empty += session.safely("clipping", lambda: float(found) == 0.0) is True
            return found

        return clip
