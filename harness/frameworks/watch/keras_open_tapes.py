"""Tapes of TensorFlow that stay open while an optimizer steps and steps: they record it all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.checks.tensor_facts import Site
    from harness.frameworks.watch.keras_watch import KerasWatcher


class OpenTapes:
    """Counts the optimizer's steps while the outermost tape of a loop is open."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._open: list[tuple[int, Site | None, int]] = []  # id of a tape, where it was opened, steps when it was
        self._steps = 0

    def attach(self) -> None:
        """Hook TensorFlow's tapes."""
        import tensorflow as tf

        self._watch.session.patches.replace(tf.GradientTape, "__enter__", self._wrap_enter)
        self._watch.session.patches.replace(tf.GradientTape, "__exit__", self._wrap_exit)

    def stepped(self) -> None:
        """An optimizer has taken a step."""
        self._steps += 1
        if self._open:
            _, place, before = self._open[0]
            memory = self._watch.seen.memory
            if self._steps - before > memory.tape_steps:
                memory.tape_steps, memory.tape_site = self._steps - before, place

    @property
    def _looking(self) -> bool:
        import tensorflow as tf

        return self._watch.session.active and not self._watch.fits.running and tf.executing_eagerly()

    def _wrap_enter(self, original: Any) -> Any:
        def __enter__(tape: Any) -> Any:  # noqa: N807
            if self._looking:
                self._open.append((id(tape), site(self._watch.session.sites.place()), self._steps))
            return original(tape)

        return __enter__

    def _wrap_exit(self, original: Any) -> Any:
        def __exit__(tape: Any, *error: Any) -> Any:  # noqa: N807
            self._open = [entry for entry in self._open if entry[0] != id(tape)]
            return original(tape, *error)

        return __exit__
