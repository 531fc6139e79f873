"""Batch normalisation of a PyTorch model that is kept in evaluation mode while it trains, and has never measured anything."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.checks.evaluation_facts import HeldNormsFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_STEP = 12  # of the training: before it a script may have measured nothing yet


def stepped(watch: TorchWatcher) -> None:
    """An optimizer has stepped: look at the layers once."""
    if watch.steps.steps != _STEP:
        return
    norms = [layer for root in watch.roots if root.training for layer in root.modules()
             if isinstance(layer, watch.torch.nn.modules.batchnorm._BatchNorm) and layer.running_mean is not None]
    with watch.session.paused():
        held = [layer for layer in norms if not layer.training and _fresh(layer)]
    if held:
        watch.seen.evaluation.held_norms = HeldNormsFacts(layers=len(held), of=len(norms), site=site(written(watch.session.script)))


def _fresh(layer: Any) -> bool:
    """Whether a layer's statistics are those that it was made with."""
    return bool((layer.running_mean == 0).all()) and bool((layer.running_var == 1).all())


def written(script: Path) -> Place | None:
    """The line on which a script puts layers of that kind, told by their name, into evaluation mode."""
    parts = [node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.For | ast.FunctionDef | ast.Lambda | ast.ListComp)
             and "BatchNorm" in ast.unparse(node)]
    lines = [call.lineno for node in parts for call in ast.walk(node) if isinstance(call, ast.Call)
             and isinstance(call.func, ast.Attribute) and call.func.attr == "eval" and not call.args]
    return (str(script), min(lines), "") if lines else None
