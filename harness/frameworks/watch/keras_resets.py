"""Metric objects of Keras that are reset before every batch of an evaluation, and asked for their result after the last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.checks.evaluation_facts import LastBatchFacts
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_METRICS = ("Mean", "AUC", "Precision", "FBetaScore")


@dataclass
class _Since:
    """What a metric was given since its last result: the rows of each batch; whether one came without a reset before it."""

    rows: list[int] = field(default_factory=list)
    fresh: bool = False
    added: bool = False
    place: Place | None = None


class Resets:
    """Wraps what metrics are asked for. What a graph does to them is not seen."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._known: dict[int, tuple[Any, _Since]] = {}

    def attach(self, keras: Any) -> None:
        """Hook the metrics of `keras` or `tf_keras`."""
        ways = {"reset_state": self._reset, "update_state": self._updated, "result": self._asked}
        for name, told in ways.items():
            metrics = [getattr(keras.metrics, kind) for kind in _METRICS if hasattr(keras.metrics, kind)]
            for owner in sorted({next(cls for cls in metric.__mro__ if name in vars(cls)) for metric in metrics}, key=str):
                self._watch.session.patches.replace(owner, name, self._wrap(told))

    def stepped(self) -> None:
        """A training step: what is reset from one to the next may well be read later."""
        self._known.clear()

    def _wrap(self, told: Any) -> Any:
        def wrap(original: Any) -> Any:
            def called(metric: Any, *args: Any, **kwargs: Any) -> Any:
                if self._watch.session.active and self._watch.seen.evaluation.last_batch is None:
                    self._watch.session.safely("a metric's rows", told, metric, args)
                return original(metric, *args, **kwargs)

            return called

        return wrap

    def _since(self, metric: Any) -> _Since:
        return self._known.setdefault(id(metric), (metric, _Since()))[1]

    def _reset(self, metric: Any, _args: Any) -> None:
        since = self._since(metric)
        since.fresh, since.place = True, self._watch.session.sites.place()

    def _updated(self, metric: Any, args: Any) -> None:
        given = args[0] if args else None
        shape = tuple(getattr(given, "shape", ()) or ())
        if not hasattr(given, "__array__") or None in shape:
            self._known.pop(id(metric), None)  # a graph is being made
            return
        since = self._since(metric)
        since.added = since.added or not since.fresh
        since.rows.append(int(shape[0]) if shape else 1)
        since.fresh = False

    def _asked(self, metric: Any, _args: Any) -> None:
        since = self._known.pop(id(metric), (None, _Since()))[1]
        if len(since.rows) > 1 and not since.added and not since.fresh:
            self._watch.seen.evaluation.last_batch = LastBatchFacts(
                batches=len(since.rows), rows=sum(since.rows), last=since.rows[-1], reset=True, site=site(since.place))
