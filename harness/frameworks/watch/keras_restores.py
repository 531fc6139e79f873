"""Weights that a script of TensorFlow's loads or puts back: names that fit nothing, variables never copied, what is drawn over them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.model_facts import RestoreFacts
from harness.frameworks.watch import references, trees
from harness.frameworks.watch.loaded import Loaded
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_COUNTER = "save_counter"  # which every checkpoint has of its own
_NAMED, _MOST = 4, 8
_DRAWING = ("VarianceScaling", "RandomNormal", "RandomUniform", "TruncatedNormal", "Orthogonal")
_RUNNING = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch", "__call__")


class Restores:
    """Hooks `tf.train.Checkpoint` and `load_weights`."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._asked: list[tuple[Any, Any, Place | None]] = []  # what a restoring came to, of which checkpoint, and where
        self._followed = Loaded(watch.session, _first)

    def attach(self) -> None:
        """Hook TensorFlow."""
        import tensorflow as tf

        for name in ("restore", "read"):
            self._watch.session.patches.replace(tf.train.Checkpoint, name, self._wrap_restore)

    def hook(self, keras: Any) -> None:
        """Hook the models of a Keras, and what draws its weights."""
        replace = self._watch.session.patches.replace
        replace(keras.Model, "load_weights", self._wrap_load)
        for name in _DRAWING:
            replace(getattr(keras.initializers, name), "__call__", self._wrap_draw)
        for name in _RUNNING:
            replace(keras.Model, name, self._wrap_run)

    def _wrap_draw(self, original: Any) -> Any:
        session = self._watch.session

        def __call__(*args: Any, **kwargs: Any) -> Any:  # noqa: N807
            made = original(*args, **kwargs)
            if self._followed.waits and session.active:
                session.safely("weights that are drawn", self._followed.drew, made)
            return made

        return __call__

    def _wrap_run(self, original: Any) -> Any:
        session = self._watch.session

        def run(model: Any, *args: Any, **kwargs: Any) -> Any:
            # A model that is called while others are put together around it does not run.
            if self._followed.waits and session.active and not trees.leaves([args, kwargs], _stands_for_one):
                session.safely("weights that are loaded", self._followed.runs, model.weights)
            return original(model, *args, **kwargs)

        return run

    def _wrap_restore(self, original: Any) -> Any:
        session = self._watch.session

        def restore(checkpoint: Any, *args: Any, **kwargs: Any) -> Any:
            place = session.sites.place() if session.active else None
            status = original(checkpoint, *args, **kwargs)
            if place is not None and hasattr(status, "_checkpoint") and len(self._asked) < _MOST:
                self._asked.append((status, checkpoint, place))
            return status

        return restore

    def _wrap_load(self, original: Any) -> Any:
        session, signature = self._watch.session, inspect.signature(original)

        def load_weights(model: Any, *args: Any, **kwargs: Any) -> Any:
            options = session.safely("weights that are loaded", lambda: _bound(signature, model, args, kwargs)) or {}
            lenient = [name for name in ("by_name", "skip_mismatch") if options.get(name)]
            before = session.safely("weights that are loaded", _values, model) if lenient and session.active else None
            place = session.sites.place() if before else None
            made = original(model, *args, **kwargs)
            if session.active and not self._watch.seen.steps:
                session.safely("weights that are loaded", self._followed.loaded, model.weights)
            if before and place is not None and not self._watch.seen.steps:
                session.safely("weights that are loaded", self._loaded, model, before, f"load_weights(..., {lenient[0]}=True)", place)
            return made

        return load_weights

    def _loaded(self, model: Any, before: list[Any], how: str, place: Place) -> None:
        after = _values(model)
        if len(after) == len(before) and all(np.array_equal(old, new) for old, new in zip(before, after, strict=True)):
            self._nothing(how, len(before), [], [], place)

    def _nothing(self, by: str, weights: int, given: list[str], wanted: list[str], place: Place) -> None:
        if self._watch.seen.restored is None:
            self._watch.seen.restored = RestoreFacts(how="nothing", by=by, weights=weights, given=given[:_NAMED], wanted=wanted[:_NAMED],
                                                     site=site(place))

    def finish(self) -> None:
        """Weights may be made after they are restored; and of a script that was not watched to its end, its text tells what it kept."""
        for status, checkpoint, place in self._asked:
            found = status._checkpoint
            restored = [thing for thing in found.object_by_proto_id.values() if hasattr(thing, "assign") and len(thing.shape)]
            parts = {name: part for name, part in checkpoint._trackable_children().items() if name != _COUNTER}
            weights = [one for part in parts.values() for one in getattr(part, "variables", ()) if len(one.shape)]
            if place is not None and weights and not restored:
                given = [child.local_name for child in found.object_graph_proto.nodes[0].children if child.local_name != _COUNTER]
                self._nothing("restore(...)", len(weights), given, list(parts), place)
        other = references.checkpoints(self._watch.session.script) if self._watch.seen.steps else None
        if other is not None:
            line, given, wanted = other
            self._nothing("restore(...)", 0, given, wanted, (str(self._watch.session.script), line, ""))
        lines = references.variables(self._watch.session.script) if self._watch.seen.restored is None and self._watch.seen.steps else []
        if lines:
            self._watch.seen.restored = RestoreFacts(
                how="itself", by="weights", weights=len(self._watch.seen.model.parameters) if self._watch.seen.model is not None else 0,
                site=site((str(self._watch.session.script), lines[0], "")))


def _bound(signature: inspect.Signature, model: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    given = signature.bind(model, *args, **kwargs).arguments
    return {**given, **given.get("kwargs", {})}


def _stands_for_one(value: Any) -> bool:
    return type(value).__name__ == "KerasTensor"


def _first(variable: Any, count: int) -> Any:
    """The first numbers of a variable or tensor; None of one in a graph."""
    import tensorflow as tf

    with tf.init_scope():
        return np.ravel(variable.numpy())[:count] if hasattr(variable, "numpy") else None


def _values(model: Any) -> list[Any]:
    return [np.asarray(value) for value in model.get_weights()] if model.built else []
