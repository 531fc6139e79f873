"""How a Keras model is asked that is trained: about padded token ids without their mask, or, after `fit`, in training mode."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.model_facts import UnmaskedFacts
from harness.checks.probe_facts import ShiftFacts
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import fills, keras_fillers, written
from harness.frameworks.watch.keras_tape import recorded
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.samples import Samples
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_IDS, _MASK = "input_ids", "attention_mask"
_MOSTLY = 0.9
_NEXT = re.compile(r"LMHead|CausalLM|DoubleHeads")  # models whose loss asks for the next token
_FIRST = 4  # of them that are held against their labels
_BATCHES = 200  # trained batches that are looked at for what fills them


class Asked:
    """Told of the batches of `fit` and of a loop; wraps calls and `predict` of the models that were trained on them."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._fillers: set[int] = set()
        self._bare = fills.Bare()
        self._trained: Any = None
        self._looped: Any = None
        self._batches = 0
        self._calls = self._training = 0
        self._samples = Samples()

    def attach(self, keras: Any) -> None:
        """Hook the models of one Keras."""
        for name in ("__call__", "predict"):
            self._watch.session.patches.replace(keras.Model, name, self._wrap)

    def trained(self, model: Any, columns: dict[str, Any]) -> None:
        """A model was trained on a batch: the ids that its mask leaves out are padding, or what its configuration says."""
        self._trained = model
        self._came(model, columns)
        # A model of transformers that was compiled without a loss takes its own.
        if self._batches <= _FIRST and getattr(model, "_using_dummy_loss", False) and {_IDS, "labels"} <= columns.keys():
            self._asks_twice(model, columns[_IDS], columns["labels"])

    def stepped(self, forwards: list[tuple[Any, tuple[Any, ...], dict[str, Any], Any]]) -> None:
        """A loop has taken a step through these models, each with arguments, keywords and what it made of them."""
        for model, args, kwargs, found in forwards:
            given = _given(args, kwargs)
            if hasattr(model, "config") and _IDS in given:
                mask = given.get(_MASK, args[1] if len(args) > 1 else None)
                self._looped = model
                self._came(model, {_IDS: numpy_of(given[_IDS]), _MASK: None if mask is None else numpy_of(mask)})
                self._counts(model, given, found)
                self._shifts(model, given, found)

    def _came(self, model: Any, columns: dict[str, Any]) -> None:
        self._batches += 1
        ids, mask = columns.get(_IDS), columns.get(_MASK)
        if self._batches <= _BATCHES and ids is not None and mask is not None and np.shape(ids) == np.shape(mask):
            self._turned(model, np.asarray(ids), np.asarray(mask))
            self._fillers.update(np.unique(np.asarray(ids)[np.asarray(mask) == 0]).tolist())
        elif self._batches <= _BATCHES and ids is not None and mask is None:
            self._bare.trained(np.asarray(ids), getattr(model, "config", None))

    def _counts(self, model: Any, given: dict[str, Any], found: Any) -> None:
        """Whether a loss that is the model's own counts the labels of padding; asked once such labels were seen."""
        seen = self._watch.seen
        if seen.probes.fillers_counted is None and getattr(found, "loss", None) is not None and any(
                batch.filled_labels for batch in seen.batches):
            session = self._watch.session
            with session.paused():
                seen.probes.fillers_counted = keras_fillers.counted_by(model, given)
            session.noted("labels.made", written.assigned("labels", session.script, session.sites, bare=True))

    def _shifts(self, model: Any, given: dict[str, Any], found: Any) -> None:
        """Labels that are shifted by hand for a language model whose own loss shifts them once more."""
        labels = given.get("labels")
        if labels is not None and getattr(found, "loss", None) is not None:
            self._asks_twice(model, numpy_of(given[_IDS]), numpy_of(labels))

    def _asks_twice(self, model: Any, ids: Any, labels: Any) -> None:
        """Of a model whose own loss is taken."""
        probes, one, other = self._watch.seen.probes, np.asarray(ids), np.asarray(labels)
        if probes.shift is not None or not _NEXT.search(type(model).__name__):
            return
        counted = other[:, :-1] >= 0 if one.shape == other.shape and one.ndim == 2 else np.zeros(0)
        share = float((one[:, 1:] == other[:, :-1])[counted].mean()) if counted.any() else 0.0
        if share >= _MOSTLY and float((one == other)[:, :-1][counted].mean()) < _MOSTLY:
            probes.shift = ShiftFacts(offset=2, share=share, rows=one.shape[0], length=one.shape[1], causal=True, lag=0)
            session = self._watch.session
            session.noted("labels.made", written.assigned("labels", session.script, session.sites, bare=True))

    def _turned(self, model: Any, ids: Any, mask: Any) -> None:
        """A mask that is 1 at the filler of the rows' ends, and 0 at what is real."""
        seen, padded = self._watch.seen, fills.ends(ids, ids.shape)
        if padded is None or mask[~padded].mean() > 1 - _MOSTLY or mask[padded].mean() < _MOSTLY:
            return
        if seen.inverted is None:
            place = written.compared_with_padding(self._watch.session.script)
            seen.inverted = UnmaskedFacts(kind=type(model).__name__, ones=True, site=site(place) or self._watch.session.sites.here())
        seen.inverted.batches += 1
        seen.inverted.padded += 1
        seen.inverted.share = max(seen.inverted.share, float(padded.mean()))

    def _wrap(self, original: Any) -> Any:
        @functools.wraps(original)
        def asking(model: Any, *args: Any, **kwargs: Any) -> Any:
            fitted = model is self._trained or getattr(model, "history", None) is not None
            if (fitted or model is self._looped) and self._looking:
                if model is self._trained or model is self._looped:
                    self._watch.session.safely("a mask", self._asks, model, args, kwargs)
                if fitted and original.__name__ == "__call__":
                    self._watch.session.safely("a mode", self._told, args, kwargs)
            return original(model, *args, **kwargs)

        return asking

    @property
    def _looking(self) -> bool:
        import tensorflow as tf

        return self._watch.session.active and not self._watch.fits.running and tf.executing_eagerly() and not recorded()

    def _told(self, args: Any, kwargs: Any) -> None:
        """A model that `fit` has trained is called by the script itself."""
        import tensorflow as tf

        watch = self._watch
        place = watch.session.sites.here()
        if watch.seen.model is None or not watch.seen.model.stochastic or place is None:
            return
        self._calls += 1
        training = kwargs.get("training", args[1] if len(args) > 1 else None)
        if training is not True:
            return
        self._training += 1
        facts = watch.seen.evaluation
        facts.forwards, facts.in_training_mode = self._calls, self._training  # beside which the steps of `evaluate` count for nothing
        facts.sampled += self._samples.asked(tf.nest.flatten(args[:1]))
        watch.session.site("train_mode", place)

    def _asks(self, model: Any, args: Any, kwargs: Any) -> None:
        given = _given(args, kwargs)
        if given.get(_MASK) is not None or (len(args) > 1 and args[1] is not None) or _IDS not in given or not hasattr(model, "config"):
            return
        ids = np.asarray(numpy_of(given[_IDS]))
        share = self._filled(ids) if self._fillers else self._bare.filled(ids, model.config)
        if share is None:
            return
        seen = self._watch.seen
        if seen.asked is None:
            seen.asked = UnmaskedFacts(kind=type(model).__name__, site=self._site(), bare=not self._fillers)
        seen.asked.batches += 1
        seen.asked.padded += 1
        seen.asked.share = max(seen.asked.share, share)

    def _site(self) -> Site | None:
        """Where the ids alone are made a batch of, if the script does so in one place only; else where it asks."""
        sites = self._watch.session.sites
        bare = None if self._fillers else written.keyed(_IDS, sites.script)
        return site(bare) or sites.here()

    def _filled(self, ids: Any) -> float | None:
        """The share of what was padding in training, where rows end in it and it stands nowhere else."""
        if len(self._fillers) != 1 or ids.ndim != 2 or ids.dtype.kind not in "iu":
            return None
        padded = ids == next(iter(self._fillers))
        at_the_end = np.cumprod(padded[:, ::-1], axis=1)[:, ::-1].astype(bool)
        return float(padded.mean()) if padded.any() and bool((padded == at_the_end).all()) else None


def _given(args: Any, kwargs: Any) -> dict[str, Any]:
    """What a model is given, by name; what comes first and bare are ids."""
    first = args[0] if args else kwargs.get("x", kwargs.get("inputs", kwargs.get(_IDS)))
    return {**kwargs, **(first if hasattr(first, "keys") else {_IDS: first})}
