"""Weights of attention that add up to one along another axis than the one that is summed over: read off the graph of a loss."""

from __future__ import annotations

import ast
from collections import deque
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.checks.model_facts import ContractedFacts
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_NODES, _HOPS = 4000, 8
_SCORED = ("View", "UnsafeView", "ReshapeAlias", "Div", "Mul", "Add", "Sub", "MaskedFill", "Where", "ToCopy", "Clone", "Expand",
           "Permute", "Unsqueeze")
_LARGEST = 1 << 22


def measure(watch: TorchWatcher, loss: Any) -> None:
    """Looks at every product of matrices in the graph of one step: is one side a softmax of scores, along an axis that is not summed?"""
    queue, seen = deque([loss.grad_fn]), {loss.grad_fn}
    while queue and len(seen) < _NODES:
        node = queue.popleft()
        if node is None:
            continue
        if node.name().startswith("Bmm"):
            for side, axis in enumerate((2, 1)):
                found = _softmax(node.next_functions[side][0], axis)
                if found is not None and _is_off(*found):
                    watch.seen.contracted = _facts(watch, *found)
                    return
        for inner, _ in node.next_functions:
            if inner is not None and inner not in seen:
                seen.add(inner)
                queue.append(inner)


def _softmax(node: Any, axis: int) -> tuple[Any, int] | None:
    """The softmax that an operand is, under what rearranges it, and which of its axes is summed over; None where it is none."""
    for _ in range(_HOPS):
        if node is None:
            return None
        name = node.name()
        if name.startswith("SoftmaxBackward"):
            return node, axis
        shape = tuple(node._input_metadata[0].shape)
        if name.startswith("PermuteBackward"):
            axis = int(node._saved_dims[axis]) % len(shape)
        elif name.startswith("TransposeBackward"):
            swapped = [signed(node._saved_dim0, len(shape)), signed(node._saved_dim1, len(shape))]
            axis = swapped[1 - swapped.index(axis)] if axis in swapped else axis
        elif name.startswith(("ViewBackward", "UnsafeViewBackward", "ReshapeAliasBackward")):
            before = tuple(map(int, node._saved_self_sym_sizes))
            after = prod(shape[axis + 1:])
            same = [place for place, size in enumerate(before) if size == shape[axis] and prod(before[place + 1:]) == after]
            if not same:
                return None
            axis = same[-1]
        elif name.startswith("UnsqueezeBackward"):
            made = signed(node._saved_dim, len(shape))
            if axis == made:
                return None
            axis -= axis > made
        elif name.startswith("MulBackward"):
            sides = [inner for inner, _ in node.next_functions if inner is not None]
            if len(sides) != 1:
                return None
        elif not name.startswith(("ExpandBackward", "NativeDropoutBackward", "ToCopyBackward", "CloneBackward")):
            return None
        node = next((inner for inner, _ in node.next_functions if inner is not None), None)
    return None


def _is_off(node: Any, axis: int) -> bool:
    shape = tuple(node._input_metadata[0].shape)
    along = signed(node._saved_dim, len(shape))
    return along != axis and min(shape[along], shape[axis]) > 1 and _scores(node)


def _scores(node: Any) -> bool:
    """Whether what a softmax is taken of is a product of matrices, such as that of queries and keys."""
    inner = node.next_functions[0][0]
    for _ in range(_HOPS):
        if inner is None:
            return False
        name = inner.name()
        if name.startswith("Bmm"):
            return all(part is not None for part, _ in inner.next_functions)
        if not name.startswith(_SCORED):
            return False
        inner = next((part for part, _ in inner.next_functions if part is not None), None)
    return False


def signed(axis: Any, count: int) -> int:
    """Saved axes are unsigned: one from the end comes as a very large number."""
    number = int(axis)
    return (number - (1 << 64) if number >= 1 << 63 else number) % count


def _facts(watch: TorchWatcher, node: Any, axis: int) -> ContractedFacts:
    shape = tuple(map(int, node._input_metadata[0].shape))
    along = signed(node._saved_dim, len(shape))
    weights = node._saved_result if prod(shape) <= _LARGEST else None
    sums = weights.detach().float().sum(axis) if weights is not None and tensors.readable(weights) else None
    return ContractedFacts(shape=list(shape), along=along, summed=axis, least=float(sums.min()) if sums is not None else None,
                           most=float(sums.max()) if sums is not None else None,
                           site=site(_written(watch.session.script, along, len(shape))))


def _written(script: Path, along: int, count: int) -> Place | None:
    """The call of a softmax along this axis in the script, if there is one alone."""
    lines = set()
    for call in ast.walk(parsed.tree(str(script))):
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2].lower() == "softmax":
            given = [word.value for word in call.keywords if word.arg in ("dim", "axis")] or call.args[-1:]
            try:
                axis = ast.literal_eval(given[0]) if given else None
            except ValueError:
                continue
            if isinstance(axis, int) and axis % count == along:
                lines.add(call.lineno)
    return (str(script), lines.pop(), "forward") if len(lines) == 1 else None
