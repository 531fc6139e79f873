"""Losses that layers of Keras bring with them, in steps of the script's own that do not ask for them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.checks.loss_facts import UnaddedFacts
from harness.frameworks.watch import keras_hidden, parsed
from harness.frameworks.watch.keras_trace import numpy_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_ASKING = ("compute_loss", "compiled_loss", "train_on_batch", "test_on_batch")


def measure(watch: KerasWatcher) -> None:
    """After the script: what the layers of a model want added, where a loop or a `train_step` of the script's own never reads it."""
    model = watch.steps.model
    if not _own_steps(watch, model) or _asks(watch.session.script):
        return
    stepped = [part for part in watch.models.fresh() if keras_hidden.ids_of(part.trainable_variables) & watch.held]
    for known in {id(part): part for part in [model, *stepped] if part is not None}.values():
        wanted = [float(numpy_of(loss)) for loss in known.losses]
        if any(wanted):
            kinds = sorted({type(regularizer).__name__ for layer in known._flatten_layers() for regularizer in _regularizers(layer)})
            watch.seen.unadded = UnaddedFacts(losses=len(wanted), total=sum(wanted), kinds=kinds)
            return


def _asks(script: Path) -> bool:
    """Whether a script reads the `losses` of anything but Keras, or leaves them to a method that adds them."""
    for node in ast.walk(parsed.tree(str(script))):
        if isinstance(node, ast.Attribute):
            of_keras = ast.unparse(node.value).rpartition(".")[2] in ("keras", "tf_keras", "K")
            inherited = node.attr == "train_step" and "super(" in ast.unparse(node.value)
            if (node.attr == "losses" and not of_keras) or node.attr in _ASKING or inherited:
                return True
    return False


def _own_steps(watch: KerasWatcher, model: Any) -> bool:
    """Whether the steps are taken by a `train_step` of the script's own, or by a loop and by nothing else."""
    code = getattr(getattr(type(model), "train_step", None), "__code__", None)
    if code is not None and watch.session.sites.is_own(code.co_filename):
        return True
    return watch.first_loop is not None and "fit" not in watch.seen.sites


def _regularizers(layer: Any) -> list[Any]:
    return [value for name in dir(type(layer)) + list(vars(layer)) if name.endswith("_regularizer")
            and (value := getattr(layer, name, None)) is not None]
