"""What a model answers for the rows that a loader delivered, beside what is wanted of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.frameworks.watch import relations, tensors

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher


def pair(watch: TorchWatcher, call: RootCall) -> relations.Pair | None:
    """Of one call; None where its rows come from no loader, or what is wanted is neither a number nor a class a row."""
    if call.loader is None or call.loader is not watch.data.current:
        return None
    target, output = watch.data.labels_of(call.batch, call.loader), watch.losses.output_of([call])
    if tensors.is_tensor(target) and target.is_floating_point() and output is not None:
        answers, wanted = tensors.array(output), tensors.array(target)
        return None if answers is None or wanted is None else relations.numbers(answers, wanted)
    return relations.classes(watch.evaluations.classes_of(call), call.labels)
