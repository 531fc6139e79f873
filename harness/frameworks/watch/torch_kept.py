"""Tensors with a history that modules keep, as attributes or buffers: they belong to a graph that the first backward pass frees."""

from __future__ import annotations

from typing import Any

from harness.frameworks.watch import written
from harness.frameworks.watch.sites import Place, Sites


def assignment(torch: Any, roots: list[Any], sites: Sites) -> Place | None:
    """Where a module of the script's own keeps such a tensor, None where none does."""
    for module in (module for root in roots for module in root.modules()):
        for name, value in {**vars(module), **module._buffers}.items():
            if torch.is_tensor(value) and value.grad_fn is not None:
                place = written.attribute(type(module), name, sites)
                if place is not None:
                    return place
    return None
