"""What a model answers for the rows that a loader delivered, beside what is wanted of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import relations, tensors, trees

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher


def trained(watch: TorchWatcher, calls: list[RootCall]) -> bool:
    """A loss of these calls goes backward; whether answers and targets are known by now."""
    if watch.seen.further is not None:
        return True
    found = pair(watch, calls[-1]) if calls else None
    asked = trees.leaves([calls[-1].args, calls[-1].kwargs], tensors.is_tensor) if calls else ()
    watch.relations.trained(found, asked)
    watch.session.safely("columns", watch.session.emptied.trained, asked, None if found is None else found[1])
    return found is not None


def by_loss(watch: TorchWatcher, calls: list[RootCall], target: Any) -> None:
    """The same where no loader brought the rows: by the target that the loss was given."""
    if len(calls) != 1 or calls[0].loader is not None or not tensors.is_tensor(target) or not tensors.readable(target):
        return
    output = watch.losses.output_of(calls)
    if target.is_floating_point() and output is not None and watch.evaluations.classes_of(calls[0]) is None:
        answers, wanted = tensors.array(output), tensors.array(target)
        found = None if answers is None or wanted is None else relations.numbers(answers, wanted)
    else:
        found = relations.classes(watch.evaluations.classes_of(calls[0]), tensors.whole_labels(target))
    watch.relations.trained(found)


def pair(watch: TorchWatcher, call: RootCall) -> relations.Pair | None:
    """Of one call; None where its rows come from no loader, or what is wanted is neither a number nor a class a row."""
    if call.loader is None or call.loader is not watch.data.current:
        return None
    target, output = watch.data.labels_of(call.batch, call.loader), watch.losses.output_of([call])
    if tensors.is_tensor(target) and target.is_floating_point() and output is not None:
        answers, wanted = tensors.array(output), tensors.array(target)
        return None if answers is None or wanted is None else relations.numbers(answers, wanted)
    return relations.classes(watch.evaluations.classes_of(call), call.labels)
