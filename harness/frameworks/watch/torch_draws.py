"""Draws from distributions whose parameters are to be learnt: with a way back for the gradient, or without."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_KEPT = 16
_LEAST = 3


class Draws:
    """Wraps `sample` and `log_prob` of torch's distributions.

    A draw whose probability is asked for is a policy's action, and its gradient goes that way. Any other draw from a distribution that
    could have been drawn from with `rsample` says nothing to what made its parameters.
    """

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._drawn: dict[int, tuple[Any, Place | None]] = {}
        self._steps = 0

    def attach(self) -> None:
        distributions = self._watch.torch.distributions
        classes = {cls for cls in vars(distributions).values() if isinstance(cls, type) and issubclass(cls, distributions.Distribution)}
        for cls in classes:
            for name, wrap in (("sample", self._wrap_sample), ("log_prob", self._wrap_log_prob), ("entropy", self._wrap_entropy)):
                if name in vars(cls):
                    self._watch.session.patches.replace(cls, name, wrap)

    def _wrap_sample(self, original: Any) -> Any:
        session, torch = self._watch.session, self._watch.torch

        @functools.wraps(original)
        def sample(distribution: Any, *args: Any, **kwargs: Any) -> Any:
            drawn = original(distribution, *args, **kwargs)
            if session.active and torch.is_grad_enabled() and self._watch.in_full:
                session.safely("a draw", self._keep, distribution, drawn)
            return drawn

        return sample

    def _keep(self, distribution: Any, drawn: Any) -> None:
        if not getattr(distribution, "has_rsample", False) or drawn.requires_grad or len(self._drawn) >= _KEPT:
            return
        parts = [distribution, *[part for part in vars(distribution).values() if hasattr(part, "__dict__") and not self._is_tensor(part)]]
        if any(self._is_tensor(value) and value.requires_grad for part in parts for value in vars(part).values()):
            self._drawn[id(drawn)] = (drawn, self._watch.session.sites.place())

    def _is_tensor(self, value: Any) -> bool:
        return bool(self._watch.torch.is_tensor(value))

    def _wrap_log_prob(self, original: Any) -> Any:
        @functools.wraps(original)
        def log_prob(distribution: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
            self._drawn.pop(id(value), None)
            made = original(distribution, value, *args, **kwargs)
            if self._watch.session.active and self._is_tensor(made):
                self._watch.session.safely("a policy", self._watch.policy.gave, made)
            return made

        return log_prob

    def _wrap_entropy(self, original: Any) -> Any:
        @functools.wraps(original)
        def entropy(distribution: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(distribution, *args, **kwargs)
            if self._watch.session.active and self._is_tensor(made):
                self._watch.session.safely("a policy's entropy", self._watch.policy.spread, made)
            return made

        return entropy

    def stepped(self) -> None:
        """A step is over. After some in which a draw was left without a gradient, that is no exception."""
        if self._drawn:
            self._steps += 1
            place = site(next(iter(self._drawn.values()))[1])
            if self._steps == _LEAST and place is not None:
                self._watch.seen.sites.setdefault("drawn", place)
        self._drawn = {}
