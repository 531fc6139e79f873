"""Which part of a batch the labels are, where its parts have no names: lengths, weights or masks may stand behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.frameworks.watch import tensors, torch_batches, trees


@dataclass
class Parts:
    """Of the batches of one loader: the parts that a model was given, and those that losses were; by their memory, so views count."""

    given: set[str] = field(default_factory=set)
    compared: set[str] = field(default_factory=set)

    def called(self, batch: Any, arguments: Any) -> None:
        """A model that learns is called."""
        self.given |= _among(batch, arguments)

    def asked(self, batch: Any, target: Any) -> None:
        """A loss is computed against `target`."""
        self.compared |= _among(batch, target)

    def target(self, batch: Any) -> str | None:
        """The part that holds the labels, where that is not the last one; None where it is, or nothing tells."""
        parts = [key for key, part in torch_batches.columns_of(batch).items() if tensors.is_tensor(part)]
        if len(parts) < 2 or not isinstance(batch, list | tuple) or set(torch_batches.LABELS) & set(parts) or parts[-1] in self.compared:
            return None
        found = self.compared - self.given
        if not found and parts[-1] in self.given:
            found = set(parts) - self.given  # a loss of the script's own arithmetic: what no model is given is what it is asked for
        return next(iter(found)) if len(found) == 1 else None


def _among(batch: Any, used: Any) -> set[str]:
    memory = {tensors.storage(tensor) for tensor in trees.leaves(used, tensors.is_tensor)}
    return {key for key, part in torch_batches.columns_of(batch).items() if tensors.is_tensor(part) and tensors.storage(part) in memory}
