"""Policies that learn from what their actions were worth: does a step make good actions likelier?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import tensors, worth

if TYPE_CHECKING:
    from harness.checks.tensor_facts import Site
    from harness.frameworks.watch.torch_watch import TorchWatcher

_STEPS, _KEPT = 6, 2000


class Policy:
    """Told of the log-probabilities of actions, and of losses that go backward."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._logs: list[Any] = []
        self._entropies: list[tuple[Any, Site | None]] = []
        self._looked = 0

    def gave(self, log: Any) -> None:
        """`log_prob` of a distribution gave this, float[actions], with a gradient."""
        if self._looked < _STEPS and len(self._logs) < _KEPT and log.requires_grad:
            self._logs.append(log)

    def spread(self, entropy: Any) -> None:
        """`entropy` of a distribution gave this, float[actions], with a gradient."""
        if self._looked < _STEPS and len(self._entropies) < _KEPT and entropy.requires_grad:
            self._entropies.append((entropy, self._watch.session.sites.here()))

    def stepped(self) -> None:
        """An optimizer has stepped."""
        self._logs, self._entropies = [], []

    def committed(self, loss: Any) -> None:
        """A loss is about to go backward: how its derivative by the log-probabilities lies to what their actions were worth."""
        if not self._logs or self._looked >= _STEPS:
            return
        self._looked += 1
        if self._entropies:  # of what actions are drawn from
            by = self._watch.torch.autograd.grad(loss.sum(), [made for made, _ in self._entropies], retain_graph=True, allow_unused=True)
            worth.entropy(self._watch.seen, sum(float(part.sum()) for part in by if part is not None), self._entropies[0][1])
        logs, zeros = self._logs, self._watch.torch.zeros_like
        parts = self._watch.torch.autograd.grad(loss.sum(), logs, retain_graph=True, allow_unused=True)
        pulls = [tensors.array(zeros(log) if part is None else part) for part, log in zip(parts, logs, strict=True)]
        pull = np.concatenate([part.reshape(-1) for part in pulls if part is not None])
        worth.note(self._watch.seen, self._watch.session.sites, pull, tensors.array)
