"""A model that only answers beside a training, and is in training mode."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_APART, _CHANGED = 0.5, 0.1  # parts of the rows


class TeachingMode(Check):
    """A model that only answers, such as a teacher, is in training mode: its dropout and batch normalisation are active.

    `torch.no_grad()` and frozen weights leave the mode as it is. Dropout then answers at random, batch normalisation by the batch of the
    student, and its running statistics go on moving. Judged by asking once more in evaluation mode.
    Source: PyTorch docs, `Module.eval`; Knowledge Distillation Tutorial ("teacher.eval()").
    """

    code: ClassVar[str] = "F113"
    stage: ClassVar[Stage] = "forward"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what a model that no step moves answers to one batch of a training in either mode."""
        found = seen.teacher
        if found is None or (found.apart < _APART * found.rows and found.changed < _CHANGED * found.rows):
            return None
        return Finding(
            message=f"`{found.kind}` answers beside the training and learns nothing itself, and it is in training mode: "
                    f"{' and '.join(found.layers)} in it are active. In evaluation mode {found.changed} of {found.rows} rows of a "
                    f"batch get another answer, and those of {found.apart} differ by more than a tenth.",
            remedy="Call it with `training=False`, `self.teacher(x, training=False)`: Keras hands `training=True` down to every model that "
                   "is called inside of one, and frozen weights do not change that." if seen.framework in reading.KERAS else
                   "Call `.eval()` on it before the loop; `torch.no_grad()` and `requires_grad_(False)` keep gradients away and do not "
                   "change the mode. If it is a part of the model that `train()` is called on, call `.eval()` on it afterwards each time.",
            site=found.site, evidence=["asked for the same rows in both modes, with the weights of now"])
