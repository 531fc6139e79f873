"""A sampler that was given a weight for each class where it wants one for each row."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_FEW = 0.9  # of the rows


class WeighedClasses(Check):
    """A sampler has fewer weights than there are rows: it draws the first rows only, over and over.

    `WeightedRandomSampler` draws places by their weights. Given the weights of ten classes it draws among the places 0 to 9: the ten rows
    that stand there are the whole training, and nothing raises, since as many are drawn as are asked for.
    Source: PyTorch docs, `torch.utils.data.WeightedRandomSampler` ("a sequence of weights", one for each element).
    """

    code: ClassVar[str] = "D122"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D101",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from how many weights the sampler of the training has, and how many rows its dataset."""
        loader = raised.train_loader(seen)
        if loader is None or loader.weighed is None or loader.rows is None or loader.weighed > _FEW * loader.rows:
            return None
        return Finding(
            message=f"The sampler has {loader.weighed} weights for {loader.rows} rows: it draws among the first {loader.weighed} rows, and "
                    "no other one is ever trained on.",
            remedy="Give each row the weight of its class: `weights = class_weights[labels]`, "
                   "`WeightedRandomSampler(weights, num_samples=len(labels))`.",
            site=reading.place(seen, "sampler") or loader.site, evidence=reading.own_losses(seen))
