"""Layers that normalise by statistics in which the newest batch outweighs what came before, or what they began with outweighs it all."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from harness.checks.norm_facts import HastyFacts, SlowFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of

NEWEST = 0.5  # part of the newest batch in the statistics, from which it is asked
LEFT = 0.25  # of what the statistics began with, at the end, from which it is asked
_BATCHES, _EACH = 8, 6
_MEASURED = {"update_bn", "reset_running_stats", "reset_batch_norm"}  # by which a script has statistics measured anew


@dataclass
class Hasty:
    """Such layers of a model. `after(passes)`: while inside, their statistics are the mean over these forward passes, by number; the rest
    as in `HastyFacts`."""

    kind: str
    part: float
    after: Callable[[Sequence[int]], AbstractContextManager[None]]
    site: Site | None = None

    def measure(self, loss: Callable[[], float], rows: Sequence[int]) -> HastyFacts | None:
        """`loss()`: in evaluation mode, with the weights of now; `rows` of each batch. What is left of an epoch's last batch, which may be
        shorter, is told by the shortest. None where there are too few batches for a mean."""
        if len(rows) < _BATCHES:
            return None
        shortest = min(range(len(rows)), key=rows.__getitem__)
        each = []
        for number in (shortest, *range(0, len(rows), max(1, len(rows) // _EACH))):
            with self.after([number]):
                each.append(loss())
        with self.after(range(len(rows))):
            return HastyFacts(kind=self.kind, part=self.part, own=each[0], averaged=loss(), batches=len(rows), rows=rows[shortest],
                              each=each, site=self.site)


@dataclass
class Slow:
    """Such layers of a model. `after(passes, share)`: while inside, their statistics are the mean over these forward passes, and to `share`
    what they are now. `left`: of what they began with, at the end of `steps` steps, `ahead` of what they are now."""

    kind: str
    part: float
    left: float
    ahead: float
    steps: int
    after: Callable[[Sequence[int], float], AbstractContextManager[None]]
    site: Site | None = None

    def measure(self, loss: Callable[[], float], batches: int) -> SlowFacts | None:
        """`loss()`: in evaluation mode, with the weights of now. None where there are too few batches for a mean."""
        if batches < _BATCHES:
            return None
        found = []
        for share in (self.ahead, 0.0):
            with self.after(range(batches), share):
                found.append(loss())
        return SlowFacts(kind=self.kind, part=self.part, left=self.left, steps=self.steps, own=found[0], averaged=found[1],
                         batches=batches, site=self.site)


def shares(part: float, taken: float, planned: float) -> tuple[float, float]:
    """What is left of the first statistics after all `planned` updates, and of what they are after those that were `taken`."""
    return (1 - part) ** planned, (1 - part) ** max(0.0, planned - taken)


def planned(seen: Observation) -> tuple[int, int] | None:
    """Steps that were taken, and that will have been; None where the second cannot be told."""
    taken, optimizer = len(seen.steps), seen.optimizer
    wanted = max((optimizer.training_steps or 0, optimizer.planned_steps or 0), default=0) if optimizer is not None else 0
    return (taken, max(taken, wanted)) if taken and wanted else None


def measured_anew(script: Path) -> bool:
    """Whether a script has running statistics measured by itself, once it has trained."""
    return any(name_of(node) in _MEASURED for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Name | ast.Attribute))
