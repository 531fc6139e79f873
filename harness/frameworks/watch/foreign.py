"""Weights that a script means to freeze by an attribute that its framework does not read: `module.requires_grad = False` of a PyTorch
module, or of a Keras layer. The line makes a new attribute, and the weights go on to learn."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import ForeignFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_optimizer import Optimizer

_OF_MODULES = ("requires_grad",)
_OF_PARAMETERS = ("require_grad", "required_grad", "requires_gradient", "requires_grads", "trainable")
_OF_LAYERS = ("requires_grad", "require_grad", "trainble", "is_trainable")


def of_torch(session: WatchSession, models: Iterable[Any], optimizers: Iterable[Optimizer]) -> None:
    """Of modules, and of their parameters: of those that an optimizer holds."""
    modules = [module for model in models for module in model.modules()]
    held = {id(weight) for known in optimizers for weight in known.weights()}

    def free(weights: Iterable[Any]) -> list[Any]:
        return [weight for weight in weights if weight.requires_grad and id(weight) in held]
    found = [(module, name, free(module.parameters())) for module in modules for name in _set(module, _OF_MODULES)]
    found += [(weight, name, [weight]) for module in modules for weight in free(module.parameters(recurse=False))
              for name in _set(weight, _OF_PARAMETERS)]
    _note(session, found)


def of_keras(session: WatchSession, layers: Iterable[Any]) -> None:
    """Of layers, and of their variables, where they have any yet."""
    every = [layer for layer in layers if getattr(layer, "built", False)]
    found = [(layer, name, list(layer.trainable_weights)) for layer in every for name in _set(layer, _OF_LAYERS)]
    found += [(weight, name, [weight]) for layer in every for weight in layer.trainable_weights for name in _set(weight, _OF_LAYERS)]
    _note(session, found)


def _set(owner: Any, names: tuple[str, ...]) -> Iterator[str]:
    """Those of these names that have been made an attribute of an object, and are False."""
    own = getattr(owner, "__dict__", None) or {}
    return (name for name in names if own.get(name) is False)


def _note(session: WatchSession, found: list[tuple[Any, str, list[Any]]]) -> None:
    seen = session.observation
    kept = [(owner, name, weights) for owner, name, weights in found if weights and not _read(session.script, name)]
    if seen.foreign is not None or not kept:
        return
    owner, name, _ = kept[0]
    lines = _written(session.script, name)
    weights = {id(weight) for _, other, held in kept for weight in held if other == name}
    seen.foreign = ForeignFacts(kind=type(owner).__name__, name=name, weights=len(weights),
                                site=site((str(session.script), lines[0], "<module>")) if lines else None)


def _written(script: Path, name: str) -> list[int]:
    return sorted(target.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Assign) for target in node.targets
                  if isinstance(target, ast.Attribute) and target.attr == name
                  and isinstance(node.value, ast.Constant) and node.value.value is False)


def _read(script: Path, name: str) -> bool:
    """Whether a script reads such an attribute itself; `requires_grad` it may well read of parameters."""
    return name != "requires_grad" and any(isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
                                           for node in ast.walk(parsed.tree(str(script))))
