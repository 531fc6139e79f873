"""What the checks of the backward pass share: messages of the frameworks, and the names of weights."""

from __future__ import annotations

from collections.abc import Iterable

from harness.checks.model_facts import ParameterFacts

NO_KERAS_GRADIENTS = r"No gradients provided for any variable"
NO_GRAPH = r"does not require grad and does not have a grad_fn"


def names(parameters: Iterable[ParameterFacts]) -> str:
    """The first names of these weights, and how many more there are."""
    return listed(parameter.name for parameter in parameters)


def listed(found: Iterable[str]) -> str:
    """The first of these names, and how many more there are."""
    known = list(found)
    return ", ".join(known[:6]) + (f", and {len(known) - 6} more" if len(known) > 6 else "")
