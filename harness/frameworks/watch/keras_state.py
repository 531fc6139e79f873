"""Keeping a Keras model, its metrics and the random generators as they are while probes run."""

from __future__ import annotations

import contextlib
import io
import random
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

_TEMPORARY = 0x5EED


def variables_of(model: Any) -> list[Any]:
    """Every variable that a step of this model may change, but those of its optimizer (which probes replace)."""
    found: dict[int, Any] = {}
    # Metrics are made by the first step, in Keras 3 inside of `compile`d wrappers.
    parts = [*getattr(model, "variables", ()), *(variable for metric in getattr(model, "metrics", ()) for variable in metric.variables)]
    for part in [*parts, *(variable for other in inner_models(model) for variable in other.variables)]:
        found[id(part)] = part
    # Keras 3 lists no plain `tf.Variable`: a counter, or a codebook that a layer moves by itself.
    for part in (part for layer in layers_of(model) for value in vars(layer).values() for part in _kept(value) if _is_variable(part)):
        found[id(part)] = part
    held = {id(variable) for name in optimizers_of(model) for variable in variables_of_optimizer(vars(model)[name])}
    return [variable for key, variable in found.items() if key not in held]


def layers_of(model: Any) -> list[Any]:
    """A model and everything in it that is a layer."""
    return [model, *(layer for layer in getattr(model, "_flatten_layers", list)() if layer is not model)]


def _kept(value: Any) -> list[Any]:
    """What an attribute holds: itself, or the parts of a list or dict (buffers of gradients)."""
    if isinstance(value, list | tuple):
        return list(value)
    return list(value.values()) if isinstance(value, dict) else [value]


def _is_variable(value: Any) -> bool:
    return isinstance(value, sys.modules["tensorflow"].Variable) and value.dtype.is_numpy_compatible


def inner_models(model: Any) -> list[Any]:
    """Models that are attributes of a model without being its layers (a generator and a discriminator are tracked as layers)."""
    return [value for value in vars(model).values() if value is not model and hasattr(value, "train_step") and hasattr(value, "variables")]


def optimizers_of(model: Any) -> list[str]:
    """Names of the attributes that hold optimizers."""
    return [name for name, value in vars(model).items() if hasattr(value, "apply_gradients") and hasattr(value, "get_config")]


def variables_of_optimizer(optimizer: Any) -> list[Any]:
    """Slots, counters and, where it is one, the learning rate."""
    found = optimizer.variables
    return list(found() if callable(found) else found)


def rates_of(model: Any) -> list[Any]:
    """The variables that hold learning rates, which not every version counts among an optimizer's."""
    inner = [getattr(vars(model)[name], "inner_optimizer", vars(model)[name]) for name in optimizers_of(model)]
    return [rate for optimizer in inner if hasattr(rate := getattr(optimizer, "_learning_rate", None), "assign")]


class Frozen:
    """What probes may change: weights, metrics, optimizers by attribute, generators. `held()` puts all of it back."""

    def __init__(self, model: Any) -> None:
        self._model = model
        optimizers = [vars(model)[name] for name in optimizers_of(model)]
        held = [variable for optimizer in optimizers for variable in variables_of_optimizer(optimizer)]
        self._variables = [*variables_of(model), *held, *rates_of(model)]
        self._values = [np.array(variable.numpy()) for variable in self._variables]
        self._attributes = {name: vars(model)[name] for name in optimizers_of(model)}
        self._stopping = getattr(model, "stop_training", False)
        is_tensor = sys.modules["tensorflow"].is_tensor
        self._tensors = [(vars(layer), {name: value for name, value in vars(layer).items() if is_tensor(value)})
                         for layer in layers_of(model)]

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """While inside, anything may be changed; afterwards all is as it was."""
        with generators_kept(), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):
            try:
                yield
            finally:
                for variable, value in zip(self._variables, self._values, strict=True):
                    variable.assign(value)
                # Not by attribute: Keras tracks what is assigned to a model.
                vars(self._model).update(self._attributes)
                for attributes, tensors in self._tensors:
                    attributes.update(tensors)
                self._model.stop_training = self._stopping
                if hasattr(self._model, "_clear_losses"):
                    self._model._clear_losses()


class Start:
    """The weights as they were before the first step."""

    def __init__(self, model: Any) -> None:
        self.variables = variables_of(model)
        self._values = [np.array(variable.numpy()) for variable in self.variables]
        self.trainable = {id(variable) for variable in model.trainable_variables}
        self.whole = all(tuple(variable.shape) == value.shape for variable, value in zip(self.variables, self._values, strict=True))
        self._trained = [(variable, value) for variable, value in zip(self.variables, self._values, strict=True)
                         if self._is_trainable(variable)]

    def _is_trainable(self, variable: Any) -> bool:
        return id(variable) in self.trainable

    def put(self) -> None:
        """All weights as at the start."""
        for variable, value in zip(self.variables, self._values, strict=True):
            variable.assign(value)

    def pairs(self) -> list[tuple[Any, np.ndarray[Any, Any]]]:
        """Every variable that is trained, and its value at the start."""
        return list(self._trained)

    def moved(self) -> list[float]:
        """Of every trained weight matrix: norm of its change since / its norm then."""
        found = []
        for variable, value in self._trained:
            size = float(np.linalg.norm(value.astype(np.float32))) if value.ndim > 1 else 0.0
            if size > 0:
                found.append(float(np.linalg.norm(variable.numpy().astype(np.float32) - value.astype(np.float32))) / size)
        return found

    def changes(self) -> dict[int, tuple[bool, float | None, bool]]:
        """By the variable's id: whether it moved, its change by its own size, whether it holds a NaN or infinity now."""
        found: dict[int, tuple[bool, float | None, bool]] = {}
        for variable, value in zip(self.variables, self._values, strict=True):
            if value.dtype.kind != "f" and value.dtype.name != "bfloat16":
                continue
            change = variable.numpy().astype(np.float32) - value.astype(np.float32)
            size, norm = float(np.linalg.norm(value.astype(np.float32))), float(np.linalg.norm(change))
            bad = not np.isfinite(norm)
            found[id(variable)] = (bad or norm > 0, norm / size if size > 0 else None, bad)
        return found


def shake(variables: list[Any], share: float) -> None:
    """Add noise of a share of their own size to weights; to matrices that are zero of that share of what they would be drawn with."""
    generator = np.random.default_rng(0)
    for variable in variables:
        value = np.array(variable.numpy()).astype(np.float32)
        size = float(np.sqrt(np.mean(value**2))) or (value[..., 0].size ** -0.5 if value.ndim > 1 else 0.0)
        noise = generator.normal(size=value.shape) * (share * size + 1e-3)
        variable.assign((value + noise).astype(value.dtype))


def redraw(variables: list[Any], seed: int) -> None:
    """Weights of another draw, normal numbers twice their own size; vectors that are zero get numbers as well."""
    generator = np.random.default_rng(seed)
    for variable in variables:
        value = np.array(variable.numpy()).astype(np.float32)
        size = 2.0 * float(np.sqrt(np.mean(value**2))) or 0.5
        variable.assign((generator.normal(size=value.shape) * size).astype(value.dtype))


@contextlib.contextmanager
def generators_kept() -> Iterator[None]:
    """Python's, NumPy's, TensorFlow's and Keras' generators afterwards as before.

    TensorFlow's eager operations draw their seeds from the context, and operations of one seed share a state. So it gets another source
    of seeds meanwhile: none of the script's later operations then meets a state that was used here.
    """
    from tensorflow.python.eager import context
    from tensorflow.python.ops import stateful_random_ops

    tf_context = context.context()
    kept_python, kept_numpy, kept_context = random.getstate(), np.random.get_state(), getattr(tf_context, "_rng", None)
    generator = getattr(stateful_random_ops, "global_generator", None)
    states = [(variable, np.array(variable.numpy())) for variable in (
        *([generator.state] if generator is not None else []), *_keras_states())]
    legacy = getattr(getattr(sys.modules.get("tf_keras.src.backend"), "_SEED_GENERATOR", None), "generator", None)
    kept_legacy = legacy.getstate() if legacy is not None else None
    if kept_context is not None:
        tf_context._rng = random.Random(_TEMPORARY)  # noqa: S311 - seeds of dropout, nothing secret
    try:
        yield
    finally:
        random.setstate(kept_python)
        np.random.set_state(kept_numpy)
        if kept_context is not None:
            tf_context._rng = kept_context
        for variable, value in states:
            variable.assign(value)
        if legacy is not None:
            legacy.setstate(kept_legacy)


def _keras_states() -> list[Any]:
    """The state of Keras 3's global seed generator, where one is in use."""
    module = sys.modules.get("keras.src.backend.common.global_state")
    found = module.get_global_attribute("global_seed_generator") if module is not None else None
    return [found.state] if found is not None else []
