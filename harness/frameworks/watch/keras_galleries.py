"""Tables of likenesses that a script ranks with TensorFlow once it has trained."""

from __future__ import annotations

from harness.frameworks.watch import galleries


class Galleries(galleries.Galleries):
    """Hooks TensorFlow's functions besides NumPy's."""

    def attach(self) -> None:
        """Hook them."""
        import tensorflow as tf

        super().attach()
        for owner, name in ((tf, "argsort"), (tf, "argmax"), (tf, "argmin"), (tf, "sort"), (tf.math, "top_k"), (tf.nn, "top_k"),
                            (tf.math, "argmax"), (tf.math, "argmin")):
            self._session.patches.replace(owner, name, self.wrap)
