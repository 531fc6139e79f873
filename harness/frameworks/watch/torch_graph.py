"""Reading autograd graphs: what a tensor came out of, what a loss reaches."""

from __future__ import annotations

from collections import deque
from typing import Any

# Nodes that only rearrange, copy or clip: what is under them is still the same thing.
_TRANSPARENT = ("View", "Reshape", "Squeeze", "Unsqueeze", "Slice", "Select", "Permute", "Transpose", "TBackward", "Clone", "Copy",
                "Expand", "Index", "Alias", "Clamp", "Contiguous", "AsStrided", "Narrow", "Split", "Unbind", "Gather")
_ACTIVATIONS = {"LogSoftmax": "log_softmax", "Softmax": "softmax", "LogSigmoid": "log_sigmoid", "Sigmoid": "sigmoid", "Relu": "relu",
                "Tanh": "tanh", "Gelu": "gelu", "LeakyRelu": "leaky_relu", "Elu": "elu", "Silu": "silu", "Softplus": "softplus",
                "HardTanh": "hardtanh", "Threshold": "relu", "MkldnnRnnLayer": "lstm"}
_KEEPS_SHAPE = ("Add", "Sub", "Rsub", "Mul", "Div", "Pow", "Neg", "Exp", "Log", "Sqrt", "Abs", "Clamp", "Relu", "Sigmoid", "Tanh",
                "Softplus", "Clone", "ToCopy")
_SUMS = ("Add", "Sub", "Mul", "Div", "Neg", "Mean", "Sum", "Stack", "Cat", "ToCopy", "Squeeze", "Unsqueeze", "View", "Select", "Unbind",
         "Clone", "Expand")
_RESHAPED = {"TBackward", "TransposeBackward", "PermuteBackward", "ViewBackward", "UnsafeViewBackward", "ReshapeAliasBackward",
             "SqueezeBackward", "UnsqueezeBackward"}
_OF_LENGTH_ONE = 1e-3


def activation_under(tensor: Any) -> str | None:
    """The activation that a tensor is the output of, looked for under rearrangements and under `log`: softmax, sigmoid, relu, ...

    `log` of a softmax counts as log_softmax.
    """
    node = tensor.grad_fn
    logged = False
    for _ in range(12):
        if node is None:
            return None
        name = node.name()
        for part, activation in _ACTIVATIONS.items():
            if name.startswith(part):
                return f"log_{activation}" if logged and activation in ("softmax", "sigmoid") else activation
        if name.startswith("Log") and not name.startswith("Logit"):
            logged = True
        elif not (name.startswith(_TRANSPARENT) or "Copy" in name or _adds_a_constant(node)):
            return None
        node = next((inner for inner, _ in node.next_functions if inner is not None), None)
    return None


def cut_from(tensor: Any) -> list[int] | None:
    """The shape that a tensor had before it was cut into one with the same axes in another order, which keeps no number where it belongs;
    None where it was not."""
    node = tensor.grad_fn
    sizes = getattr(node, "_saved_self_sym_sizes", None) if node is not None and "View" in node.name() else None
    if sizes is None:
        return None
    before, after = ([int(size) for size in shape] for shape in (sizes, tensor.shape))
    return before if before != after and len(before) > 2 and sorted(before) == sorted(after) and 1 not in before else None


def cosines(tensor: Any) -> float | None:
    """Within what bound the values of a tensor stay, that is made of nothing but products of rows of length one, cosines, and of numbers
    that these are multiplied or divided by: 1 without any. None for any other tensor.
    """
    node, bound = tensor.grad_fn, 1.0
    for _ in range(6):
        name = node.name().rstrip("0123456789") if node is not None else ""
        if name in ("MmBackward", "BmmBackward"):
            sides = [(side, axis) for side, axis in ((node._saved_self, -1), (node._saved_mat2, -2)) if side is not None]
            unit = all(bool(((side.detach().norm(dim=axis) - 1).abs() < _OF_LENGTH_ONE).all()) for side, axis in sides)
            # A side whose partner asks for no gradient is not kept, and may be of any length.
            within = bool((tensor.detach().abs() <= bound * (1 + _OF_LENGTH_ONE)).all())
            return bound if sides and unit and within else None
        if name in ("MulBackward", "DivBackward"):
            factor = _factor(node)
            if not factor:
                return None
            bound *= factor if name == "MulBackward" else 1 / factor
        elif name not in _RESHAPED:
            return None
        node = next((parent for parent, _ in node.next_functions if parent is not None), None)
    return None


def _factor(node: Any) -> float | None:
    """The size of the one number, which nothing is learnt of, by which a node multiplies or divides."""
    if sum(parent is not None for parent, _ in node.next_functions) != 1:
        return None
    kept = node._saved_other if node.next_functions[0][0] is not None else getattr(node, "_saved_self", None)
    number = single(kept)
    return None if number is None else abs(number)


def single(kept: Any) -> float | None:
    """What a node kept of its inputs, as one number: a tensor with one element, or a number of Python's (a loss's own smoothing)."""
    if isinstance(kept, (int, float)):
        return float(kept)
    return float(kept) if kept is not None and kept.numel() == 1 else None


def _adds_a_constant(node: Any) -> bool:
    """`p + 1e-8`: an addition with one differentiable side."""
    return bool(node.name().startswith("Add") and sum(inner is not None for inner, _ in node.next_functions) == 1)


def terms_of(loss: Any, known: dict[Any, Any], limit: int = 200) -> tuple[list[Any], int]:
    """The known nodes (loss calls, by their `grad_fn`) that a loss is a sum of, and how many other things it sums.

    Walks from the loss down through arithmetic only.
    """
    found: list[Any] = []
    others = 0
    seen: set[Any] = set()
    queue = deque([loss.grad_fn])
    while queue and len(seen) < limit:
        node = queue.popleft()
        if node is None or node in seen:
            continue
        seen.add(node)
        if node in known:
            found.append(known[node])
            continue
        if node.name().startswith(_SUMS) or "Copy" in node.name():
            queue.extend(inner for inner, _ in node.next_functions)
        else:
            others += 1
    return found, others


def comes_out_of(node: Any, earlier: list[Any], depth: int = 4) -> bool:
    """Whether one of the `earlier` nodes is among a node and what it was made of, a few steps down."""
    level = [node]
    for _ in range(depth):
        if any(found is other for found in level for other in earlier):
            return True
        level = [inner for found in level if found is not None for inner, _ in found.next_functions if inner is not None][:16]
    return False


def axis_added(node: Any, depth: int = 10) -> bool:
    """Whether a tensor got its last axis by `unsqueeze`, an index with None or a view of one axis: under what keeps its shape."""
    for _ in range(depth):
        if node is None:
            return False
        name = node.name()
        if name.startswith("Unsqueeze"):
            return True
        if name.startswith(("View", "UnsafeView", "Reshape")):
            return len(getattr(node, "_saved_self_sym_sizes", (0, 0))) == 1
        if not name.startswith(_KEEPS_SHAPE):
            return False
        node = next((inner for inner, _ in node.next_functions if inner is not None), None)
    return False


def arithmetic(loss: Any) -> str:
    """What a loss that no loss function made is: `mse`, `l1` (mean or sum of squares, magnitudes of a difference) or `other`."""
    names: list[str] = []
    node = loss.grad_fn
    while node is not None and len(names) < 4:
        names.append(node.name().removesuffix("0").removesuffix("Backward"))
        node = next((inner for inner, _ in node.next_functions if inner is not None), None)
    if len(names) >= 3 and names[0] in ("Mean", "Sum") and names[2] in ("Sub", "Rsub"):
        return {"Pow": "mse", "Mul": "mse", "Abs": "l1"}.get(names[1], "other")
    return "other"


def reached(loss: Any, limit: int = 60_000) -> tuple[list[Any], int]:
    """The leaf tensors that a loss depends on, and the number of nodes of its graph (the limit at most)."""
    variables: list[Any] = []
    seen: set[Any] = set()
    stack = [loss.grad_fn]
    while stack and len(seen) < limit:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            variables.append(variable)
        stack.extend(inner for inner, _ in node.next_functions)
    return variables, len(seen)


def leads_to(loss: Any, tensors: list[Any], limit: int = 5000) -> bool:
    """Whether a loss was computed from any of these tensors, as far as the first `limit` nodes of its graph tell."""
    wanted = {tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None}
    seen: set[Any] = set()
    queue = deque([loss.grad_fn])
    while queue and wanted and len(seen) < limit:
        node = queue.popleft()
        if node is None or node in seen:
            continue
        if node in wanted:
            return True
        seen.add(node)
        queue += [below for below, _ in node.next_functions]
    return False
