"""Keras and TensorFlow: what a script clips to what has a logarithm. In a graph its numbers are those that the loss was given."""

from __future__ import annotations

import functools
from typing import Any

from harness.frameworks.watch import clipped
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.session import WatchSession

_TENSORFLOW, _KERAS = ("clip_value_min", "clip_value_max"), ("x_min", "x_max")


def attach(session: WatchSession, keras: Any) -> None:
    """Hook `tf.clip_by_value`, and the clipping of this Keras."""
    import tensorflow as tf

    known = clipped.Clipped(session)

    def look(given: Any, args: tuple[Any, ...], kwargs: dict[str, Any], names: tuple[str, str]) -> None:
        if session.sites.direct() is not None and tf.is_tensor(given) and given.dtype.is_floating:
            known.clips(numpy_of(given) if hasattr(given, "numpy") else None, *clipped.bounds(args, kwargs, names))

    def wrap(original: Any, names: tuple[str, str]) -> Any:
        @functools.wraps(original)
        def clip(*args: Any, **kwargs: Any) -> Any:
            if session.active and args:
                session.safely("what is clipped", look, args[0], args[1:], kwargs, names)
            return original(*args, **kwargs)

        return clip

    for owner, name, names in ((tf, "clip_by_value", _TENSORFLOW), (getattr(keras, "ops", None), "clip", _KERAS),
                               (getattr(keras, "backend", None), "clip", ("min_value", "max_value"))):
        if owner is not None and hasattr(owner, name):
            session.patches.replace(owner, name, functools.partial(wrap, names=names))
