"""The Keras model that is trained: what it is, its weights, its last layer, what the first step did to it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import LossCall
from harness.checks.model_facts import ModelFacts, ParameterFacts, TurnFacts
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import alive, keras_hidden, written
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.seasoned import Seasoned
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_state import Start
    from harness.frameworks.watch.keras_watch import KerasWatcher

_NORMS = 8
_HALFWAY = 0.5  # of a turn: what goes further either way turns no further
_PARAMETERS = 600
_STOCHASTIC = ("Dropout", "GaussianNoise", "AlphaDropout", "Random", "SpatialDropout")
# Layers that shape or cut what the layer before them made.
_PASSING = ("Dropout", "Flatten", "Reshape", "Permute", "InputLayer", "Identity", "Lambda", "Rescaling")


class Models:
    """Hooks loading only; it is told what happens by the other parts."""

    def __init__(self, watch: KerasWatcher, keras: Any) -> None:
        self._watch = watch
        self._keras = keras
        self._loaded: set[int] = set()
        self._seasoned = Seasoned(keras.layers.Layer, late=watch.session.late)
        self._ids: list[int] = []
        self._weights: list[Any] = []
        self._hidden: list[keras_hidden.Hidden] = []
        self._statistics: list[tuple[Any, Any]] = []

    def attach(self) -> None:
        session = self._watch.session
        session.patches.replace(self._keras.Model, "load_weights", self._wrap_load)
        session.when_imported("transformers.modeling_tf_utils", self._hook_transformers)

    def _wrap_load(self, original: Any) -> Any:
        def load_weights(model: Any, *args: Any, **kwargs: Any) -> Any:
            if self._watch.session.active:
                self._loaded.add(id(model))
            return original(model, *args, **kwargs)

        return load_weights

    def _hook_transformers(self, module: Any) -> None:
        session = self._watch.session

        def wrap(original: Any) -> Any:
            def from_pretrained(cls: Any, *args: Any, **kwargs: Any) -> Any:
                made = original(cls, *args, **kwargs)
                if session.active:
                    self._loaded.add(id(made[0] if isinstance(made, tuple) else made))
                return made

            return from_pretrained

        session.patches.replace(module.TFPreTrainedModel, "from_pretrained", wrap)

    def fresh(self) -> list[Any]:
        """The models that are there now, but those that were loaded, or are older than what was watched."""
        # A proxy's class may be asked for only by `type`: `isinstance` would run code of its own.
        models = [found for found in alive.objects() if issubclass(type(found), self._keras.Model)]
        old = [model for model in models if id(model) in self._loaded or model in self._seasoned]
        return [model for model in models if not any(model is part for whole in old for part in (whole, *_inner(whole)))]

    def alone(self) -> list[Any]:
        """The layers with weights that belong to no model: a script's own class holds them."""
        layers = [found for found in alive.objects() if issubclass(type(found), self._keras.layers.Layer)]
        parts = {id(part) for whole in layers for part in _inner(whole)}
        return [layer for layer in layers if id(layer) not in parts and not issubclass(type(layer), self._keras.Model)
                and getattr(layer, "built", False) and layer.trainable_variables]

    def describe(self, model: Any) -> ModelFacts:
        """What can be said before the first step."""
        watch = self._watch
        seen = ModelFacts(kind=type(model).__name__, training_mode=True, site=site(watch.compiles.place_of(model)))
        if seen.site is not None:
            watch.seen.sites["model"] = seen.site
        seen.accepts = _accepted(model)
        layers = flat_layers(model)
        kinds = [type(layer).__name__ for layer in layers]
        seen.has_batch_norm = any("BatchNormalization" in kind for kind in kinds)
        seen.carries = any(hasattr(layer, "cell") and getattr(layer, "stateful", False) is True for layer in model._flatten_layers())
        seen.stochastic = seen.has_batch_norm or any(kind.startswith(_STOCHASTIC) and _active(layer)
                                                     for kind, layer in zip(kinds, layers, strict=True))
        loaded = [layer for layer in (model, *_inner(model)) if id(layer) in self._loaded]
        seasoned = {id(layer) for layer in layers if layer in self._seasoned}
        seen.pretrained = bool(loaded or seasoned)
        watch.session.safely("a rotation", self._turned, seen, layers)
        last = last_layer(layers)
        if last is not None:
            covered = {id(layer) for part in loaded for layer in flat_layers(part)} | seasoned
            # Whether the head of a loaded model was in its file is not known here.
            seen.fresh_head = True if id(last) not in covered else None
            name = getattr(getattr(last, "activation", None), "__name__", None)
            seen.final_activation = name or {"Softmax": "softmax", "ReLU": "relu"}.get(type(last).__name__)
            place = watch.compiles.named(last, name)
            if place is not None and id(last) not in covered:
                watch.seen.sites["output"] = site(place)  # type: ignore[assignment]
            if getattr(last, "units", None) is not None:
                seen.final_units = int(last.units)
        for table in (layer for layer in layers if type(layer).__name__ == "Embedding"):
            place = watch.compiles.place_of(table)
            watch.session.noted(f"embedding {table.input_dim}", place)
        config = getattr(model, "config", None)
        seen.num_labels = getattr(config, "num_labels", None)
        seen.problem_type = getattr(config, "problem_type", None)
        seen.vocabulary = getattr(config, "vocab_size", None)
        seen.positions = getattr(config, "max_position_embeddings", None)
        if config is None or seen.vocabulary is None:
            table = next((layer for layer in layers if type(layer).__name__ == "Embedding"), None)
            seen.vocabulary = int(table.input_dim) if table is not None else None
        watch.seen.model = seen
        return seen

    def _turned(self, facts: ModelFacts, layers: list[Any]) -> None:
        """A layer that turns images by more than halfway round, where that is no whole turn either."""
        for layer in layers:
            factor = getattr(layer, "factor", None) if type(layer).__name__ == "RandomRotation" else None
            parts = [abs(float(part)) for part in (factor if isinstance(factor, list | tuple) else [factor])] if factor is not None else []
            if max(parts, default=0.0) > _HALFWAY and max(parts) != 1.0:
                facts.turned = TurnFacts(factor=max(parts), site=site(self._watch.compiles.place_of(layer)))

    def weights(self, model: Any) -> None:
        """The weights, once the model is built: all that layers made to be trained, frozen ones too."""
        seen = self._watch.seen.model
        if seen is None or seen.parameters:
            return
        if self._keras.__name__ == "keras":  # the Keras before it took every variable for a weight
            self._watch.session.safely("hidden variables", lambda: self._hidden.extend(
                keras_hidden.variables(model, self._watch.session.script)))
        self._statistics = [(layer, np.copy(numpy_of(layer.moving_variance))) for layer in flat_layers(model)
                            if "BatchNormalization" in type(layer).__name__ and layer.trainable][:_NORMS]
        wanting = "unadapted" if any(map(_unadapted, flat_layers(model))) else "one_scale" if one_scale(model) is not None else None
        if wanting is not None:
            session = self._watch.session
            session.site(wanting, site(written.built("Normalization", session.script, session.sites)))
        own = rescaling(model)
        if own is not None:
            seen.rescaling = own[1:]
            self._watch.session.noted("rescaled", self._watch.compiles.place_of(own[0]))
        trainable = {id(weight) for weight in model.trainable_variables}
        if not trainable:
            session = self._watch.session
            session.noted("freeze", written.assigned("trainable", session.script, session.sites))
        found: dict[int, Any] = {id(weight): weight for weight in own_weights(model)}
        self._ids = list(found)[:_PARAMETERS]
        self._weights = [found[key] for key in self._ids]
        seen.parameters = [ParameterFacts(name=name_of(weight), size=_size(weight), trainable=key in trainable,
                                          in_optimizer=key in trainable, used=None if key in trainable else True)
                           for key, weight in list(found.items())[:_PARAMETERS]]

    def labelled(self, model: Any, data: Any) -> None:
        """A TF model of transformers that computes its own loss: whether a batch holds what it makes that of."""
        if not getattr(model, "_using_dummy_loss", False) or self._watch.seen.model is None:
            return
        from transformers.utils import find_labels

        inputs, targets = (*data, None)[:2] if isinstance(data, tuple) else (data, None)
        wanted, keys = set(find_labels(type(model))), [*(targets if isinstance(targets, dict) else ())]
        if isinstance(inputs, dict) and isinstance(targets, dict) and keys and not wanted & {*inputs, *keys}:
            self._watch.seen.model.unlabelled = keys

    def followed(self, model: Any, watched: Iterable[Any]) -> None:
        """Variables that a tape has followed: these took part; and those of them that no model knows."""
        watched = list(watched)
        took_part = {id(variable) for variable in watched}
        for weight, facts in zip(self._weights, self._watch.seen.model.parameters if self._watch.seen.model else [], strict=False):
            facts.used = facts.used or (True if keras_hidden.ids_of([weight]) & took_part else None)
        known = keras_hidden.ids_of(model.trainable_variables) | {id(hidden.variable) for hidden in self._hidden}
        left = {id(variable): variable for variable in watched if id(variable) not in known}
        if left:
            self._hidden += keras_hidden.strangers(self._keras, model, left.values(), self._watch.session.script)

    def unreached(self) -> list[Any]:
        """Weights that took part, are to be trained, and got no gradient in the first step."""
        facts = self._watch.seen.model.parameters if self._watch.seen.model is not None else []
        return [weight for known, weight in zip(facts, self._weights, strict=False)
                if known.trainable and known.used and known.gradient_norm is None]

    def gradients(self, sources: list[int], norms: list[float]) -> None:
        """Gradient norms of the first step, by the ids of the weights they are of, or of what those stand for; negative where none
        arrived."""
        seen = self._watch.seen.model
        known = dict(zip(sources, norms, strict=False))
        for weight, facts in zip(self._weights, seen.parameters if seen is not None else [], strict=False):
            norm = next((known[key] for key in keras_hidden.ids_of([weight]) if key in known), None)
            if norm is not None and norm >= 0:
                facts.gradient_norm, facts.used = norm, True
            elif norm is not None and math.isnan(norm):
                facts.gradient_norm, facts.bad, facts.used = norm, True, True

    def stepped(self, start: Start | None) -> None:
        """What the first step did to each weight."""
        seen = self._watch.seen.model
        if seen is None or start is None:
            return
        changes = start.changes()
        for key, facts in zip(self._ids, seen.parameters, strict=False):
            if key in changes:
                facts.moved, facts.update_ratio, facts.bad = changes[key]

    def ended(self, start: Start | None) -> None:
        """Weights that are no numbers any more, and variables that no step has touched because no layer knows them."""
        seen = self._watch.seen.model
        for hidden in self._hidden if self._watch.seen.steps else []:
            if seen is not None and hidden.unmoved():
                seen.unregistered.append(hidden.describe())
                place = self._place_of(hidden)
                if place is not None:
                    self._watch.seen.sites.setdefault("unregistered", place)
        if not self._statistics or not all(np.array_equal(numpy_of(layer.moving_variance), first) for layer, first in self._statistics):
            self._watch.seen.evaluation.training_in_eval_mode = 0  # somebody told its layers that this is training
        changes = start.changes() if start is not None else {}
        for key, facts in zip(self._ids, seen.parameters if seen is not None else [], strict=False):
            facts.bad = facts.bad or changes.get(key, (False, None, False))[2]

    def _place_of(self, hidden: keras_hidden.Hidden) -> Site | None:
        """Where a hidden variable is made, or where the model keeps what holds it."""
        watch = self._watch
        line = keras_hidden.line_of(watch.session.script, hidden.attribute)
        if line is not None:
            return site((str(watch.session.script), line, "<module>"))
        kept = written.attribute(type(watch.steps.model), hidden.attribute, watch.session.sites) if hidden.attribute else None
        line = keras_hidden.made_in_call(watch.session.script) if kept is None and hidden.owner is None else None
        if line is not None:
            return site((str(watch.session.script), line, "<module>"))
        return site(kept or watch.compiles.place_of(hidden.owner))


def task_of(call: LossCall | None, model: ModelFacts) -> tuple[Any, int | None]:
    """The task and its number of classes, from the loss and what it is given."""
    if call is None or call.inputs is None or not call.inputs.shape:
        return ("other", None) if call is not None else (None, None)
    shape = call.inputs.shape
    if call.name in ("mse", "l1"):
        return "regression", None
    if call.name == "bce":
        many = len(shape) > 1 and shape[-1] > 1
        return ("multilabel" if many else "classification"), (shape[-1] if many else 2)
    if call.name in ("sparse_categorical", "categorical"):
        return ("language" if shape[-1] == model.vocabulary and len(shape) > 2 else "classification"), int(shape[-1])
    return "other", None


def flat_layers(model: Any) -> list[Any]:
    """The layers that hold no others, in the model's order."""
    inner = getattr(model, "layers", None)
    if not inner:
        subs: Any = (getattr(model, "_flatten_layers", None) or (lambda **_: []))(include_self=False, recursive=False)
        inner = [layer for layer in subs if layer is not model]
    if not inner:
        return [model]
    return [found for layer in inner for found in ([layer] if layer is model else flat_layers(layer))]


def own_weights(model: Any) -> list[Any]:
    """Weights that layers made to be trained, whether or not they are frozen now."""
    found: dict[int, Any] = {}
    for layer in (*_inner(model), model):
        for name in ("_trainable_weights", "_trainable_variables"):
            for weight in getattr(layer, name, None) or ():
                found[id(weight)] = weight
    for weight in model.trainable_variables:
        found.setdefault(id(weight), weight)
    return list(found.values())


def _inner(model: Any) -> list[Any]:
    if not hasattr(model, "_flatten_layers"):
        return []
    return [layer for layer in model._flatten_layers() if layer is not model]


def last_layer(layers: list[Any]) -> Any:
    """The last layer that computes."""
    return next((layer for layer in reversed(layers) if not type(layer).__name__.startswith(_PASSING)), None)


def name_of(weight: Any) -> str:
    """A weight's name with its layers, without TensorFlow's suffix."""
    return str(getattr(weight, "path", None) or weight.name).removesuffix(":0").replace("/", ".")


def _size(weight: Any) -> int:
    total = 1
    for size in weight.shape:
        total *= int(size or 1)
    return total


def _active(layer: Any) -> bool:
    rate = getattr(layer, "rate", None)
    return rate is None or not isinstance(rate, int | float) or rate > 0


def _accepted(model: Any) -> list[str]:
    try:
        names = [name for name, parameter in inspect.signature(model.call).parameters.items()
                 if parameter.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)]
    except (TypeError, ValueError):
        return []
    if names[:1] in (["inputs"], ["x"]):
        return [str(name) for name in getattr(model, "input_names", None) or []]
    return [name for name in names if name not in ("self", "training")]


def one_scale(model: Any) -> tuple[Any, Any] | None:
    """The mean and deviation that the model's only `Normalization` layer has for all features together, as arrays to be broadcast over the
    inputs; None where each feature, along the last axis, has its own."""
    layers = [layer for layer in flat_layers(model) if type(layer).__name__ == "Normalization"]
    if len(layers) != 1 or _unadapted(layers[0]) or not hasattr(layers[0], "mean"):
        return None
    mean, deviation = (np.asarray(numpy_of(part), np.float32) for part in (layers[0].mean, layers[0].variance))
    deviation = np.where(deviation > 0, np.sqrt(deviation), np.float32(1))
    if layers[0].axis in ((), [], None):
        return np.ravel(mean)[0], np.ravel(deviation)[0]
    shape = list(getattr(layers[0], "_build_input_shape", None) or [])
    shared = mean.ndim > 1 and mean.shape[-1] == 1 and len(shape) == mean.ndim and (shape[-1] or 1) > 1
    return (mean, deviation) if shared else None


def rescaling(model: Any) -> tuple[Any, float, float] | None:
    """The model's only `Rescaling` layer with its scale and offset, where these are numbers; None where there is none, or one that leaves
    its inputs as they are."""
    layers = [layer for layer in flat_layers(model) if type(layer).__name__ == "Rescaling"]
    if len(layers) != 1 or not all(isinstance(value, int | float) for value in (layers[0].scale, layers[0].offset)):
        return None
    return (layers[0], float(layers[0].scale), float(layers[0].offset)) if layers[0].scale not in (0, 1) else None


def inner_scale(model: Any) -> tuple[Any, Any, Callable[[Any], Any]]:
    """The mean and deviation that the model takes its inputs to have; and what makes of a tensor the numbers to be looked at: what a
    `Rescaling` layer gives of it, or else itself."""
    own = rescaling(model)
    if own is None:
        return *(one_scale(model) or (0.0, 1.0)), lambda part: numpy_of(part).astype(np.float32)
    _, scale, offset = own
    return -offset / scale, 1 / scale, lambda part: numpy_of(part).astype(np.float32) * scale + offset


def _unadapted(layer: Any) -> bool:
    """Whether a layer that is to learn its inputs' mean and variance before training was never shown any."""
    if type(layer).__name__ != "Normalization" or getattr(layer, "input_mean", None) is not None or not hasattr(layer, "adapt_mean"):
        return False
    return bool(np.all(numpy_of(layer.adapt_mean) == 0) and np.all(numpy_of(layer.adapt_variance) == 1))
