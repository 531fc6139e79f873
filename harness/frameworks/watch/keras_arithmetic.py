"""Where a script's own arithmetic with TensorFlow, which does not warn as NumPy does, makes NaN or infinity of numbers before it trains."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.session import WatchSession

_LARGEST = 1 << 24
_NAMES = ("log", "log1p", "sqrt", "rsqrt", "reciprocal", "divide", "exp", "pow", "acos", "asin")


def attach(session: WatchSession) -> None:
    """Hook the functions that may, where they run at once."""
    import tensorflow as tf

    def look(given: tuple[Any, ...], made: Any) -> None:
        seen = session.observation
        if seen.steps or "bad_input" in seen.sites or not hasattr(made, "numpy") or not made.dtype.is_floating:
            return
        if int(np.prod(made.shape)) > _LARGEST or _finite(made) or not all(_finite(part) for part in given if hasattr(part, "dtype")):
            return
        session.noted("bad_input", session.sites.place())

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def computed(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            if session.active:
                session.safely("numbers that are none", look, args, made)
            return made

        return computed

    for owner in (tf, tf.math):
        for name in _NAMES:
            if hasattr(owner, name):
                session.patches.replace(owner, name, wrap)


def _finite(part: Any) -> bool:
    value = np.asarray(numpy_of(part))
    return value.dtype.kind != "f" or bool(np.isfinite(value).all())
