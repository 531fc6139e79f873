"""PyTorch: what the softmax of a contrastive loss is taken of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import self_likeness, tensors, torch_inside

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher


def committed(watch: TorchWatcher) -> None:
    """A loss is about to go backward. Likenesses that one model is to have of another are compared whole, diagonal and all."""
    if len(watch.seen.steps) >= self_likeness.STEPS:
        return
    names = {id(entry): "" if entry.module else torch_inside.name_of(entry.function) for entry in watch.tape.entries}
    if "kl_div" in names.values():
        return
    for entry in watch.tape.entries:
        given: Any = entry.args[0] if entry.args else entry.kwargs.get("input")
        if names.get(id(entry)) in self_likeness.NAMES and tensors.is_tensor(given) and self_likeness.fits(given.shape):
            with watch.session.paused():
                numbers = tensors.array(given)
            if numbers is not None and given.is_floating_point():
                self_likeness.note(watch.seen, entry.place, numbers)
