"""Masks that attention layers of Keras are given, the wrong way round: what is real is hidden, and the filler is read."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.model_facts import UnmaskedFacts
from harness.frameworks.watch import filler_weights, fills, parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.keras_heard import Operation, listening
from harness.frameworks.watch.keras_trace import numpy_of, patched
from harness.frameworks.watch.sites import Place

_MOSTLY = 0.9
_COMPARING = ("equal", "not_equal")


def inverted(keras: Any, run: Callable[[], Any], given: list[Any]) -> UnmaskedFacts | None:
    """What the attention layers of a forward pass are given as `attention_mask`, where it stands at the filler alone. `run`: the pass, op
    by op; `given`: the arrays of its rows."""
    found: list[float] = []

    def enter(original: Any) -> Any:
        def wrapped(layer: Any, *args: Any, **kwargs: Any) -> Any:
            mask = kwargs.get("attention_mask")
            if mask is not None and len(mask.shape) > 1:
                read = np.asarray(numpy_of(mask)) != 0
                allowed = read if read.ndim == 2 else read.reshape(len(read), -1, read.shape[-1]).any(1)
                padded = next((ends for rows in given if (ends := fills.ends(rows, allowed.shape)) is not None), None)
                if padded is not None and allowed[~padded].mean() < 1 - _MOSTLY and allowed[padded].mean() > _MOSTLY:
                    found.append(float(padded.mean()))
            return original(layer, *args, **kwargs)

        return wrapped

    with patched(keras.layers.MultiHeadAttention, "__call__", enter):
        run()
    return UnmaskedFacts(kind="MultiHeadAttention", ones=True, batches=1, padded=1, share=max(found)) if found else None


def weighed(run: Callable[[], Any], given: list[Any]) -> UnmaskedFacts | None:
    """The same, of softmaxes that a script takes of scores of its own."""
    operations: list[Operation] = []
    with listening(operations, lambda: None):
        run()
    made = (one.made[0] for one in operations if one.kind == "Softmax" and len(one.made[0].shape) > 1)
    share = next((share for weights in made if (share := filler_weights.share(weights, -1, given)) is not None), None)
    return UnmaskedFacts(kind="softmax", weights=True, batches=1, padded=1, share=share) if share is not None else None


def wanted(script: Path) -> bool:
    """Whether a script gives attention layers of Keras a mask."""
    calls = [node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Call)]
    named = any(name_of(call.func) == "MultiHeadAttention" for call in calls)
    return named and any(word.arg == "attention_mask" for call in calls for word in call.keywords)


def made(script: Path) -> Place | None:
    """The only line on which a script compares something for what it calls a mask."""
    lines = {node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Assign)
             and any(isinstance(name, ast.Name) and "mask" in name.id for name in node.targets)
             and any(isinstance(part, ast.Compare) or (isinstance(part, ast.Call) and name_of(part.func) in _COMPARING)
                     for part in ast.walk(node.value))}
    return (str(script), lines.pop(), "<module>") if len(lines) == 1 else None
