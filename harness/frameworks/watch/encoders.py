"""Objects that learn from rows how to encode others (scalers, tokenizers): which of them, in which state, encoded what a model is given."""

from __future__ import annotations

import functools
import hashlib
import pickle
import weakref
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.evaluation_facts import EncodedFacts
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import tensors
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "PowerTransformer", "QuantileTransformer", "OrdinalEncoder")
_TOKENIZERS = ("keras.src.legacy.preprocessing.text", "tf_keras.src.preprocessing.text", "keras.preprocessing.text")
# Layers of Keras that learn from rows by `adapt`, where they are called on rows as they are and not inside a model.
_LAYERS = {"text_vectorization": "TextVectorization", "string_lookup": "StringLookup", "integer_lookup": "IntegerLookup",
           "normalization": "Normalization"}
_VOCABULARIES = ("StringLookup", "IntegerLookup")
_LEARNS = ("adapt", "set_vocabulary", "finalize_state", "load_own_variables")
_LARGEST, _MOST_ROWS, _LEAST = 1 << 22, 50_000, 3

Array = np.ndarray[Any, Any]
# What an object had learnt when it encoded a row.
State = str


class Encoders:
    """Keeps the rows that were encoded, and counts those that a model is trained on and evaluated on by the state that encoded them."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._states: dict[bytes, set[State]] = {}
        self._places: dict[State, tuple[Place, ...]] = {}  # own frames, innermost first
        self._kinds: dict[State, tuple[str, int]] = {}  # the encoder's class, and the numbers in a row (0 of texts)
        self._objects: dict[State, weakref.ref[Any]] = {}
        self._trained: Counter[State] = Counter()
        self._held: Counter[State] = Counter()
        self._layers: weakref.WeakKeyDictionary[Any, State] = weakref.WeakKeyDictionary()
        self._adapted_at: dict[Place, weakref.ref[Any]] = {}

    def attach(self) -> None:
        session = self._session
        session.when_imported("sklearn.preprocessing", self._hook_sklearn)
        for name in _TOKENIZERS:
            session.when_imported(name, self._hook_tokenizer)
        for library in ("keras", "tf_keras"):
            for name, kind in _LAYERS.items():
                session.when_imported(f"{library}.src.layers.preprocessing.{name}", functools.partial(self._hook_layer, kind))

    def _hook_layer(self, kind: str, module: Any) -> None:
        layer = getattr(module, kind)
        self._session.patches.replace(layer, "__call__", functools.partial(self._wrap, of=self._adapted))
        for name in _LEARNS:
            if hasattr(layer, name):
                self._session.patches.replace(layer, name, functools.partial(self._forget, name=name))

    def _learns(self, layer: Any) -> None:
        """Notes a line on which several vocabularies are learnt, each from rows of its own."""
        place = self._session.sites.place()
        if place is None or type(layer).__name__ not in _VOCABULARIES:
            return
        if self._adapted_at.setdefault(place, weakref.ref(layer))() is not layer:
            self._session.noted("adapted_again", place)

    def _forget(self, original: Any, name: str = "") -> Any:
        @functools.wraps(original)
        def learn(layer: Any, *args: Any, **kwargs: Any) -> Any:
            self._layers.pop(layer, None)
            if name == "adapt" and self._session.active:
                self._session.safely("a layer that learns", self._learns, layer)
            return original(layer, *args, **kwargs)

        return learn

    def _adapted(self, layer: Any) -> State:
        """A vocabulary, or means and variances; read once until the layer learns others, for a vocabulary is long."""
        if layer not in self._layers:
            if hasattr(layer, "get_vocabulary"):
                learnt: dict[str, Any] = {"words": [str(word) for word in layer.get_vocabulary()]}
            else:
                learnt = {name: np.asarray(getattr(layer, name)).tobytes() for name in ("mean", "variance")}
            self._layers[layer] = _digest(learnt)
        return self._layers[layer]

    def _hook_sklearn(self, module: Any) -> None:
        for name in _SCALERS:
            if hasattr(module, name):
                self._session.patches.replace(getattr(module, name), "transform", functools.partial(self._wrap, of=_learnt))

    def _hook_tokenizer(self, module: Any) -> None:
        if hasattr(module, "Tokenizer"):
            self._session.patches.replace(module.Tokenizer, "texts_to_sequences", functools.partial(self._wrap, of=_words))

    def _wrap(self, original: Any, of: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def encode(encoder: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(encoder, *args, **kwargs)
            if session.active:
                session.safely("encoded rows", self._encoded, encoder, made, of)
                session.safely("chosen rows", session.choosers.encoded, args[0] if args else kwargs.get("X"), made)
            return made

        return encode

    def _encoded(self, encoder: Any, made: Any, of: Any) -> None:
        rows = [] if of == self._adapted and not callable(getattr(made, "numpy", None)) else rows_of(made)  # while a model is built
        if len(rows) < _LEAST or len(self._states) > _MOST_ROWS:
            return
        state = of(encoder)
        self._places.setdefault(state, self._session.sites.stack())
        self._objects.setdefault(state, weakref.ref(encoder))
        self._kinds[state] = type(encoder).__name__, 0 if of is _words else int(made.shape[1])
        for row in rows:
            self._states.setdefault(row, set()).add(state)

    def trained(self, given: Sequence[Any]) -> None:
        """A training step runs a model on these."""
        self._count(self._trained, given)

    def held(self, given: Sequence[Any]) -> None:
        """An evaluation does."""
        if self._trained:
            self._count(self._held, given)

    def _count(self, counter: Counter[State], given: Sequence[Any]) -> None:
        if not self._states or counter.total() > _MOST_ROWS:
            return
        for value in given:
            array = tensors.array(value)
            if array is not None and array.ndim == 2 and 0 < array.size <= _LARGEST:
                known = [self._states.get(row, set()) for row in rows_of(array)]
                counter.update(next(iter(states)) for states in known if len(states) == 1)

    def facts(self) -> EncodedFacts | None:
        """None where rows of one of both were not seen to be encoded, or where each part of the data has an encoder of its own."""
        others = Counter({state: rows for state, rows in self._held.items() if state not in self._trained})
        if len(self._trained) != 1 or not others:
            return None
        (own, trained), (other, rows) = self._trained.most_common(1)[0], others.most_common(1)[0]
        alike = [state for state, kind in self._kinds.items() if kind == self._kinds[own]]
        if set(alike) != {own, *others}:
            return None  # more parts than these have one, some of which were not trained on yet
        if len(others) > 1:
            if any(self._objects[state]() is not self._objects[own]() for state in others) or self._objects[own]() is None:
                return None
            rows = others.total()  # one object, which learns from each part anew
        return EncodedFacts(kind=self._kinds[own][0], trained=trained, rows=rows, site=self._place(other, own),
                            trained_site=self._place(own, other))

    def _place(self, state: State, other: State) -> Site | None:
        """Where rows were encoded; of one object that both parts were given to on the same line of a helper, where that was called."""
        stack, beside = self._places[state], self._places[other]
        one = self._objects[state]() is self._objects[other]()
        same = next((depth for depth, (here, there) in enumerate(zip(stack, beside, strict=False)) if here != there), 0) if one else 0
        return site(next(iter(stack[same:]), None))


def rows_of(values: Any) -> list[bytes]:
    """A key for each row: of numbers as float32, of token ids without the padding."""
    if isinstance(values, list) and all(isinstance(row, list | tuple) for row in values):
        return [_ids(np.asarray(row, dtype=np.int64)) for row in values]
    plain = np.asarray(values) if hasattr(values, "__array__") else np.zeros(0)
    if plain.ndim != 2 or not plain.size or plain.size > _LARGEST or plain.dtype.kind not in "iuf":
        return []
    if plain.dtype.kind == "f":
        return [b"n" + row.tobytes() for row in np.ascontiguousarray(plain, dtype=np.float32)]
    return [_ids(row.astype(np.int64)) for row in plain]


def _ids(row: Array) -> bytes:
    return b"i" + bytes(row[row != 0].tobytes())


def _learnt(encoder: Any) -> State:
    """What an estimator of scikit-learn keeps of its fit (by its convention, names that end with an underscore)."""
    return _digest({name: value for name, value in vars(encoder).items() if name.endswith("_") and not name.startswith("_")})


def _words(tokenizer: Any) -> State:
    return _digest(tokenizer.word_index)


def _digest(learnt: dict[str, Any]) -> State:
    return hashlib.sha256(pickle.dumps(sorted(learnt.items(), key=lambda item: item[0]))).hexdigest()
