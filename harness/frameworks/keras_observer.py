"""What Keras (tf_keras, and Keras 3 on TensorFlow) really does inside `fit` and `evaluate`.

`train_step` is traced into a graph, so Python cannot watch it run. Instead the traced function is given more outputs: the labels of
its rows and the loss that the gradient tape differentiates. They leave with the step's logs and are taken out before Keras sees them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import wrapt

from harness.frameworks import autograph
from harness.frameworks.events import Emit

_KEY = "__observed__"


class KerasObserver:
    """Emits `step` {step, loss, labels, nan_labels, finite_labels}, `evaluation` {accuracy, labels} and `memory` events.

    `memory` {budget_bytes, peak_bytes} is about tensors, and only where the script set a limit for them.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._step = 0
        self._model: Any = None
        self._eval_labels: list[int] = []

    def attach(self, keras: Any) -> None:
        """Hook a Keras module (`tf_keras` or `keras`). Called when the script has imported it."""
        self._keras = keras
        model = keras.Model
        wrapt.wrap_function_wrapper(model, "make_train_function", self._make_train_function)
        wrapt.wrap_function_wrapper(model, "make_test_function", self._make_test_function)
        wrapt.wrap_function_wrapper(model, "evaluate", self._evaluate)

    def _make_train_function(self, wrapped: Any, model: Any, args: Any, kwargs: Any) -> Any:
        self._model = model
        return self._rebuild(wrapped, model, args, kwargs, "train")

    def _make_test_function(self, wrapped: Any, model: Any, args: Any, kwargs: Any) -> Any:
        return self._rebuild(wrapped, model, args, kwargs, "test")

    def _rebuild(self, wrapped: Any, model: Any, args: Any, kwargs: Any, phase: str) -> Any:
        """Let Keras build its function around a watched step, then take the extra outputs out of what it returns."""
        name, slot = f"{phase}_step", f"{phase}_function"
        if getattr(getattr(model, slot, None), "__self_observed__", False) and not (args and args[0]) and not kwargs.get("force"):
            return getattr(model, slot)
        original = getattr(model, name)
        if not hasattr(original, "__watched__"):
            object.__setattr__(model, name, _watched(original, self._keras))
        built = wrapped(*args, **kwargs)
        inner = getattr(model, slot, None) or built
        read = self._stepped if phase == "train" else self._tested

        def function(*inner_args: Any, **inner_kwargs: Any) -> Any:
            logs = inner(*inner_args, **inner_kwargs)
            if isinstance(logs, dict) and _KEY in logs:
                logs = dict(logs)
                read(logs.pop(_KEY))
            return logs

        function.__self_observed__ = True  # type: ignore[attr-defined]
        setattr(model, slot, function)
        return function

    def _stepped(self, seen: dict[str, Any]) -> None:
        import numpy

        self._step += 1
        loss = numpy.asarray(seen["loss"]) if "loss" in seen else None
        labels = numpy.asarray(seen["labels"]).reshape(-1).tolist() if "labels" in seen else []
        fields: dict[str, Any] = {"step": self._step, "labels": labels, "loss": None if loss is None else float(loss.mean())}
        rows = numpy.asarray(seen["row_losses"]) if "row_losses" in seen else None
        if rows is not None and rows.shape == (len(labels),) and loss is not None and not numpy.isfinite(loss).all():
            bad = ~numpy.isfinite(rows)
            fields["nan_labels"] = [label for label, is_bad in zip(labels, bad, strict=True) if is_bad]
            fields["finite_labels"] = [label for label, is_bad in zip(labels, bad, strict=True) if not is_bad]
        self._emit("step", **fields)

    def _tested(self, seen: dict[str, Any]) -> None:
        import numpy

        if "labels" in seen:
            self._eval_labels += numpy.asarray(seen["labels"]).reshape(-1).tolist()

    def _evaluate(self, wrapped: Any, _model: Any, args: Any, kwargs: Any) -> Any:
        self._eval_labels = []
        result = wrapped(*args, **kwargs)
        values = result if isinstance(result, list) else [result]
        logs = result if isinstance(result, dict) else dict(zip(_model.metrics_names, values, strict=False))
        accuracy = next((float(value) for name, value in logs.items() if "acc" in name), None)
        self._emit("evaluation", source="keras", accuracy=accuracy, labels=self._eval_labels)
        return result

    def finish(self) -> None:
        """The script is over: hand in the state of the model."""
        import numpy

        self._memory()
        if self._model is None:
            return
        config = getattr(self._model, "config", None)
        self._emit("model", num_labels=getattr(config, "num_labels", None),
                   nan=any(bool(numpy.isnan(weight).any()) for weight in self._model.get_weights()))

    def _memory(self) -> None:
        """Where TensorFlow's tensors on the CPU have a limit, its allocator also keeps account of them."""
        limit = os.environ.get("TF_CPU_BFC_MEM_LIMIT_IN_MB", "")
        if not limit.isdecimal() or "tensorflow" not in sys.modules:
            return
        import tensorflow as tf
        from tensorflow.python.eager import context

        if context.context()._initialized:
            with contextlib.suppress(ValueError):  # no account is kept by an allocator without a limit
                peak = tf.config.experimental.get_memory_info("CPU:0")["peak"]
                self._emit("memory", budget_bytes=int(limit) * 2**20, peak_bytes=peak)


def _watched(original: Any, keras: Any) -> Any:
    """`original` (a `train_step` or `test_step`) with the labels, the rows' losses and the tape's target added to its logs."""
    import tensorflow as tf

    per_row = next(cls for cls in keras.losses.SparseCategoricalCrossentropy.__mro__ if "call" in vars(cls))

    def step(data: Any, *args: Any, **kwargs: Any) -> Any:
        targets: list[Any] = []
        rows: list[Any] = []

        def gradient(wrapped: Any, _tape: Any, call: Any, named: Any) -> Any:
            targets.append(call[0] if call else named["target"])
            return wrapped(*call, **named)

        def loss_call(wrapped: Any, _loss: Any, call: Any, named: Any) -> Any:
            rows.append(wrapped(*call, **named))
            return rows[-1]

        with _patched(tf.GradientTape, "gradient", gradient), _patched(per_row, "call", loss_call):
            logs = autograph.call(original, data, *args, **kwargs)
        if not isinstance(logs, dict):
            return logs
        seen: dict[str, Any] = {}
        labels = _labels_of(data)
        if labels is not None:
            seen["labels"] = labels
        if targets and tf.is_tensor(targets[0]) and _here(targets[0]):
            seen["loss"] = targets[0]
        if rows and tf.is_tensor(rows[0]) and len(rows[0].shape) == 1 and _here(rows[0]):
            seen["row_losses"] = rows[0]
        return {**logs, _KEY: seen}

    converted = tf.autograph.experimental.do_not_convert(step)
    converted.__watched__ = True
    return converted


@contextlib.contextmanager
def _patched(owner: Any, name: str, wrapper: Any) -> Iterator[None]:
    before = vars(owner)[name]
    wrapt.wrap_function_wrapper(owner, name, wrapper)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _here(tensor: Any) -> bool:
    """Whether a tensor may leave the function that is being traced (one from an inner graph may not)."""
    import tensorflow as tf

    return tf.executing_eagerly() or getattr(tensor, "graph", None) is tf.compat.v1.get_default_graph()


def _labels_of(data: Any) -> Any:
    """`int[batch]` labels, from `(x, y)` or from inside the input dict; None where there are none of that shape."""
    parts = data if isinstance(data, tuple) else (data,)
    found = parts[1] if len(parts) > 1 and parts[1] is not None else parts[0]
    if isinstance(found, dict):
        found = next((found[key] for key in ("labels", "label") if key in found), None)
    return found if hasattr(found, "dtype") and found.dtype.is_integer and len(found.shape) == 1 else None
