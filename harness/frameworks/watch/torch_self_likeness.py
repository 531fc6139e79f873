"""PyTorch: what the softmax of a contrastive loss is taken of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import self_likeness, tensors, torch_inside

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_HOPS = 16
_PRODUCTS = ("Mm", "Bmm", "Addmm", "Baddbmm", "Cdist", "EuclideanDist", "CosineSimilarity", "Sub")
_SHAPES = ("TBackward", "Transpose", "Permute", "View", "Unsqueeze", "Squeeze", "Expand", "Clone", "UnsafeView", "Reshape", "Alias")


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
                numbers, wanted = tensors.array(given), tensors.array(entry.args[1] if len(entry.args) > 1 else entry.kwargs.get("target"))
                own = _of_itself(given.grad_fn)
            if numbers is not None and own and given.is_floating_point() and not self_likeness.diagonal(wanted, len(given)):
                self_likeness.note(watch.seen, entry.place, numbers)


def _of_itself(node: Any) -> bool:
    """Whether likenesses were made of one tensor and the same one: two views may be alike to the last digit, and are two."""
    for _ in range(_HOPS):
        if node is None:
            return False
        behind = [before for before, _ in node.next_functions if before is not None]
        if node.name().startswith(_PRODUCTS) and len(behind) > 1:
            sides = [_plain(before) for before in behind[-2:]]
            if sides[0] is sides[1] or not node.name().startswith("Sub"):  # a row's largest number may be taken off
                return sides[0] is sides[1]
        node = behind[0] if behind else None
    return False


def _plain(node: Any) -> Any:
    """What a node only shows in another shape."""
    while node.name().startswith(_SHAPES) and node.next_functions:
        node = node.next_functions[0][0]
    return node
