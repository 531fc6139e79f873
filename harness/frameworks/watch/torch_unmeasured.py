"""Copies of a PyTorch model whose weights follow it, and whose running statistics do not: they are those of new layers."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.checks.evaluation_facts import UnmeasuredFacts
from harness.frameworks.watch import parsed, syncs, tensors
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_CALLS = 6
_APART = 0.1  # of the size of an answer


class Unmeasured:
    """Told of every model that runs."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._calls = 0

    def ran(self, call: RootCall) -> None:
        """Ask once more with the statistics of the model that was trained, where one of the same make was."""
        watch, evaluation = self._watch, self._watch.seen.evaluation
        if call.training or call.grad or not watch.steps.steps or self._calls >= _CALLS or evaluation.unmeasured is not None:
            return
        empty = {name: layer for name, layer in _norms(call.module).items() if not int(layer.num_batches_tracked)}
        trained = next((root for root in watch.roots if root is not call.module and _alike(root, call.module)), None)
        if not empty or trained is None or not tensors.is_tensor(call.output):
            return
        self._calls += 1
        measured = _norms(trained)
        if not all(name in measured and int(measured[name].num_batches_tracked) for name in empty):
            return
        kept = {name: (layer.running_mean.clone(), layer.running_var.clone()) for name, layer in empty.items()}
        if any(bool(mean.any()) or bool((variance != 1).any()) for mean, variance in kept.values()):
            return
        with watch.session.paused(), watch.torch.no_grad():
            try:
                for name, layer in empty.items():
                    layer.running_mean.copy_(measured[name].running_mean)
                    layer.running_var.copy_(measured[name].running_var)
                other = call.module(*call.args, **call.kwargs)
            finally:
                for name, (mean, variance) in kept.items():
                    empty[name].running_mean.copy_(mean)
                    empty[name].running_var.copy_(variance)
            rows, apart, changed = answered_otherwise(call.output, other)
        written = site(_followed(watch.session.script))
        evaluation.unmeasured = UnmeasuredFacts(
            kind=type(call.module).__name__, layers=len(empty), rows=rows, apart=apart, changed=changed,
            asked=site(call.place), site=written)


def answered_otherwise(given: Any, told: Any) -> tuple[int, int, int]:
    """Of two answers to the same rows, float[rows, ...] each: how many rows, those apart by more than a tenth, and those with another
    largest number."""
    ones, others = (part.float().reshape(len(part), -1) for part in (given, told))
    apart = (ones - others).norm(dim=1) > _APART * others.norm(dim=1)
    changed = (ones.argmax(1) != others.argmax(1)) if ones.shape[1] > 1 else apart
    return len(ones), int(apart.sum()), int(changed.sum())


def _followed(script: Path) -> Place | None:
    """Where a script goes through the parameters of two models at once; else where it writes the weights of one into another."""
    lines = [node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.For)
             and ast.unparse(node.iter).count("parameters()") > 1]
    return (str(script), min(lines), "<module>") if lines else next((sync.place for sync in syncs.of(script)), None)


def _norms(module: Any) -> dict[str, Any]:
    return {name: layer for name, layer in module.named_modules()
            if getattr(layer, "num_batches_tracked", None) is not None and getattr(layer, "running_mean", None) is not None}


def _alike(one: Any, other: Any) -> bool:
    return type(one) is type(other) and [tuple(part.shape) for part in one.parameters()] == [
        tuple(part.shape) for part in other.parameters()]
