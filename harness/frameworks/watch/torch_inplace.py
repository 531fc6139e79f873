"""Where a tensor was changed in place that the backward pass needs as it was."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import torch_inside, trees
from harness.frameworks.watch.sites import Place

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_replay import Entry
    from harness.frameworks.watch.torch_watch import TorchWatcher

SAID = "modified by an inplace operation"
_SHAPE = re.compile(r"\[[\w.]*Tensor \[([\d, ]*)\]\]")
_AUGMENTED = re.compile(r"^__i[a-z]+__$")
_METHOD = re.compile(r"^[a-z][a-z0-9_]*[a-z0-9]_$")


def find(watch: TorchWatcher, error: BaseException, entries: list[Entry]) -> None:
    """Backward said that a tensor was changed: what was recorded of its step is looked through, its models run once more."""
    if SAID not in str(error):
        return
    shape = _SHAPE.search(str(error))
    wanted = tuple(int(size) for size in shape[1].split(",") if size.strip()) if shape else None
    changed: list[tuple[Place, tuple[int, ...]]] = []
    for entry in entries:
        if entry.module:
            changed += _inside(watch, entry)
        elif entry.place is not None and _in_place(entry.function, entry.kwargs):
            changed.append((entry.place, _shape(entry.result, entry.args)))
    same = [place for place, size in changed if size == wanted] or [place for place, _ in changed]
    watch.session.noted("changed", same[-1] if same else None)


def _inside(watch: TorchWatcher, entry: Entry) -> list[tuple[Place, tuple[int, ...]]]:
    """What a model changes in place where a gradient is to pass; its buffers and the random state are put back."""
    torch, found = watch.torch, []
    model: Any = entry.function

    def look(function: Any, args: Any, kwargs: Any, result: Any, _module: str) -> None:
        place = watch.session.sites.place() if _in_place(function, kwargs) else None
        if place is not None and any(tensor.requires_grad for tensor in trees.leaves([args, result], torch.is_tensor)):
            found.append((place, _shape(result, args)))

    kept = [(buffer, buffer.clone()) for buffer in model.buffers()]
    with watch.session.paused(), torch.random.fork_rng(devices=[]), torch_inside.inside(torch, [model], look):
        model(*entry.args, **entry.kwargs)
    with torch.no_grad():
        for buffer, value in kept:
            buffer.copy_(value)
    return found


def _in_place(function: Any, kwargs: Any) -> bool:
    name = str(getattr(function, "__name__", ""))
    return name == "__setitem__" or bool(_AUGMENTED.match(name) or _METHOD.match(name)) or kwargs.get("inplace") is True


def _shape(result: Any, args: Any) -> tuple[int, ...]:
    changed = result if hasattr(result, "shape") else args[0] if args else None
    return tuple(getattr(changed, "shape", ()))
