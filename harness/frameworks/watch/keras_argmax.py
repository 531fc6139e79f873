"""The largest of a model's scores, taken with `tf.argmax` and no axis: it goes along the first one, the rows of the batch."""

from __future__ import annotations

import functools
from typing import Any

from harness.checks.evaluation_facts import ArgmaxFacts
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.sites import site


def attach(session: WatchSession) -> None:
    """Hook `tf.argmax`, by both of its names."""
    import tensorflow as tf

    def look(given: Any) -> None:
        place, seen = session.sites.direct(), session.observation.evaluation
        shape = getattr(given, "shape", None)
        if place is None or seen.argmax is not None or shape is None or len(shape) != 2 or not _floating(given):
            return
        rows, columns = shape[0], shape[1]
        if columns is not None and int(columns) > 1 and rows != 1:
            seen.argmax = ArgmaxFacts(classes=int(columns), rows=int(rows) if rows is not None else None, site=site(place))

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def argmax(*args: Any, **kwargs: Any) -> Any:
            if session.active and len(args) == 1 and kwargs.get("axis") is None:
                session.safely("the largest of some scores", look, args[0])
            return original(*args, **kwargs)

        return argmax

    session.patches.replace(tf, "argmax", wrap)
    session.patches.replace(tf.math, "argmax", wrap)


def _floating(given: Any) -> bool:
    return bool(getattr(given.dtype, "is_floating", False)) or getattr(given.dtype, "kind", "") == "f"
