"""The shares of two classes that a loss gives each row, whether as numbers or as weights of two losses of the same answers."""

from __future__ import annotations

from typing import Any

_APART = 1e-3


def shares(torch: Any, loss: Any, records: list[Any]) -> Any:
    """float[rows, classes] of a cross entropy's targets, or of two cross entropies with classes of their own; None for other losses."""
    entropies = [record for record in records if record.facts.name == "cross_entropy" and torch.is_tensor(record.target)]
    if len(entropies) != len(records) or not entropies or entropies[0].inputs.dim() != 2:
        return None
    first = entropies[0]
    if len(entropies) == 1:
        return first.target.detach() if first.target.is_floating_point() else None
    if len(entropies) > 2 or entropies[1].inputs is not first.inputs or any(record.target.is_floating_point() for record in entropies):
        return None
    if any(record.output.dim() for record in entropies):
        return None  # of every row its own, weighed by the script
    one, other, whole = (float(value.detach()) for value in (first.output, entropies[1].output, loss))
    if abs(one - other) < _APART * abs(one):
        return None
    share = (whole - other) / (one - other)
    if not 0 <= share <= 1:
        return None
    classes = first.inputs.shape[1]
    hot = [torch.nn.functional.one_hot(record.target, classes).float() for record in entropies]
    return share * hot[0] + (1 - share) * hot[1]
