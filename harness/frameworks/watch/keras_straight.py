"""Straight-through estimates in Keras models."""

from __future__ import annotations

from typing import Any

from harness.frameworks.watch import straight
from harness.frameworks.watch.session import WatchSession


def attach(session: WatchSession) -> None:
    """Hook `tf.stop_gradient`, which Keras's own calls as well: one that cuts off an estimate whole is a site, `straight_through`,
    and one that is written the wrong way round `turned_through`."""
    import tensorflow as tf

    def wrap(original: Any) -> Any:
        def stop_gradient(*args: Any, **kwargs: Any) -> Any:
            if session.active and not {"straight_through", "turned_through"} & set(session.observation.sites):
                place = session.sites.place()
                session.noted("straight_through", straight.cut_whole([place]))
                session.noted("turned_through", straight.turned([place]))
            return original(*args, **kwargs)

        return stop_gradient

    session.patches.replace(tf, "stop_gradient", wrap)
