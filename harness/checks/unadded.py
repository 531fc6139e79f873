"""Losses of layers that nothing adds to the loss."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation


class Unadded(Check):
    """The layers' own losses are in no loss that is minimised: regularizers and `add_loss` do nothing.

    `fit` adds `model.losses` to the loss by itself. A `train_step` or a loop of one's own has to: what a `kernel_regularizer` asks for, or
    a layer hands to `add_loss` (the divergence of a variational layer, say), is computed and forgotten.
    Source: Keras docs, "Writing a training loop from scratch" (`loss_value += sum(model.losses)`).
    """

    code: ClassVar[str] = "L223"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L201", "L203", "G302", "G303")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what the layers of the model want added, and from a script with steps of its own that never reads it."""
        found = seen.unadded
        if found is None or not seen.steps:
            return None
        what = " and ".join(f"`{kind}`" for kind in found.kinds) or "`add_loss`"
        return Finding(
            message=f"The layers of the model have {found.losses} losses of their own ({what}), and the script's own step never adds them: "
                    "they have no influence on the weights.",
            remedy="Add them where the loss is made: `loss = loss_of(y, model(x, training=True)) + sum(model.losses)`; in a `train_step`, "
                   "`self.compute_loss(x=x, y=y, y_pred=y_pred)` does.",
            site=reading.place(seen, "loss", "backward", "fit"), evidence=[f"after the training they come to {found.total:.3g}"])
