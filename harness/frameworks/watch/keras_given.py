"""What the models of a loop of the script's own are given: where it comes from, what they are trained on, and what they are asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.keras_data import columns_of
from harness.frameworks.watch.keras_tape import rows_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_ROWS = 8  # of an evaluation, at least: one row is looked at, and not judged by


class Given:
    """Told of the batches that a loop reads, of its steps and of its evaluations; tells the parts that compare rows."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._dataset: Any = None
        self._batch: Any = None
        self._rows: int | None = None
        self._trained: Any = None  # the dataset of the step before

    def delivered(self, dataset: Any, batch: Any) -> None:
        """A loop has read a batch of a dataset."""
        self._dataset, self._batch, self._rows = dataset, batch, rows_of(batch)

    def trained(self, forwards: list[tuple[Any, tuple[Any, ...], dict[str, Any], Any]], given: Any, labels: Any) -> None:
        """A step was taken on `given`; `labels` are those of its loss, or None where they are among what is given."""
        data = self._watch.data
        if data.current is None:
            data.begins({"x": self._dataset if self._dataset is not None and self._rows == rows_of(given) else iter(())})
        self._trained = self._dataset
        columns, _ = data.came(given if labels is None else (given, labels))
        models = {id(model): model for model, *_ in forwards}
        if len(models) == 1:  # of several, each has rows of its own
            self._watch.steps.given(*models.values(), columns)

    def held(self, model: Any, args: tuple[Any, ...]) -> None:
        """A model that is trained runs where no tape records."""
        if not args or (rows_of(args[0]) or 0) < _ROWS:
            return
        parts = self._batch if isinstance(self._batch, tuple) else (self._batch,)
        whole = self._batch if any(part is args[0] for part in parts) else args[0]
        if self._dataset is not None and self._dataset is not self._trained:
            self._watch.session.noted("eval_dataset", self._watch.data.place_of(self._dataset))
        self._watch.evaluations.given(model, columns_of(whole))
