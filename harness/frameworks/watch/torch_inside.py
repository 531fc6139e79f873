"""Looking inside a replay: every call of torch in it, and the module that it is made in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from harness.frameworks.watch import tensors, trees

Look = Callable[[Any, Any, Any, Any, str], None]


@contextlib.contextmanager
def inside(torch: Any, modules: list[Any], look: Look) -> Iterator[None]:
    """While inside, `look(function, args, kwargs, result, module)` sees each call of torch; `module`: `name: Kind` of the innermost one."""
    names = {id(inner): name for module in modules for name, inner in module.named_modules()}
    running: list[str] = [""]

    def enters(module: Any, _args: Any) -> None:
        running.append(f"{names.get(id(module)) or 'model'}: {type(module).__name__}")

    def leaves(_module: Any, _args: Any, _output: Any) -> None:
        running.pop()

    class Looking(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            look(func, args, kwargs or {}, result, running[-1])
            return result

    hooks = torch.nn.modules.module
    handles = [hooks.register_module_forward_pre_hook(enters), hooks.register_module_forward_hook(leaves, always_call=True)]
    try:
        with Looking():
            yield
    finally:
        for handle in handles:
            handle.remove()


_CUTTING = ("detach", "detach_", "data", "argmax", "item", "numpy", "tolist", "round", "sign", "bernoulli", "multinomial")

_COMPARISONS = {"gt", "ge", "lt", "le", "eq", "ne", "__gt__", "__ge__", "__lt__", "__le__", "__eq__", "__ne__", "greater", "less", "topk",
                "argsort", "argmin", "floor", "ceil", "heaviside", "bincount"}


def decides(torch: Any, function: Any, given: Any) -> bool:
    """Whether a call makes a hard decision of what has a gradient: a comparison, an order. Metrics do so as well, beside a loss."""
    named = str(getattr(function, "__name__", "")) in _COMPARISONS and torch.is_grad_enabled()
    return named and any(tensor.requires_grad for tensor in trees.leaves(given, torch.is_tensor))


def revives(torch: Any, function: Any, args: Any, kwargs: Any) -> bool:
    """Whether a call asks for the gradient of what is no weight and has no history: `loss.requires_grad_()`."""
    if str(getattr(function, "__name__", "")) != "requires_grad_" or not args or isinstance(args[0], torch.nn.Parameter):
        return False
    wanted = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
    return bool(wanted) and args[0].grad_fn is None


def cuts(torch: Any, function: Any, given: Any, result: Any) -> bool:
    """Whether a call takes what has a gradient and gives what has none, by a way that scripts take by mistake."""
    name = str(getattr(function, "__name__", ""))
    if name == "__get__":
        name = str(getattr(getattr(function, "__self__", None), "__name__", ""))
    if name not in _CUTTING or (torch.is_tensor(result) and result.requires_grad):
        return False
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in trees.leaves(given, torch.is_tensor))


def freezes(torch: Any, function: Any, args: Any, kwargs: Any) -> bool:
    """Whether a call takes a weight out of training: `requires_grad = False` or `requires_grad_(False)`."""
    return _switched(torch, function, args, kwargs) is False


def thaws(torch: Any, function: Any, args: Any, kwargs: Any) -> bool:
    """Whether a call takes a weight into training: `requires_grad = True` or `requires_grad_()`."""
    return _switched(torch, function, args, kwargs) is True


def _switched(torch: Any, function: Any, args: Any, kwargs: Any) -> bool | None:
    """What a weight is set to; None where it is not."""
    name = str(getattr(function, "__name__", ""))
    if name == "__set__":
        if getattr(getattr(function, "__self__", None), "__name__", "") != "requires_grad":
            return None
    elif name != "requires_grad_":
        return None
    wanted = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
    return bool(wanted) if isinstance(args[0], torch.nn.Parameter) else None


def output_place(torch: Any, replay: Any, activation: str, of_module: Callable[[Any], Any], own: Callable[[], Any]) -> Any:
    """Where the activation that the loss's input comes out of is applied: in the user's `forward`, else where its module is built, as one
    in a row of others is.

    `activation`: its name; `of_module`: where a module was built; `own`: the user's own frame inside the replay, None where there is none.
    """
    modules = {name or "model": inner for module in replay.modules for name, inner in module.named_modules()}
    found: list[tuple[int, Any]] = []

    def look(function: Any, _args: Any, _kwargs: Any, result: Any, module: str) -> None:
        result = result[0] if isinstance(result, tuple) and result else result  # of a recurrent layer, whose states come second
        if name_of(function).rstrip("_") == activation and torch.is_tensor(result):
            name = module.partition(": ")[0]
            layer, around = modules.get(name), modules.get(name.rpartition(".")[0] or "model")
            built = of_module(layer) if layer is not None and activation in type(layer).__name__.lower() else None
            place = built if built is not None and isinstance(around, torch.nn.Sequential) else own() or built or replay.at
            found.append((tensors.address(result), place))

    with inside(torch, replay.modules, look), torch.no_grad():
        replay.run(want_outputs=True)
    given = tensors.address(replay.outputs[-1][0]) if replay.logits_slot is not None else None
    return next((place for pointer, place in reversed(found) if pointer == given), None)


def name_of(function: Any) -> str:
    """A call's name as people know it: `softmax`, `log`, `/`."""
    name = str(getattr(function, "__name__", function))
    signs = {"__truediv__": "/", "__rtruediv__": "/", "div": "/", "__mul__": "*", "__rmul__": "*", "__matmul__": "@", "__add__": "+",
             "__radd__": "+", "__sub__": "-", "__rsub__": "-", "__pow__": "**", "__rpow__": "**"}
    return signs.get(name, name.strip("_"))
