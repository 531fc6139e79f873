"""Policies that learn from what their actions were worth: does a step make good actions likelier?"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import PolicyFacts
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.sites import names_of, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_STEPS, _KEPT, _LEAST = 6, 2000, 8
# Names of what is to become large, and of what is to become small.
_WORTH = re.compile(r"adv|return|reward|gain|gae|rtg|^(g|gs|r|rs|rets?|td|delta)$", re.IGNORECASE)
_COST = re.compile(r"cost|loss|neg|penal|regret|error", re.IGNORECASE)


class Policy:
    """Told of the log-probabilities of actions, and of losses that go backward."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._logs: list[Any] = []
        self._looked = 0

    def gave(self, log: Any) -> None:
        """`log_prob` of a distribution gave this, float[actions], with a gradient."""
        if self._looked < _STEPS and len(self._logs) < _KEPT and log.requires_grad:
            self._logs.append(log)

    def stepped(self) -> None:
        """An optimizer has stepped."""
        self._logs = []

    def committed(self, loss: Any) -> None:
        """A loss is about to go backward: how its derivative by the log-probabilities lies to what their actions were worth."""
        if not self._logs or self._looked >= _STEPS:
            return
        self._looked += 1
        logs, wanted = self._logs, _worth(self._watch.session.script)
        parts = self._watch.torch.autograd.grad(loss.sum(), logs, retain_graph=True, allow_unused=True)
        zeros = self._watch.torch.zeros_like
        pulls = [tensors.array(zeros(log) if part is None else part) for part, log in zip(parts, logs, strict=True)]
        pull = np.concatenate([part.reshape(-1) for part in pulls if part is not None]).astype(np.float64)
        found = {}
        for frame in self._watch.session.sites.frames():
            names = names_of(frame)
            for name, line in wanted.items():
                value = tensors.array(names.get(name)) if name not in found else None
                if value is not None and value.size == pull.size >= _LEAST and value.dtype.kind == "f":
                    found[name] = _cosine(pull, value.reshape(-1).astype(np.float64)), line
        if not found:
            return
        name, (along, _) = max(found.items(), key=lambda each: abs(each[1][0]))
        line = max(line for _, line in found.values())  # the others are what it was made of
        known = self._watch.seen.policy = self._watch.seen.policy or PolicyFacts(
            name=name, site=site((str(self._watch.session.script), line, "<module>")))
        # What was left of it by a baseline may be of the other sign; then nothing is said.
        known.along.append(along if all(cosine * along > 0 for cosine, _ in found.values()) else 0.0)


def _cosine(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / size if size > 0 else 0.0


def _worth(script: Path) -> dict[str, int]:
    """The names of the script's by which something is multiplied, and that speak of what an action was worth; and the last line of it."""
    found: dict[str, int] = {}
    products = [node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)]
    for node in products:
        for side in (node.left, node.right):
            plain = next((part for part in ast.walk(side) if isinstance(part, ast.Name)), None) if not isinstance(side, ast.BinOp) else None
            if plain is not None and _WORTH.search(plain.id) and not _COST.search(plain.id):
                found[plain.id] = max(node.lineno, found.get(plain.id, node.lineno))
    return found
