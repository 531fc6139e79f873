"""Experiments with the steps of a loop with `tf.GradientTape`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import keras_fed
from harness.frameworks.watch.keras_backend import KerasBackend, Step
from harness.frameworks.watch.keras_data import class_ids, columns_of
from harness.frameworks.watch.keras_probes import Probes
from harness.frameworks.watch.keras_tape import Recipe, Taken, TapeBackend, TapeReplay
from harness.frameworks.watch.keras_trace import numpy_of

if TYPE_CHECKING:
    from harness.checks.loss_facts import LossCall
    from harness.frameworks.watch.keras_watch import KerasWatcher


class TapeProbes(Probes):
    """Makes a recipe of the first step, and keeps what the others worked on as long as it describes them."""

    def __init__(self, watch: KerasWatcher) -> None:
        super().__init__(watch)
        self._recipe: Recipe | None = None
        self._reason: str | None = None
        self._again: TapeReplay | None = None

    def took(self, taken: Taken, labels: list[Any] | None, loss: float | None, calls: list[LossCall]) -> None:
        """The script has taken a step."""
        watch = self._watch
        watch.session.safely("what a decoder is given", keras_fed.look, watch.seen, taken)
        if self._recipe is None and self._reason is None:
            try:
                self._recipe = Recipe(taken)
            except ValueError as error:
                self._reason = str(error)
                return
            watch.steps.original = self._recipe
            if watch.steps.start is not None:
                watch.models.stepped(watch.steps.start)
        if self._recipe is None or self._reason is not None:
            return
        if not self._recipe.describes(taken):
            self._reason, self.steps = "the steps are not made in one way", []
            return
        if not self._recipe.whole(taken):
            return
        try:
            data = self._recipe.data(taken)
        except ValueError as error:
            self._reason, self.steps = str(error), []
            return
        if self._recipe.batches > 1:
            labels = class_ids(numpy_of(data[1]))
        watch.births.look(self._recipe.model, data, columns_of(data), loss, calls)
        self.offer(data, labels, 1.0)

    def nothing(self) -> str:
        """Why there are no steps to experiment with."""
        return self._reason or super().nothing()

    def refusal(self) -> str | None:
        """Why optimizer steps cannot be taken again, though losses can be computed; None where they can."""
        changed = self._recipe is not None and self._recipe.changed
        return "the gradients are changed before the step" if changed else super().refusal()

    def undivided(self) -> int:
        """Of how many batches each step adds up the gradients without dividing; 0 where it does not."""
        return self._recipe.undivided if self._recipe is not None else 0

    def optimizers(self) -> list[Any]:
        """The one of the recipe."""
        return [self._recipe.optimizer] if self._recipe is not None else []

    def backend(self, steps: list[Step]) -> KerasBackend | str:
        """What takes these steps again, or why none can."""
        watch = self._watch
        if self._recipe is None or self._reason is not None:
            return self.nothing()
        if watch.steps.start is None:
            return "the first weights were not kept"
        if watch.seen.births and watch.seen.births[0].step <= 1:
            return "the loss is no number any more"
        self._again = self._again or TapeReplay(self._recipe)
        rate = watch.seen.optimizer.learning_rate if watch.seen.optimizer is not None else None
        call = watch.seen.loss_calls[-1] if watch.seen.loss_calls else None
        return TapeBackend(self._recipe, replay=self._again, keras=watch.keras, start=watch.steps.start, rate=rate or 0.0, call=call)
