"""Ids that a script makes one-hot rows of: TensorFlow makes a row of zeros of one that has no place within the depth."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import OneHotFacts

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_MOST = 100_000  # ids that are counted


def attach(session: WatchSession) -> None:
    """Hook `tf.one_hot`, where it is run and not only traced."""
    import tensorflow as tf

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def one_hot(indices: Any, depth: Any, *args: Any, **kwargs: Any) -> Any:
            if session.active and tf.executing_eagerly():
                session.safely("ids of one-hot rows", _count, session, indices, depth)
            return original(indices, depth, *args, **kwargs)

        return one_hot

    session.patches.replace(tf, "one_hot", wrap)


def _count(session: WatchSession, indices: Any, classes: Any) -> None:
    ids, depth = np.asarray(indices), int(classes)
    known = session.observation.one_hot
    if not ids.size or ids.dtype.kind not in "iu" or (known is not None and (known.depth != depth or known.ids > _MOST)):
        return
    if known is None:
        known = session.observation.one_hot = OneHotFacts(depth=depth, lowest=int(ids.min()), site=session.sites.here())
    known.ids += ids.size
    known.beyond += int((ids >= depth).sum())
    known.lowest, known.highest = min(known.lowest, int(ids.min())), max(known.highest, int(ids.max()))
