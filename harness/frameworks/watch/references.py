"""Weights that a script means to keep while it trains on, and of which it keeps references: read off its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of

# A whole expression by its text: of `self.net.load_state_dict(best["model"])` the model and what it is given.
_Put = tuple[str, str]
_VARIABLES = ("weights", "variables", "trainable_weights", "trainable_variables")
_SHARING = ("detach", "numpy", "from_numpy", "as_tensor")  # on the CPU
_SIDES = 2


def kept(script: Path) -> list[int]:
    """The lines on which `state_dict()` of a model is kept as it is, under a condition, and put back into the same model elsewhere."""
    tree = parsed.tree(str(script))
    puts = {(ast.unparse(call.func.value), ast.unparse(_shared(call.args[0]))) for call in ast.walk(tree)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict" and call.args}
    conditions = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    found = [node for condition in conditions for part in condition.body for node in ast.walk(part)
             if isinstance(node, ast.Assign) and any(put in puts for put in _puts(node))]
    return sorted({line for node in found for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)})


def variables(script: Path) -> list[int]:
    """The lines on which the list of a Keras model's variables is kept under a condition, and its variables are given these elsewhere."""
    tree = parsed.tree(str(script))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    put = {(ast.unparse(call.func.value), ast.unparse(call.args[0])) for call in calls
           if isinstance(call.func, ast.Attribute) and call.func.attr == "set_weights" and call.args}
    for loop in (node for node in ast.walk(tree) if isinstance(node, ast.For) and isinstance(node.iter, ast.Call)):
        sides = loop.iter.args if isinstance(loop.iter, ast.Call) and name_of(loop.iter.func) == "zip" else []
        assigned = any(call.func.attr == "assign" for part in loop.body for call in ast.walk(part)
                       if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute))
        if len(sides) == _SIDES and assigned and (model := _variables_of(sides[0])) is not None:
            put.add((model, ast.unparse(sides[1])))
    kept_there = [node for condition in ast.walk(tree) if isinstance(condition, ast.If) for part in condition.body
                  for node in ast.walk(part) if isinstance(node, ast.Assign)
                  and any((_variables_of(value), ast.unparse(target)) in put for target, value in _pairs(node))]
    return sorted({node.lineno for node in (*kept_there, *_listed(tree))})


def _listed(tree: ast.Module) -> Iterator[ast.Assign]:
    """`kept = {v.path: v.value for v in model.variables}`, out of which variables are assigned elsewhere: `v.assign(kept[v.path])`."""
    assigned = {ast.unparse(part.value) for call in ast.walk(tree) if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
                and call.func.attr == "assign" for part in call.args if isinstance(part, ast.Subscript)}
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.Assign)):
        for target, made in _pairs(node):
            if isinstance(made, ast.DictComp | ast.ListComp) and len(made.generators) == 1 and ast.unparse(target) in assigned:
                over, one = made.generators[0].iter, made.generators[0].target
                value = made.value if isinstance(made, ast.DictComp) else made.elt
                value = value.value if isinstance(value, ast.Attribute) and value.attr == "value" else value
                if isinstance(over, ast.Attribute) and over.attr in _VARIABLES and ast.unparse(value) == ast.unparse(one):
                    yield node


def checkpoints(script: Path) -> tuple[int, list[str], list[str]] | None:
    """The line of a `tf.train.Checkpoint` that is restored and whose parts have other names than those of every one that is saved, with
    these names, saved and wanted. None where a script has none, or has one whose names are not written out."""
    tree = parsed.tree(str(script))
    made = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "tf.train.Checkpoint"]
    if len(made) < _SIDES or any(call.args or not call.keywords or any(word.arg is None for word in call.keywords) for call in made):
        return None
    names = {id(node.value): ast.unparse(node.targets[0]) for node in ast.walk(tree) if isinstance(node, ast.Assign)}
    restored = {ast.unparse(node.func.value): node for node in ast.walk(tree) if isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute) and node.func.attr in ("restore", "read")}
    read = [call for call in made if names.get(id(call)) in restored or ast.unparse(call) in restored]
    saved = {word.arg for call in made if call not in read for word in call.keywords if word.arg}
    for call in read:
        wanted = [word.arg for word in call.keywords if word.arg]
        if saved and not saved & set(wanted):
            return call.lineno, sorted(saved), wanted
    return None


def _variables_of(value: ast.expr) -> str | None:
    """The model of `model.weights`, of `list(model.trainable_variables)` and of `[v for v in model.weights]`."""
    if isinstance(value, ast.Call) and name_of(value.func) in ("list", "tuple") and len(value.args) == 1:
        return _variables_of(value.args[0])
    if isinstance(value, ast.ListComp) and len(value.generators) == 1 and ast.unparse(value.elt) == ast.unparse(value.generators[0].target):
        return _variables_of(value.generators[0].iter)
    return ast.unparse(value.value) if isinstance(value, ast.Attribute) and value.attr in _VARIABLES else None


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is assigned to what: part by part where several are."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(target.elts) == len(node.value.elts):
            yield from zip(target.elts, node.value.elts, strict=True)
        else:
            yield target, node.value


def _shared(made: ast.expr) -> ast.expr:
    """Of `{name: value.detach().numpy() for name, value in state.items()}` the `state`: what these make shares its memory. Anything else is
    given back as it is."""
    if isinstance(made, ast.Call) and name_of(made.func) in ("dict", "OrderedDict") and len(made.args) == 1 and not made.keywords:
        made = made.args[0] if isinstance(made.args[0], ast.Call | ast.DictComp) else made
    over = made.generators[0] if isinstance(made, ast.DictComp) and len(made.generators) == 1 else None
    items = over.iter if over is not None else made
    if not (isinstance(items, ast.Call) and isinstance(items.func, ast.Attribute) and items.func.attr == "items" and not items.args):
        return made
    if isinstance(made, ast.DictComp) and over is not None:
        pair = over.target.elts if isinstance(over.target, ast.Tuple) else []
        if over.ifs or len(pair) != _SIDES or ast.unparse(pair[0]) != ast.unparse(made.key) or (
                ast.unparse(_memory(made.value)) != ast.unparse(pair[1])):
            return made
    return items.func.value


def _memory(value: ast.expr) -> ast.expr:
    """What `value.detach().numpy()` and `torch.from_numpy(value)` read, without a copy."""
    while isinstance(value, ast.Call | ast.Attribute):
        if isinstance(value, ast.Attribute) and value.attr == "data":
            value = value.value
        elif (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SHARING and not value.keywords):
            value = value.args[0] if len(value.args) == 1 else value.func.value
        else:
            break
    return value


def _puts(node: ast.Assign) -> Iterator[_Put]:
    """What would put back what is assigned: under the same name, or as a part of the dict or tuple that has it."""
    for target in node.targets:
        name, value = ast.unparse(target), node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = [(ast.unparse(one), part) for one, part in zip(target.elts, value.elts, strict=True)]
        elif isinstance(value, ast.Dict):
            pairs = [(f"{name}[{ast.unparse(key)}]", part) for key, part in zip(value.keys, value.values, strict=True) if key is not None]
        elif isinstance(value, ast.Tuple | ast.List):
            pairs = [(f"{name}[{number}]", part) for number, part in enumerate(value.elts)]
        elif isinstance(value, ast.Call) and name_of(value.func) == "dict":
            pairs = [(f"{name}['{word.arg}']", word.value) for word in value.keywords]
        else:
            pairs = [(name, value)]
        for kept_as, made in pairs:
            part = _shared(made)
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "state_dict" and not (
                    part.args or part.keywords):
                yield ast.unparse(part.func.value), kept_as
