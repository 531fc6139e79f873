"""What a loss of PyTorch's makes of right answers and of wrong ones, in steps that are done again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.probe_facts import ContraryFacts
from harness.frameworks.watch import contrary, tensors, trees
from harness.frameworks.watch.torch_loss import LOSSES
from harness.frameworks.watch.torch_replay import Slot

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_replay import Replay

_STEPS, _ALIKE = 3, 0.999
_ACTIVATIONS = ("sigmoid", "softmax", "log_softmax", "logsigmoid")


def measure(torch: Any, replays: list[Replay]) -> ContraryFacts | None:
    """Of the first steps in which one model gives one tensor; None where there are none, or it is not known what is wanted of it."""
    found: list[list[float]] = []
    for replay in replays[:_STEPS]:
        models = [entry for entry in replay.entries if entry[4]]
        if len(models) != 1 or len(models[0][3]) != 1:
            return None
        slot = models[0][3][0]
        with torch.no_grad():
            answers = replay.run(slot=slot)
            # Of several targets each wants something else, and all of them together something between.
            if len(replay.targets) > 1 or not _scores(replay, answers, slot):
                return None
            wanted = replay.targets[0] if replay.targets else _constant(replay, answers)
            given, target = tensors.array(answers), tensors.array(wanted) if tensors.is_tensor(wanted) else None
            sides = contrary.sides(given, target) if given is not None and target is not None else None
            if sides is None:
                return None
            found.append([float(replay.run(given={slot: torch.from_numpy(side).to(answers)}).detach()) for side in sides])
    if not found:
        return None
    silent, right, wrong, certain = (list(each) for each in zip(*found, strict=True))
    return ContraryFacts(silent=silent, right=right, wrong=wrong, certain=certain)


def _scores(replay: Replay, answers: Any, slot: int) -> bool:
    """Whether what a model gives is the larger the surer it is: a loss function gets it as it is, up to a factor, or it goes through a
    sigmoid or softmax, or it is a probability. Distances are the smaller."""
    called = [(LOSSES[name], args[0].number) for function, args, _, _, _, _ in replay.entries
              if (name := getattr(function, "__name__", "")) in LOSSES and args and isinstance(args[0], Slot)]
    given, own = [number for _, number in called], tensors.array(answers)
    if own is None or not own.std() or any(loss in ("mse", "l1") for loss, _ in called):
        return False  # there beyond what is wanted is as wrong as short of it
    if given:
        read = [tensors.array(replay.run(slot=number, given={slot: answers})) for number in given]
        return all(part is not None and part.size == own.size and float(np.corrcoef(part.reshape(-1), own.reshape(-1))[0, 1]) > _ALIKE
                   for part in read)
    through = any(getattr(function, "__name__", "") in _ACTIVATIONS and args and isinstance(args[0], Slot) and args[0].number == slot
                  for function, args, _, _, _, _ in replay.entries)
    return not replay.targets and (through or bool(own.min() >= 0 and own.max() <= 1))


def unlike(targets: list[Any]) -> list[Any]:
    """Tensors that losses were given, those with the same values once."""
    found: list[Any] = []
    for target in targets:
        values = tensors.array(target) if tensors.is_tensor(target) else None
        if not any(values is not None and np.array_equal(values, tensors.array(known)) for known in found):
            found.append(target.detach().clone() if tensors.is_tensor(target) else target)
    return found


def _constant(replay: Replay, answers: Any) -> Any:
    """The only tensor from outside that has the shape of the answers, and stands beside them in arithmetic that is written out."""
    found = {id(tensor): tensor for _, args, kwargs, _, is_model, _ in replay.entries if not is_model
             for tensor in trees.leaves([args, kwargs], tensors.is_tensor)
             if not tensor.requires_grad and tensor.dim() and tensor.shape == answers.shape and tensor.is_floating_point()}
    return next(iter(found.values())) if len(found) == 1 else None
