"""TensorFlow's CTC loss, and the symbol that stands for nothing."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from harness.frameworks.watch import blanks
from harness.frameworks.watch.session import WatchSession


def attach(session: WatchSession) -> None:
    """Hook `tf.nn.ctc_loss`, where it is run and not only traced."""
    import tensorflow as tf

    known = blanks.Blanks(session)

    def look(labels: Any, logits: Any, label_length: Any, *_: Any, blank_index: int | None = None, **_named: Any) -> None:
        if not hasattr(labels, "numpy") or not hasattr(label_length, "numpy"):
            return
        classes = int(logits.shape[-1])
        known.called(np.asarray(labels.numpy()), np.asarray(label_length.numpy()).reshape(-1), (blank_index or 0) % classes, classes)

    session.patches.replace(tf.nn, "ctc_loss", functools.partial(blanks.wrap, session=session, look=look))
