"""Variables that a Keras model computes with and does not know as its weights."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.frameworks.watch import alive, parsed


@dataclass
class Hidden:
    """A `tf.Variable` with the value that it had at first. `owner`: the layer that made it or has it in an `attribute`, where known."""

    name: str
    variable: Any
    value: Any
    attribute: str = ""
    owner: Any = None

    def describe(self) -> str:
        """Its name and shape."""
        return f"{self.name} {tuple(self.variable.shape)}"

    def unmoved(self) -> bool:
        """Whether it still has its first value: what the script assigns to by itself is no weight."""
        return bool(np.array_equal(self.variable.numpy(), self.value))


def variables(model: Any, script: Path) -> list[Hidden]:
    """Trainable floating tables in attributes of a model and its layers that are none of its variables.

    Numbers of one element, and tables of one value, are settings and counters more often than weights, unless the script says of one that
    it is to be trained.
    """
    import tensorflow as tf

    known = ids_of(model.variables)
    found = []
    for layer in (model, *(part for part in model._flatten_layers() if part is not model)):
        for name, value in vars(layer).items():
            if isinstance(value, tf.Variable) and id(value) not in known and (
                    first := _table(value, number=said(script, name))) is not None:
                found.append(Hidden(f"{layer.name}.{name}", value, first, name, layer))
    return found


def strangers(keras: Any, model: Any, watched: Iterable[Any], script: Path) -> list[Hidden]:
    """Those of the variables that a tape has `watched` which no model knows: layers in an object that Keras does not look into, or
    outside of every model. `attribute`: of the model's, through which the layer is reached, or of the layer's, which keeps the variable."""
    known_layers = [found for found in alive.objects() if isinstance(found, keras.layers.Layer)]
    known = {key for found in known_layers if isinstance(found, keras.Model) for key in ids_of(found.variables)}
    found = []
    for variable in watched:
        if id(variable) in known:
            continue
        keeper, attribute = next(((layer, name) for layer in known_layers for name, value in vars(layer).items() if not name.startswith("_")
                                  and any(inner is variable for inner in (value, *items(value)))), (None, ""))
        # What a layer keeps and computes with under a tape is a weight, also where it begins as ones.
        first = _table(variable, even=keeper is not None, number=bool(attribute) and said(script, attribute))
        if first is None:
            continue
        holders = [layer for layer in known_layers if id(variable) in ids_of(layer.variables)]
        owner = min(holders, key=lambda layer: len(layer.variables), default=None)
        name = str(getattr(variable, "path", None) or variable.name).removesuffix(":0")
        found.append(Hidden(name, variable, first, _holding(model, owner) if owner is not None else attribute, owner or keeper))
    return found


def ids_of(variables: Iterable[Any]) -> set[int]:
    """Of variables, and of what those of Keras 3 stand for."""
    # In the Keras before, `value` is a method, and each look at one makes another object.
    return {id(part) for variable in variables for part in (variable, getattr(variable, "value", variable)) if not callable(part)}


def _table(variable: Any, *, even: bool = False, number: bool = False) -> Any:
    """The value of a variable that may be a weight; None for settings and counters. `even`: a table of one value may be one too; so may a
    `number`."""
    if not variable.trainable or not variable.dtype.is_floating:
        return None
    value = np.array(variable.numpy())
    return value if number or (value.size > 1 and (even or value.min() < value.max())) else None


def _holding(model: Any, layer: Any, depth: int = 3) -> str:
    """The attribute of a model through which a layer is reached."""
    for name, value in vars(model).items():
        level = [] if name.startswith("_") else [value]
        for _ in range(depth):
            if any(found is layer for found in level):
                return str(name)
            level = [inner for found in level for inner in _inside(found)]
    return ""


def _inside(value: Any) -> list[Any]:
    return items(value) or list(getattr(value, "__dict__", {}).values())


def items(value: Any) -> list[Any]:
    """What a list, tuple or dict holds; nothing of anything else."""
    if isinstance(value, list | tuple):
        return list(value)
    return list(value.values()) if isinstance(value, dict) else []


def line_of(script: Path, attribute: str) -> int | None:
    """The line of a script that puts a `Variable`, or a list or dict that is made of such, into this attribute of something, or into a list
    there."""
    return next((made.lineno for made, _ in _kept(script, attribute)), None)


def said(script: Path, attribute: str) -> bool:
    """Whether the script says of the `Variable` that it puts into this attribute that it is to be trained."""
    return any(word.arg == "trainable" and isinstance(word.value, ast.Constant) and word.value.value is True
               for _, call in _kept(script, attribute) for word in call.keywords)


def _kept(script: Path, attribute: str) -> Iterator[tuple[ast.Assign | ast.Call, ast.Call]]:
    """What puts a `Variable` into this attribute, and the call that makes it."""
    for node in ast.walk(parsed.tree(str(script))):
        value: ast.expr
        targets: list[ast.expr]
        if isinstance(node, ast.Assign):
            value, targets = node.value, node.targets
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append" and len(node.args) == 1:
            value, targets = node.args[0], [node.func.value]
        else:
            continue
        inside = [value] if isinstance(value, ast.Call) else list(ast.walk(value))
        made = next((part for part in inside if isinstance(part, ast.Call) and getattr(part.func, "attr", "") == "Variable"), None)
        if made is not None and any(isinstance(target, ast.Attribute) and target.attr == attribute for target in targets):
            yield node, made


def made_in_call(script: Path) -> int | None:
    """The line of a script on which a `call` makes what it calls, anew each time: `Dense(8)(x)`; None where there is not one such line."""
    calls = (node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.FunctionDef) and node.name == "call")
    lines = {node.lineno for call in calls for node in ast.walk(call) if isinstance(node, ast.Call) and isinstance(node.func, ast.Call)
             and getattr(node.func.func, "attr", getattr(node.func.func, "id", ""))[:1].isupper()}
    return lines.pop() if len(lines) == 1 else None
