"""Keras and TensorFlow: what the softmax of a contrastive loss is taken of, where its numbers are known."""

from __future__ import annotations

import functools
from typing import Any

from harness.frameworks.watch import self_likeness
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.session import WatchSession


def attach(session: WatchSession) -> None:
    """Hook the functions of TensorFlow, and so those of Keras, that take a softmax for the sake of its logarithm."""
    import tensorflow as tf

    def look(given: Any, wanted: Any) -> None:
        known = tf.is_tensor(given) and given.dtype.is_floating and hasattr(given, "numpy") and self_likeness.fits(given.shape)
        if known and not self_likeness.diagonal(numpy_of(wanted) if hasattr(wanted, "numpy") else wanted, len(given)):
            self_likeness.note(session.observation, session.sites.place(), numpy_of(given))

    def wrap(original: Any, key: str) -> Any:
        @functools.wraps(original)
        def softmax(*args: Any, **kwargs: Any) -> Any:
            if session.active:
                logits = key == "logits"
                session.safely("what a softmax is taken of", look, kwargs[key] if key in kwargs else args[-1 if logits else 0],
                               kwargs.get("labels", args[0] if args else None) if logits else None)
            return original(*args, **kwargs)

        return softmax

    for api in (tf, tf.compat.v2):  # tf_keras calls the second
        for owner, name, key in ((api, "reduce_logsumexp", "input_tensor"), (api.math, "reduce_logsumexp", "input_tensor"),
                                 (api.nn, "sparse_softmax_cross_entropy_with_logits", "logits"),
                                 (api.nn, "softmax_cross_entropy_with_logits", "logits")):
            session.patches.replace(owner, name, functools.partial(wrap, key=key))
