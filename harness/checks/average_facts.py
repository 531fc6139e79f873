"""What is known of an average of a model's weights that is asked in its place."""

from __future__ import annotations

from harness.checks.tensor_facts import Facts, Site


class AverageFacts(Facts):
    """A running average of a model's weights was asked in evaluation: `average = decay * average + (1 - decay) * weights`, with the `decay`
    that fits the weights that were met, after every `every` steps, begun from `begun` ("the first draw" or "zeros"). `updates`: those that
    were seen; `planned`: those of the whole training, if it was not watched to its end and they can be foreseen. `changed`: of `rows` rows
    those that the model itself answers otherwise, None where it could not be asked. `kind`: class of the model; `asked`: where; `site`:
    where the decay is written, or the average is brought up to the model.
    """

    kind: str
    decay: float
    updates: int
    every: int = 1
    begun: str = "the first draw"
    planned: int | None = None
    rows: int = 0
    changed: int | None = None
    asked: Site | None = None
    site: Site | None = None

    @property
    def left(self) -> float:
        """The share of what the average was begun from in it, at the end of the training."""
        return float(self.decay ** max(self.updates, self.planned or 0))
