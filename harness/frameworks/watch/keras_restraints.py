"""What holds a Keras model back, and how to take its steps without it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch.keras_compile import rate_of
from harness.frameworks.watch.keras_model import flat_layers
from harness.frameworks.watch.keras_state import optimizers_of
from harness.frameworks.watch.keras_trace import numpy_of, patched
from harness.frameworks.watch.restraints import (
    CLIPPED,
    DECAYED,
    DROPPED,
    MOVED,
    PENALISED,
    USUAL,
    USUAL_RATE,
    Restraint,
    no_other_rate,
)
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_backend import KerasBackend, Step

_RECURRENT = ("dropout", "recurrent_dropout")
_AUGMENTS = re.compile(r"Random[A-Z]|Gaussian|RandAugment|AugMix|AutoContrast")
_CLIPS = ("clipnorm", "global_clipnorm")
_DECAYS = ("weight_decay", "weight_decay_rate")  # the second: of transformers' own optimizer


def dropout(model: Any, place_of: Callable[[Any], Place | None]) -> Restraint | None:
    """The largest share that a layer drops."""
    found = [(owner, name, float(value), layer) for layer in flat_layers(model) for owner, name in _shares(layer)
             if isinstance(value := getattr(owner, name, None), int | float) and value > 0]
    _, _, share, layer = max(found, key=lambda each: each[2], default=(None, "", 0.0, None))
    if share < DROPPED:
        return None
    return Restraint("dropout", share, _off([(owner, name, 0.0) for owner, name, _, _ in found]), site(place_of(layer)))


def _shares(layer: Any) -> Iterator[tuple[Any, str]]:
    """Attributes that may hold a share which is dropped."""
    if "Dropout" in type(layer).__name__:
        yield layer, "rate"
    for owner in (layer, getattr(layer, "cell", None)):
        if any(cls.__name__ in ("RNN", "LSTMCell", "GRUCell", "SimpleRNNCell") for cls in type(owner).__mro__):
            yield from ((owner, name) for name in _RECURRENT)


def augmentation(keras: Any, backend: KerasBackend, model: Any, step: Step, place_of: Callable[[Any], Place | None]) -> Restraint | None:
    """The layer that moves its input furthest, of those that draw what they do to it."""
    layers = [layer for layer in flat_layers(model) if _AUGMENTS.match(type(layer).__name__)]
    moved: list[tuple[float, Any]] = [(0.0, None)]

    def look(original: Any) -> Any:
        def wrapped(layer: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(layer, *args, **kwargs)
            if any(layer is one for one in layers) and args and hasattr(made, "shape") and args[0].shape == made.shape:
                given, found = (np.asarray(numpy_of(tensor), dtype=np.float64) for tensor in (args[0], made))
                moved.append((float(np.sqrt(np.mean((found - given) ** 2)) / (given.std() + 1e-12)), layer))
            return made

        return wrapped

    if layers:
        with patched(keras.layers.Layer, "__call__", look):
            backend.answers(step)
    amount, furthest = max(moved, key=lambda each: each[0])
    if amount < MOVED:
        return None

    @contextlib.contextmanager
    def off(backend: KerasBackend) -> Iterator[None]:
        for layer in layers:
            vars(layer)["call"] = lambda inputs, *_args, **_kwargs: inputs
        try:
            with backend.eagerly():
                yield
        finally:
            for layer in layers:
                del vars(layer)["call"]

    return Restraint("augmentation", amount, off, site(place_of(furthest)), name=f"{furthest.name}: {type(furthest).__name__}")


def decay(optimizers: list[Any], place_of: Callable[[Any], Place | None]) -> Restraint | None:
    """Weight decay that is strong: Keras takes it off the weights beside their gradient."""
    found = [(optimizer, name, value) for optimizer in optimizers for name in _DECAYS
             if isinstance(value := getattr(optimizer, name, None), int | float) and value > 0]
    strongest = max((value * (rate_of(optimizer) or 0.0) for optimizer, _, value in found), default=0.0)
    if strongest < DECAYED:
        return None
    off = _off([(optimizer, name, 0.0) for optimizer, name, _ in found])
    return Restraint("decay", strongest, off, site(place_of(found[0][0])), longer=4)


def clipping(optimizers: Iterable[Any], norms: Iterable[float | None], place_of: Callable[[Any], Place | None]) -> Restraint | None:
    """Norms that optimizers clip gradients to, which leave little of those of the first steps (`norms`). Small steps need many of them, so
    it is tried for longer."""
    known = [norm for norm in norms if norm is not None and np.isfinite(norm) and norm > 0]
    found = [(optimizer, name, float(value)) for optimizer in optimizers for name in _CLIPS if (value := getattr(optimizer, name, None))]
    if not known or not found:
        return None
    share = min(value for _, _, value in found) / float(np.median(known))
    off = _off([(optimizer, name, None) for optimizer, name, _ in found])
    return Restraint("clipping", share, off, site(place_of(found[0][0])), longer=2) if share <= CLIPPED else None


def penalty(backend: KerasBackend, model: Any, step: Step, place_of: Callable[[Any], Place | None]) -> Restraint | None:
    """Regularizers of weights, where what they add is most of the loss. To be called with the first weights in place."""
    changes: list[tuple[Any, str, Any]] = []
    owners: list[Any] = []
    for layer in flat_layers(model):
        weights = [weight for weight in getattr(layer, "_trainable_variables", ()) if getattr(weight, "regularizer", None) is not None]
        changes += [(weight, "regularizer", None) for weight in weights]
        called = getattr(layer, "_callable_losses", None)  # where the older Keras keeps them
        changes += [(layer, "_callable_losses", [])] if called else []
        owners += [layer] if weights or called else []
    if not changes:
        return None
    off = _off(changes)
    whole = backend.loss(step)
    with off(backend):
        share = 1 - backend.loss(step) / whole
    return Restraint("penalty", share, off, site(place_of(owners[0]))) if share > PENALISED else None


def optimizer(keras: Any, model: Any, place_of: Callable[[Any], Place | None]) -> Restraint | None:
    """A model's own optimizer, where it is the only one and of another family than Adam's."""
    names = optimizers_of(model)
    own = getattr(vars(model)[names[0]], "inner_optimizer", vars(model)[names[0]]) if len(names) == 1 else None
    if own is None or USUAL in type(own).__name__:
        return None

    @contextlib.contextmanager
    def off(backend: KerasBackend) -> Iterator[None]:
        kept = vars(model)[names[0]]
        vars(model)[names[0]] = getattr(keras.optimizers, USUAL)(USUAL_RATE)
        try:
            with backend.eagerly():
                yield
        finally:
            vars(model)[names[0]] = kept

    return Restraint("optimizer", rate_of(own) or 0.0, off, site(place_of(own)), name=type(own).__name__, longer=2, asked=no_other_rate)


def _off(changes: Iterable[tuple[Any, str, Any]]) -> Callable[[KerasBackend], contextlib.AbstractContextManager[None]]:
    """Attributes have other values while inside; steps are taken anew, as a graph keeps what it was made with."""
    @contextlib.contextmanager
    def off(backend: KerasBackend) -> Iterator[None]:
        kept = [(owner, name, getattr(owner, name)) for owner, name, _ in changes]
        for owner, name, value in changes:
            setattr(owner, name, value)
        try:
            with backend.eagerly():
                yield
        finally:
            for owner, name, value in kept:
                setattr(owner, name, value)

    return off
