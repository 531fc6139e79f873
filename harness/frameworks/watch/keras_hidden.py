"""Variables that a layer of Keras 3 keeps and does not know as weights."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass
class Hidden:
    """A `tf.Variable` in an attribute of a layer, with the value that it had at first."""

    layer: Any
    attribute: str
    variable: Any
    value: Any

    def describe(self) -> str:
        """Its name and shape."""
        return f"{self.layer.name}.{self.attribute} {tuple(self.variable.shape)}"

    def unmoved(self) -> bool:
        """Whether it still has its first value: what the script assigns to by itself is no weight."""
        return bool(np.array_equal(self.variable.numpy(), self.value))


def variables(model: Any) -> list[Hidden]:
    """Trainable floating tables in attributes of a model and its layers that are none of its variables.

    Numbers of one element, and tables of one value, are settings and counters more often than weights.
    """
    import tensorflow as tf

    known = {id(getattr(variable, "value", None)) for variable in model.variables} | {id(variable) for variable in model.variables}
    found = []
    for layer in (model, *(part for part in model._flatten_layers() if part is not model)):
        for name, value in vars(layer).items():
            if isinstance(value, tf.Variable) and value.trainable and value.dtype.is_floating and id(value) not in known:
                first = np.array(value.numpy())
                if first.size > 1 and first.min() < first.max():
                    found.append(Hidden(layer, name, value, first))
    return found


def line_of(script: Path, attribute: str) -> int | None:
    """The line of a script that puts a `Variable` into this attribute of something."""
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and getattr(node.value.func, "attr", "") == "Variable" and any(
                isinstance(target, ast.Attribute) and target.attr == attribute for target in node.targets):
            return node.lineno
    return None
