"""Looking inside a replay: every call of torch in it, and the module that it is made in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from harness.frameworks.watch import trees

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


def cuts(torch: Any, function: Any, given: Any, result: Any) -> bool:
    """Whether a call takes what has a gradient and gives what has none, by a way that scripts take by mistake."""
    name = str(getattr(function, "__name__", ""))
    if name == "__get__":
        name = str(getattr(getattr(function, "__self__", None), "__name__", ""))
    if name not in _CUTTING or (torch.is_tensor(result) and result.requires_grad):
        return False
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in trees.leaves(given, torch.is_tensor))


def name_of(function: Any) -> str:
    """A call's name as people know it: `softmax`, `log`, `/`."""
    name = str(getattr(function, "__name__", function))
    signs = {"__truediv__": "/", "__rtruediv__": "/", "div": "/", "__mul__": "*", "__rmul__": "*", "__matmul__": "@", "__add__": "+",
             "__radd__": "+", "__sub__": "-", "__rsub__": "-", "__pow__": "**", "__rpow__": "**"}
    return signs.get(name, name.strip("_"))
