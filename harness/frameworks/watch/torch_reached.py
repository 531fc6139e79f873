"""Weights of a PyTorch model that no gradient reached before the first step, and those of a last layer that is frozen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.checks.model_facts import ParameterFacts

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher


def _known(watch: TorchWatcher) -> list[tuple[ParameterFacts, Any]]:
    facts = watch.seen.model.parameters if watch.seen.model is not None else []
    return list(zip(facts, watch.models.own_weights(), strict=False))


def unreached(watch: TorchWatcher) -> list[Any]:
    """Weights that took part, are to be trained, and got no gradient before the first step."""
    return [weight for known, weight in _known(watch) if known.trainable and known.used and known.gradient_norm is None]


def asleep(watch: TorchWatcher) -> list[tuple[ParameterFacts, Any]]:
    """Weights that an optimizer holds, of parts that were never called, and without a gradient: some may be used all the same."""
    return [(known, weight) for known, weight in _known(watch)
            if known.trainable and known.used is False and known.in_optimizer and known.gradient_norm is None]


def frozen_head(watch: TorchWatcher) -> list[Any]:
    """The weights of the last layer, where it is frozen."""
    every = [(known, weight) for known, weight in _known(watch) if not known.table]
    layer = every[-1][0].name.rpartition(".")[0] if every else ""
    head = [(known, weight) for known, weight in every if known.name.rpartition(".")[0] == layer]
    return [] if any(known.trainable for known, _ in head) else [weight for _, weight in head]
