"""Variational autoencoders: how much one latent number weighs in the loss, beside one number of the reconstruction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.checks.loss_facts import DivergenceFacts
from harness.frameworks.watch import tensors, torch_graph, trees

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_loss import LossRecord
    from harness.frameworks.watch.torch_watch import TorchWatcher

_EVERY, _FIRST = 10, 3
_SAME = 1e-3
_LEAST = 4


def measure(watch: TorchWatcher, loss: Any, calls: list[RootCall], records: list[LossRecord]) -> None:
    """On some steps: find means in what the models returned whose part of the loss is `weight * mean ** 2 / 2`, as in the divergence of a
    normal distribution from the standard one, and hold that weight against the one of a reconstructed number."""
    step = len(watch.seen.steps)
    if len(records) != 1 or records[0].facts.name not in ("mse", "bce", "bce_with_logits") or (step >= _FIRST and step % _EVERY):
        return
    record = records[0]
    target, output = record.target, record.output
    if not tensors.is_tensor(target) or target.dim() < 2 or output.numel() != 1 or not tensors.readable(loss) or loss.numel() != 1:
        return
    found, others = torch_graph.terms_of(loss, {record.node: record})
    latent = [part for call in calls for part in trees.leaves(call.output, tensors.is_tensor)
              if part.requires_grad and part.is_floating_point() and part.dim() == 2 and part.numel() >= _LEAST
              and part.shape[0] == target.shape[0] and part.shape != target.shape]
    if not found or not others or not latent:
        return
    grad = watch.torch.autograd.grad
    factor = grad(loss, output, retain_graph=True, allow_unused=True)[0]
    if factor is None:
        return
    rest = loss - factor.detach() * output
    for mean, pull in zip(latent, grad(rest, latent, retain_graph=True, allow_unused=True), strict=True):
        weight = None if pull is None else _constant(pull, mean)
        if weight is not None:
            size = float(factor) * (1.0 if record.facts.reduction == "sum" else 1.0 / target.numel())
            watch.seen.divergence.append(DivergenceFacts(
                step=step + 1, weight=weight / size if size > 0 else 0.0, value=float(rest.detach()), reconstruction=float(output.detach()),
                constant=_constant_answer(target, record), rows=int(target.shape[0]), numbers=target[0].numel()))
            return


def _constant(pull: Any, mean: Any) -> float | None:
    """The factor between two tensors, where it is one and the same, and positive; None where it is not."""
    pull, mean = pull.detach().flatten().double(), mean.detach().flatten().double()
    far = mean.abs() > 1e-3 * mean.abs().max()
    ratios = (pull / mean)[far]
    if ratios.numel() < _LEAST or not bool(ratios.isfinite().all()):
        return None
    middle = float(ratios.median())
    return middle if middle > 0 and float((ratios - middle).abs().max()) <= _SAME * middle else None


def _constant_answer(target: Any, record: LossRecord) -> float:
    """The loss of the best reconstruction that is the same for every row of the batch."""
    rows = target.detach().float()
    middle = rows.mean(0)
    if record.facts.name == "mse":
        each = (rows - middle) ** 2
    else:
        middle = middle.clamp(1e-6, 1 - 1e-6)
        each = (-(middle * middle.log() + (1 - middle) * (1 - middle).log())).expand_as(rows)
    return float(each.sum() if record.facts.reduction == "sum" else each.mean())
