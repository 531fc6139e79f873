"""Lists of layers that hold one layer many times over: `[Block()] * 4` makes one block."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from harness.checks.model_facts import RepeatedFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession


def look(session: WatchSession, lists: Iterable[Sequence[Any]], has_weights: Callable[[Any], bool]) -> None:
    """`lists`: those in which a model keeps its layers. Only what the script writes as a product, or takes into a list again and again, is
    no sharing on purpose."""
    for held in lists:
        layer, times = next(((layer, times) for layer in held if (times := Counter(map(id, held))[id(layer)]) > 1), (None, 0))
        if layer is not None and has_weights(layer):
            place = _written(session, type(layer).__name__)
            if place is not None:
                session.observation.repeated = RepeatedFacts(kind=type(layer).__name__, times=times, site=site(place))
                return


def of_torch(session: WatchSession, roots: Sequence[Any]) -> None:
    """Those of PyTorch modules."""
    inside = {id(module): module for root in roots for module in root.modules()}
    look(session, ([part for part in module._modules.values() if part is not None] for module in inside.values()),
         lambda layer: next(layer.parameters(), None) is not None)


def of_keras(session: WatchSession, model: Any) -> None:
    """Those of a Keras model."""
    inside = list(model._flatten_layers()) if hasattr(model, "_flatten_layers") else []
    found = (value for layer in inside for value in vars(layer).values() if isinstance(value, list | tuple))
    look(session, ([part for part in value if hasattr(part, "trainable_weights")] for value in found),
         lambda layer: bool(layer.trainable_weights))


def _written(session: WatchSession, kind: str) -> Place | None:
    """Where the script multiplies a list of one such layer, or names one layer for each turn of a loop."""
    script = str(session.script)
    products = (node for node in ast.walk(parsed.tree(script)) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult))
    lines = [*_named_again(parsed.tree(script)), *(
        node.lineno for node in products for side in (node.left, node.right)
        if isinstance(side, ast.List | ast.Tuple) and len(side.elts) == 1 and _makes(side.elts[0], kind))]
    return (script, min(lines), "<module>") if lines else None


def _named_again(tree: ast.Module) -> Iterator[int]:
    """`[head for _ in names]`, and `layers.append(block)` in a loop that does not make the block."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ListComp | ast.GeneratorExp) and isinstance(node.elt, ast.Name | ast.Attribute):
            bound = {part.id for loop in node.generators for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
            if not bound & {part.id for part in ast.walk(node.elt) if isinstance(part, ast.Name)}:
                yield node.lineno
        elif isinstance(node, ast.For):
            bound = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
            yield from (call.lineno for call in ast.walk(node) if isinstance(call, ast.Call) and name_of(call.func) == "append"
                        and len(call.args) == 1 and isinstance(call.args[0], ast.Name) and call.args[0].id not in bound)


def _makes(element: ast.expr, kind: str) -> bool:
    """Whether an element of a list is a layer of this class, or may be one: a name, or what a function makes."""
    if isinstance(element, ast.Call):
        name = name_of(element.func)
        return name == kind or not name[:1].isupper()
    return isinstance(element, ast.Name | ast.Attribute)
