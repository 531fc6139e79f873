"""Policies that learn from what their actions were worth: does a step make good actions likelier?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import tensors, worth
from harness.frameworks.watch.sites import names_of

if TYPE_CHECKING:
    from harness.checks.loss_facts import PolicyFacts
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
        if self._watch.seen.policy is not None:
            self._watch.session.safely("a worth with a gradient", self._attached, loss, self._watch.seen.policy)

    def _attached(self, loss: Any, facts: PolicyFacts) -> None:
        """What the loss wants of the worth of actions: a critic alone is asked for what came, whatever the actions' log-probabilities."""
        valued = next((value for frame in self._watch.session.sites.frames() for name, value in names_of(frame).items()
                       if name == facts.name and tensors.is_tensor(value)), None)
        if valued is None or not valued.requires_grad:
            facts.attached.append(0.0)
            return
        found, = self._watch.torch.autograd.grad(loss.sum(), [valued], retain_graph=True, allow_unused=True)
        logs = self._watch.torch.cat([log.detach().reshape(-1) for log in self._logs])
        if found is not None and found.numel() == logs.numel():
            plain = [np.asarray(tensors.array(part), np.float64).reshape(-1) for part in (found, logs, valued)]
            facts.attached.append(worth.beside(*plain))
