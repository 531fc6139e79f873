"""Gradients of a script's own tapes that no optimizer step follows."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import written

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_PATIENCE = 5


class Fruitless:
    """Counts gradients until the first step; knows the optimizer that was made and may never be asked to step."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._optimizer: Any = None

    def hook(self, keras: Any) -> None:
        """Hook the optimizers of a Keras where they are made."""
        self._watch.session.patches.replace(keras.optimizers.Optimizer, "__init__", self._wrap)

    def _wrap(self, original: Any) -> Any:
        @functools.wraps(original)
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(optimizer, *args, **kwargs)
            if self._watch.session.active and self._optimizer is None:
                self._optimizer = optimizer

        return __init__

    def went_back(self) -> None:
        """Gradients of a model's weights were computed. May raise `Enough`."""
        seen, session = self._watch.seen, self._watch.session
        if seen.steps:
            return
        seen.backward_without_step += 1
        if seen.backward_without_step > _PATIENCE * session.budget.steps and session.watched_seconds > session.budget.onward_seconds:
            session.enough("enough steps")

    def stepped(self) -> None:
        """An optimizer has stepped."""
        self._watch.seen.backward_without_step = 0

    def finish(self) -> None:
        """Of a script that never stepped: its optimizer, where it is written that it steps, and whether weights have moved otherwise."""
        watch, seen = self._watch, self._watch.seen
        if seen.steps or not seen.backward_without_step:
            return
        if seen.optimizer is None and self._optimizer is not None:
            seen.optimizer = watch.compiles.optimizer(None, self._optimizer)
        watch.models.stepped(watch.steps.start)
        for name in ("apply", "apply_gradients"):
            place = written.built(name, watch.session.script, watch.session.sites)
            watch.session.noted("step_written", place)
