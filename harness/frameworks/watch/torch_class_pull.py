"""How strongly a loss that a script weighs by itself pulls at the rows of each class, beside the plain cross-entropy of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import WeightFacts
from harness.frameworks.watch import tensors

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_replay import Replay

_BY_HAND = ("cross_entropy", "bce_with_logits", "nll")
_CLASSES, _LEAST, _EVEN, _TINY, _APART = 12, 3, 0.25, 1e-9, 1.2

Array = np.ndarray[Any, Any]


def measure(torch: Any, replays: list[Replay]) -> WeightFacts | None:
    """What each class is multiplied by, with the weights of now; None where rows of one class are pulled at in several ways, or all
    alike."""
    pulls: dict[int, list[float]] = {}
    for replay in replays:
        labels = replay.labels
        if labels is None or replay.logits_slot is None or replay.loss_name not in _BY_HAND:
            return None
        logits, pulled = replay.pull()
        plain = _plain(torch, logits, labels) if logits is not None and tensors.readable(logits) else None
        if plain is None or pulled is None:
            return None
        sizes = [tensor.detach().float().reshape(len(labels), -1).norm(dim=1).cpu().numpy() for tensor in (pulled, plain)]
        for label, own, other in zip(labels, *sizes, strict=True):
            if other > _TINY:
                pulls.setdefault(int(label), []).append(float(own / other) * len(labels))
    if not 2 <= len(pulls) <= _CLASSES or set(pulls) != set(range(len(pulls))) or any(len(part) < _LEAST for part in pulls.values()):
        return None
    middle = [float(np.median(pulls[label])) for label in sorted(pulls)]
    spread = max(float(np.subtract(*np.quantile(pulls[label], (0.75, 0.25)))) / max(middle[label], _TINY) for label in pulls)
    if min(middle) <= 0 or spread > _EVEN or max(middle) < _APART * min(middle):
        return None
    counts = [len(pulls[label]) for label in sorted(pulls)]
    return WeightFacts(kind="class", weights=middle, counts=counts, rows=sum(counts), measured=True)


def _plain(torch: Any, logits: Any, labels: list[Any]) -> Any:
    """The gradient of each row's cross-entropy by its own logits; None where there are others than one row of scores for each label."""
    wanted = torch.tensor(labels, device=logits.device)
    if logits.dim() == 2 and logits.shape[0] == len(labels) and logits.shape[1] > max(1, int(wanted.max())):
        return logits.detach().softmax(1) - torch.nn.functional.one_hot(wanted.long(), logits.shape[1])
    if logits.numel() == len(labels) and bool(((wanted == 0) | (wanted == 1)).all()):
        return logits.detach().reshape(-1).sigmoid() - wanted
    return None
