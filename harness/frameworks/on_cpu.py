"""A script that asks for a GPU by name, run on the CPU: for a second opinion on an error whose line cannot be believed."""

from __future__ import annotations

import re
from typing import Any

import wrapt

_NAMED = re.compile(r"cuda(:\d+)?")
# Of `torch.cuda`: what a script calls that needs a device to be there, and nothing in a step depends on.
_IDLE = ("synchronize", "set_device", "set_per_process_memory_fraction", "reset_peak_memory_stats")
# What is raised where there is no GPU: nothing that a script did wrong.
WITHOUT = re.compile(r"No CUDA GPUs are available|not compiled with CUDA|Found no NVIDIA driver|CUDA driver")


def hook() -> None:
    """From PyTorch's import on, tensors and modules that are sent to a CUDA device stay on the CPU. For the rest of the process."""
    wrapt.register_post_import_hook(_stay, "torch")


def _stay(torch: Any) -> None:
    from torch.overrides import TorchFunctionMode

    def moved(value: Any) -> Any:
        if isinstance(value, torch.device) and value.type == "cuda":
            return torch.device("cpu")
        return "cpu" if isinstance(value, str) and _NAMED.fullmatch(value) else value

    class OnCpu(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.Tensor.cuda:
                return args[0]
            given = [moved(value) for value in args]
            if func is torch.Tensor.to and len(given) > 1 and type(given[1]) is int:
                given[1] = "cpu"  # the number of a device
            named = {name: moved(value) for name, value in (kwargs or {}).items()}
            if type(named.get("device")) is int:
                named["device"] = "cpu"
            return func(*given, **named)

    whole = torch.nn.Module.to

    def to(module: Any, *args: Any, **kwargs: Any) -> Any:  # it looks at the number of a device before any tensor is asked
        return whole(module, *(("cpu", *args[1:]) if args and type(args[0]) is int else args), **kwargs)

    OnCpu().__enter__()
    torch.nn.Module.to = to
    for name in _IDLE:
        setattr(torch.cuda, name, lambda *_args, **_kwargs: None)
