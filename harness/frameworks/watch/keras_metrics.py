"""Metric objects of Keras: which class is given which shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.metric_facts import MetricFacts
from harness.checks.tensor_facts import Site, TensorFacts
from harness.frameworks.watch.keras_functions import activation_of
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_compile import Compiles
    from harness.frameworks.watch.keras_watch import KerasWatcher

_MOST = 40
_CUTTING = ("AUC", "Precision", "Recall", "F1Score", "FBetaScore", "TruePositives", "PrecisionAtRecall", "BinaryIoU")


class Metrics:
    """Wraps the updates of metrics that are a mean over rows (accuracies, errors, cross-entropies), count class ids, or cut scores."""

    def __init__(self, watch: KerasWatcher, keras: Any, compiles: Compiles) -> None:
        self._watch = watch
        self._keras = keras
        self._compiles = compiles
        self._known: set[tuple[int, tuple[Any, ...], tuple[Any, ...]]] = set()

    def attach(self) -> None:
        metrics = self._keras.metrics
        counting = next(cls for cls in metrics.IoU.__mro__ if "update_state" in vars(cls))
        cutting = [getattr(metrics, name) for name in _CUTTING if hasattr(metrics, name)]
        owners = {next(cls for cls in metric.__mro__ if "update_state" in vars(cls)) for metric in cutting}
        for owner in (metrics.MeanMetricWrapper, counting, *sorted(owners - {metrics.MeanMetricWrapper, counting}, key=str)):
            self._watch.session.patches.replace(owner, "update_state", self._wrap_update)

    def _wrap_update(self, original: Any) -> Any:
        session = self._watch.session

        def update_state(metric: Any, y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> Any:
            if session.active:
                session.safely("a metric", self._updated, metric, y_true, y_pred)
            return original(metric, y_true, y_pred, *args, **kwargs)

        return update_state

    def _updated(self, metric: Any, true: Any, pred: Any) -> None:
        given, wanted = _facts(pred), _facts(true)
        if given is None or wanted is None or len(self._known) >= _MOST:
            return
        if getattr(metric, "sparse_y_pred", True) is False:
            return  # it takes the class of the largest score itself
        key = (id(metric), given.shape, wanted.shape)
        if key not in self._known:
            self._known.add(key)
            self._watch.seen.evaluation.updates.append(
                MetricFacts(name=type(metric).__name__, predictions=given, references=wanted, fractions=_fractions(pred),
                            cuts=_cuts(metric), raw=_raw(pred), site=self._place(metric)))

    def _place(self, metric: Any) -> Site | None:
        """Where a metric was made; of one that was only named, and made by `fit`, where it is named."""
        made = site(self._compiles.place_of(metric))
        by_fit = made is not None and made == self._watch.session.sites.here()
        return (None if by_fit else made) or self._compiles.keyword(self._watch.seen.sites.get("compile"), "metrics")


def _fractions(pred: Any) -> bool | None:
    """Whether predictions are probabilities: by their values, or in a graph by the operation that made them; None where neither tells."""
    if hasattr(pred, "numpy"):
        values = numpy_of(pred)
        return bool((values != values.round()).any()) if values.dtype.kind == "f" else False
    made = activation_of(pred)
    return True if made in ("softmax", "sigmoid") else None


def _cuts(metric: Any) -> tuple[float, float] | None:
    """The least and the largest threshold at which a metric cuts probabilities; None where it takes scores, or does not cut."""
    if getattr(metric, "_from_logits", False) or getattr(metric, "top_k", None) is not None:
        return None
    by_name = getattr(getattr(metric, "_fn", None), "__name__", "") == "binary_accuracy"
    kept = getattr(metric, "_fn_kwargs", None) or {}
    found = next((value for value in (getattr(metric, "_thresholds", None), getattr(metric, "thresholds", None),
                                      getattr(metric, "threshold", None), kept.get("threshold", 0.5) if by_name else None)
                  if value is not None), None)
    values = [float(value) for value in np.ravel(numpy_of(found))] if found is not None else []
    return (min(values), max(values)) if values else None


def _raw(pred: Any) -> bool | None:
    """Whether predictions are no probabilities: by their values, or in a graph by what made them; None where neither tells."""
    if hasattr(pred, "numpy"):
        values = numpy_of(pred)
        return bool(values.size and (values.min() < 0 or values.max() > 1))
    made = activation_of(pred)
    return None if made is None else made == "linear"


def _facts(value: Any) -> TensorFacts | None:
    """Shape and dtype; an axis whose length a graph leaves open counts as 0. None where not even the axes are known."""
    shape = getattr(value, "shape", None)
    if shape is None or getattr(shape, "rank", 0) is None:
        return None
    dtype = str(getattr(value.dtype, "name", value.dtype))
    return TensorFacts(shape=tuple(0 if size is None else int(size) for size in shape), dtype=dtype)
