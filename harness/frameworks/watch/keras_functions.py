"""Loss functions that a `train_step` calls by itself: those of `tf.nn`, and those of Keras that stand beside its loss objects."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

OF_TENSORFLOW = {"sparse_softmax_cross_entropy_with_logits": "sparse_categorical", "softmax_cross_entropy_with_logits": "categorical",
                 "sigmoid_cross_entropy_with_logits": "bce"}
OF_KERAS = {
    "sparse_categorical_crossentropy": "sparse_categorical", "categorical_crossentropy": "categorical", "binary_crossentropy": "bce",
    "binary_focal_crossentropy": "bce", "mean_squared_error": "mse", "mse": "mse", "mean_absolute_error": "l1", "mae": "l1", "huber": "l1",
    "log_cosh": "l1", "kl_divergence": "kl", "hinge": "hinge",
}
UNDESCRIBED = ("cosine_similarity",)

# Operations through which a result is looked at.
_THROUGH = ("Identity", "Cast", "Reshape", "Squeeze", "ExpandDims", "IdentityN", "StopGradient", "CheckNumerics")
_ACTIVATIONS = {"Softmax": "softmax", "Sigmoid": "sigmoid", "Tanh": "tanh", "Relu": "relu", "Relu6": "relu", "Softplus": "softplus"}
_HOPS = 6


@dataclass(frozen=True)
class Function:
    """Described as a loss object of Keras describes itself: its function and options. `kind`: what it is called in facts; `site`: where it
    is called."""

    fn: Any
    kind: str
    _fn_kwargs: dict[str, Any]
    site: Any
    reduction: str = "none"


@contextlib.contextmanager
def patched_in(keras: Any, wrap: Callable[[Any, Callable[..., Any] | None, Callable[..., tuple[Any, Any]]], Any]) -> Iterator[None]:
    """While inside, each of them is `wrap(original, stand_in, given)`; `stand_in(kwargs, place)` makes its `Function` (None where facts
    have no name for it), `given(*args, **kwargs)` are its target and the model's answer."""
    import tensorflow as tf

    kept = []
    for owner, names, logits in ((tf.nn, OF_TENSORFLOW, True), (keras.losses, OF_KERAS, False)):
        for name, kind in names.items():
            original = vars(owner).get(name)
            if original is not None:
                kept.append((owner, name, original))
                made = wrap(original, functools.partial(_stand_in, original, kind, logits), given)
                setattr(owner, name, functools.update_wrapper(made, original))
    for name in UNDESCRIBED:
        original = vars(keras.losses).get(name)
        if original is not None:
            kept.append((keras.losses, name, original))
            setattr(keras.losses, name, functools.update_wrapper(wrap(original, None, given), original))
    try:
        yield
    finally:
        for owner, name, original in kept:
            setattr(owner, name, original)


def _stand_in(original: Any, kind: str, logits: bool, kwargs: dict[str, Any], place: Any) -> Function:
    options = {name: value for name, value in kwargs.items() if name in ("from_logits", "label_smoothing", "ignore_class")}
    return Function(original, kind, {**options, "from_logits": True} if logits else options, place)


def keys_of(kwargs: dict[str, Any]) -> list[str | None]:
    """Under which names target and answer come, None where one comes by its place."""
    return [next((key for key in names if key in kwargs), None) for names in (("labels", "y_true"), ("logits", "y_pred"))]


def given(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The target and the answer that such a function is called with."""
    keys = keys_of(kwargs)
    true, pred = (kwargs[key] if key else args[number] if number < len(args) else None for number, key in enumerate(keys))
    return true, pred


def of_a_library(frame: FrameType | None) -> bool:
    """Whether it is the code of an installed package that runs in a frame, or, where TensorFlow has rewritten code, that called it."""
    while frame is not None and "/autograph/" in (name := frame.f_code.co_filename.replace("\\", "/")):
        frame = frame.f_back
    return frame is not None and "-packages/" in name


def answered(tensor: Any, outputs: list[Any]) -> bool:
    """Whether a result is what a model gave, in another shape or type at most."""
    import tensorflow as tf

    given = {id(part) for part in tf.nest.flatten(outputs)}
    for _ in range(_HOPS):
        if id(tensor) in given:
            return True
        try:
            operation = tensor.op
        except (AttributeError, NotImplementedError):
            return False
        if operation.type not in _THROUGH or not operation.inputs:
            return False
        tensor = operation.inputs[0]
    return False


def activation_of(tensor: Any) -> str | None:
    """The activation that a result came out of, `linear` where it is no known one; None in eager mode, which keeps no history."""
    try:
        operation = tensor.op
    except (AttributeError, NotImplementedError):
        return None
    for _ in range(_HOPS):
        if operation.type in _ACTIVATIONS:
            return _ACTIVATIONS[operation.type]
        if operation.type not in _THROUGH or not operation.inputs:
            return "linear"
        operation = operation.inputs[0].op
    return "linear"
