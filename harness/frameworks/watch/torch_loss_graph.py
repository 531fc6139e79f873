"""PyTorch: the operations behind a loss, read off the graph that autograd keeps, and what they tell."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import overlaps_of_scores, reparameterized
from harness.frameworks.watch.nodes import Node
from harness.frameworks.watch.torch_graph import single

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_NODES = 6000
_FEWEST = 32
_KINDS = {"Exp": "exp", "Sqrt": "sqrt", "Square": "square", "Sum": "sum", "Mean": "sum", "Convolution": "straight", "Addmm": "straight",
          "Mm": "straight"}
_SAME = ("View", "UnsafeView", "ReshapeAlias", "Clamp", "ToCopy", "Clone", "Unsqueeze", "Squeeze", "Expand", "TBackward", "Alias")


def measure(watch: TorchWatcher, loss: Any) -> None:
    """Looks at the graph of one loss."""
    queue, nodes = deque([(loss.grad_fn, 0)]), dict[Any, Node]()
    drawn = False
    while queue and len(nodes) < _NODES:
        key = queue.popleft()
        if key in nodes or key[0] is None:
            continue
        node = nodes[key] = _read(key[0])
        drawn = drawn or node.kind == "drawn"
        queue.extend(node.inputs)
    script = watch.session.script
    watch.seen.overlap = overlaps_of_scores.facts(nodes, script)
    watch.seen.spread = reparameterized.facts(nodes, script) if drawn else None


def _read(function: Any) -> Node:
    name = function.name()
    given = [(inner, number) for inner, number in function.next_functions if inner is not None]
    if name.startswith(("MulBackward", "DivBackward")):
        return _product(function, given, divides=name.startswith("Div"))
    if name.startswith("PowBackward0"):
        kind = {2.0: "square", 0.5: "sqrt"}.get(float(function._saved_exponent), "other")
        return Node(kind, given)
    if name.startswith(("AddBackward", "SubBackward", "RsubBackward")):
        return Node("same" if len(given) == 1 and not name.startswith("Rsub") else "add", given)
    kind = _KINDS.get(name.partition("Backward")[0], "other")
    if name.startswith("NegBackward"):
        return Node("scale", given, -1.0)
    return Node("same" if name.startswith(_SAME) else kind, given)


def _product(function: Any, given: list[Any], *, divides: bool) -> Node:
    if len(given) == 2:
        return Node("div" if divides else "square" if given[0] == given[1] else "mul", given)
    if len(given) != 1 or (divides and function.next_functions[0][0] is None):
        return Node("other", given)
    kept = function._saved_other if function.next_functions[0][0] is not None else getattr(function, "_saved_self", None)
    if kept is None:
        return Node("other", given)
    factor = single(kept)
    if factor is not None:
        return Node("scale", given, (1 / factor if divides else factor) if factor else 0.0)
    return Node("other" if divides else "drawn" if _is_noise(kept) else "times", given)


def _is_noise(tensor: Any) -> bool:
    """Numbers of about a standard normal distribution, no two alike."""
    if tensor.numel() < _FEWEST or not tensor.is_floating_point():
        return False
    some = tensor.detach().flatten()[:4096].double()
    return abs(float(some.mean())) < 0.6 and 0.5 < float(some.std()) < 1.6 and len(some.unique()) > 0.9 * len(some)
